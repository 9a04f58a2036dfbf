package discovery

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// encoded is a serialised SyncResponse. It is never changed, so that all streams
// may send the same bytes at once.
type encoded []byte

// codec is the protobuf codec of gRPC that sends an [encoded] as it is. On the wire
// there is no difference: every client stays an ordinary protobuf client.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Marshal returns the wire form of v, which for an encoded is v itself and no copy.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if e, ok := v.(encoded); ok {
		return mem.BufferSlice{mem.SliceBuffer(e)}, nil
	}
	return c.CodecV2.Marshal(v)
}
