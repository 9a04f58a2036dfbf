package call_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestTarget(t *testing.T) {
	tests := []struct {
		name string
		tool string
		args string
		want string
	}{
		{"id", "get_book", `{"id":"b1","meta":{"version":"v1"}}`, "GET /v1/books/b1"},
		{"slash", "get_book", `{"id":"a/b","meta":{"version":"v1"}}`, "GET /v1/books/a%2Fb"},
		{"dots beside a slash", "get_book", `{"id":"../x","meta":{"version":"v1"}}`, "GET /v1/books/..%2Fx"},
		{"escaped dots", "get_book", `{"id":"%2e%2e","meta":{"version":"v1"}}`, "GET /v1/books/%252e%252e"},
		{"query and fragment", "get_book", `{"id":"a?b=c#d","meta":{"version":"v1"}}`, "GET /v1/books/a%3Fb=c%23d"},
		{"line break", "get_book", `{"id":"a\r\nX: y","meta":{"version":"v1"}}`, "GET /v1/books/a%0D%0AX:%20y"},
		{"wide letters", "get_book", `{"id":"\u00e9\ud83d\ude00","meta":{"version":"v1"}}`, "GET /v1/books/%C3%A9%F0%9F%98%80"},
		{"three dots", "get_book", `{"id":"...","meta":{"version":"v1"}}`, "GET /v1/books/..."},
		{"name escaped in JSON", "get_book", `{"\u0069d":"b1","meta":{"version":"v1"}}`, "GET /v1/books/b1"},
		{"two arguments", "get_page", `{"id":"b1","page":"7"}`, "GET /v1/books/b1/.7"},
		{"unknown arguments are ignored", "get_page", `{"id":"b1","page":"7","other":{"deep":[1]}}`, "GET /v1/books/b1/.7"},
		{"query", "find_books", `{"q":"war & peace","limit":10,"price":1.50,"used":false}`, "GET /v1/books?limit=10&price=1.50&q=war+%26+peace&used=false"},
		{"optional ones left out", "find_books", `{"q":"x"}`, "GET /v1/books?q=x"},
		{"optional null is left out", "find_books", `{"q":"x","limit":null}`, "GET /v1/books?q=x"},
		{"empty text in the query", "find_books", `{"q":""}`, "GET /v1/books?q="},
		{"numbers as written", "find_books", `{"q":"x","limit":12345678901234567890,"price":1e2}`, "GET /v1/books?limit=12345678901234567890&price=1e2&q=x"},
		{"injected query", "find_books", `{"q":"x&used=true#y"}`, "GET /v1/books?q=x%26used%3Dtrue%23y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			if o := s.do(t, tt.tool, tt.args); o.Class != call.OK {
				t.Fatalf("%s: %s, %v", o.Class, show(o.Error), o.Err)
			}
			if r := s.last(t, 1); r.Method+" "+r.RequestURI != tt.want {
				t.Errorf("arrived as %s %s, want %s", r.Method, r.RequestURI, tt.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	s := serve(t, nil)
	s.do(t, "add_book", `{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`)
	want := map[string]string{
		"Accept": "application/json", "Accept-Encoding": "identity", "Api-Version": "v1", "Authorization": "Bearer s3cr3t",
		"Content-Length": "24", "Content-Type": "application/json", "Stamp": "2026-01-31T08:30:00Z",
		"Trace": "123e4567-e89b-42d3-a456-426614174000", "User-Agent": "bindery", "X-Client": "tests",
	}
	sameHeaders(t, s.last(t, 1).Header, want)

	s.do(t, "add_book", `{"meta":{"version":"v1","agent":"Robot/2 (x; y)","key":"k-1","lang":"de","since":"2026-01-31","stamp":"2017-01-01T00:59:60.5+01:00",
		"trace":"00000000-0000-0000-0000-00000000000A","where":"https://a.example/?b#c","other":["ignored"]},"payload":{"title":"x","copies":1}}`)
	for name, value := range map[string]string{
		"User-Agent": "Robot/2 (x; y)", "Request-Key": "k-1", "Accept-Language": "de", "Since": "2026-01-31",
		"Stamp": "2017-01-01T00:59:60.5+01:00", "Trace": "00000000-0000-0000-0000-00000000000A", "Where": "https://a.example/?b#c",
	} {
		want[name] = value
	}
	sameHeaders(t, s.last(t, 2).Header, want)

	// A tool takes its own fields only, and a GET describes no body.
	s.do(t, "get_book", `{"id":"x","meta":{"version":"v1","key":"k-1","agent":"Robot/2"}}`)
	sameHeaders(t, s.last(t, 3).Header, map[string]string{
		"Accept": "application/json", "Accept-Encoding": "identity", "Api-Version": "v1", "Authorization": "Bearer s3cr3t",
		"User-Agent": "bindery", "X-Client": "tests",
	})
}

func sameHeaders(t *testing.T, got http.Header, want map[string]string) {
	t.Helper()
	for name, values := range got {
		if len(values) != 1 || values[0] != want[name] {
			t.Errorf("%s is %q, want %q", name, values, want[name])
		}
	}
	for name := range want {
		if got[name] == nil {
			t.Errorf("%s is not sent", name)
		}
	}
}

// The body is the payload's bytes, whatever another program would have made of
// them.
func TestBodyIsThePayload(t *testing.T) {
	const odd = "{ \"title\" : \"\\u0041\\/\\ud83d\\ude00\",\r\n\t\"copies\":12345678901234567890 , \"isbn\":\"9781234567890\" }"
	tests := []struct {
		name string
		tool string
		args string
		body string
		typ  string
	}{
		{"as written", "add_book", `{"meta":{"version":"v1"},"payload": ` + odd + ` ,"x":1}`, odd, "application/json"},
		{"number with a fraction of zero", "add_book", `{"meta":{"version":"v1"},"payload":{"copies":1.0,"title":"x"}}`, `{"copies":1.0,"title":"x"}`, "application/json"},
		{"optional and absent", "close_book", `{"id":"1","meta":{"version":"v1"}}`, "", ""},
		{"optional and null", "close_book", `{"id":"1","meta":{"version":"v1"},"payload":null}`, "", ""},
		{"optional and there", "close_book", `{"id":"1","meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`, `{"title":"x","copies":1}`, "application/json"},
		{"null for a tool without", "get_book", `{"id":"1","meta":{"version":"v1"},"payload":null}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			if o := s.do(t, tt.tool, tt.args); o.Class != call.OK {
				t.Fatalf("%s: %s", o.Class, show(o.Error))
			}
			r := s.last(t, 1)
			if r.body != tt.body || r.Header.Get("Content-Type") != tt.typ || r.ContentLength != int64(len(tt.body)) {
				t.Errorf("body is %q (%s, %d bytes), want %q (%s)", r.body, r.Header.Get("Content-Type"), r.ContentLength, tt.body, tt.typ)
			}
		})
	}
}

// An upstream that wants another type of JSON says so in a constant header; a
// request without body still has none.
func TestContentTypeOfABinding(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL)
	b.Upstream.Headers = []*irv1.Header{{Name: "Content-Type", Value: "application/merge-patch+json"}, {Name: "User-Agent", Value: "fixed"}}
	tools := build(t, b, table.Deps{}).Endpoint("/mcp")
	call.Do(context.Background(), tools.Tool("close_book"), call.Request{Arguments: []byte(`{"id":"1","meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`)})
	if h := s.last(t, 1).Header; h.Get("Content-Type") != "application/merge-patch+json" || h.Get("User-Agent") != "fixed" {
		t.Errorf("headers are %v", h)
	}
	call.Do(context.Background(), tools.Tool("close_book"), call.Request{Arguments: []byte(`{"id":"1","meta":{"version":"v1"}}`)})
	if h := s.last(t, 2).Header; h.Get("Content-Type") != "" {
		t.Errorf("headers without a body are %v", h)
	}
}

func TestInvalidParams(t *testing.T) {
	const book = `"payload":{"title":"x","copies":1}`
	version := func(rest string) string { return `{"meta":{"version":"v1"` + rest + `},` + book + `}` }
	tests := []struct {
		name string
		tool string
		args string
		want string
	}{
		{"no JSON", "get_page", `{`, "arguments are not valid JSON: expected a member name at byte 1"},
		{"empty", "get_page", ``, "arguments are not valid JSON: unexpected end at byte 0"},
		{"trailing bytes", "get_page", `{} {}`, "arguments are not valid JSON: unexpected data after the value at byte 3"},
		{"invalid UTF-8", "get_page", "{\"id\":\"\xff\"}", "arguments are not valid JSON: invalid UTF-8 at byte 7"},
		{"lone surrogate", "get_page", `{"id":"\ud800"}`, "arguments are not valid JSON: bad escape at byte 7"},
		{"duplicate", "get_page", `{"id":"a","id":"b"}`, "arguments are not valid JSON: duplicate member name at byte 10"},
		{"duplicate deep in the payload", "add_book", `{"meta":{"version":"v1"},"payload":{"title":"x","copies":1,"c\u006fpies":100}}`, "arguments are not valid JSON: duplicate member name at byte 59"},
		{"duplicate in what is ignored", "get_page", `{"id":"a","page":"1","other":{"x":1,"x":2}}`, "arguments are not valid JSON: duplicate member name at byte 36"},
		{"too deep", "get_page", `{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "arguments are not valid JSON: too deeply nested value at byte 68"},
		{"array", "get_page", `[]`, "arguments must be an object, not array"},
		{"null", "get_page", `null`, "arguments must be an object, not null"},
		{"no meta", "get_book", `{"id":"1"}`, "meta.version is missing"},
		{"meta null", "get_book", `{"id":"1","meta":null}`, `argument "meta" must be an object, not null`},
		{"meta null where none is needed", "get_page", `{"id":"1","page":"1","meta":null}`, `argument "meta" must be an object, not null`},
		{"meta text", "get_book", `{"id":"1","meta":"v1"}`, `argument "meta" must be an object, not string`},
		{"required field absent", "get_book", `{"id":"1","meta":{}}`, "meta.version is missing"},
		{"required field null", "get_book", `{"id":"1","meta":{"version":null}}`, "meta.version must be a string"},
		{"number", "get_book", `{"id":"1","meta":{"version":1}}`, "meta.version must be a string"},
		{"empty field", "get_book", `{"id":"1","meta":{"version":""}}`, "meta.version must not be empty"},
		{"too short", "get_book", `{"id":"1","meta":{"version":"v"}}`, "meta.version is too short"},
		{"too long", "get_book", `{"id":"1","meta":{"version":"` + strings.Repeat("9", 17) + `"}}`, "meta.version is too long"},
		{"line break", "get_book", `{"id":"1","meta":{"version":"v1\r\nX: y"}}`, "meta.version must be printable ASCII without spaces at its ends"},
		{"NUL", "get_book", `{"id":"1","meta":{"version":"v1\u0000"}}`, "meta.version must be printable ASCII without spaces at its ends"},
		{"tab", "get_book", `{"id":"1","meta":{"version":"v\t1"}}`, "meta.version must be printable ASCII without spaces at its ends"},
		{"space at the end", "get_book", `{"id":"1","meta":{"version":"v1 "}}`, "meta.version must be printable ASCII without spaces at its ends"},
		{"wide letters", "get_book", `{"id":"1","meta":{"version":"v\u00e9"}}`, "meta.version must be printable ASCII without spaces at its ends"},
		{"optional field null", "add_book", version(`,"key":null`), "meta.key must be a string"},
		{"optional field empty", "add_book", version(`,"key":""`), "meta.key must not be empty"},
		{"choice", "add_book", version(`,"lang":"fr"`), "meta.lang must be one of en, de"},
		{"date", "add_book", version(`,"since":"2026-02-30"`), "meta.since must be a date such as 2026-01-31"},
		{"date with a time", "add_book", version(`,"since":"2026-01-31T00:00:00Z"`), "meta.since must be a date such as 2026-01-31"},
		{"date-time", "add_book", version(`,"stamp":"2026-01-31 09:30:00Z"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"date-time without zone", "add_book", version(`,"stamp":"2026-01-31T09:30:00"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"date-time with a short hour", "add_book", version(`,"stamp":"2026-01-31T9:30:00.5Z"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"date-time of no zone", "add_book", version(`,"stamp":"2026-01-31T09:30:00+24:00"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"leap second at noon", "add_book", version(`,"stamp":"2016-12-31T12:59:60Z"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"date-time with a comma", "add_book", version(`,"stamp":"2026-01-31T09:30:00,5Z"`), "meta.stamp must be a date and time such as 2026-01-31T09:30:00Z"},
		{"uuid", "add_book", version(`,"trace":"123e4567e89b42d3a456426614174000"`), "meta.trace must be a UUID"},
		{"uuid with a wrong letter", "add_book", version(`,"trace":"123e4567-e89b-42d3-a456-42661417400g"`), "meta.trace must be a UUID"},
		{"uri", "add_book", version(`,"where":"/relative"`), "meta.where must be an absolute URI"},
		{"uri with a space", "add_book", version(`,"where":"https://a.example/a b"`), "meta.where must be an absolute URI"},
		{"no id", "get_book", `{"meta":{"version":"v1"}}`, `argument "id" is missing`},
		{"id null", "get_book", `{"id":null,"meta":{"version":"v1"}}`, `argument "id" is missing`},
		{"id object", "get_book", `{"id":{"a":1},"meta":{"version":"v1"}}`, `argument "id" must be a string`},
		{"id number", "get_book", `{"id":7,"meta":{"version":"v1"}}`, `argument "id" must be a string`},
		{"id empty", "get_book", `{"id":"","meta":{"version":"v1"}}`, `argument "id" must not be empty`},
		{"id dot", "get_book", `{"id":".","meta":{"version":"v1"}}`, `argument "id" cannot be a path segment`},
		{"id dots", "get_book", `{"id":"..","meta":{"version":"v1"}}`, `argument "id" cannot be a path segment`},
		{"id dots by escape", "get_book", `{"id":"\u002e\u002e","meta":{"version":"v1"}}`, `argument "id" cannot be a path segment`},
		{"dots together with the path", "get_page", `{"id":"1","page":"."}`, `argument "page" cannot be a path segment`},
		{"integer with a fraction", "find_books", `{"q":"x","limit":1.0}`, `argument "limit" must be an integer without fraction and exponent`},
		{"integer with an exponent", "find_books", `{"q":"x","limit":1e3}`, `argument "limit" must be an integer without fraction and exponent`},
		{"integer in quotes", "find_books", `{"q":"x","limit":"1"}`, `argument "limit" must be an integer without fraction and exponent`},
		{"number in quotes", "find_books", `{"q":"x","price":"1"}`, `argument "price" must be a number`},
		{"boolean in quotes", "find_books", `{"q":"x","used":"true"}`, `argument "used" must be true or false`},
		{"array in the query", "find_books", `{"q":["x"]}`, `argument "q" must be a string`},
		{"target too long", "find_books", `{"q":"` + strings.Repeat("x", 8000) + `"}`, "arguments of path and query are longer than 8000 bytes"},
		{"no payload", "add_book", `{"meta":{"version":"v1"}}`, `argument "payload" is missing`},
		{"payload null", "add_book", `{"meta":{"version":"v1"},"payload":null}`, `argument "payload" has the wrong type: Expected object, got null`},
		{"payload text", "add_book", `{"meta":{"version":"v1"},"payload":"{}"}`, `argument "payload" has the wrong type: Expected object, got string`},
		{"payload array", "close_book", `{"id":"1","meta":{"version":"v1"},"payload":[]}`, `argument "payload" has the wrong type: Expected object, got array`},
		{"payload of a tool without", "get_book", `{"id":"1","meta":{"version":"v1"},"payload":{}}`, `argument "payload" is not one of this tool`},
		{"payload too long", "add_book", `{"meta":{"version":"v1"},"payload":{"title":"` + strings.Repeat("x", 1<<20) + `"}}`, `argument "payload" is longer than 1048576 bytes`},
		{"payload with a huge number", "add_book", `{"meta":{"version":"v1"},"payload":{"copies":1e999999999}}`, `argument "payload": number has too many digits`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			o := s.do(t, tt.tool, tt.args)
			if o.Class != call.InvalidParams || show(o.Error) != "-32602 "+tt.want+" " || o.Body != nil || o.Status != 0 {
				t.Errorf("outcome is %s, %s; want -32602 %s", o.Class, show(o.Error), tt.want)
			}
			s.last(t, 0)
		})
	}
}

// Arguments that are not there are an empty object.
func TestNoArguments(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL)
	b.Tools[2].Arguments = b.Tools[2].Arguments[:2]
	tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("find_books")
	if o := call.Do(context.Background(), tool, call.Request{}); o.Class != call.OK {
		t.Errorf("outcome is %s, %s", o.Class, show(o.Error))
	}
	if r := s.last(t, 1); r.RequestURI != "/books" {
		t.Errorf("arrived as %s", r.RequestURI)
	}
}

// TestEscapedDots has an argument behind a dot that the binding has escaped.
func TestEscapedDots(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL)
	for _, tool := range b.Tools {
		if tool.Name == "get_book" {
			tool.Path[0] = &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: "/books/%2e"}}
		}
	}
	get := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
	for id, want := range map[string]string{".": `-32602 argument "id" cannot be a path segment `, "a": "no error"} {
		if o := call.Do(t.Context(), get, call.Request{Arguments: []byte(`{"id":"` + id + `","meta":{"version":"v1"}}`)}); show(o.Error) != want {
			t.Errorf("%s: %s, want %s", id, show(o.Error), want)
		}
	}
	s.last(t, 1)
}
