package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/redact"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// FuzzCall holds, whatever a caller and an upstream send:
//   - a call does not panic;
//   - a request stays at the upstream's host, below its base path, with as many
//     segments as the tool's path has;
//   - a request has the headers of the binding and no other, each on one line;
//   - a query says what the arguments say, and nothing else;
//   - the body of a request is the payload's bytes, and satisfies its schema where
//     that is enforced, or has the bytes of the arguments that it is made of, each in
//     its place;
//   - where a body broke its schema is told in words of the schema;
//   - an error does not repeat what is hidden;
//   - a call that fails a check that refuses it is not sent, or is no result;
//   - a request goes out again only if that is safe, and as it was;
//   - a call ends with one JSON value on one line, with a part of a media type that
//     its tool produces, or with an error;
//   - what headers of the response add to a result is valid text of bounded length, what
//     its body adds is a part of that;
//   - what is left of a body has none of the members that are moved, and the parts of
//     content that are made of a body are those of MCP.
func FuzzCall(f *testing.F) {
	args := []string{
		`{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`,
		`{"id":"../..","meta":{"version":"v1\r\nX: y","key":"k"},"payload":null}`,
		`{"id":"%2e%2e/\\","page":".","q":"a&b=c#d","limit":-0,"price":1E+2,"used":true}`,
		`{"meta":{"version":"v1","agent":"\u000d\u000aHost: evil"},"payload":{"title":"x","copies":1,"copies":2}}`,
		`{"id":"\ud83d\ude00","meta":{"version":"v1"},"payload": {"title" : "\u0041" , "copies" :1.0 } }`,
		`{"id":"//evil.example/","page":"@","meta":{"version":"//"}}`,
		`{"id":"..","page":"..","meta":{"version":"v1"}}`,
		`{"meta":{"version":"v1"},"payload":{"title":"x","copies":1,"tags":[{"name":"a"}]}}`,
		`{"meta":{"version":"v1","key":"K3Y12345"},"payload":{"title":"M4RK3R42","copies":1}}`,
		`{"id":"a","pages":[1,2],"tags":["a,b","&"],"sort":["a,b","c"],"filter":{"a":1,"b":"x=y","c":null},"limit":7,"formats":["x","y"],"client":"me"}`,
		`{"id":"a","title":"\u0041 ","subtitle":null,"owner":"x\"y","since":12345678901234567890,"prices":[1.0,1e2],"cover":{"a" : [] },"tags":[{"name":"x"}],"used":false}`,
		`{"id":"a","pages":[".."],"tags":[],"filter":{"a][b":1},"client":"a\r\nb","formats":["a,b"]}`,
	}
	bodies := []string{`{"id":1}`, ``, "[\n1]", `{"error":{"kind":"a","message":"b"}}`, `{"kind":"a","message":"b\nc","content":1}`, `<html>`, `{"a":1,"a":2}`, `{"bill":1}`, `{"kind":"M4RK3R42","message":"K3Y12345 M4RK3R42","M4RK3R42":["K3Y12345"]}`,
		`{"title":"T", "cover":{"data":"iVBORw0KGgo=","type":"image\/png","n":1},"notes":[1],"links":[{"href":"https://a.example/b","size":3}],"for":"user","weight":0.5}`}
	up := &fake{}
	b := checked("http://library.example/v1")
	digest := irv1.DigestOf([]byte(bookSchema))
	b.Tools[1].Payload.Check = warn
	for _, tool := range b.Tools[2:] {
		tool.Output = &irv1.Output{Schema: digest[:], Check: warn}
	}
	lend(b)
	deps := transport(up.roundTrip)
	deps.Sleep = func(context.Context, time.Duration) error { return nil }
	endpoint := build(f, b, deps).Endpoint("/mcp")
	for i := range args {
		for which := range endpoint.Tools {
			f.Add(byte(which), []byte(args[i]), uint16(which%2*203+i), []byte(bodies[i%len(bodies)]))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, args []byte, status uint16, body []byte) {
		tool := endpoint.Tools[int(which)%len(endpoint.Tools)]
		*up = fake{status: 200 + int(status)%400, body: body, header: responseHeader(int(status), body)}
		o := call.Do(context.Background(), tool, call.Request{Arguments: args})
		holdResult(t, tool, o)
		if slices.Contains(o.Checks, "c_tags") && up.sent != nil || slices.Contains(o.Checks, "a_bill") && o.Class == call.OK {
			t.Errorf("%s goes on although it fails %q", o.Class, o.Checks)
		}
		holdPart(t, tool, body, o)
		if up.sent == nil {
			return
		}
		holdAttempts(t, tool, up, o)
		holdDiscreet(t, args, o.Error)
		holdTarget(t, tool, up.sent)
		holdQuery(t, tool, args, up.sent.URL.RawQuery)
		holdHeader(t, up.sent.Header)
		holdBody(t, tool, args, up.got)
	})
}

