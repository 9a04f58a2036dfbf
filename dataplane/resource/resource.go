// Package resource says what clients read: the URI of a resource comes in, and the
// content that resources/read has of it goes out, as JSON.
//
// It is the bundle's, or what a tool of the binding gives; then there is a call, whose
// outcome goes out, too.
package resource

import (
	"cmp"
	"encoding/base64"
	"mime"
	"net/http"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// withMeta is the first revision of MCP in which content has "_meta".
const withMeta = "2025-06-18"

// withParams is the first revision of MCP in which what there is not is wrong parameters;
// before, it is codeAbsent.
const (
	withParams = "2026-07-28"
	codeAbsent = -32002
)

// A Hit is what a URI leads to: a resource, or else a template.
type Hit struct {
	*table.Reading

	uri      string
	resource *table.Resource
	template *table.Template
	values   fill.Values // of the template's variables
}

// Find returns what uri leads to at an endpoint; nil for nothing.
func Find(at *table.Endpoint, uri string) *Hit {
	if r := at.Resource(uri); r != nil {
		return &Hit{Reading: &r.Reading, uri: uri, resource: r}
	}
	if t, values := at.Template(uri); t != nil {
		return &Hit{Reading: &t.Reading, uri: uri, template: t, values: values}
	}
	return nil
}

// Content returns what is read, which is the bundle's: there is no Use. It is for a client
// that speaks a revision of MCP.
func (h *Hit) Content(version string) []byte {
	if h.resource != nil {
		return h.resource.AppendContent(nil, version)
	}
	text := fill.Text(h.template.Text.GetText(), h.values)
	if h.template.Text.GetJson() {
		text = fill.JSON(h.template.Text.GetText(), h.values)
	}
	return h.content(version, h.MediaType, "text", rawjson.Quote(text))
}

// Request returns r, which is without arguments, as the call of the tool that gives what is
// read.
func (h *Hit) Request(r call.Request) call.Request {
	r.Arguments, r.For = fill.Arguments(h.Use.Arguments, h.values), irv1.KindResource
	return r
}

// Received returns what o, the outcome of that call, gives to read, for a client that
// speaks a revision of MCP: one content or several, with commas between. It is nil exactly
// if the outcome has an error.
func (h *Hit) Received(o call.Outcome, version string) []byte {
	if o.Error != nil {
		return nil
	}
	switch parts := h.parts(o.Content, version); {
	case o.Part == nil && parts != nil:
		return parts
	case o.Part == nil:
		return h.content(version, h.typeOf(o), "text", rawjson.AppendQuote(nil, o.Body))
	case o.Part.Kind == irv1.PartKind_PART_KIND_TEXT:
		return h.content(version, h.typeOf(o), "text", rawjson.AppendQuote(nil, o.Part.Data))
	}
	return h.content(version, h.typeOf(o), "blob", blob(o.Part.Data))
}

// parts returns the parts that a tool makes of a body, as contents; nil when none of them
// has anything to read.
func (h *Hit) parts(all []content.Part, version string) (contents []byte) {
	for _, part := range all {
		r, ok := part.Read()
		if !ok {
			continue
		}
		if len(contents) > 0 {
			contents = append(contents, ',')
		}
		one := *h
		one.uri = cmp.Or(r.URI, h.uri)
		contents = append(contents, one.content(version, cmp.Or(r.MediaType, h.MediaType), r.Member, r.Value)...)
	}
	return contents
}

// Members returns the members of the result of resources/read that has contents, one or
// several with commas between.
func Members(contents []byte) []byte {
	return append(append([]byte(`"contents":[`), contents...), ']')
}

// Refusal returns the error that a client gets of a read whose outcome is o, at an
// endpoint; nil for none.
func (h *Hit) Refusal(at *table.Endpoint, o call.Outcome, version string) *call.Error {
	switch {
	case !isAbsent(o):
		return o.Error
	case h.Use.Tool.Redact != nil: // something in the URI may be a secret
		return Absent(at, "", version)
	}
	return Absent(at, h.uri, version)
}

// isAbsent reports whether the outcome of a read says that there is no such resource.
func isAbsent(o call.Outcome) bool {
	return o.Class == call.UpstreamError && o.Status == http.StatusNotFound
}

// Absent is the error for a URI that leads to nothing at an endpoint; "" is not told.
func Absent(at *table.Endpoint, uri, version string) *call.Error {
	err := &call.Error{Code: codeAbsent, Message: "resource not found", Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC}
	if version >= withParams {
		err.Code = call.CodeInvalidParams
	}
	err.Code = cmp.Or(at.NotFound(irv1.KindResource), err.Code)
	if uri != "" && len(uri) <= irv1.MaxURI {
		err.Data = append(rawjson.AppendQuote([]byte(`{"uri":`), uri), '}')
	}
	return err
}

// typeOf returns the media type of what a tool gave; "" when nobody says.
func (h *Hit) typeOf(o call.Outcome) string {
	switch {
	case h.MediaType != "":
		return h.MediaType
	case o.Part != nil:
		return o.Part.MediaType
	case o.Body == nil:
		return ""
	}
	media, _, err := mime.ParseMediaType(o.ContentType)
	if err == nil && strings.HasSuffix(media, "+json") {
		return media
	}
	return "application/json"
}

// content returns one content: value is JSON.
func (h *Hit) content(version, mediaType, member string, value []byte) []byte {
	b := rawjson.AppendQuote([]byte(`{"uri":`), h.uri)
	if mediaType != "" {
		b = rawjson.AppendQuote(append(b, `,"mimeType":`...), mediaType)
	}
	b = append(append(b, `,"`+member+`":`...), value...)
	if h.Meta != nil && version >= withMeta {
		b = append(append(b, `,"_meta":`...), h.Meta...)
	}
	return append(b, '}')
}

// blob returns data in Base64, in quotes.
func blob(data []byte) []byte {
	b := make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+2)
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"')
}
