package message

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
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
		strings.Replace(modernCall, `"name":"t"`, `"name":7`, 1), strings.Replace(modernCall, `{"form":{}}`, `7`, 1), strings.Replace(modernCall, Modern, "2025-11-25", 1),
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