// fake is an upstream in memory that gives one answer.
type fake struct {
	status int
	header http.Header
	body   []byte
	sent   *http.Request
	got    []byte
	sends  []*http.Request // of all attempts
	bodies [][]byte
}

func (f *fake) roundTrip(r *http.Request) (*http.Response, error) {
	f.sent, f.sends = r, append(f.sends, r)
	if r.Body != nil {
		f.got, _ = io.ReadAll(r.Body)
	}
	f.bodies = append(f.bodies, f.got)
	return &http.Response{StatusCode: f.status, ContentLength: -1, Header: f.header, Body: io.NopCloser(bytes.NewReader(f.body))}, nil
}

// responseHeader returns one of several headers of a response, with text of body.
func responseHeader(which int, body []byte) http.Header {
	types := []string{"", "application/json", "image/png", "IMAGE/x; a=b", "text/plain; charset=UTF-8", "text/plain; charset=latin1", "text/html", "audio/mpeg", "image/", ";"}
	return http.Header{"Content-Type": {types[which%len(types)]}, "Request-Id": {string(body), "x"}}
}

// holdPart holds that a part is a body that its tool produces, and that the headers
// in "_meta" are text.
func holdPart(t *testing.T, tool *table.Tool, sent []byte, o call.Outcome) {
	t.Helper()
	for key, v := range o.Meta {
		text, isText := v.Text()
		whole := key == "example.com/whole" && bytes.Equal(v, o.Body)
		if !strings.HasPrefix(key, "example.com/") || !whole && (!isText || !utf8.ValidString(text) || len(text) > 1024) {
			t.Errorf("_meta has %q: %q", key, v)
		}
	}
	for _, at := range tool.Moved {
		if left := rawjson.Value(o.Rest); left.Lookup(at.GetTokens()) != nil && left.Lookup(at.GetTokens()[:len(at.GetTokens())-1]).Kind() == rawjson.Object {
			t.Errorf("%q is left with %q", o.Rest, at.GetTokens())
		}
	}
	p := o.Part
	if p == nil {
		return
	}
	kind, subtype, _ := strings.Cut(p.MediaType, "/")
	produced := slices.ContainsFunc(tool.Produces, func(r *irv1.MediaRange) bool { return r.GetKind() == p.Kind && table.TypeName(r.GetKind()) == kind })
	if !produced || subtype == "" || subtype == "html" || o.Class != call.OK || o.Body != nil || len(sent) == 0 || !bytes.Equal(p.Data, sent) {
		t.Errorf("part is %+v", p)
	}
	if kind == "text" && !utf8.Valid(p.Data) {
		t.Errorf("text is %q", p.Data)
	}
}

