package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	plainCall  = `{"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"}},"jsonrpc":"2.0","id":1}`
	modernCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{"listChanged":true}}}}}`
)

// header returns the header of a request whose body has a call.
func header(version string) http.Header {
	h := http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if version >= Modern {
		h.Set("Mcp-Method", MethodCall)
		h.Set("Mcp-Name", "get_book")
	}
	return h
}

// TestEnvelope holds that what real clients send is opened, and that this takes little
// from the heap.
func TestEnvelope(t *testing.T) {
	split := header("")
	split["Accept"] = []string{"application/json", "text/event-stream"}
	for _, tt := range []struct {
		header http.Header
		body   string
		want   string // the version
	}{
		{header(""), plainCall, unsaid}, {split, plainCall, unsaid}, {header("2025-11-25"), plainCall, "2025-11-25"}, {header(Modern), modernCall, Modern},
	} {
		open := func() (Envelope, bool) { return OpenEnvelope(tt.header, []byte(tt.body)) }
		e, ok := open()
		if !ok || e.Tool != "get_book" || string(e.Arguments) != `{"id":"1"}` || string(e.ID) != `1` || e.Version != tt.want {
			t.Errorf("%v: %t %+v", tt.header, ok, e)
		}
		if got := testing.AllocsPerRun(100, func() { open() }); got > 12 {
			t.Errorf("%v: %v allocations, want at most 12", tt.header, got)
		}
	}
}

// FuzzEnvelope states what an envelope is: that of a request which can be taken apart
// the slow way too, is refused nowhere there, and has the same parts.
func FuzzEnvelope(f *testing.F) {
	for _, body := range []string{
		plainCall, modernCall, `[` + plainCall + `]`, `{`, `null`, plainCall + plainCall, " " + plainCall + "\n", strings.Replace(plainCall, "1}", "1.5e3}", 1), strings.Replace(plainCall, `"get_book"`, `"get\u005fbook"`, 1),
		strings.Replace(plainCall, `"id":1`, `"id":"a"`, 1), strings.Replace(plainCall, `"id":1`, `"id":null`, 1), strings.Replace(plainCall, `"id":1`, `"id":1,"id":2`, 1), strings.Replace(plainCall, `"id":1`, `"i\u0064":1`, 1),
		strings.Replace(plainCall, `"params"`, `"result"`, 1), strings.Replace(plainCall, `"arguments":{"id":"1"}`, `"arguments":[]`, 1), strings.Replace(plainCall, `"arguments":{"id":"1"}`, `"arguments":{"id":1,"id":2}`, 1),
		strings.Replace(modernCall, `"name":"t"`, `"name":7`, 1), strings.Replace(modernCall, `"_meta":{`, `"_meta":{"x":[1e400],`, 1), strings.Replace(modernCall, `{"form":{}}`, `7`, 1), strings.Replace(modernCall, Modern, "2025-11-25", 1),
	} {
		for _, version := range []string{"", "2025-11-25", Modern, "1999-01-01"} {
			f.Add(body, version, "get_book")
		}
	}
	f.Fuzz(func(t *testing.T, body, version, name string) {
		h := header(version)
		if h.Get("Mcp-Name") != "" {
			h.Set("Mcp-Name", name)
		}
		e, ok := OpenEnvelope(h, []byte(body))
		if !ok {
			return
		}
		if !json.Valid([]byte(body)) || IsBatch([]byte(body)) || CheckMedia(h) != nil {
			t.Fatal("the body is none of a request")
		}
		m, refused := Open([]byte(body))
		if refused == nil {
			refused = m.Check(h)
		}
		if refused != nil {
			t.Fatalf("it is refused: %+v", refused)
		}
		spoken, _ := VersionOf(h)
		tool, _ := m.Name()
		if !m.IsRequest() || m.Method != MethodCall || tool != e.Tool || spoken != e.Version {
			t.Errorf("%+v is the envelope of %s %q in revision %s", e, m.Method, tool, spoken)
		}
		for _, part := range [][2][]byte{{m.ID, e.ID}, {m.Param["arguments"], e.Arguments}, {m.Param["_meta"], e.Meta}} {
			if !bytes.Equal(bytes.TrimSpace(part[0]), part[1]) {
				t.Errorf("%s is %s in the envelope", part[0], part[1])
			}
		}
	})
}

// TestRefusalsRepeatNothing holds that a refusal repeats nothing of what is refused, but for a version.
func TestRefusalsRepeatNothing(t *testing.T) {
	const marker = "secret-marker"
	for _, body := range []string{
		`"` + marker + `"`, `{"jsonrpc":"` + marker + `"}`, `{"jsonrpc":"2.0","id":true,"method":"` + marker + `"}`, `{"jsonrpc":"2.0","id":1,"method":"` + marker + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["` + marker + `"]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":{"` + marker + `":1,"` + marker + `":2}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"` + marker + `":1}}}`,
	} {
		for _, version := range []string{"", "2025-11-25", Modern} {
			m, refused := Open([]byte(body))
			if refused == nil {
				refused = m.Check(header(version))
			}
			if refused == nil || strings.Contains(refused.Message+string(refused.Data), marker) {
				t.Errorf("%s in revision %q: %+v", body, version, refused)
			}
		}
	}
}

// TestCheckMet holds messages that come without headers to a revision of the protocol:
// their own, or the one that was agreed on.
func TestCheckMet(t *testing.T) {
	const (
		none   = jsonrpc.CodeMethodNotFound
		params = jsonrpc.CodeInvalidParams
		unmet  = jsonrpc.CodeInvalidRequest
	)
	for _, tt := range []struct {
		method, said, met string
		want              int64 // 0: it is taken
	}{
		{"ping", "", "", 0}, {"initialize", "", "", params}, {"tools/list", "", "", unmet}, {"server/discover", "", "", none}, {"books/burn", "", "", none},
		{"tools/list", "", LastHandshake, 0}, {"subscriptions/listen", "", LastHandshake, none}, {"tools/call", "", LastHandshake, params},
		{"tools/list", Modern, "", 0}, {"tools/list", Modern, LastHandshake, 0}, {"ping", Modern, LastHandshake, none}, {"server/discover", Modern, "", 0},
		{"tools/list", LastHandshake, "", unmet}, {"tools/list", Structured, LastHandshake, 0}, {"tools/list", "1999-01-01", LastHandshake, mcp.CodeUnsupportedProtocolVersion},
		{"notifications/cancelled", "", LastHandshake, none},
	} {
		data := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, tt.method)
		if tt.said != "" {
			data = strings.Replace(data, `}`, fmt.Sprintf(`,"params":{"_meta":{%q:%q}}}`, KeyVersion, tt.said), 1)
		}
		m, refused := Open([]byte(data))
		if refused != nil {
			t.Fatal(refused.Message)
		}
		if refused = m.CheckMet(tt.met); (refused == nil) != (tt.want == 0) || refused != nil && refused.Code != tt.want {
			t.Errorf("%s, met %q: %+v, want %d", data, tt.met, refused, tt.want)
		}
	}
	for _, data := range []string{`{"jsonrpc":"2.0","method":"books/burn"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		if m, _ := Open([]byte(data)); m.CheckMet("") != nil {
			t.Errorf("%s is refused", data)
		}
	}
}

