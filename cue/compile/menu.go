package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A menu is the tools that there are to call, by the bindings that have them, and
// their checks.
type menu struct {
	bindings map[string][]string // tools by binding
	tools    map[string][]string // bindings by tool, sorted
	checks   map[dish][]string   // by tool, sorted
}

// A dish is a tool of a binding.
type dish struct{ binding, tool string }

// newMenu returns the menu of a bundle.
func newMenu(bundle *irv1.Bundle) (*menu, error) {
	content, err := irv1.Open(bundle)
	if err != nil {
		return nil, err
	}
	m := &menu{map[string][]string{}, map[string][]string{}, map[dish][]string{}}
	for _, b := range content.Bindings {
		for _, t := range b.GetTools() {
			m.bindings[b.GetName()] = append(m.bindings[b.GetName()], t.GetName())
			m.tools[t.GetName()] = append(m.tools[t.GetName()], b.GetName())
			for _, c := range t.GetChecks() {
				at := dish{b.GetName(), t.GetName()}
				m.checks[at] = append(m.checks[at], c.GetName())
			}
		}
	}
	return m, nil
}

// binding returns the binding whose tool a case calls: the one that it names, or
// else the only one. What cannot be is reported.
func (m *menu) binding(tool, binding value, r report) string {
	if tool.quiet() == "" {
		return ""
	}
	name, owners := binding.quiet(), m.tools[tool.quiet()]
	switch {
	case name != "" && m.bindings[name] == nil:
		r.unknownBinding(binding, name, keys(m.bindings))
	case name != "" && !slices.Contains(owners, name):
		r.unknownToolOf(name, tool, tool.quiet(), m.bindings[name])
	case name != "":
		return name
	case len(owners) == 0:
		r.unknownTool(tool, tool.quiet(), keys(m.tools))
	case len(owners) > 1:
		r.ambiguousTool(tool, tool.quiet(), owners)
	default:
		return owners[0]
	}
	return ""
}

// check reports the checks that a case speaks of and its tool does not have.
func (m *menu) check(c stated, r report) {
	known := m.checks[dish{c.Binding, c.Tool}]
	checks := c.test.get("checks").fields()
	for _, name := range sorted(checks) {
		if c.Binding != "" && !slices.Contains(known, name) {
			r.unknownCheck(checks[name], name, c.Tool, known)
		}
	}
}
