package irv1

// use checks a call of a tool of b with the variables given.
func (p *problems) use(field string, u *Use, given map[string]bool, b *Binding) {
	p.check(b.tool(u.GetTool()) != nil, field+".tool", "the binding has no tool %q", u.GetTool())
	names := map[string]bool{}
	for _, a := range u.GetArguments() {
		at := field + ".with." + a.GetName()
		p.check(a.GetName() != "" && !names[a.GetName()], at, "the argument has no name of its own")
		names[a.GetName()] = true
		switch k := a.GetValue().(type) {
		case *UseArgument_Text:
			p.parts(at, k.Text, given)
		case *UseArgument_Scalar:
			p.variable(at, k.Scalar, given)
		case *UseArgument_Json:
			p.members(at, []*Member{{Name: a.GetName(), Json: k.Json}})
		}
	}
}

// tool returns the tool of b called name; nil when there is none.
func (b *Binding) tool(name string) *Tool {
	for _, t := range b.GetTools() {
		if t.GetName() == name {
			return t
		}
	}
	return nil
}

// parts checks a text with the variables given.
func (p *problems) parts(field string, t *Text, given map[string]bool) {
	for _, part := range t.GetParts() {
		if k, ok := part.GetKind().(*TextPart_Variable); ok {
			p.variable(field, k.Variable, given)
		}
	}
}

func (p *problems) variable(field, name string, given map[string]bool) {
	p.check(given[name], field, "there is no %q to take a value from", name)
}