// TestCostly holds that what would cost many times its bytes to take apart is refused before
// it does.
func TestCostly(t *testing.T) {
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `,"%x":1`, i)
	}
	const ones = `1,1,1,1,1,1,1,1,`
	params := func(members string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book"` + members + `}}`
	}
	tests := []struct{ name, body, want string }{
		{"batch", `[` + strings.Repeat(ones, 100_000) + `1]`, "the message is a batch of more than 100 messages"},
		{"message", `{"jsonrpc":"2.0","id":1,"method":"ping"` + many.String() + `}`, "the message has more than 1000 members"},
		{"params", params(many.String()), "params have more than 1000 members"},
		{"_meta", params(`,"_meta":{"x":1` + many.String() + `}`), "_meta is longer than 262144 bytes"},
		{"an array in _meta", params(`,"_meta":{"x":[` + strings.Repeat(ones, 100_000) + `1]}`), "_meta is longer than 262144 bytes"},
		{"capabilities", strings.Replace(params(`,"capabilities":{"experimental":{"x":1`+many.String()+`}}`), MethodCall, MethodInitialize, 1), "capabilities is longer than 262144 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var refused *Refusal
			if IsBatch(body) {
				_, refused = OpenBatch(header(""), body)
			} else {
				_, refused = Open(body)
			}
			runtime.ReadMemStats(&after)
			if _, ok := OpenEnvelope(header(""), body); ok || refused == nil || refused.Message != tt.want {
				t.Errorf("refused is %+v, want %q", refused, tt.want)
			}
			// What is one value is copied as a whole, while there is more to read.
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 10*uint64(len(body)) {
				t.Errorf("%d bytes take %d", len(body), cost)
			}
		})
	}
}

