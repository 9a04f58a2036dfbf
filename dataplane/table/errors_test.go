package table_test

import (
	"testing"

	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// failing returns the errors of a binding with these rules.
func failing(t *testing.T, rules ...*irv1.ErrorRule) *table.Errors {
	t.Helper()
	b := &bundle{}
	binding := b.binding("pets", "/mcp", "pets.example")
	binding.Errors.Rules = rules
	b.tool(binding, "add_pet", `{}`)
	return b.build(t, nil, table.Deps{}).Endpoint("/mcp").Tool("add_pet").Errors
}

func failure(f irv1.Failure) *irv1.Condition {
	return &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: f}}
}

func name(r *table.Rule) string {
	if r == nil {
		return ""
	}
	return r.Name
}

// A failed handshake is a service that cannot be reached, where nobody says more.
func TestTLSIsUnreachable(t *testing.T) {
	const tls, unreachable = irv1.Failure_FAILURE_TLS, irv1.Failure_FAILURE_UNREACHABLE
	away := &irv1.ErrorRule{Name: "away", Conditions: []*irv1.Condition{failure(unreachable)}}
	bad := &irv1.ErrorRule{Name: "bad", Conditions: []*irv1.Condition{failure(tls)}}
	if got := name(failing(t, away).Failure(tls, "")); got != "away" {
		t.Errorf("rule is %q", got)
	}
	both := failing(t, away, bad)
	if one, two := name(both.Failure(tls, "")), name(both.Failure(unreachable, "")); one != "bad" || two != "away" {
		t.Errorf("rules are %q and %q", one, two)
	}
	if r := failing(t, bad).Failure(unreachable, ""); r != nil {
		t.Errorf("rule is %q", r.Name)
	}
}

// Whatever status a server makes up, there is an answer: beyond 599 that of a 5xx.
func TestStatusesOutOfRange(t *testing.T) {
	e := failing(t, &irv1.ErrorRule{Name: "failed", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 5}}}})
	for status, want := range map[int]string{0: "", 99: "", 599: "failed", 600: "failed", 999: "failed"} {
		if got := name(e.Response(status, "", nil)); got != want {
			t.Errorf("the rule for %d is %q, want %q", status, got, want)
		}
	}
}

// Finding a rule costs nothing that a collector has to pick up.
func TestRulesAllocateNothing(t *testing.T) {
	e := failing(t,
		&irv1.ErrorRule{Name: "gone", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 410}}}},
		&irv1.ErrorRule{Name: "page", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 4}}}, MediaType: "text/html"},
		&irv1.ErrorRule{Name: "refused", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 4}}}},
	)
	got := ""
	allocs := testing.AllocsPerRun(100, func() {
		got = name(e.Response(410, "", nil)) + name(e.Response(404, "text/html; charset=utf-8", nil)) + name(e.Response(404, "text/css", nil))
	})
	if got != "gonepagerefused" || allocs > 1 { // the names
		t.Errorf("rules are %s, with %v allocations", got, allocs)
	}
}

// What there is not has the code of the binding that says one.
func TestNotFound(t *testing.T) {
	b := shop()
	b.bindings[0].Errors.PromptCodes = &irv1.Codes{NotFound: -3}
	b.bindings[1].Errors.ToolCodes = &irv1.Codes{NotFound: -1, Denied: -5}
	tab := b.build(t, nil, table.Deps{})
	for k, want := range map[irv1.Kind]int{irv1.KindTool: -1, irv1.KindResource: 0, irv1.KindPrompt: -3} {
		if got, other := tab.Endpoint("/mcp").NotFound(k), tab.Endpoint("/a/mcp").NotFound(k); got != want || other != 0 {
			t.Errorf("codes for an unknown %s are %d and %d, want %d", k, got, other, want)
		}
	}
}