func holdResult(t *testing.T, tool *table.Tool, o call.Outcome) {
	t.Helper()
	if o.Class == call.Internal {
		t.Fatalf("a bug: %v", o.Err)
	}
	if (o.Class == call.OK) != (o.Error == nil) {
		t.Fatalf("outcome is %s with %s", o.Class, show(o.Error))
	}
	for _, b := range o.Breaches {
		if !placeInBook.MatchString(b.Place) || tool.Payload.GetCheck() == enforce && (o.Class != call.InvalidPayload) {
			t.Errorf("outcome is %s with the breach %q", o.Class, b)
		}
	}
	result := o.Body
	if o.Error != nil {
		result = o.Error.Data
		if o.Error.Code == 0 || o.Error.Message == "" {
			t.Errorf("error is %s", show(o.Error))
		}
	}
	if result != nil && (!json.Valid(result) || bytes.ContainsAny(result, "\r\n")) {
		t.Errorf("result is %q", result)
	}
	holdMCP(t, tool, o)
	if o.Class != call.OK || o.Body == nil || tool.Result == irv1.ResultMode_RESULT_MODE_MCP {
		return
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(o.Body, &members); err != nil {
		t.Errorf("a dual or raw result is %q", o.Body)
	}
	if tool.Result == irv1.ResultMode_RESULT_MODE_RAW {
		return
	}
	for _, name := range call.Reserved() {
		if _, ok := members[name]; ok {
			t.Errorf("a dual result has the member %q", name)
		}
	}
}

// callToolResult is the schema of a CallToolResult (MCP 2025-11-25 and 2026-07-28,
// schema), as far as a node makes use of it.
const callToolResult = `{
  "type": "object",
  "required": ["content"],
  "properties": {
    "content": {"type": "array", "items": {"type": "object", "required": ["type"], "oneOf": [
      {"properties": {"type": {"const": "text"}, "text": {"type": "string"}}, "required": ["text"]},
      {"properties": {"type": {"enum": ["image", "audio"]}, "data": {"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$"}, "mimeType": {"type": "string", "minLength": 3}}, "required": ["data", "mimeType"]},
      {"properties": {"type": {"const": "resource"}, "resource": {"type": "object", "properties": {"uri": {"type": "string", "minLength": 3}, "mimeType": {"type": "string"},
        "text": {"type": "string"}, "blob": {"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$"}}, "required": ["uri"], "oneOf": [{"required": ["text"]}, {"required": ["blob"]}]}},
        "required": ["resource"]},
      {"properties": {"type": {"const": "resource_link"}, "uri": {"type": "string", "minLength": 3}, "name": {"type": "string"}, "title": {"type": "string"},
        "description": {"type": "string"}, "mimeType": {"type": "string"}, "size": {"type": "integer", "minimum": 0}}, "required": ["uri", "name"]}
    ], "properties": {"annotations": {"type": "object", "properties": {"audience": {"type": "array", "items": {"enum": ["user", "assistant"]}},
      "priority": {"type": "number", "minimum": 0, "maximum": 1}, "lastModified": {"type": "string"}}}}}},
    "structuredContent": {"type": "object"},
    "isError": {"type": "boolean"},
    "_meta": {"type": "object"},
    "resultType": {"enum": ["complete", "input_required"]}
  }
}`

var mcpResult = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile([]byte(callToolResult), "") })

// holdMCP holds the result that a client gets to MCP's schema.
func holdMCP(t *testing.T, tool *table.Tool, o call.Outcome) {
	t.Helper()
	members, refusal := result.Of(tool, o, result.Newest())
	if refusal != nil || result.IsBare(tool, o) {
		return
	}
	v, err := rawjson.Parse(append(append([]byte{'{'}, members...), '}'), 512)
	if err != nil {
		t.Errorf("a client gets {%s}: %v", members, err)
		return
	}
	s, err := mcpResult()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(v); err != nil && !errors.Is(err, schema.ErrNumber) {
		t.Errorf("a client gets %s: %v", v, err)
	}
}

// placeInBook matches the places of bookSchema.
var placeInBook = regexp.MustCompile(`^\$(\[\*\]|\.\*|\.(payload|title|copies|shelf|isbn|added|tags|name))*(\.\.\*)?$`)

