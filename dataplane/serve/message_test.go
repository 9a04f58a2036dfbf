package serve

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestIDs has ids of every legal form: they come back byte for byte, with a result,
// with an error and with a refusal, whoever answers.
func TestIDs(t *testing.T) {
	proof.Ran(t)
	pair := newTwins(t)
	requests := map[string]string{
		"result":  `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},` + modernMeta + `}}`,
		"error":   `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"missing"},` + modernMeta + `}}`,
		"refusal": `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"get_book","arguments":7,` + modernMeta + `}}`,
		"own":     `{"jsonrpc":"2.0","id":%s,"method":"prompts/list","params":{` + modernMeta + `}}`,
	}
	ids := []string{
		`0`, `1`, `-1`, `-0`, `1.5`, `1e3`, `1E-400`, `9007199254740993`, `-9223372036854775809`, `123456789012345678901234567890`,
		`"a"`, `""`, `"\u0041"`, `"\ud800"`, `"<&>"`, `"\n"`, "\"\u2028\"", `"1"`,
	}
	for name, request := range requests {
		for _, id := range ids {
			in := inbound{"/library", fmt.Sprintf(request, id), headers()[7]}
			if name == "own" {
				in.header.Set("Mcp-Method", "prompts/list")
			}
			for _, s := range []*Server{pair.fast, pair.slow} {
				got := string(readAll(t, in.to(s)))
				if m, ok := members([]byte(got)); !ok || string(m["id"]) != id {
					t.Errorf("%s with id %s is answered with %s", name, id, got)
				}
			}
		}
	}
}

// TestListenID has a stream whose messages say the id of the request that opened it.
func TestListenID(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	for _, id := range []string{`7`, `1.5`, `"\u0041"`} {
		r := posted(t, url+"/library", message.Modern, "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`)
		r = withID(t, r, id)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		event := make([]byte, 4096)
		n, err := resp.Body.Read(event)
		if want := `subscriptionId":` + id; err != nil || !strings.Contains(string(event[:n]), want) {
			t.Errorf("%v: %s\nis without %s", err, event[:n], want)
		}
		resp.Body.Close()
		until(t, func() bool { return listening(t, s) == 0 })
	}
}

// withID returns r, which posted made, with another id.
func withID(t *testing.T, r *http.Request, id string) *http.Request {
	t.Helper()
	body := make([]byte, r.ContentLength)
	if _, err := r.Body.Read(body); err != nil {
		t.Fatal(err)
	}
	other := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(strings.Replace(string(body), `"id":1`, `"id":`+id, 1)))
	other.RequestURI = ""
	other.Header = r.Header
	other.Header.Set("Content-Type", "application/json")
	other.Header.Set("Accept", "application/json, text/event-stream")
	return other.WithContext(t.Context())
}

