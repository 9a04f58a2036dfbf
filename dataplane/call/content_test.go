package call_test

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func pointer(tokens ...string) *irv1.Pointer { return &irv1.Pointer{Tokens: tokens} }

func constant(field irv1.PartField, json string) *irv1.PartMember {
	return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Json{Json: []byte(json)}}
}

func inBody(field irv1.PartField, tokens ...string) *irv1.PartMember {
	return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Body{Body: pointer(tokens...)}}
}

// coverParts are parts of every kind.
func coverParts() []*irv1.ContentPart {
	const text, mimeType, uri = irv1.PartField_PART_FIELD_TEXT, irv1.PartField_PART_FIELD_MIME_TYPE, irv1.PartField_PART_FIELD_URI
	return []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{inBody(text, "title")}, Annotations: []*irv1.PartMember{
			inBody(irv1.PartField_PART_FIELD_AUDIENCE, "for"), inBody(irv1.PartField_PART_FIELD_PRIORITY, "weight")}},
		{Kind: irv1.PartKind_PART_KIND_IMAGE, Members: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_DATA, "cover", "data"), inBody(mimeType, "cover", "type")}},
		{Kind: irv1.PartKind_PART_KIND_RESOURCE, Members: []*irv1.PartMember{constant(uri, `"book://1"`), constant(mimeType, `"application/json"`), inBody(text)}},
		{Kind: irv1.PartKind_PART_KIND_LINK, Members: []*irv1.PartMember{inBody(uri, "links", "0", "href"), constant(irv1.PartField_PART_FIELD_NAME, `"more"`), inBody(irv1.PartField_PART_FIELD_SIZE, "links", "0", "size")}},
	}
}

func answerAs(mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(w, body)
	}
}

// TestContent has parts of content that are made of a body, and what is left of that.
func TestContent(t *testing.T) {
	tests := []struct {
		name, body string
		content    string // of the result
		rest       string
		err        string // in Err; "" for a result
	}{
		{name: "all", body: `{"title":"T\u0041", "cover":{"data":"iVBORw0KGgo=","type":"image\/png","n":1.0},"notes":[1],"links":[{"href":"https://a.example/b","size":3}],"for":"user","weight":0.50}`,
			content: `[{"type":"text","text":"T\u0041","annotations":{"audience":["user"],"priority":0.50}},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},` +
				`{"type":"resource","resource":{"uri":"book://1","mimeType":"application/json","text":"WHOLE"}},{"type":"resource_link","uri":"https://a.example/b","name":"more","size":3}]`,
			rest: `{"title":"T\u0041", "cover":{"type":"image\/png","n":1.0},"links":[{"href":"https://a.example/b","size":3}],"for":"user","weight":0.50}`},
		{name: "nothing there", body: `{"a":1}`, content: `[{"type":"resource","resource":{"uri":"book://1","mimeType":"application/json","text":"WHOLE"}}]`, rest: `{"a":1}`},
		{name: "nulls", body: `{"title":null,"cover":{"data":null,"type":null}}`, content: `[{"type":"resource","resource":{"uri":"book://1","mimeType":"application/json","text":"WHOLE"}}]`, rest: `{"title":null,"cover":{"data":null,"type":null}}`},
		{name: "a picture of no type", body: `{"cover":{"data":"iVBORw0KGgo=","n":1}}`, content: `[{"type":"resource","resource":{"uri":"book://1","mimeType":"application/json","text":"WHOLE"}}]`,
			rest: `{"cover":{"data":"iVBORw0KGgo=","n":1}}`},
		{name: "optional and wrong", body: `{"title":7,"for":"everyone","weight":"much","links":[{"href":"https://a.example/b","size":-1}]}`,
			content: `[{"type":"text","text":"7"},{"type":"resource","resource":{"uri":"book://1","mimeType":"application/json","text":"WHOLE"}},{"type":"resource_link","uri":"https://a.example/b","name":"more"}]`,
			rest:    `{"title":7,"for":"everyone","weight":"much","links":[{"href":"https://a.example/b","size":-1}]}`},
		{name: "no body", content: `[]`},
		{name: "data that is no Base64", body: `{"cover":{"data":"iVBORw0KGgo","type":"image/png"}}`, err: "has nothing that can be data of part 2"},
		{name: "data that is no text", body: `{"cover":{"data":[1],"type":"image/png"}}`, err: "has nothing that can be data of part 2"},
		{name: "type that is none", body: `{"cover":{"data":"AAAA","type":"png"}}`, err: "has nothing that can be mimeType of part 2"},
		{name: "link to nowhere", body: `{"links":[{"href":"/relative"}]}`, err: "has nothing that can be uri of part 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answerAs("application/json", tt.body))
			o := s.do(t, "read_cover", `{"id":"b"}`)
			if tt.err != "" {
				if o.Class != call.Unusable || o.Content != nil || o.Err == nil || !strings.Contains(o.Err.Error(), tt.err) {
					t.Errorf("outcome is %s, %v", o.Class, o.Err)
				}
				return
			}
			tool := build(t, library(s.URL), table.Deps{}).Endpoint("/mcp").Tool("read_cover")
			members, _ := result.Of(tool, o, result.Newest())
			want := `"content":` + strings.Replace(tt.content, `"WHOLE"`, string(rawjson.Quote(tt.body)), 1)
			if tt.rest != "" {
				want += `,"structuredContent":` + tt.rest
			}
			if string(members) != want || string(o.Rest) != tt.rest || string(o.Body) != tt.body {
				t.Errorf("result is\n%s, want\n%s\nand %s is left", members, want, o.Rest)
			}
		})
	}
}

