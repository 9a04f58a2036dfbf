package compile

import (
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// prompt reads a prompt of the binding, whose tools have been read.
func (rd *reading) prompt(name string, v value) *irv1.Prompt {
	v.note()
	rd.out.promptAt[name] = v.where()
	p := &irv1.Prompt{Name: name, Title: v.get("title").text(), Description: v.get("description").text()}
	given := rd.promptArguments(p, v.get("args"))
	messages, tool := v.get("messages"), v.get("tool")
	switch {
	case messages.exists() && tool.exists():
		rd.promptTwice(tool)
	case tool.exists():
		use, t := rd.use(v, given)
		source := &irv1.PromptUse{Use: use}
		if at := v.get("at"); at.exists() {
			source.At = pointer(at.text())
		} else if t.GetResult() == irv1.ResultMode_RESULT_MODE_RAW {
			rd.noContent(tool, use.GetTool())
		}
		p.Kind = &irv1.Prompt_Use{Use: source}
	default:
		rd.checkIdleUse(v)
		p.Kind = &irv1.Prompt_Messages{Messages: rd.messages(v, given)}
	}
	return p
}

// checkIdleUse reports what is said of a tool where there is none.
func (rd *reading) checkIdleUse(v value) {
	for _, field := range []string{"with", "at"} {
		if f := v.get(field); f.exists() {
			rd.idleField(f, field, "it is for what a tool gives")
		}
	}
}

// promptArguments reads the arguments of p and returns them as what its texts can
// take.
func (rd *reading) promptArguments(p *irv1.Prompt, v value) []variable {
	fields := v.fields()
	var given, typing []variable
	for _, name := range sorted(fields) {
		given = append(given, variable{name, fields[name].get("required").flag()})
		typing = append(typing, variable{name, true})
	}
	if len(fields) > irv1.MaxPromptArguments {
		rd.tooManyArguments(v, len(fields))
	}
	for _, g := range given {
		f := fields[g.name]
		f.note()
		p.Arguments = append(p.Arguments, &irv1.PromptArgument{
			Name:        g.name,
			Title:       f.get("title").text(),
			Description: f.get("description").text(),
			Required:    g.required,
			Completion:  rd.completion(f.get("complete"), typing),
		})
	}
	return given
}

// completion reads what is offered for one of variables; nil for nothing.
func (rd *reading) completion(v value, variables []variable) *irv1.Completion {
	values, tool := v.get("values"), v.get("tool")
	switch {
	case !v.exists():
		return nil
	case values.exists() == tool.exists():
		rd.completionSource(v)
		return nil
	case values.exists():
		rd.checkIdleUse(v)
		all := values.texts()
		if len(all) > irv1.MaxCompletions {
			rd.tooManyValues(values, len(all))
		}
		return &irv1.Completion{Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: all}}}
	}
	use, t := rd.use(v, variables)
	if t != nil && !t.GetAnnotations().GetReadOnly() {
		rd.changingCompletion(tool, t.GetName())
	}
	at := place("response" + v.get("at").text())
	return &irv1.Completion{Kind: &irv1.Completion_Use{Use: &irv1.CompletionUse{Use: use, At: at}}}
}
