package operator

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestParts: what join makes of parts is the file, whatever its size.
func TestParts(t *testing.T) {
	joined := &sourcev1.Sources{}
	sizes := []int{0, 1, chunk - 1, chunk, chunk + 1, 3*chunk + 5}
	for i, size := range sizes {
		f := &sourcev1.File{Path: string(rune('a' + i)), Data: bytes.Repeat([]byte{byte(i)}, size)}
		n := 0
		for part := range parts(f) {
			if n++; len(part.Data) > chunk {
				t.Errorf("%d bytes: a part has %d", size, len(part.Data))
			}
			join(joined, &sourcev1.File{Path: part.Path, Data: bytes.Clone(part.Data)})
		}
		if want := max(1, (size+chunk-1)/chunk); n != want {
			t.Errorf("%d bytes: %d parts, want %d", size, n, want)
		}
	}
	for i, size := range sizes {
		if got := joined.Files[i].Data; !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("file of %d bytes came back with %d", size, len(got))
		}
	}
}

func TestFailure(t *testing.T) {
	c := &Client{addr: "127.0.0.1:7700"}
	refused := &Refused{}
	if err := c.failure(status.Error(codes.NotFound, "group \"x\" has no revision 9")); !errors.As(err, &refused) {
		t.Errorf("NotFound: %T, want *Refused", err)
	}
	unreachable := &Unreachable{}
	if err := c.failure(status.Error(codes.Internal, "disk full")); !errors.As(err, &unreachable) || unreachable.Down {
		t.Errorf("Internal: %#v, want *Unreachable that is not down", err)
	}
}

// TestUnreachable: an operator learns within moments that nobody listens, and
// where and what to do.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, err := Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := time.Now()
	_, err = c.Nodes(t.Context(), "")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	want := "no control plane answers at " + addr + " (dial tcp " + addr + ": connect: connection refused): start one with bindery-controlplane"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Nodes() = %v, want %s", err, want)
	}
}
