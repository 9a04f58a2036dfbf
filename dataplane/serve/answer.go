package serve

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// modern is the first protocol revision without sessions. Its results say what
// type they are.
const modern = "2026-07-28"

// The members of the "_meta" of every result that comes from a table.
const (
	metaRevision = "bindery.dev/revision" // a number; 0 for a bundle from a file
	metaDigest   = "bindery.dev/digest"   // the bundle's, in hexadecimal
)

// An answer is a result whose members are bytes already; only "_meta", to which
// the SDK adds, is marshalled when it is sent. It is how a node's results keep
// the order of members and the spelling of numbers that an upstream chose.
type answer struct {
	mcp.ResultBase
	members []byte // `"name":value` separated by commas; never empty
}

// newAnswer returns an answer of t with these members for a client that speaks
// version.
func newAnswer(t *table.Table, version string, members []byte) *answer {
	if version >= modern {
		members = append(members, `,"resultType":"complete"`...)
	}
	a := &answer{members: members}
	a.Meta = mcp.Meta{metaRevision: t.Generation().GetNumber(), metaDigest: t.Digest().String()}
	return a
}

// MarshalJSON returns the members and "_meta" as one object.
func (a *answer) MarshalJSON() ([]byte, error) {
	meta, err := json.Marshal(a.Meta)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(a.members)+len(meta)+len(`{,"_meta":}`))
	out = append(out, '{')
	out = append(out, a.members...)
	out = append(out, `,"_meta":`...)
	out = append(out, meta...)
	return append(out, '}'), nil
}

// success returns the members of the result that body becomes; the body of a dual
// result is an object without reserved members. The nil body, that of an upstream
// with nothing to say, becomes an empty content.
func success(mode irv1.ResultMode, body rawjson.Value) []byte {
	if body == nil {
		return []byte(`"content":[]`)
	}
	members := make([]byte, 0, 4*len(body)) // twice plain, once quoted, and the names
	if mode == irv1.ResultMode_RESULT_MODE_DUAL {
		members = appendMembers(members, body)
	}
	members = appendContent(members, string(body))
	members = append(members, `,"structuredContent":`...)
	if body.Kind() == rawjson.Object {
		return append(members, body...)
	}
	members = append(members, `{"value":`...)
	members = append(members, body...)
	return append(members, '}')
}

// failure returns the members of the result that err becomes where errors are
// results. What the upstream said about it is what a model reads.
func failure(err *call.Error) []byte {
	if err.Data == nil {
		return append(appendContent(nil, err.Message), `,"isError":true`...)
	}
	members := append(appendContent(nil, string(err.Data)), `,"isError":true`...)
	if rawjson.Value(err.Data).Kind() == rawjson.Object {
		members = append(members, `,"structuredContent":`...)
		members = append(members, err.Data...)
	}
	return members
}

// appendMembers appends the members of object as they are, and a comma unless there
// are none.
func appendMembers(dst []byte, object rawjson.Value) []byte {
	inner := bytes.TrimSpace(object[1 : len(object)-1])
	if len(inner) == 0 {
		return dst
	}
	return append(append(dst, inner...), ',')
}

// appendContent appends a "content" with text as its only part.
func appendContent(dst []byte, text string) []byte {
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = append(dst, rawjson.Quote(text)...)
	return append(dst, `}]`...)
}
