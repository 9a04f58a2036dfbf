package call_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// bookSchema is the input schema of the tools that take a book.
const bookSchema = `{
  "type": "object",
  "required": ["payload"],
  "properties": {"payload": {"$ref": "#/$defs/Book"}},
  "$defs": {
    "Book": {
      "type": "object",
      "required": ["title", "copies"],
      "additionalProperties": false,
      "properties": {
        "title": {"type": "string", "minLength": 1},
        "copies": {"type": "integer", "minimum": 1},
        "shelf": {"enum": ["a", "b"]},
        "isbn": {"type": "string", "pattern": "^[0-9]{13}$"},
        "added": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}
      }
    }
  }
}`

const openSchema = `{"type":"object"}`

// library is a binding that uses everything there is, for an upstream at base.
func library(base string) *irv1.Binding {
	u, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	return &irv1.Binding{
		Name:     "library",
		Endpoint: "/mcp",
		Upstream: &irv1.Upstream{
			Scheme:           irv1.Scheme_SCHEME_HTTP,
			Authority:        u.Host,
			BasePath:         u.Path,
			Headers:          []*irv1.Header{{Name: "X-Client", Value: "tests"}},
			Credential:       &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: "library-token"}}},
			MaxRequestBytes:  1 << 20,
			MaxResponseBytes: 64 << 10,
		},
		Meta: []*irv1.MetaRule{
			metaRule("agent", "User-Agent"),
			metaRule("key", "Request-Key"),
			{Field: "lang", Header: "Accept-Language", Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 20, OneOf: []string{"en", "de"}},
			{Field: "since", Header: "Since", Format: irv1.Format_FORMAT_DATE, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 255},
			{Field: "stamp", Header: "Stamp", Format: irv1.Format_FORMAT_DATE_TIME, Generate: irv1.Generate_GENERATE_TIMESTAMP, MaxLength: 255},
			{Field: "trace", Header: "Trace", Format: irv1.Format_FORMAT_UUID, Generate: irv1.Generate_GENERATE_UUID, MaxLength: 255},
			{Field: "version", Header: "Api-Version", Required: true, Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MinLength: 2, MaxLength: 16},
			{Field: "where", Header: "Where", Format: irv1.Format_FORMAT_URI, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 255},
		},
		Errors: libraryErrors(),
		Tools:  append(libraryTools(), formTools()...),
	}
}

func metaRule(field, header string) *irv1.MetaRule {
	return &irv1.MetaRule{Field: field, Header: header, Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 255}
}

func libraryErrors() *irv1.Errors {
	status := func(s uint32) *irv1.Condition { return &irv1.Condition{Kind: &irv1.Condition_Status{Status: s}} }
	class := func(c uint32) *irv1.Condition { return &irv1.Condition{Kind: &irv1.Condition_Class{Class: c}} }
	failure := func(f irv1.Failure) *irv1.Condition {
		return &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: f}}
	}
	member := func(name, json string) *irv1.Member { return &irv1.Member{Name: name, Json: []byte(json)} }
	return &irv1.Errors{
		Style:   irv1.ErrorStyle_ERROR_STYLE_JSONRPC,
		Code:    -32000,
		Unwrap:  &irv1.Pointer{Tokens: []string{"error"}},
		Message: &irv1.Pointer{Tokens: []string{"message"}},
		Usable:  []string{"kind", "message"},
		Rules: []*irv1.ErrorRule{
			{Name: "busy", Conditions: []*irv1.Condition{status(429), status(503), failure(irv1.Failure_FAILURE_UNREACHABLE), failure(irv1.Failure_FAILURE_TIMEOUT)},
				Fallback: []*irv1.Member{member("kind", `"busy"`), member("message", `"The library is closed."`)}},
			{Name: "denied", Conditions: []*irv1.Condition{status(403)}, Code: proto.Int32(-32003), Set: []*irv1.Member{member("kind", `"denied"`), member("retry", `false`)}},
			{Name: "refused", Conditions: []*irv1.Condition{class(4)},
				Fallback: []*irv1.Member{member("kind", `"refused"`), member("message", `"The library refused."`)}},
			{Name: "strange", Conditions: []*irv1.Condition{failure(irv1.Failure_FAILURE_UNUSABLE), class(3)},
				Fallback: []*irv1.Member{member("kind", `"strange"`)}},
		},
		Payload: &irv1.PayloadError{
			Code:          -32001,
			Data:          []*irv1.Member{member("code", `"invalid"`), member("kind", `"payload"`)},
			MessageMember: "message",
			PathMember:    "place",
			KeywordMember: "code",
			Keywords:      []*irv1.KeywordWord{{Keyword: "required", Word: "missing"}},
		},
	}
}

