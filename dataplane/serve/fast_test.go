package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	library "github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// inMemory carries requests to the library without a socket.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	} else {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// twins are two servers of one table, with the fast path and without. Both have the
// library at /library, where errors are JSON-RPC errors, and at /tool, where they are
// results.
type twins struct{ fast, slow *Server }

func newTwins(t testing.TB) twins {
	t.Helper()
	asErrors, asResults := librarytest.Binding("library.example"), librarytest.Binding("library.example")
	asResults.Name, asResults.Endpoint, asResults.Errors.Style = "tool", "/tool", irv1.ErrorStyle_ERROR_STYLE_TOOL
	for _, tool := range asResults.GetTools() {
		tool.Result = irv1.ResultMode_RESULT_MODE_MCP
	}
	hint(asErrors)
	hint(asResults)
	divide(asResults.GetTools()[1])
	mux := http.NewServeMux()
	mux.Handle("/", echoing(librarytest.Upstream()))
	mux.Handle("/loans", &desk{})
	return twinsOf(t, mux, asErrors, asResults, asking())
}

// asking returns a library at /loans whose lend_book asks, the same way each time: it
// seals nothing, and makes nothing up.
func asking() *irv1.Binding {
	b := lender("library.example")
	b.Name, b.Endpoint, b.State, b.Meta[1].Generate, b.Prompts = "loans", "/loans", nil, irv1.Generate_GENERATE_NOTHING, nil
	lend := b.Tools[3]
	lend.Asks = lend.Asks[:2]
	lend.Asks[1].Arguments = lend.Asks[1].Arguments[:1]
	return b
}

// endpoints are those of twins.
var endpoints = [...]string{"/library", "/tool", "/loans"}

// twinsOf returns two servers of a table of bindings whose upstream is handler.
func twinsOf(t testing.TB, handler http.Handler, bindings ...*irv1.Binding) twins {
	t.Helper()
	return twinsWith(t, table.Deps{
		Secrets:   secret.New("", librarytest.Env),
		Transport: func(library.Origin) http.RoundTripper { return inMemory{handler} },
	}, bindings...)
}

func twinsWith(t testing.TB, deps table.Deps, bindings ...*irv1.Binding) twins {
	t.Helper()
	c := librarytest.Content(t, bindings...)
	next, err := table.Build(c, &discoveryv1.Generation{Epoch: 1, Number: 7, Digest: c.Digest[:]}, nil, deps)
	if err != nil {
		t.Fatal(err)
	}
	hosts := []string{"node.example"}
	pair := twins{New(Config{Version: "v1", AllowedHosts: hosts}), New(Config{Version: "v1", AllowedHosts: hosts, NoFastPath: true})}
	pair.fast.Swap(next)
	pair.slow.Swap(next)
	return pair
}

// An inbound is a request of a client.
type inbound struct {
	path, body string
	header     http.Header
}

func (in inbound) to(s *Server) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "http://node.example"+in.path, strings.NewReader(in.body))
	r.Header = in.header.Clone()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

// hold fails t where the answers of the two differ: in status, in a header, or in
// what the JSON says.
func (p twins) hold(t *testing.T, in inbound) {
	t.Helper()
	fast, slow := in.to(p.fast), in.to(p.slow)
	got, want := readAll(t, fast), readAll(t, slow)
	fast.Header.Del("Content-Length") // or chunks: how a body is framed says nothing
	if fast.StatusCode != slow.StatusCode || !reflect.DeepEqual(fast.Header, slow.Header) {
		t.Errorf("%+v\nfast: %d %v\n%s\nSDK: %d %v\n%s", in, fast.StatusCode, fast.Header, got, slow.StatusCode, slow.Header, want)
		return
	}
	if !sameJSON(got, want) {
		t.Errorf("%+v\nfast: %s\nSDK:  %s", in, got, want)
	}
	if err := lawful(in, slow.StatusCode, want); err != nil {
		t.Errorf("%+v\nis answered with %d %s: %v", in, slow.StatusCode, want, err)
	}
}

// lawful returns what of an answer is not JSON-RPC, or is not an answer to in.
func lawful(in inbound, status int, body []byte) error {
	if status == http.StatusAccepted && len(body) == 0 {
		return nil
	}
	answers := []json.RawMessage{body}
	if bytes.HasPrefix(body, []byte("[")) {
		if err := json.Unmarshal(body, &answers); err != nil {
			return err
		}
	}
	for _, a := range answers {
		m, ok := members(a)
		if !ok || string(m["jsonrpc"]) != `"2.0"` || m["id"] == nil || (m["result"] == nil) == (m["error"] == nil) {
			return errors.New("not JSON-RPC")
		}
		if string(m["id"]) != "null" && !strings.Contains(in.body, string(m["id"])) {
			return fmt.Errorf("nobody sent id %s", m["id"])
		}
		if failure, _ := members(m["error"]); m["error"] != nil {
			if code, err := strconv.Atoi(string(failure["code"])); err != nil || code == 0 {
				return fmt.Errorf("code is %s", failure["code"])
			}
		}
	}
	return nil
}