// TestExact holds that the SDK gets the same message, which brings what it reads otherwise
// as it was written, whatever the client says is brought.
func TestExact(t *testing.T) {
	const own = `"bindery.dev/exact":"{}"`
	for _, tt := range []struct{ params, want string }{
		{`{"name":"a","arguments":{"a":1,"a":2}}`, ``},
		{`{"name":"a","_meta":{"a":1.50}}`, `{"_meta":{"a":1.50}}`},
		{`{"name":"a","_meta":{` + own + `},"x":1e999}`, `{"_meta":{` + own + `}}`},
		{`{"name":"a","_meta":null,"inputResponses":{"a":{"b":9007199254740993}}}`, `{"inputResponses":{"a":{"b":9007199254740993}}}`},
		{`{"name":"a","inputResponses":null}`, ``},
		{`{"name":"a","_meta":7}`, ``},
	} {
		m, refused := Open([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.params + `}`))
		if refused != nil {
			t.Fatalf("%s: %s", tt.params, refused.Message)
		}
		var got struct {
			ID     string
			Params struct {
				Name      string
				Arguments json.RawMessage
				Meta      any `json:"_meta"`
			}
		}
		if err := json.Unmarshal(m.Request([]byte(`"x"`)), &got); err != nil || got.ID != "x" || got.Params.Name != "a" {
			t.Fatalf("%s becomes %+v, %v", tt.params, got, err)
		}
		if strings.Contains(tt.params, "arguments") && string(got.Params.Arguments) != `{"a":1,"a":2}` {
			t.Errorf("%s has arguments %s", tt.params, got.Params.Arguments)
		}
		meta, _ := got.Params.Meta.(map[string]any)
		if brought := string(Exact(meta)); brought != tt.want {
			t.Errorf("%s brings %s, want %s", tt.params, brought, tt.want)
		}
	}
}

// TestAnswer holds the same of answers. What is of no use brings nothing.
func TestAnswer(t *testing.T) {
	const own = `"_meta":{"bindery.dev/exact":"{}"}`
	for _, tt := range []struct{ result, want string }{
		{`{"action":"accept","content":{"a":9007199254740993}}`, `{"action":"accept","content":{"a":9007199254740993}}`},
		{`{` + own + `}`, `{` + own + `}`},
		{`{"content":{"a":1,"a":2},` + own + `}`, ``},
		{`{"content":"\ud800",` + own + `}`, ``},
		{`{"content":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,` + own + `}`, ``},
		{`{"_meta":7}`, `{"_meta":7}`},
		{`{"_meta":{"x":1e400}}`, `{"_meta":{"x":1e400}}`},
		{`[{` + own + `}]`, ``},
		{`"text"`, ``},
	} {
		var got struct {
			ID     int
			Error  any
			Result struct {
				Meta    map[string]any `json:"_meta"`
				Content any
			}
		}
		if err := json.Unmarshal(Answer([]byte(`{"jsonrpc":"2.0","id":1,"result":`+tt.result+`}`)), &got); err != nil || got.ID != 1 || (got.Error == nil) != (tt.want != "") {
			t.Errorf("%s becomes %+v, %v", tt.result, got, err)
		}
		if brought := string(Exact(got.Result.Meta)); brought != tt.want {
			t.Errorf("%s brings %s, want %s", tt.result, brought, tt.want)
		}
	}
	if failed := `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`; string(Answer([]byte(failed))) != failed {
		t.Error("an error is changed")
	}
}