func libraryTools() []*irv1.Tool {
	literal := func(s string) *irv1.PathPart { return &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: s}} }
	argument := func(s string) *irv1.PathPart { return &irv1.PathPart{Kind: &irv1.PathPart_Argument{Argument: s}} }
	in := func(name string, where irv1.ArgumentIn, typ irv1.ArgumentType, required bool) *irv1.Argument {
		return &irv1.Argument{Name: name, In: where, Type: typ, Required: required}
	}
	const query, path = irv1.ArgumentIn_ARGUMENT_IN_QUERY, irv1.ArgumentIn_ARGUMENT_IN_PATH
	all := []string{"agent", "key", "lang", "since", "stamp", "trace", "version", "where"}
	id := in("id", path, irv1.ArgumentType_ARGUMENT_TYPE_STRING, true)
	return []*irv1.Tool{
		tool("add_book", irv1.Method_METHOD_POST, all, &irv1.Payload{Required: true, Check: irv1.Check_CHECK_ENFORCE}, []*irv1.PathPart{literal("/books")}),
		tool("close_book", irv1.Method_METHOD_POST, []string{"version"}, &irv1.Payload{Check: irv1.Check_CHECK_ENFORCE}, []*irv1.PathPart{literal("/books/"), argument("id"), literal("/close")}, id),
		tool("find_books", irv1.Method_METHOD_GET, nil, nil, []*irv1.PathPart{literal("/books")},
			in("limit", query, irv1.ArgumentType_ARGUMENT_TYPE_INTEGER, false),
			in("price", query, irv1.ArgumentType_ARGUMENT_TYPE_NUMBER, false),
			in("q", query, irv1.ArgumentType_ARGUMENT_TYPE_STRING, true),
			in("used", query, irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN, false)),
		tool("get_book", irv1.Method_METHOD_GET, []string{"version"}, nil, []*irv1.PathPart{literal("/books/"), argument("id")}, id),
		tool("get_page", irv1.Method_METHOD_GET, nil, nil, []*irv1.PathPart{literal("/books/"), argument("id"), literal("/."), argument("page")},
			id, in("page", path, irv1.ArgumentType_ARGUMENT_TYPE_STRING, true)),
	}
}

func tool(name string, method irv1.Method, meta []string, payload *irv1.Payload, path []*irv1.PathPart, args ...*irv1.Argument) *irv1.Tool {
	schema := openSchema
	if payload != nil {
		schema = bookSchema
	}
	digest := irv1.DigestOf([]byte(schema))
	return &irv1.Tool{
		Name: name, Description: name, Method: method, Path: path, Arguments: args, Meta: meta, Payload: payload,
		InputSchema: digest[:], Timeout: durationpb.New(5 * time.Second), Result: irv1.ResultMode_RESULT_MODE_DUAL,
	}
}

// build makes a table of b, with the secret "library-token"; schemas are those that b
// has beside its usual ones.
func build(t testing.TB, b *irv1.Binding, deps table.Deps, schemas ...string) *table.Table {
	t.Helper()
	var documents [][]byte
	for _, s := range append(schemas, bookSchema, openSchema, formSchema) {
		documents = append(documents, []byte(s))
	}
	sealed, err := irv1.Seal([]*irv1.Binding{b}, documents)
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if deps.Secrets == nil {
		deps.Secrets = secret.New("", func(name string) (string, bool) { return "s3cr3t", name == "BINDERY_SECRET_LIBRARY_TOKEN" })
	}
	if deps.Now == nil {
		deps.Now = func() time.Time { return time.Date(2026, 1, 31, 9, 30, 0, 5, time.FixedZone("", 3600)) }
	}
	if deps.UUID == nil {
		deps.UUID = func() string { return "123e4567-e89b-42d3-a456-426614174000" }
	}
	tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, deps)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// service is an upstream that records what arrives and gives one answer.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	calls []recorded
}

type recorded struct {
	*http.Request
	body string
}

// serve starts a service; answer nil answers 200 with an empty object.
func serve(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }
	}
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.calls = append(s.calls, recorded{r, string(body)})
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// answer is a handler that writes one response.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (s *service) tools(t testing.TB) *table.Endpoint {
	t.Helper()
	return build(t, library(s.URL+"/v1"), table.Deps{}).Endpoint("/mcp")
}

// last returns what arrived last, and fails unless n calls did in all.
func (s *service) last(t testing.TB, n int) recorded {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != n {
		t.Fatalf("the upstream was called %d times, want %d", len(s.calls), n)
	}
	if n == 0 {
		return recorded{}
	}
	return s.calls[n-1]
}

// do calls the tool of s called name, with args.
func (s *service) do(t testing.TB, name, args string) call.Outcome {
	t.Helper()
	return call.Do(context.Background(), s.tools(t).Tool(name), call.Request{Arguments: []byte(args)})
}

// show returns an error as one line.
func show(e *call.Error) string {
	if e == nil {
		return "no error"
	}
	return fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)
}
