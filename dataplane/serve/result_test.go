package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestResults holds what a client gets for each kind of result, in both eras and
// both ways of answering.
func TestResults(t *testing.T) {
	tests := []struct {
		name   string
		tool   func(*irv1.Tool)
		status int
		typ    string
		body   string
		want   string // how the result begins, or all of it
		meta   bool   // the result has a _meta with the header of the response
	}{
		{"raw", raw, 200, "application/json", `{"z": 1.0,"a":[ ]}`, `"result":{"z": 1.0,"a":[ ]}}`, false},
		{"raw and empty", raw, 200, "", ``, `"result":{}}`, false},
		{"raw and an error", raw, 404, "application/json", `{"message":"No."}`, `"result":{"content":[{"type":"text","text":"{\"message\":\"No.\"}"}],"isError":true`, false},
		{"image", produce, 200, "image/png", "\x00\xff", `"result":{"content":[{"type":"image","data":"AP8=","mimeType":"image/png"}]`, true},
		{"audio", produce, 200, "audio/mpeg", "a", `"result":{"content":[{"type":"audio","data":"YQ==","mimeType":"audio/mpeg"}]`, true},
		{"text", produce, 200, "text/plain", "a\n\"b\" <c>", `"result":{"content":[{"type":"text","text":"a\n\"b\" `, true},
		{"nothing", produce, 204, "", "", `"result":{"content":[]`, true},
		{"error", produce, 500, "", "", `"result":{"content":[{"type":"text","text":"{\"code\":\"unavailable\"`, true},
	}
	for _, tt := range tests {
		b := librarytest.Binding("library.example")
		b.Errors.Style = irv1.ErrorStyle_ERROR_STYLE_TOOL
		tt.tool(b.GetTools()[1])
		pair := twinsOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{tt.typ}
			w.Header().Set("Request-Id", "r-1")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}), b)
		for _, version := range []string{"2025-11-25", message.Modern} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				in := callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
				pair.hold(t, in)
				got := string(readAll(t, in.to(pair.fast)))
				if !strings.Contains(got, tt.want) {
					t.Errorf("answer is %s, want %s", got, tt.want)
				}
				if strings.Contains(got, `"example.com/id":"r-1"`) != tt.meta {
					t.Errorf("answer is %s, with the header: %t", got, !tt.meta)
				}
			})
		}
	}
}

func raw(t *irv1.Tool) { t.Result = irv1.ResultMode_RESULT_MODE_RAW }

func produce(t *irv1.Tool) {
	t.Result = irv1.ResultMode_RESULT_MODE_MCP
	t.Produces = []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_IMAGE}, {Kind: irv1.PartKind_PART_KIND_AUDIO}, {Kind: irv1.PartKind_PART_KIND_TEXT}}
	t.ResultMeta = []*irv1.ResultMeta{{Key: "example.com/id", Source: &irv1.ResultMeta_Header{Header: "Request-Id"}}}
}

// callOf returns a plain call by a client that speaks version.
func callOf(version, params string) inbound {
	return askOf(version, "tools/call", "get_book", params)
}

// askOf returns a request of a client that speaks version; name is what it is about.
func askOf(version, method, name, params string) inbound {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {version}}
	if version >= message.Modern {
		params = strings.TrimPrefix(params+","+modernMeta, ",")
		h.Set("Mcp-Method", method)
		h.Set("Mcp-Name", name)
	}
	return inbound{path: librarytest.Endpoint, header: h, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)}
}
