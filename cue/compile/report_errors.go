package compile

import (
	"fmt"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func (r report) idleRule(v value, name string) {
	r.list.Errorf(v.atLabel("idle-rule", `add status: ["4xx"], or failure: ["timeout"]`), "error rule %q matches nothing", name)
}

func (r report) tie(a, b value, first, second string, c *irv1.Condition) {
	hint := "remove it from one of them: neither is more specific"
	if len(b.get("body").fields()) > 0 {
		hint = "remove it from one of them, or have one look at one place more: neither is more specific"
	}
	r.list.Errorf(b.atLabel("rule-tie", hint), "error rules %q (%s) and %q both match %s", first, diag.Place(a.where()), second, c.Words())
}

func (r report) noValues(v value) {
	r.list.Errorf(v.at("dead-rule", "write the value, or a list of those that match"), "no value matches, so the rule never applies")
}

func (r report) bodiless(v value, c *irv1.Condition, what string) {
	r.list.Errorf(v.atLabel("dead-rule", fmt.Sprintf("make a rule of its own of failure: [%q]", c.Words())),
		"a failure of the kind %q has no %s, so the rule never applies to it", c.Words(), what)
}

func (r report) headerless(v value, conditions []*irv1.Condition) {
	r.list.Errorf(v.atLabel("dead-headers", "remove it, or add a status"), "nothing that the rule matches (%s) has a response with headers", list(conditions))
}

func (r report) uncovered(v value, statuses, others []string, code int32) {
	var missing []string
	if len(statuses) > 0 {
		missing = append(missing, "status: ["+quoted(statuses)+"]")
	}
	if len(others) > 0 {
		missing = append(missing, "failure: ["+quoted(others)+"]")
	}
	r.list.Warnf(v.atLabel("uncovered", "add rules: other: {"+strings.Join(missing, ", ")+", fallback: {...}}"),
		"no rule covers all of %s: a caller gets code %d there, with the upstream's own error or else only a status or a sentence",
		strings.Join(append(statuses, others...), ", "), code)
}

func list(conditions []*irv1.Condition) string {
	var words []string
	for _, c := range conditions {
		words = append(words, c.Words())
	}
	return strings.Join(words, ", ")
}

// codeConflict reports that b and other differ in the code for what there is not of a
// kind.
func (r report) codeConflict(b, other *binding, kind irv1.Kind) {
	field := "errors.codes." + kind.String() + ".notFound"
	r.list.Errorf(diag.Problem{Pos: b.place(field), Code: "code-conflict", Path: dotted("bindings", b.name) + "." + field,
		Hint: "let one of the bindings say it, or both the same, or give one of them another endpoint"},
		"binding %q says otherwise at %s (%s): what there is not belongs to neither", other.name, b.ir.GetEndpoint(), diag.Place(other.place(field)))
}
