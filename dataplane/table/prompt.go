package table

import (
	"cmp"
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Prompt is one MCP prompt with everything that it takes to give its messages.
type Prompt struct {
	Entry
	Binding     string
	Name        string
	Description string
	Required    []string   // names of arguments, sorted
	Messages    []*Message // nil: those of Use
	Use         *Use
	At          *irv1.Pointer // of the messages that Use gives; nil: those of its result's content

	completions map[string]*Completion // by argument
}

// Completion returns what is offered for an argument; nil for nothing.
func (p *Prompt) Completion(argument string) *Completion { return p.completions[argument] }

// A Use is a call of a tool that is not one of tools/call.
type Use struct {
	Tool      *Tool
	Arguments []*irv1.UseArgument
}

// A Completion is what is offered for the value of a variable.
type Completion struct {
	Values []Value // those that there are, unless Use gives them
	Use    *Use    // nil: Values are all
	At     []*irv1.Step
}

// A Value is one that can be offered.
type Value struct {
	Text   string
	Folded string // in lower case, to find it by
}

func newPrompt(b *irv1.Binding, p *irv1.Prompt, tools []*Tool, files map[irv1.Digest][]byte) *Prompt {
	prompt := &Prompt{
		Entry:       newEntry(p.GetName(), func(version string) any { return shownPrompt(p, version) }),
		Binding:     b.GetName(),
		Name:        p.GetName(),
		Description: p.GetDescription(),
		Use:         newUse(p.GetUse().GetUse(), tools),
		At:          p.GetUse().GetAt(),
		completions: map[string]*Completion{},
	}
	for _, m := range p.GetMessages().GetMessages() {
		prompt.Messages = append(prompt.Messages, newMessage(m, files))
	}
	for _, a := range p.GetArguments() {
		if a.GetRequired() {
			prompt.Required = append(prompt.Required, a.GetName())
		}
		if c := a.GetCompletion(); c != nil {
			prompt.completions[a.GetName()] = newCompletion(c, tools)
		}
	}
	return prompt
}

// newUse returns the call of one of tools that u describes; nil for nil.
func newUse(u *irv1.Use, tools []*Tool) *Use {
	if u == nil {
		return nil
	}
	use := &Use{Arguments: u.GetArguments()}
	if i := slices.IndexFunc(tools, func(t *Tool) bool { return t.Name == u.GetTool() }); i >= 0 { // else the tool is the reason for a refusal
		use.Tool = tools[i]
	}
	return use
}

func newCompletion(c *irv1.Completion, tools []*Tool) *Completion {
	completion := &Completion{Use: newUse(c.GetUse().GetUse(), tools), At: c.GetUse().GetAt().GetSteps()}
	for _, text := range c.GetValues().GetValues() {
		completion.Values = append(completion.Values, Value{Text: text, Folded: strings.ToLower(text)})
	}
	return completion
}

// promptEntry is what prompts/list has of a prompt.
type promptEntry struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"` // from 2025-06-18 on, as those of arguments
	Description string          `json:"description"`
	Arguments   []argumentEntry `json:"arguments,omitempty"`
}

type argumentEntry struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
}

// shownPrompt returns the entry of p for a revision of MCP. People are asked for what
// is required first.
func shownPrompt(p *irv1.Prompt, version string) promptEntry {
	entry := promptEntry{Name: p.GetName(), Description: p.GetDescription()}
	titled := version >= "2025-06-18"
	if titled {
		entry.Title = p.GetTitle()
	}
	for _, a := range p.GetArguments() {
		shown := argumentEntry{Name: a.GetName(), Description: a.GetDescription(), Required: a.GetRequired()}
		if titled {
			shown.Title = a.GetTitle()
		}
		entry.Arguments = append(entry.Arguments, shown)
	}
	slices.SortStableFunc(entry.Arguments, func(a, b argumentEntry) int { return cmp.Compare(rank(a), rank(b)) })
	return entry
}

func rank(a argumentEntry) int {
	if a.Required {
		return 0
	}
	return 1
}
