package compile

import (
	"slices"

	"cuelang.org/go/cue"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A variable is what a person fills in, or a part of a URI.
type variable struct {
	name     string
	required bool // it has a value whenever a text with it is needed
}

func names(variables []variable) []string {
	var all []string
	for _, v := range variables {
		all = append(all, v.name)
	}
	return all
}

// always reports whether the variable called name has a value whenever one is needed.
func always(variables []variable, name string) bool {
	return slices.ContainsFunc(variables, func(v variable) bool { return v.name == name && v.required })
}

// use reads the call of a tool of the binding that v names in its fields tool and
// with, whose placeholders stand for variables; t is nil when there is no such tool.
// The binding's tools have been read.
func (rd *reading) use(v value, variables []variable) (u *irv1.Use, t *irv1.Tool) {
	name := v.get("tool")
	u = &irv1.Use{Tool: name.text()}
	var tools []string
	for _, other := range rd.out.ir.GetTools() {
		tools = append(tools, other.GetName())
		if other.GetName() == u.GetTool() {
			t = other
		}
	}
	switch {
	case t == nil && u.GetTool() != "":
		rd.noToolToUse(name, u.GetTool(), tools)
	case t == nil:
	case v.get("with").exists():
		u.Arguments = rd.useArguments(t, v.get("with"), variables)
		rd.checkFilled(t, u, v.get("with"), variables)
	default:
		u.Arguments = sameNames(t, variables)
		rd.checkFilled(t, u, name, variables)
	}
	return u, t
}

// sameNames returns the arguments of t that take the variable of their name.
func sameNames(t *irv1.Tool, variables []variable) []*irv1.UseArgument {
	var all []*irv1.UseArgument
	for _, a := range t.GetArguments() {
		if slices.Contains(names(variables), a.GetName()) {
			text := &irv1.Text{Parts: []*irv1.TextPart{{Kind: &irv1.TextPart_Variable{Variable: a.GetName()}}}}
			all = append(all, useText(a, text))
		}
	}
	return all
}

// useText returns the argument of a call that takes text, which a lone variable can
// fill with more than a string.
func useText(a *irv1.Argument, text *irv1.Text) *irv1.UseArgument {
	if lone := variables(text); len(text.GetParts()) == 1 && len(lone) == 1 && scalarKinds[a.GetType()]&(cue.NumberKind|cue.BoolKind) != 0 {
		return &irv1.UseArgument{Name: a.GetName(), Value: &irv1.UseArgument_Scalar{Scalar: lone[0]}}
	}
	return &irv1.UseArgument{Name: a.GetName(), Value: &irv1.UseArgument_Text{Text: text}}
}

// useArguments reads what v says of the arguments of t.
func (rd *reading) useArguments(t *irv1.Tool, v value, variables []variable) []*irv1.UseArgument {
	v.note()
	fields := v.fields()
	var all []*irv1.UseArgument
	for _, name := range sorted(fields) {
		f := fields[name]
		a := argumentOf(t, name)
		switch {
		case !slices.Contains(known(t), name):
			rd.unknownUseArgument(f, name, t.GetName(), known(t))
		case f.cue.IncompleteKind() == cue.StringKind:
			arg := useText(a, rd.filled(f, names(variables)))
			arg.Name = name
			rd.checkUseText(a, arg, f)
			all = append(all, arg)
		default:
			rd.checkUseValue(a, f)
			if data := f.json(); data != nil {
				f.note()
				all = append(all, &irv1.UseArgument{Name: name, Value: &irv1.UseArgument_Json{Json: data}})
			}
		}
	}
	return all
}

// checkUseText reports a text that the argument a, nil for meta or payload, never
// takes.
func (rd *reading) checkUseText(a *irv1.Argument, arg *irv1.UseArgument, v value) {
	switch a.GetType() {
	case irv1.ArgumentType_ARGUMENT_TYPE_STRING, irv1.ArgumentType_ARGUMENT_TYPE_ANY:
		return
	}
	if arg.GetScalar() == "" {
		rd.unfitUseArgument(v, a)
	}
}

// checkUseValue reports a value, which is no text, that the argument a, nil for meta or
// payload, never takes.
func (rd *reading) checkUseValue(a *irv1.Argument, v value) {
	have, want := v.cue.IncompleteKind(), constantKind(a)
	if v.cue.Err() == nil && want != 0 && have&want == 0 && have != cue.NullKind {
		rd.unfitUseArgument(v, a)
	}
}

// constantKind returns the kind of the constants that an argument takes; 0 for any.
// That of meta and payload, nil, is a struct.
func constantKind(a *irv1.Argument) cue.Kind {
	switch a.GetType() {
	case irv1.ArgumentType_ARGUMENT_TYPE_ARRAY:
		return cue.ListKind
	case irv1.ArgumentType_ARGUMENT_TYPE_OBJECT, irv1.ArgumentType_ARGUMENT_TYPE_UNSPECIFIED:
		return cue.StructKind
	}
	return scalarKinds[a.GetType()]
}

// checkFilled reports, at v, the arguments that every call of t must have and that u
// does not always give it.
func (rd *reading) checkFilled(t *irv1.Tool, u *irv1.Use, v value, given []variable) {
	for _, name := range requiredOf(t, rd.out.ir.GetMeta()) {
		i := slices.IndexFunc(u.GetArguments(), func(a *irv1.UseArgument) bool { return a.GetName() == name })
		if i < 0 {
			rd.unfilled(v, name, t.GetName())
			continue
		}
		for _, x := range append(variables(u.GetArguments()[i].GetText()), u.GetArguments()[i].GetScalar()) {
			if x != "" && slices.Contains(names(given), x) && !always(given, x) {
				rd.perhapsUnfilled(v, name, t.GetName(), x)
			}
		}
	}
}

// argumentOf returns the argument of t called name; nil for none, and for meta and
// payload.
func argumentOf(t *irv1.Tool, name string) *irv1.Argument {
	for _, a := range t.GetArguments() {
		if a.GetName() == name {
			return a
		}
	}
	return nil
}

// requiredOf returns the arguments that every call of t must have; rules are those of
// its binding.
func requiredOf(t *irv1.Tool, rules []*irv1.MetaRule) []string {
	var all []string
	for _, a := range t.GetArguments() {
		if a.GetRequired() {
			all = append(all, a.GetName())
		}
	}
	if slices.ContainsFunc(rules, func(r *irv1.MetaRule) bool { return r.GetRequired() && slices.Contains(t.GetMeta(), r.GetField()) }) {
		all = append(all, "meta")
	}
	if t.GetPayload().GetRequired() {
		all = append(all, "payload")
	}
	return all
}

// checkServes reports a binding, at v, that gives clients nothing, and warns of its
// hidden tools that nothing calls. All of it has been read. What does not evaluate has
// been reported, and may well be something.
func (rd *reading) checkServes(v value) {
	b := rd.out.ir
	broken := slices.ContainsFunc([]string{"tools", "prompts", "resources", "templates"}, func(name string) bool { return v.get(name).cue.Err() != nil })
	if len(b.GetTools())+len(b.GetPrompts())+len(b.GetResources())+len(b.GetTemplates()) == 0 && !broken {
		rd.noTools(v)
	}
	used := map[string]bool{}
	for _, u := range uses(b) {
		used[u.GetTool()] = true
	}
	for _, t := range b.GetTools() {
		for _, a := range t.GetAsks() {
			used[a.GetTool()] = true
		}
	}
	for _, t := range b.GetTools() {
		if t.GetHidden() && !used[t.GetName()] {
			rd.idleTool(v.get("tools").get(t.GetName()).get("listed"), t.GetName())
		}
	}
}

// uses returns the calls of its own tools that b has.
func uses(b *irv1.Binding) []*irv1.Use {
	var all []*irv1.Use
	for _, r := range b.GetResources() {
		all = append(all, r.GetUse())
	}
	for _, t := range b.GetTemplates() {
		all = append(all, t.GetUse())
		for _, c := range t.GetCompletions() {
			all = append(all, c.GetCompletion().GetUse().GetUse())
		}
	}
	for _, p := range b.GetPrompts() {
		all = append(all, p.GetUse().GetUse())
		for _, a := range p.GetArguments() {
			all = append(all, a.GetCompletion().GetUse().GetUse())
		}
	}
	return all
}