// members returns the members of an object by name, and false when data is something
// else or has one twice.
func members(data []byte) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
		return nil, false
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		name, _ := d.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if !ok || d.Decode(&value) != nil || all[text] != nil {
			return nil, false
		}
		all[text] = value
	}
	return all, true
}

func readAll(t *testing.T, r *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sameJSON reports whether two texts are the same JSON value, or the same text.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// decode keeps numbers as they are spelled.
func decode(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return v, d.Decode(&v)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{"listChanged":true}}}`

// bodies are requests that go one way or the other: plain calls, and whatever comes
// close to one.
func bodies() []string {
	call := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `}}`
	}
	var all []string
	for _, params := range []string{
		`"name":"get_book","arguments":{"id":"1"}`,
		`"name":"get_book","arguments":{"id":"missing"}`,
		`"name":"get_book","arguments":{"id":"busy"}`,
		`"name":"get_book","arguments":{}`,
		`"name":"get_book"`,
		`"name":"get_book","arguments":null`,
		`"name":"get_book","arguments":[1]`,
		`"name":"get_book","arguments":{"id":"1","id":"2"}`,
		`"name":"get_book","arguments":{"id":"\ud800"}`,
		`"name":"get_\u0062ook","arguments":{"id":"1"}`,
		`"name":"burn_book","arguments":{}`,
		`"name":"","arguments":{}`,
		`"name":7`,
		`"arguments":{}`,
		`"name":"add_book","arguments":{"meta":{"request_id":"r"},"payload":{"title":"x","n":1.0,"big":12345678901234567890}}`,
		`"name":"add_book","arguments":{"payload":{}}`,
		`"name":"add_book","arguments":{"payload":"x"}`,
		`"name":"add_book","arguments":{"payload":{"title":"taken"}}`,
		`"name":"add_book","arguments":{"payload":{"title":"x","content":1}}`,
		`"name":"add_book","arguments":{"payload":{"title":"<&> \u2028 \u0001 \ud83d\ude00"}}`,
		`"name":"get_book","arguments":{"id":"1"},"_meta":{"progressToken":7}`,
		`"name":"lend_book","arguments":{"book":"named"}`,
		`"name":"lend_book","arguments":{"book":"several"}`,
		`"name":"lend_book","arguments":{"book":"days"}`,
		`"name":"lend_book","arguments":{"book":"plain"}`,
		`"name":"lend_book","arguments":{"book":"days"},"inputResponses":{"days":{"action":"accept","content":{"days":3}}}`,
		`"name":"pick_book","arguments":{}`,
		`"name":"get_book","arguments":{"id":"1"},"_meta":7`,
		`"name":"get_book","arguments":{"id":"1"},"requestState":"x"`,
		`"name":"get_book","arguments":{"id":"1"},"task":{}`,
		`"name":"get_book","x":{"a":1,"a":2},"y":{"bb":1,"bb":2}`, // the first by name is told
	} {
		all = append(all, call("1", params), call("1", params+","+modernMeta))
	}
	for _, hints := range []string{
		`"openai/locale":"de-CH"`, `"openai/locale":7`, `"webplus/i18n":"fr"`, `"openai/locale":"\u0064e","openai/userAgent":"ChatGPT/1"`,
		`"openai/userAgent":"S\u00e3o"`, `"openai/userAgent":-122.4190`, `"openai/userAgent":1e21`, `"openai/userAgent":true`, `"openai/userAgent":{"a":1}`,
		`"x":1e400`, `"x":{"y":[-1e400]}`, `"x":1e-400`, `"x":"1e400"`, `"openai/userAgent":null`, `"openai/userAgent":"<&>"`, `"openai/userAgent":"a\nb","openai/locale":""`,
	} {
		all = append(all, call("1", `"name":"get_book","arguments":{"id":"1"},"_meta":{`+hints+`}`),
			call("1", `"name":"get_book","arguments":{"id":"missing"},`+strings.Replace(modernMeta, "{", "{"+hints+",", 1)))
	}
	for _, id := range []string{`0`, `-1`, `1.5`, `1e3`, `123456789012345`, `9007199254740993`, `"a"`, `""`, `"\u0041"`, `"\ud800"`, `null`, `[1]`, `true`} {
		all = append(all, call(id, `"name":"get_book","arguments":{"id":"1"}`), call(id, `"name":"get_book","arguments":{"id":"missing"},`+modernMeta))
	}
	for _, meta := range []string{
		`{}`, `{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`, `{"io.modelcontextprotocol/protocolVersion":7}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":7}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":{}}}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"ROOTS":{"LISTCHANGED":7}}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{"tools":{}},"extensions":{"x":1},"experimental":{"y":[]}}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"icons":"x"}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":null}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":7}`,
	} {
		all = append(all, call("1", `"name":"get_book","arguments":{"id":"1"},"_meta":`+meta))
	}
	plain := call("1", `"name":"get_book","arguments":{"id":"1"}`)
	return append(all,
		`[`+plain+`]`, `[`+plain+`,7,{"jsonrpc":"2.0","method":"notifications/initialized"},`+plain+`]`, `[]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":7}`, `{"jsonrpc":"2.0","id":"\u2028","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"tools/list","params":{`+modernMeta+`}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"jsonrpc":"1.0"`+plain[16:], `{"id":2,`+plain[1:], strings.Replace(plain, `"id":1,`, ``, 1),
		strings.Replace(plain, `tools/call`, `tools/list`, 1), strings.Replace(plain, `tools/call`, `tools\/call`, 1),
		strings.Replace(plain, `{"jsonrpc"`, `{"x":1,"jsonrpc"`, 1), strings.Replace(plain, `{"jsonrpc"`, `{"result":1,"jsonrpc"`, 1),
		plain+"x", "\xef\xbb\xbf"+plain, " \n"+plain+"\n", strings.ReplaceAll(plain, `,`, " ,\n"), ``, `{`, `null`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	)
}

// headers are what a client of each time sends, and what one may get wrong.
func headers() []http.Header {
	both := []string{"application/json, text/event-stream"}
	plain := []string{"application/json"}
	named := func(version, method, name string) http.Header {
		return http.Header{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {version}, "Mcp-Method": {method}, "Mcp-Name": {name}}
	}
	return []http.Header{
		{"Accept": both, "Content-Type": plain},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"2025-11-25"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"2025-06-18"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"2024-11-05"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"1999-01-01"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"2026-07-28"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Protocol-Version": {"2099-01-01"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"get_book"}},
		named("2026-07-28", "tools/call", "get_book"), named("2026-07-28", "tools/call", "add_book"), named("2026-07-28", "tools/list", "get_book"),
		named("2025-11-25", "tools/list", "x"),
		{"Accept": {"application/json", "text/event-stream"}, "Content-Type": plain},
		{"Accept": {"application/json;q=1, text/event-stream ; x=y"}, "Content-Type": {"application/json; charset=utf-8"}},
		{"Accept": {"x-application/json, text/event-streams"}, "Content-Type": plain},
		{"Accept": {"*/*"}, "Content-Type": plain}, {"Accept": plain, "Content-Type": plain}, {"Content-Type": plain},
		{"Accept": both, "Content-Type": {"text/plain"}}, {"Accept": both, "Content-Type": {"APPLICATION/JSON"}}, {"Accept": both},
		{"Accept": both, "Content-Type": plain, "Last-Event-Id": {"1"}},
		{"Accept": both, "Content-Type": plain, "Mcp-Session-Id": {"s"}},
		named("2026-07-28", "tools/call", "lend_book"), named("2026-07-28", "tools/call", "pick_book"),
	}
}

// TestFastPath holds the two ways equal for every body with every header.
func TestFastPath(t *testing.T) {
	proof.Ran(t)
	pair := newTwins(t)
	for _, h := range headers() {
		for _, body := range bodies() {
			for _, path := range endpoints {
				pair.hold(t, inbound{path, body, h})
			}
		}
	}
}

// FuzzFastPath states the law of the fast path: it answers as the SDK does, in
// status, headers and JSON, or not at all.
func FuzzFastPath(f *testing.F) {
	proof.Ran(f)
	all := headers()
	for i, body := range bodies() {
		f.Add(body, byte(i), "")
		f.Add(body, byte(i+7), "")
	}
	f.Add(bodies()[0], byte(7), "get_book")
	pair := newTwins(f)
	f.Fuzz(func(t *testing.T, body string, which byte, name string) {
		h := all[int(which)%len(all)].Clone()
		if name != "" {
			h.Set("Mcp-Name", name)
		}
		pair.hold(t, inbound{endpoints[int(which)/len(all)%len(endpoints)], body, h})
	})
}

func BenchmarkCall(b *testing.B) {
	pair := newTwins(b)
	for name, s := range map[string]*Server{"fast": pair.fast, "sdk": pair.slow} {
		for _, which := range []int{1, 7} {
			h := headers()[which]
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},` + modernMeta + `}}`
			if which == 1 {
				body = strings.Replace(body, ","+modernMeta, "", 1)
			}
			b.Run(fmt.Sprintf("%s/%s", name, h.Get("Mcp-Protocol-Version")), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if resp := (inbound{"/library", body, h}).to(s); resp.StatusCode != http.StatusOK {
						b.Fatal(resp.Status)
					}
				}
			})
		}
	}
}
