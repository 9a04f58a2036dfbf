package serve

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	library "github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// guarded is the library with every gate that a call can be stopped at before the
// library is asked.
func guarded() *irv1.Binding {
	b := librarytest.Binding("library.example")
	b.Upstream.MaxRequestBytes = 200
	b.Meta[0].Required, b.Meta[0].Key, b.Meta[0].Namespace = true, true, "X-Agent"
	add := b.Tools[0]
	add.Checks = []*irv1.CallCheck{{
		Name: "has_pages", Level: irv1.CheckLevel_CHECK_LEVEL_REJECT, Message: "A book has pages.",
		Kind: &irv1.CallCheck_Has{Has: &irv1.Place{Side: irv1.Side_SIDE_REQUEST, Steps: []*irv1.Step{
			{Kind: &irv1.Step_Token{Token: "payload"}}, {Kind: &irv1.Step_Token{Token: "pages"}},
		}}},
	}}
	return b
}

// TestGates holds that no gate is on one side of the fast path only: what is refused
// is refused both ways, alike, and the library is not asked.
func TestGates(t *testing.T) {
	const good = `{"meta":{"request_id":"r-1"},"payload":{"title":"x","pages":1}}`
	tests := []struct {
		gate      string
		arguments string
		agent     string // header X-Agent
		noToken   bool
		refused   string // part of the answer; "" when the call goes through
	}{
		{gate: "none", arguments: good, agent: "a"},
		{gate: "meta", arguments: `{"payload":{"title":"x","pages":1}}`, agent: "a", refused: "meta.request_id is missing"},
		{gate: "header", arguments: `{"meta":{"request_id":"a\r\nb"},"payload":{"title":"x","pages":1}}`, agent: "a", refused: "meta.request_id must be printable"},
		{gate: "namespace", arguments: good, refused: "X-Agent"},
		{gate: "payload", arguments: `{"meta":{"request_id":"r"}}`, agent: "a", refused: `argument \"payload\" is missing`},
		{gate: "schema", arguments: `{"meta":{"request_id":"r"},"payload":{"pages":1}}`, agent: "a", refused: "Missing required field: title"},
		{gate: "check", arguments: `{"meta":{"request_id":"r"},"payload":{"title":"x"}}`, agent: "a", refused: "A book has pages."},
		{gate: "size", arguments: `{"meta":{"request_id":"r"},"payload":{"title":"` + strings.Repeat("x", 200) + `","pages":1}}`, agent: "a", refused: "longer than 200 bytes"},
		{gate: "duplicate", arguments: `{"meta":{"request_id":"r"},"payload":{"title":"x","title":"y","pages":1}}`, agent: "a", refused: "duplicate member name"},
		{gate: "credential", arguments: good, agent: "a", noToken: true, refused: "The library cannot answer."},
	}
	for _, tt := range tests {
		t.Run(tt.gate, func(t *testing.T) {
			gone, asked := false, 0
			env := func(name string) (string, bool) {
				token, ok := librarytest.Env(name)
				return token, ok && !gone
			}
			counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				librarytest.Upstream().ServeHTTP(w, r)
			})
			pair := twinsWith(t, table.Deps{
				Secrets:   secret.New("", env),
				Transport: func(library.Origin) http.RoundTripper { return inMemory{counting} },
			}, guarded())
			gone = tt.noToken
			for _, which := range []int{1, 7} {
				h := headers()[which].Clone()
				h.Set("X-Agent", tt.agent)
				if tt.agent == "" {
					h.Del("X-Agent")
				}
				params := `"name":"add_book","arguments":` + tt.arguments
				if which == 7 {
					h.Set("Mcp-Name", "add_book")
					params += "," + modernMeta
				}
				in := inbound{"/library", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `}}`, h}
				pair.hold(t, in)
				answer := string(readAll(t, in.to(pair.fast)))
				if through := strings.Contains(answer, `"result"`); through != (tt.refused == "") || !strings.Contains(answer, tt.refused) {
					t.Errorf("answer is %s, want %q", answer, tt.refused)
				}
			}
			if (asked > 0) != (tt.refused == "") {
				t.Errorf("the library was asked %d times", asked)
			}
		})
	}
}
