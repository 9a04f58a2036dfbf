// Package result says how MCP clients see the outcome of a call: the outcome comes
// in, and the members of a result go out, as bytes.
//
// Of what depends on who asks it knows the [Form]: the type of the result and its
// "_meta" are for whoever sends it.
package result

import (
	"bytes"
	"encoding/base64"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Form says what is in a result beside its content. The zero Form is for clients of
// the older revisions of MCP.
type Form struct {
	Structured bool // there is "structuredContent", which came with 2025-06-18
	Content    content.Form
}

// Newest returns the form for clients of the newest revision.
func Newest() Form { return Form{Structured: true, Content: content.Form{Audio: true, Links: true}} }

// Of returns the members of the result that o, the outcome of a call of t, becomes:
// `"name":value` separated by commas; none only for a raw result. Where the error of
// o is to be a JSON-RPC error, there is no result and that error is returned.
func Of(t *table.Tool, o call.Outcome, f Form) (members []byte, refusal *call.Error) {
	return Append(nil, t, o, f)
}

// Append appends what [Of] returns to dst.
func Append(dst []byte, t *table.Tool, o call.Outcome, f Form) (members []byte, refusal *call.Error) {
	switch {
	case o.Error == nil && o.Part != nil:
		return appendPart(dst, o.Part, f), nil
	case o.Error == nil && len(t.Content) > 0:
		return appendParts(dst, t.Result, o, f), nil
	case o.Error == nil:
		return appendBody(dst, t.Result, rawjson.Value(o.Rest), f), nil
	case o.Error.Style == irv1.ErrorStyle_ERROR_STYLE_TOOL:
		return appendFailure(dst, t, o.Error, f), nil
	}
	return dst, o.Error
}

// Size returns about how many bytes Append appends, most of the time no fewer.
func Size(o call.Outcome) int {
	n := 4*len(o.Body) + 256 // twice plain, once quoted, and the names
	if o.Part != nil {
		n += 2 * len(o.Part.Data)
	}
	for _, p := range o.Content {
		n += p.Size()
	}
	for _, v := range o.Meta {
		n += len(v) + 64
	}
	if o.Error != nil {
		n += 3*len(o.Error.Data) + len(o.Error.Message)
	}
	return n
}

// MaxStructured is how many bytes of structured content models work well with: a
// result that has more is worth a word to its author.
const MaxStructured = 10 << 10

// IsLarge reports whether the outcome of a call is a result with more structured
// content than [MaxStructured].
func IsLarge(o call.Outcome) bool { return o.Error == nil && len(o.Rest) > MaxStructured }

// IsBare reports whether nothing is to be added to the members that Of returns, which
// may be none: neither a type nor "_meta".
func IsBare(t *table.Tool, o call.Outcome) bool {
	return t.Result == irv1.ResultMode_RESULT_MODE_RAW && o.Error == nil
}

// appendBody appends the members of the result that body becomes. The body of a dual
// result is an object without reserved members, that of a raw one an object ([call.Do]
// lets no other through). The nil body, that of an upstream with nothing to say,
// becomes an empty content.
func appendBody(dst []byte, mode irv1.ResultMode, body rawjson.Value, f Form) []byte {
	if mode == irv1.ResultMode_RESULT_MODE_RAW {
		members := appendMembers(dst, body)
		if len(members) > len(dst) {
			members = members[:len(members)-1] // the comma
		}
		return members
	}
	if body == nil {
		return append(dst, `"content":[]`...)
	}
	if mode == irv1.ResultMode_RESULT_MODE_DUAL {
		dst = appendMembers(dst, body)
	}
	return appendStructured(appendContent(dst, body), body, f)
}

// appendParts appends the members of the result that the outcome of a tool with parts of
// content becomes.
func appendParts(dst []byte, mode irv1.ResultMode, o call.Outcome, f Form) []byte {
	rest := rawjson.Value(o.Rest)
	if mode == irv1.ResultMode_RESULT_MODE_DUAL {
		dst = appendMembers(dst, rest)
	}
	dst = append(dst, `"content":[`...)
	for i, p := range o.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Append(dst, f.Content)
	}
	return appendStructured(append(dst, ']'), rest, f)
}

// appendStructured appends a "structuredContent" with body, nil for none, where f has
// it.
func appendStructured(dst []byte, body rawjson.Value, f Form) []byte {
	if !f.Structured || body == nil {
		return dst
	}
	dst = append(dst, `,"structuredContent":`...)
	if body.Kind() == rawjson.Object {
		return append(dst, body...)
	}
	dst = append(dst, `{"value":`...)
	dst = append(dst, body...)
	return append(dst, '}')
}

// appendPart appends the members of the result that a body becomes which is no JSON.
func appendPart(dst []byte, p *call.Part, f Form) []byte {
	switch {
	case p.Kind == irv1.PartKind_PART_KIND_TEXT:
		return appendContent(dst, p.Data)
	case p.Kind == irv1.PartKind_PART_KIND_AUDIO && !f.Content.Audio:
		return appendContent(dst, []byte(content.NoAudio(p.MediaType)))
	}
	dst = append(dst, `"content":[{"type":"`+table.TypeName(p.Kind)+`","data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, p.Data)
	dst = append(dst, `","mimeType":`...)
	dst = rawjson.AppendQuote(dst, p.MediaType)
	return append(dst, `}]`...)
}

// appendFailure appends the members of the result that err, of a call of t, becomes where
// errors are results. What the upstream said about it is what a model reads, and then
// what the binding says. It is no structured content where clients are shown a schema for
// that: some hold errors to it, too, and have only that to tell.
func appendFailure(dst []byte, t *table.Tool, err *call.Error, f Form) []byte {
	if err.Data == nil {
		return append(appendContent(dst, []byte(err.Message)), `,"isError":true`...)
	}
	dst = appendContent(dst, err.Data)
	if err.Own {
		dst = append(dst[:len(dst)-1], `,{"type":"text","text":`...)
		dst = append(rawjson.AppendQuote(dst, err.Message), `}]`...)
	}
	dst = append(dst, `,"isError":true`...)
	if f.Structured && !t.Shown && rawjson.Value(err.Data).Kind() == rawjson.Object {
		dst = append(dst, `,"structuredContent":`...)
		dst = append(dst, err.Data...)
	}
	return dst
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
func appendContent(dst, text []byte) []byte {
	dst = append(dst, `"content":[{"type":"text","text":`...)
	dst = rawjson.AppendQuote(dst, text)
	return append(dst, `}]`...)
}
