package compile

import (
	"maps"
	"slices"

	"github.com/bindery-dev/bindery/cue/cases"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A menu is what there is to ask for, with the tools that are called for it.
type menu struct {
	bindings []string
	kinds    map[string]dishes          // by kind: tool, prompt, resource (by URI), template
	givers   map[dish]string            // the tools that are called for dishes; "" for none
	typed    map[dish]map[string]string // of prompts and templates: those that are called while an argument is typed; "" for none
	checks   map[dish][]string          // of tools, sorted
	patterns []pattern
}

// dishes are what there is of one kind.
type dishes struct {
	of map[string][]string // names by binding
	by map[string][]string // bindings by name, sorted
}

// A dish is something of a kind that a binding has.
type dish struct{ binding, kind, name string }

// A pattern is the URIs of a template.
type pattern struct {
	template dish
	uris     irv1.URIPattern
}

// newMenu returns the menu of a bundle.
func newMenu(bundle *irv1.Bundle) (*menu, error) {
	content, err := irv1.Open(bundle)
	if err != nil {
		return nil, err
	}
	m := &menu{kinds: map[string]dishes{}, givers: map[dish]string{}, typed: map[dish]map[string]string{}, checks: map[dish][]string{}}
	for _, kind := range []string{"tool", "prompt", "resource", "template"} {
		m.kinds[kind] = dishes{map[string][]string{}, map[string][]string{}}
	}
	for _, b := range content.Bindings {
		m.bindings = append(m.bindings, b.GetName())
		m.addTools(b)
		m.addPrompts(b)
		m.addResources(b)
	}
	return m, nil
}

func (m *menu) add(d dish, giver string) {
	all := m.kinds[d.kind]
	all.of[d.binding] = append(all.of[d.binding], d.name)
	all.by[d.name] = append(all.by[d.name], d.binding)
	m.givers[d] = giver
}

func (m *menu) addTools(b *irv1.Binding) {
	for _, t := range b.GetTools() {
		d := dish{b.GetName(), "tool", t.GetName()}
		m.add(d, t.GetName())
		for _, c := range t.GetChecks() {
			m.checks[d] = append(m.checks[d], c.GetName())
		}
	}
}

func (m *menu) addPrompts(b *irv1.Binding) {
	for _, p := range b.GetPrompts() {
		d := dish{b.GetName(), "prompt", p.GetName()}
		m.add(d, p.GetUse().GetUse().GetTool())
		m.typed[d] = map[string]string{}
		for _, a := range p.GetArguments() {
			m.typed[d][a.GetName()] = a.GetCompletion().GetUse().GetUse().GetTool()
		}
	}
}

func (m *menu) addResources(b *irv1.Binding) {
	for _, r := range b.GetResources() {
		m.add(dish{b.GetName(), "resource", r.GetUri()}, r.GetUse().GetTool())
	}
	for _, t := range b.GetTemplates() {
		d := dish{b.GetName(), "template", t.GetName()}
		m.add(d, t.GetUse().GetTool())
		uris, _ := irv1.NewURIPattern(t.GetUri()) // the bundle has been validated
		m.patterns = append(m.patterns, pattern{d, uris})
		m.typed[d] = map[string]string{}
		for _, name := range uris.Variables() {
			m.typed[d][name] = ""
		}
		for _, c := range t.GetCompletions() {
			m.typed[d][c.GetVariable()] = c.GetCompletion().GetUse().GetUse().GetTool()
		}
	}
}

// binding returns the binding that has what a case, stated at v, is about: the one that
// it names, or else the only one. What cannot be is reported.
func (m *menu) binding(v value, r report) string {
	for _, kind := range []string{"tool", "prompt", "resource"} {
		if v.get(kind).quiet() != "" {
			return m.owner(kind, v.get(kind), v.get("binding"), r)
		}
	}
	typed := v.get("completion")
	for _, kind := range []string{"prompt", "template"} {
		if typed.get(kind).quiet() != "" {
			owner := m.owner(kind, typed.get(kind), v.get("binding"), r)
			m.checkTyped(owner, kind, typed, r)
			return owner
		}
	}
	return ""
}

// checkTyped reports an argument that what is filled in, which owner has, does not have.
func (m *menu) checkTyped(owner, kind string, typed value, r report) {
	name, argument := typed.get(kind).quiet(), typed.get("argument")
	known := m.typed[dish{owner, kind, name}]
	if _, ok := known[argument.quiet()]; !ok && owner != "" && argument.quiet() != "" {
		r.unknownArgument(argument, kind, name, argument.quiet(), slices.Sorted(maps.Keys(known)))
	}
}

func (m *menu) owner(kind string, subject, binding value, r report) string {
	name, wanted := subject.quiet(), binding.quiet()
	owners := m.owners(kind, name)
	switch {
	case wanted != "" && !slices.Contains(m.bindings, wanted):
		r.unknownBinding(binding, wanted, m.bindings)
	case wanted != "" && !slices.Contains(owners, wanted):
		r.unknownOf(wanted, kind, subject, name, m.known(kind, wanted))
	case wanted != "":
		return wanted
	case len(owners) == 0:
		r.unknown(kind, subject, name, m.known(kind, ""))
	case len(owners) > 1:
		r.ambiguous(kind, subject, name, owners)
	default:
		return owners[0]
	}
	return ""
}

// known returns what there is to name of a kind: of a binding, or of all for "".
func (m *menu) known(kind, binding string) []string {
	all := keys(m.kinds[kind].by)
	if binding != "" {
		all = slices.Clone(m.kinds[kind].of[binding])
	}
	for _, p := range m.patterns {
		if kind == "resource" && (binding == "" || p.template.binding == binding) {
			all = append(all, p.uris.String())
		}
	}
	return all
}

// owners returns the bindings that have what name says, sorted: a URI may be one of a
// template.
func (m *menu) owners(kind, name string) []string {
	owners := slices.Clone(m.kinds[kind].by[name])
	for _, d := range m.templates(kind, name) {
		owners = append(owners, d.binding)
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// templates returns those that a URI is of; none for what is no resource.
func (m *menu) templates(kind, uri string) (all []dish) {
	for _, p := range m.patterns {
		if _, ok := p.uris.Match(uri); ok && kind == "resource" {
			all = append(all, p.template)
		}
	}
	return all
}

// tool returns the tool that is called for a case; "" for none.
func (m *menu) tool(c *cases.Case) string {
	switch typed := c.Completion; {
	case c.Tool != "":
		return c.Tool
	case c.Prompt != "":
		return m.givers[dish{c.Binding, "prompt", c.Prompt}]
	case c.Resource != "":
		return m.reader(c)
	case typed == nil:
		return ""
	case typed.Prompt != "":
		return m.typed[dish{c.Binding, "prompt", typed.Prompt}][typed.Argument]
	default:
		return m.typed[dish{c.Binding, "template", typed.Template}][typed.Argument]
	}
}

// reader returns the tool that gives what a case reads: that of the resource, or else of
// the template.
func (m *menu) reader(c *cases.Case) string {
	d := dish{c.Binding, "resource", c.Resource}
	for _, t := range m.templates("resource", c.Resource) {
		if _, listed := m.givers[d]; !listed && t.binding == c.Binding {
			d = t
		}
	}
	return m.givers[d]
}

// check reports the checks that a case speaks of and the tool that is called does not
// have.
func (m *menu) check(c stated, r report) {
	tool := m.tool(c.Case)
	known := m.checks[dish{c.Binding, "tool", tool}]
	checks := c.test.get("checks").fields()
	for _, name := range sorted(checks) {
		if c.Binding != "" && !slices.Contains(known, name) {
			r.unknownCheck(checks[name], name, tool, known)
		}
	}
}
