package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A menu is the tools that there are to call, by the bindings that have them.
type menu struct {
	bindings map[string][]string // tools by binding
	tools    map[string][]string // bindings by tool, sorted
}

// newMenu returns the menu of a bundle; nil when there is none, and so nothing is
// known of its tools.
func newMenu(bundle *irv1.Bundle) (*menu, error) {
	if bundle == nil {
		return nil, nil
	}
	content, err := irv1.Open(bundle)
	if err != nil {
		return nil, err
	}
	m := &menu{map[string][]string{}, map[string][]string{}}
	for _, b := range content.Bindings {
		for _, t := range b.GetTools() {
			m.bindings[b.GetName()] = append(m.bindings[b.GetName()], t.GetName())
			m.tools[t.GetName()] = append(m.tools[t.GetName()], b.GetName())
		}
	}
	return m, nil
}

// binding returns the binding whose tool a case calls: the one that it names, or
// else the only one. What cannot be is reported.
func (m *menu) binding(tool, binding value, r report) string {
	if m == nil || tool.quiet() == "" {
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
