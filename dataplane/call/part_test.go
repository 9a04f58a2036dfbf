package call_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestParts(t *testing.T) {
	const image, text = irv1.PartKind_PART_KIND_IMAGE, irv1.PartKind_PART_KIND_TEXT
	tests := []struct {
		name   string
		typ    string
		coding string
		body   string
		kind   irv1.PartKind // of the part; 0 for none
		media  string
		json   string // the body without a part
		err    string // in Err; "" for a result
	}{
		{name: "listed", typ: "image/png", body: "\x89PNG\r\n\x00", kind: image, media: "image/png"},
		{name: "by the star", typ: "Image/SVG+XML; charset=utf-8", body: "<svg/>", kind: image, media: "image/svg+xml"},
		{name: "audio", typ: "audio/mpeg", body: "ID3", kind: irv1.PartKind_PART_KIND_AUDIO, media: "audio/mpeg"},
		{name: "audio that is not listed", typ: "audio/ogg", body: "OggS", err: "is not JSON"},
		{name: "text", typ: "text/markdown; charset=\"UTF-8\"", body: "# \u00e9\r\n", kind: text, media: "text/markdown"},
		{name: "text that is JSON", typ: "text/plain", body: "17", kind: text, media: "text/plain"},
		{name: "blank text", typ: "text/plain", body: " \n", kind: text, media: "text/plain"},
		{name: "ASCII", typ: "text/plain; charset=US-ASCII", body: "a", kind: text, media: "text/plain"},
		{name: "text in another charset", typ: "text/plain; charset=iso-8859-1", body: "a", err: "in another encoding than UTF-8"},
		{name: "text that is not UTF-8", typ: "text/plain", body: "\xff", err: "in another encoding than UTF-8"},
		{name: "page of a proxy", typ: "text/html", body: "<h1>Sign in</h1>", err: "is not JSON"},
		{name: "JSON", typ: "application/json", body: `{"a": 1}`, json: `{"a": 1}`},
		{name: "JSON of no type", body: `[1]`, json: `[1]`},
		{name: "image of no type", body: "\x89PNG", err: "is not JSON"},
		{name: "image of a bad type", typ: "image/png; =", body: "\x89PNG", err: "is not JSON"},
		{name: "encoded", typ: "image/png", coding: "gzip", body: "x", err: "is encoded"},
		{name: "not encoded", typ: "image/png", coding: "identity", body: "x", kind: image, media: "image/png"},
		{name: "empty image", typ: "image/png"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{tt.typ}
				if tt.coding != "" {
					w.Header().Set("Content-Encoding", tt.coding)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			o := s.do(t, "read_cover", `{"id":"b"}`)
			if r := s.last(t, 1); r.Header.Get("Accept") != "image/png, image/*, audio/mpeg, text/*, application/json;q=0.5" {
				t.Errorf("accepts %s", r.Header.Get("Accept"))
			}
			if tt.err != "" {
				if o.Class != call.Unusable || o.Part != nil || !strings.Contains(o.Err.Error(), tt.err) {
					t.Errorf("outcome is %s, %v; want %s", o.Class, o.Err, tt.err)
				}
				return
			}
			if o.Class != call.OK || string(o.Body) != tt.json || (o.Part != nil) != (tt.kind != 0) {
				t.Fatalf("outcome is %s, %q, %+v, %v", o.Class, o.Body, o.Part, o.Err)
			}
			if o.Part != nil && (o.Part.Kind != tt.kind || o.Part.MediaType != tt.media || string(o.Part.Data) != tt.body) {
				t.Errorf("part is %+v", o.Part)
			}
		})
	}
}

// A body of another media type than JSON is a result only where the author says so,
// and never for a status other than 2xx.
func TestNoParts(t *testing.T) {
	image := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "\x89PNG")
		}
	}
	if o := serve(t, image(200)).do(t, "list_books", `{"id":"b","pages":[1]}`); o.Class != call.Unusable {
		t.Errorf("outcome is %s", o.Class)
	}
	if o := serve(t, image(404)).do(t, "read_cover", `{"id":"b"}`); o.Class != call.UpstreamError || o.Part != nil {
		t.Errorf("outcome is %s", o.Class)
	}
}

func TestRawResults(t *testing.T) {
	tests := []struct {
		name, body, want string
		class            call.Class
	}{
		{"object", `{"content":[], "_meta":{"a":1}}`, `{"content":[], "_meta":{"a":1}}`, call.OK},
		{"nothing", ``, ``, call.OK},
		{"array", `[]`, ``, call.Unusable},
		{"text", `Deleted.`, ``, call.Unusable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(200, tt.body))
			o := s.do(t, "relay_book", `{"id":"b"}`)
			if o.Class != tt.class || string(o.Body) != tt.want {
				t.Errorf("outcome is %s %q, want %s %q", o.Class, o.Body, tt.class, tt.want)
			}
			if r := s.last(t, 1); r.Method != "DELETE" || r.body != "" {
				t.Errorf("sent %s with %q", r.Method, r.body)
			}
		})
	}
}

func TestResultMeta(t *testing.T) {
	long := strings.Repeat("x", 1022) + "\u20ac\u20ac" // the cut falls into a character
	tests := []struct {
		name   string
		values []string
		want   string
	}{
		{"one", []string{"r-1"}, "r-1"},
		{"several", []string{"r-1", "r-2"}, "r-1, r-2"},
		{"empty", []string{""}, ""},
		{"not UTF-8", []string{"a\xffb"}, "a\uFFFDb"},
		{"long", []string{long}, long[:1022]},
	}
	for _, status := range []int{200, 204, 404, 500} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Request-Id"] = tt.values
					w.Header().Set("Set-Cookie", "s3cr3t")
					w.WriteHeader(status)
				})
				o := s.do(t, "read_cover", `{"id":"b"}`)
				got, there := o.Meta["example.com/id"].Text()
				if len(o.Meta) != 1 || !there || got != tt.want {
					t.Errorf("_meta of %d is %q, want %q", status, o.Meta, tt.want)
				}
			})
		}
	}
	if o := serve(t, nil).do(t, "read_cover", `{}`); o.Meta != nil {
		t.Errorf("_meta without a response is %q", o.Meta)
	}
}

// What a binding asks for in Accept is not what a tool asks for that produces more.
func TestAcceptOfATool(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL)
	b.Upstream.Headers = []*irv1.Header{{Name: "Accept", Value: "application/vnd.library+json"}}
	tools := build(t, b, table.Deps{}).Endpoint("/mcp")
	for i, want := range map[string]string{"relay_book": "application/vnd.library+json", "read_cover": "image/png, image/*, audio/mpeg, text/*, application/json;q=0.5"} {
		call.Do(context.Background(), tools.Tool(i), call.Request{Arguments: []byte(`{"id":"b"}`)})
		s.mu.Lock()
		if got := s.calls[len(s.calls)-1].Header.Get("Accept"); got != want {
			t.Errorf("%s accepts %s, want %s", i, got, want)
		}
		s.mu.Unlock()
	}
}
