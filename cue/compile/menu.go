package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A menu is what there is to ask for, and the checks of tools.
type menu struct {
	bindings []string
	kinds    map[string]dishes // by kind: tool, prompt
	checks   map[dish][]string // by tool, sorted
	givers   map[dish]string   // tools by the prompt that they give messages for
}

// tool returns the tool that a case calls; "" for none.
func (m *menu) tool(c stated) string {
	if c.Tool != "" {
		return c.Tool
	}
	return m.givers[dish{c.Binding, c.Prompt}]
}

// dishes are what there is of one kind.
type dishes struct {
	of map[string][]string // names by binding
	by map[string][]string // bindings by name, sorted
}

func (d dishes) add(binding, name string) {
	d.of[binding] = append(d.of[binding], name)
	d.by[name] = append(d.by[name], binding)
}

// A dish is a tool or a prompt of a binding.
type dish struct{ binding, name string }

// newMenu returns the menu of a bundle.
func newMenu(bundle *irv1.Bundle) (*menu, error) {
	content, err := irv1.Open(bundle)
	if err != nil {
		return nil, err
	}
	m := &menu{kinds: map[string]dishes{}, checks: map[dish][]string{}, givers: map[dish]string{}}
	for _, kind := range []string{"tool", "prompt"} {
		m.kinds[kind] = dishes{map[string][]string{}, map[string][]string{}}
	}
	for _, b := range content.Bindings {
		m.bindings = append(m.bindings, b.GetName())
		for _, t := range b.GetTools() {
			m.kinds["tool"].add(b.GetName(), t.GetName())
			for _, c := range t.GetChecks() {
				at := dish{b.GetName(), t.GetName()}
				m.checks[at] = append(m.checks[at], c.GetName())
			}
		}
		for _, p := range b.GetPrompts() {
			m.kinds["prompt"].add(b.GetName(), p.GetName())
			m.givers[dish{b.GetName(), p.GetName()}] = p.GetUse().GetUse().GetTool()
		}
	}
	return m, nil
}

// binding returns the binding that has what a case, stated at v, asks for: the one that
// it names, or else the only one. What cannot be is reported.
func (m *menu) binding(v value, r report) string {
	for _, kind := range []string{"tool", "prompt"} {
		if v.get(kind).quiet() != "" {
			return m.owner(kind, v.get(kind), v.get("binding"), r)
		}
	}
	return ""
}

func (m *menu) owner(kind string, subject, binding value, r report) string {
	all := m.kinds[kind]
	name, wanted := subject.quiet(), binding.quiet()
	owners := all.by[name]
	switch {
	case wanted != "" && !slices.Contains(m.bindings, wanted):
		r.unknownBinding(binding, wanted, m.bindings)
	case wanted != "" && !slices.Contains(owners, wanted):
		r.unknownOf(wanted, kind, subject, name, all.of[wanted])
	case wanted != "":
		return wanted
	case len(owners) == 0:
		r.unknown(kind, subject, name, keys(all.by))
	case len(owners) > 1:
		r.ambiguous(kind, subject, name, owners)
	default:
		return owners[0]
	}
	return ""
}

// check reports the checks that a case speaks of and the tool that it calls does not
// have.
func (m *menu) check(c stated, r report) {
	known := m.checks[dish{c.Binding, m.tool(c)}]
	checks := c.test.get("checks").fields()
	for _, name := range sorted(checks) {
		if c.Binding != "" && !slices.Contains(known, name) {
			r.unknownCheck(checks[name], name, m.tool(c), known)
		}
	}
}
