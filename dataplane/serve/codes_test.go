package serve

import (
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestCodes has an endpoint with codes of its own for what there is not, failed or was
// denied: both ways of answering have them, and the status of HTTP follows.
func TestCodes(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Prompting("library.example")
	b.Errors.ToolCodes = &irv1.Codes{NotFound: -32001, Denied: -32005}
	b.Errors.PromptCodes = &irv1.Codes{NotFound: -32003, Failed: -32004, Denied: -32005}
	b.Tools[1].Hidden = false
	pair := twinsOf(t, librarytest.Upstream(), b)
	tests := []struct {
		name, method, params string
		want                 string
	}{
		{"an unknown tool", "tools/call", `"name":"burn_book"`, `{"code":-32001,"message":"unknown tool \"burn_book\""}`},
		{"a tool that fails", "tools/call", `"name":"get_book","arguments":{"id":"missing"}`, `{"code":-32000,"message":"There is no such book."`},
		{"a tool that is denied", "tools/call", `"name":"find_books","arguments":{"q":"trouble"}`, `{"code":-32005,"message":"The catalogue is closed."`},
		{"bad arguments", "tools/call", `"name":"get_book"`, `{"code":-32602,"message":"argument \"id\" is missing"}`},
		{"an unknown prompt", "prompts/get", `"name":"burn"`, `{"code":-32003,"message":"unknown prompt \"burn\""}`},
		{"a prompt that fails", "prompts/get", `"name":"discuss","arguments":{"book":"missing"}`, `{"code":-32004,"message":"There is no such book."`},
		{"a prompt that is denied", "prompts/get", `"name":"search","arguments":{"q":"trouble"}`, `{"code":-32005,"message":"The catalogue is closed."`},
		{"a prompt without messages", "prompts/get", `"name":"search","arguments":{"q":"nonsense"}`, `{"code":-32004,"message":"The library cannot answer."`},
		{"a missing argument", "prompts/get", `"name":"search"`, `{"code":-32602,"message":"argument \"q\" is missing"}`},
		{"a completion of an unknown prompt", "completion/complete", `"ref":{"type":"ref/prompt","name":"burn"},"argument":{"name":"a","value":""}`, `{"code":-32003,"message":"unknown prompt \"burn\""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, version := range eras {
				name, _, _ := strings.Cut(strings.TrimPrefix(tt.params, `"name":"`), `"`)
				in := askOf(version, tt.method, name, tt.params)
				pair.hold(t, in)
				got := in.to(pair.fast)
				status := 200
				if version >= message.Modern && strings.Contains(tt.want, "-32602") {
					status = 400
				}
				if body := string(readAll(t, got)); got.StatusCode != status || !strings.Contains(body, `"error":`+tt.want) {
					t.Errorf("%s: answer is %d %s", version, got.StatusCode, body)
				}
			}
		})
	}
}
