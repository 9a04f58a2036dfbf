// Package result says how MCP clients see the outcome of a call: the outcome comes
// in, and the members of a result go out, as bytes.
//
// It adds nothing that depends on who asks: the type of the result and its "_meta"
// are for whoever sends it.
package result

import (
	"bytes"
	"encoding/base64"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Of returns the members of the result that o, the outcome of a call of t, becomes.
// Where the error of o is to be a JSON-RPC error, there is no result and that error
// is returned.
func Of(t *table.Tool, o call.Outcome) (members []byte, refusal *call.Error) {
	switch {
	case o.Error == nil && o.Part != nil:
		return Content(o.Part), nil
	case o.Error == nil:
		return Success(t.Result, rawjson.Value(o.Body)), nil
	case o.Error.Style == irv1.ErrorStyle_ERROR_STYLE_TOOL:
		return Failure(o.Error), nil
	}
	return nil, o.Error
}

// IsBare reports whether nothing is to be added to the members that Of returns, which
// may be none: neither a type nor "_meta".
func IsBare(t *table.Tool, o call.Outcome) bool {
	return t.Result == irv1.ResultMode_RESULT_MODE_RAW && o.Error == nil
}

// Success returns the members of the result that body becomes: `"name":value`
// separated by commas; none only for a raw result. The body of a dual result is an
// object without reserved members, that of a raw one an object ([call.Do] lets no
// other through). The nil body, that of an upstream with nothing to say, becomes an
// empty content.
func Success(mode irv1.ResultMode, body rawjson.Value) []byte {
	if mode == irv1.ResultMode_RESULT_MODE_RAW {
		return bytes.TrimSuffix(appendMembers(nil, body), []byte{','})
	}
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

// Content returns the members of the result that a body becomes which is no JSON.
func Content(p *call.Part) []byte {
	if p.Kind == irv1.PartKind_PART_KIND_TEXT {
		return appendContent(nil, string(p.Data))
	}
	members := make([]byte, 0, base64.StdEncoding.EncodedLen(len(p.Data))+128)
	members = append(members, `"content":[{"type":"`+table.TypeName(p.Kind)+`","data":"`...)
	members = base64.StdEncoding.AppendEncode(members, p.Data)
	members = append(members, `","mimeType":`...)
	members = rawjson.AppendQuote(members, p.MediaType)
	return append(members, `}]`...)
}

// Failure returns the members of the result that err becomes where errors are
// results. What the upstream said about it is what a model reads.
func Failure(err *call.Error) []byte {
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

// appendMembers appends the members of object, nil for none, as they are, and a
// comma unless there are none.
func appendMembers(dst []byte, object rawjson.Value) []byte {
	if object == nil {
		return dst
	}
	inner := bytes.TrimSpace(object[1 : len(object)-1])
	if len(inner) == 0 {
		return dst
	}
	return append(append(dst, inner...), ',')
}

// appendContent appends a "content" with text as its only part.
func appendContent(dst []byte, text string) []byte {
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = rawjson.AppendQuote(dst, text)
	return append(dst, `}]`...)
}