// TestMessages is what messages get that are no requests, or none that an endpoint
// takes. No answer repeats more of a message than its id.
func TestMessages(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	const marker = "secret-marker"
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	tests := []struct {
		name   string
		body   string
		header string // Mcp-Protocol-Version
		status int
		want   string // "" for no body
	}{
		{name: "no object", body: `"` + marker + `"`, status: 400, want: `"id":null,"error":{"code":-32600`},
		{name: "another version of JSON-RPC", body: `{"jsonrpc":"` + marker + `","id":"a","method":"ping"}`, status: 400, want: `"id":"a","error":{"code":-32600`},
		{name: "no version of JSON-RPC", body: `{"id":1,"method":"ping"}`, status: 400, want: `"code":-32600`},
		{name: "no method", body: `{"jsonrpc":"2.0","id":1,"params":{"x":"` + marker + `"}}`, status: 400, want: `"id":1,"error":{"code":-32600`},
		{name: "a method that is no text", body: `{"jsonrpc":"2.0","id":1,"method":["` + marker + `"]}`, status: 400, want: `"code":-32600`},
		{name: "null as id", body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, status: 400, want: `"id":null,"error":{"code":-32600`},
		{name: "true as id", body: `{"jsonrpc":"2.0","id":true,"method":"ping"}`, status: 400, want: `"id":null,"error":{"code":-32600`},
		{name: "an id twice", body: `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, status: 400, want: `"id":null,"error":{"code":-32600`},
		{name: "a method twice", body: `{"jsonrpc":"2.0","id":1,"method":"ping","me\u0074hod":"tools/list"}`, status: 400, want: `"code":-32600`},
		{name: "another member twice", body: `{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}`, status: 400, want: `"code":-32600`},
		{name: "a name twice", body: call + `{"name":"get_book","name":"add_book"}}`, status: 200, want: `"id":1,"error":{"code":-32602`},
		{name: "_meta twice", body: call + `{"name":"get_book","_meta":{},"_meta":{}}}`, status: 200, want: `"code":-32602`},
		{name: "a member of _meta twice", body: call + `{"name":"get_book","_meta":{"x":{"y":1,"y":2}}}}`, status: 200, want: `"code":-32602,"message":"a member of params is not valid JSON: duplicate member name`},
		{name: "an argument twice", body: call + `{"name":"get_book","arguments":{"id":"1","id":"2"}}}`, status: 200, want: `"code":-32602,"message":"arguments are not valid JSON: duplicate member name`},
		{name: "a name that is no text", body: call + `{"name":7,"arguments":{"id":"` + marker + `"}}}`, status: 200, want: `"code":-32602,"message":"params are not those that tools/call takes"`},
		{name: "params by position", body: call + `["` + marker + `"]}`, status: 200, want: `"code":-32602`},
		{name: "no params", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, status: 200, want: `"code":-32602`},
		{name: "null as params", body: call + `null}`, status: 200, want: `"code":-32602`},
		{name: "null as params that need not be", body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, status: 200, want: `"result":{}`},
		{name: "a bad cursor", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{"` + marker + `":1}}}`, status: 200, want: `"code":-32602`},
		{name: "bad params of initialize", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":"` + marker + `"}}`, status: 200, want: `"code":-32602`},
		{name: "an unknown method", body: `{"jsonrpc":"2.0","id":1,"method":"` + marker + `"}`, status: 200, want: `"id":1,"error":{"code":-32601`},
		{name: "a method of a feature that is not there", body: `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`, status: 200, want: `"code":-32601`},
		{name: "a method of a later revision", body: `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`, header: "2025-11-25", status: 200, want: `"code":-32601`},
		{name: "a method of an earlier revision", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: "2026-07-28", status: 404, want: `"id":1,"error":{"code":-32601`},
		{name: "an unknown revision", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: "1999-01-01", status: 400, want: `"id":1,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1999-01-01"}}`},
		{name: "an unknown revision of the future", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: "2099-01-01", status: 400, want: `"code":-32022`},
		{name: "a very long revision", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, header: strings.Repeat("9", 40) + marker, status: 400, want: `"code":-32022`},
		{name: "a modern request without _meta", body: call + `{"name":"get_book"}}`, header: "2026-07-28", status: 400, want: `"code":-32602`},
		{name: "a modern body with an older header", body: call + `{"name":"get_book",` + modernMeta + `}}`, header: "2025-11-25", status: 400, want: `"code":-32020`},
		{name: "a modern body without a header", body: call + `{"name":"get_book",` + modernMeta + `}}`, status: 400, want: `"code":-32020`},
		{name: "a notification", body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, status: 202},
		{name: "an unknown notification", body: `{"jsonrpc":"2.0","method":"notifications/` + marker + `"}`, status: 202},
		{name: "a modern notification without its header", body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header: "2026-07-28", status: 400, want: `"id":null,"error":{"code":-32020`},
		{name: "an answer", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, status: 202},
		{name: "an answer to nothing", body: `{"jsonrpc":"2.0","result":{}}`, status: 400, want: `"code":-32600`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			proof.Ran(t)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/library", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Mcp-Protocol-Version", tt.header)
			status, body := send(t, r)
			if status != tt.status || !strings.Contains(body, tt.want) || (tt.want == "") != (body == "") || strings.Contains(body, marker) {
				t.Errorf("%d %s; want %d with %s", status, body, tt.status, tt.want)
			}
		})
	}
}

// TestNameHeader holds the headers that a modern request repeats its body in to that
// body, in both forms that SEP-2243 has for them.
func TestNameHeader(t *testing.T) {
	proof.Ran(t)
	pair := newTwins(t)
	coded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	tests := []struct {
		name         string
		method, tool []string
		want         string
	}{
		{"as they are", []string{"tools/call"}, []string{"get_book"}, `"result":`},
		{"in Base64", []string{coded("tools/call")}, []string{coded("get_book")}, `"result":`},
		{"another name", []string{"tools/call"}, []string{"add_book"}, `"code":-32020`},
		{"another name in Base64", []string{"tools/call"}, []string{coded("add_book")}, `"code":-32020`},
		{"bad Base64", []string{"tools/call"}, []string{"=?base64?get_book!?="}, `"code":-32020`},
		{"Base64 without its end", []string{"tools/call"}, []string{strings.TrimSuffix(coded("get_book"), "?=")}, `"code":-32020`},
		{"two names", []string{"tools/call"}, []string{"get_book", "add_book"}, `"code":-32020`},
		{"no name", []string{"tools/call"}, nil, `"code":-32020`},
		{"another method", []string{"tools/list"}, []string{"get_book"}, `"code":-32020`},
		{"no method", nil, []string{"get_book"}, `"code":-32020`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			proof.Ran(t)
			h := headers()[7]
			h["Mcp-Method"], h["Mcp-Name"] = tt.method, tt.tool
			in := inbound{"/library", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},` + modernMeta + `}}`, h}
			pair.hold(t, in)
			if got := string(readAll(t, in.to(pair.slow))); !strings.Contains(got, tt.want) {
				t.Errorf("answer is %s, want %s", got, tt.want)
			}
		})
	}
}

// TestSDKWriter has the SDK say what no request is known to make it say.
func TestSDKWriter(t *testing.T) {
	proof.Ran(t)
	for status, want := range map[int]string{http.StatusBadRequest: `"id":7,"error":{"code":-32600`, http.StatusInternalServerError: `"id":7,"error":{"code":-32603`} {
		w := httptest.NewRecorder()
		http.Error(&sdkWriter{ResponseWriter: w, id: []byte(`7`), stand: []byte(`7`)}, "M4RK3R", status)
		if body := w.Body.String(); w.Code != status || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(body, want) || strings.Contains(body, "M4RK3R") {
			t.Errorf("%d becomes %d %v %s", status, w.Code, w.Header(), body)
		}
	}
}
