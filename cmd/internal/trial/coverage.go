package trial

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Part is a part of a module that a case can exercise: a tool, a check of one, or
// an error rule.
type Part struct {
	Binding  string
	Tool     string             // "" for an error rule
	Check    string             // "" for the tool itself
	Rule     string             // "" for a tool
	Position *sourcev1.Position // nil: not known
	Covered  bool               // some case exercised it
}

// Cover returns the parts of a module, by binding: its error rules, then its tools
// with their checks, each sorted by name. A tool is covered by a case that calls it,
// a check by one that fails it, an error rule by one whose error it made, or for
// which it was tried again.
func Cover(bundle *irv1.Content, places *sourcev1.SourceMap, verdicts []Verdict) []Part {
	covered := map[Part]bool{}
	for _, v := range verdicts {
		covered[Part{Binding: v.Case.Binding, Tool: v.Tool}] = true
		for _, name := range append(slices.Clip(v.Retries), v.Rule) {
			covered[Part{Binding: v.Case.Binding, Rule: name}] = true
		}
		for _, name := range v.Checks {
			covered[Part{Binding: v.Case.Binding, Tool: v.Tool, Check: name}] = true
		}
	}
	at := index(places)
	var all []Part
	for _, b := range bundle.Bindings {
		for _, r := range b.GetErrors().GetRules() {
			all = append(all, Part{Binding: b.GetName(), Rule: r.GetName()})
		}
		for _, t := range b.GetTools() {
			all = append(all, Part{Binding: b.GetName(), Tool: t.GetName()})
			for _, c := range t.GetChecks() {
				all = append(all, Part{Binding: b.GetName(), Tool: t.GetName(), Check: c.GetName()})
			}
		}
	}
	for i := range all {
		all[i].Covered, all[i].Position = covered[all[i]], at[all[i]]
	}
	return all
}

// index returns where each part is written.
func index(places *sourcev1.SourceMap) map[Part]*sourcev1.Position {
	all := map[Part]*sourcev1.Position{}
	for _, e := range places.GetEntries() {
		p := Part{Binding: e.GetBinding(), Tool: e.GetTool()}
		if name, ok := strings.CutPrefix(e.GetField(), "errors.rules."); ok {
			p.Rule = name
		} else if name, ok := strings.CutPrefix(e.GetField(), "checks."); ok {
			p.Check = name
		} else if e.GetField() != "" {
			continue
		}
		all[p] = e.GetPosition()
	}
	return all
}