func holdAttempts(t *testing.T, tool *table.Tool, up *fake, o call.Outcome) {
	t.Helper()
	if n := len(up.sends); n != o.Attempts || n != len(o.Retries)+1 || n > 3 || n > 1 && tool.Method != "GET" && up.sent.Header.Get("Request-Key") == "" {
		t.Errorf("%s was sent %d times, %d attempts for %q", tool.Name, n, o.Attempts, o.Retries)
	}
	for i, r := range up.sends {
		if r.URL.String() != up.sent.URL.String() || !reflect.DeepEqual(r.Header, up.sent.Header) || !bytes.Equal(up.bodies[i], up.got) {
			t.Errorf("attempt %d was another request", i)
		}
	}
}

// holdDiscreet looks for the words of a payload and the key in an error.
func holdDiscreet(t *testing.T, args []byte, e *call.Error) {
	t.Helper()
	if e == nil {
		return
	}
	hidden := redact.New([]*irv1.Place{at(irv1.Side_SIDE_REQUEST, "payload"), at(irv1.Side_SIDE_REQUEST, "meta", "key")}, nil)
	for v := range hidden.Hidden(irv1.Side_SIDE_REQUEST, rawjson.Value(bytes.TrimSpace(args))) {
		word := regexp.MustCompile(`^[A-Za-z0-9]{8,}$`).FindString(strings.Trim(string(v), `"`))
		if word != "" && word != "redacted" && strings.Contains(e.Message+"\n"+string(e.Data), word) {
			t.Errorf("error %s has %q", show(e), word)
		}
	}
}

func holdTarget(t *testing.T, tool *table.Tool, r *http.Request) {
	t.Helper()
	if r.URL.Scheme != "http" || r.URL.Host != "library.example" || r.Host != "library.example" {
		t.Errorf("sent to %s, Host %s", r.URL, r.Host)
	}
	escaped, _, _ := strings.Cut(r.URL.RequestURI(), "?")
	clean := path.Clean(escaped)
	if clean != escaped || !strings.HasPrefix(clean, "/v1/books") {
		t.Errorf("sent to %s, which is %s", escaped, clean)
	}
	if strings.Count(escaped, "/") != strings.Count("/v1"+tool.Template, "/") {
		t.Errorf("%s has not the segments of %s", escaped, tool.Template)
	}
}

func holdHeader(t *testing.T, h http.Header) {
	t.Helper()
	known := " Accept Accept-Encoding Accept-Language Api-Version Authorization Content-Type Request-Key Since Stamp Trace User-Agent Where X-Client X-Client-Name X-Formats "
	for name, values := range h {
		if !strings.Contains(known, " "+name+" ") || len(values) != 1 || values[0] == "" || !irv1.ValidHeaderValue(values[0]) {
			t.Errorf("header %q is %q", name, values)
		}
	}
	if h.Get("Authorization") != "Bearer s3cr3t" || h.Get("X-Client") != "tests" {
		t.Errorf("the binding's headers are %v", h)
	}
}

func holdBody(t *testing.T, tool *table.Tool, args, body []byte) {
	t.Helper()
	members := map[string]json.RawMessage{} // its keys are exact, those of a struct are not
	if err := json.Unmarshal(args, &members); err != nil {
		t.Fatalf("encoding/json refuses the arguments: %v", err)
	}
	if tool.Body != nil {
		holdAssembled(t, tool, members, body)
		return
	}
	want := []byte(members["payload"])
	if tool.Payload == nil || string(want) == "null" {
		want = nil
	}
	if !bytes.Equal(body, want) {
		t.Errorf("body is %q, the payload %q", body, want)
	}
	if len(body) == 0 || tool.Payload.GetCheck() != enforce {
		return
	}
	book := struct {
		Title  *string      `json:"title"`
		Copies *json.Number `json:"copies"`
	}{}
	if err := json.Unmarshal(body, &book); err != nil || book.Title == nil || book.Copies == nil {
		t.Errorf("body %q breaks the schema", body)
	}
}