// TestLargeResults has bodies that are more than a result may have, of all kinds.
func TestLargeResults(t *testing.T) {
	tests := []struct {
		name, tool, body string
		limit            int64
		class            call.Class
		typ              string // of the body; "" for JSON
	}{
		{"body at the limit", "list_books", `{"a":"0123"}`, 12, call.OK, ""},
		{"body", "list_books", `{"a":"01234"}`, 12, call.TooLarge, ""},
		{"what is moved does not count", "read_cover", `{"title":"T","notes":"` + strings.Repeat("x", 1000) + `"}`, 1400, call.OK, ""},
		{"parts count", "read_cover", `{"title":"T","notes":"` + strings.Repeat("x", 1000) + `"}`, 100, call.TooLarge, ""},
		{"an error does not", "relay_book", ``, 1, call.OK, ""},
		{"picture at the limit", "read_cover", "\x89PNG", 4, call.OK, "image/png"},
		{"picture", "read_cover", "\x89PNG", 3, call.TooLarge, "image/png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answerAs(cmp.Or(tt.typ, "application/json"), tt.body))
			b := library(s.URL)
			for _, tool := range b.Tools {
				tool.MaxResultBytes = tt.limit
			}
			o := call.Do(t.Context(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool(tt.tool), call.Request{Arguments: []byte(`{"id":"b","pages":[1]}`)})
			if o.Class != tt.class || tt.class == call.TooLarge && (o.Content != nil || o.Rest != nil || o.Error == nil) {
				t.Errorf("outcome is %s %v", o.Class, o.Err)
			}
		})
	}
}

// TestTooLarge has the words that tell a model what to do, unless the author has better
// ones.
func TestTooLarge(t *testing.T) {
	const body = `{"a":"0123456789"}`
	s := serve(t, answer(200, body))
	do := func(b *irv1.Binding) call.Outcome {
		for _, tool := range b.Tools {
			tool.MaxResultBytes = 10
		}
		return call.Do(t.Context(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("list_books"), call.Request{Arguments: []byte(`{"id":"b","pages":[1]}`)})
	}
	bare := library(s.URL)
	bare.Errors.Rules = nil
	if o := do(bare); !strings.Contains(o.Error.Message, "larger than the 10 bytes that a result of this tool may have. Ask for less") {
		t.Errorf("error is %s", show(o.Error))
	}
	rule := func(name string, f irv1.Failure) *irv1.ErrorRule {
		return &irv1.ErrorRule{Name: name, Message: name, Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Failure{Failure: f}}}}
	}
	bare.Errors.Rules = []*irv1.ErrorRule{rule("unusable", irv1.Failure_FAILURE_UNUSABLE)}
	if o := do(bare); o.Rule != "unusable" {
		t.Errorf("rule is %q", o.Rule)
	}
	bare.Errors.Rules = append(bare.Errors.Rules, rule("wide", irv1.Failure_FAILURE_TOO_LARGE))
	if o := do(bare); o.Rule != "wide" || o.Error.Message != "wide" {
		t.Errorf("rule is %q", o.Rule)
	}
}
