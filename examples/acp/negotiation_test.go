package acp_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	compiler "github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A merchant answers every request with one body.
type merchant string

func (m merchant) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(m)))}, nil
}

// TestNegotiationChecks holds what a node notices of a negotiation that goes wrong.
// None of it stops a call.
func TestNegotiationChecks(t *testing.T) {
	record.Ran(t)
	const (
		create   = "create_checkout_session"
		get      = "get_checkout_session"
		cancel   = "cancel_checkout_session"
		declared = `"payload":{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"supported":["3ds"]}}}`
		minimal  = `"payload":{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{}}`
		none     = `{"capabilities":{"interventions":{"supported":[],"required":["3ds"]}},"messages":[{"type":"error","code":"MORE"},{"type":"info"}]}`
	)
	tests := []struct {
		name, tool, args, answer string
		want                     []string
	}{
		{"the intersection", create, declared, `{"capabilities":{"interventions":{"supported":["3ds"],"required":["3ds"]}}}`, nil},
		{"nothing in common", create, declared, `{"capabilities":{"interventions":{"supported":[]}}}`, nil},
		{"more than was declared", create, declared, `{"capabilities":{"interventions":{"supported":["3ds","biometric"]}}}`, []string{"intersection"}},
		{"nothing was declared", create, minimal, `{"capabilities":{"interventions":{"supported":["3ds"]}}}`, []string{"intersection"}},
		{"no answer to it", create, declared, `{"id":"cs_1"}`, []string{"merchant_capabilities"}},
		{"no answer later", get, `"id":"cs_1"`, `{"id":"cs_1","capabilities":null}`, []string{"merchant_capabilities"}},
		{"canceling needs none", cancel, `"id":"cs_1"`, `{"id":"cs_1"}`, nil},
		{"required and impossible, unsaid", get, `"id":"cs_1"`, none, []string{"intervention_required"}},
		{"required and impossible, said", get, `"id":"cs_1"`, strings.Replace(none, "MORE", "intervention_required", 1), nil},
	}
	sources := module(t)
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			deps := table.Deps{
				Secrets:   secret.New("", func(string) (string, bool) { return "token", true }),
				Transport: func(upstream.Origin) http.RoundTripper { return merchant(tt.answer) },
			}
			tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, deps)
			if err != nil {
				t.Fatal(err)
			}
			o := call.Do(t.Context(), tab.Endpoint("/mcp").Tool(tt.tool), call.Request{Arguments: []byte(`{` + meta + `,` + tt.args + `}`)})
			if o.Class != call.OK || !slices.Equal(o.Checks, tt.want) || string(o.Body) != tt.answer {
				t.Errorf("outcome is %s, %s, %q; want %q", o.Class, o.Body, o.Checks, tt.want)
			}
		})
	}
}
