package irv1_test

import (
	"fmt"
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// prompting returns a binding without problems that has prompts of both kinds.
func prompting() *irv1.Binding {
	b := library()
	b.Tools[0].Annotations = &irv1.Annotations{ReadOnly: true}
	b.Prompts = []*irv1.Prompt{
		{
			Name: "greet", Description: "Greet.",
			Arguments: []*irv1.PromptArgument{
				{Name: "name", Required: true, Completion: &irv1.Completion{Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: []string{"Ada"}}}}},
				{Name: "book", Completion: &irv1.Completion{Kind: &irv1.Completion_Use{Use: &irv1.CompletionUse{
					Use: getBook("book"), At: place(irv1.Side_SIDE_RESPONSE),
				}}}},
			},
			Kind: &irv1.Prompt_Messages{Messages: &irv1.PromptMessages{Messages: []*irv1.PromptMessage{
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Text{Text: &irv1.Text{Parts: []*irv1.TextPart{words("Hello "), variable("name")}}}},
			}}},
		},
		{
			Name: "show", Description: "Show.", Arguments: []*irv1.PromptArgument{{Name: "id"}},
			Kind: &irv1.Prompt_Messages{Messages: &irv1.PromptMessages{Messages: []*irv1.PromptMessage{
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Image{Image: &irv1.Medium{File: file(true), MediaType: "image/png"}}},
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Audio{Audio: &irv1.Medium{File: file(true), MediaType: "audio/wav"}}},
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{
					Uri: &irv1.Text{Parts: []*irv1.TextPart{words("a:"), variable("id")}}, MediaType: "text/plain",
					Body: &irv1.PromptResource_Text{Text: &irv1.Text{Parts: []*irv1.TextPart{variable("id")}}},
				}}},
				{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{
					Uri: &irv1.Text{Parts: []*irv1.TextPart{words("a:")}}, MediaType: "text/plain", Body: &irv1.PromptResource_File{File: file(false)},
				}}, Annotations: &irv1.ContentAnnotations{Audience: []irv1.Role{irv1.Role_ROLE_USER}}},
			}}},
		},
		{
			Name: "read", Description: "Read.", Arguments: []*irv1.PromptArgument{{Name: "id", Required: true}},
			Kind: &irv1.Prompt_Use{Use: &irv1.PromptUse{Use: getBook("id"), At: &irv1.Pointer{Tokens: []string{"messages"}}}},
		},
	}
	return b
}

// file returns the page of the tests, as a file.
func file(binary bool) *irv1.File { return &irv1.File{Sha256: digest(page), Binary: binary} }

// getBook returns a call of get_book that takes its argument from a variable.
func getBook(name string) *irv1.Use {
	return &irv1.Use{Tool: "get_book", Arguments: []*irv1.UseArgument{
		{Name: "id", Value: &irv1.UseArgument_Text{Text: &irv1.Text{Parts: []*irv1.TextPart{variable(name)}}}},
		{Name: "page", Value: &irv1.UseArgument_Scalar{Scalar: name}},
		{Name: "meta", Value: &irv1.UseArgument_Json{Json: []byte(`{}`)}},
	}}
}

func words(s string) *irv1.TextPart {
	return &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: s}}
}

func variable(name string) *irv1.TextPart {
	return &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name}}
}

func TestValidatePrompts(t *testing.T) {
	if problems := shelved(t, prompting()); len(problems) > 0 {
		t.Fatalf("problems are %q", problems)
	}
	tests := []struct {
		name   string
		change func(greet, read *irv1.Prompt, b *irv1.Binding)
		want   string
	}{
		{"name", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.Name = "a b" }, `prompts.a b: "a b" cannot be the name of a prompt`},
		{"name twice", func(greet, read *irv1.Prompt, _ *irv1.Binding) { read.Name = "greet" }, `prompts.greet: endpoint /mcp has another prompt of this name, in binding "library"`},
		{"no description", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.Description = "" }, `prompts.greet.description: there is none`},
		{"no kind", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.Kind = nil }, `prompts: kind is not set`},
		{"no role", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.GetMessages().Messages[0].Role = 0 }, `prompts.messages.messages.role: role is not set`},
		{"no content", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.GetMessages().Messages[0].Content = nil }, `prompts.messages.messages: content is not set`},
		{"no messages", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.GetMessages().Messages = nil }, `prompts.greet.messages: there are 0, from 1 to 100 can be`},
		{"too many messages", func(greet, _ *irv1.Prompt, _ *irv1.Binding) {
			greet.GetMessages().Messages = make([]*irv1.PromptMessage, 101)
		}, `prompts.greet.messages: there are 101, from 1 to 100 can be`},
		{"unknown variable", func(greet, _ *irv1.Prompt, _ *irv1.Binding) {
			greet.GetMessages().Messages[0].GetText().Parts[1] = variable("nam")
		}, `prompts.greet.messages: there is no "nam" to take a value from`},
		{"argument twice", func(greet, _ *irv1.Prompt, _ *irv1.Binding) { greet.Arguments[1].Name = "name" }, `prompts.greet.args.name: the argument has no name of its own`},
		{"too many arguments", func(greet, _ *irv1.Prompt, _ *irv1.Binding) {
			for i := range 64 {
				greet.Arguments = append(greet.Arguments, &irv1.PromptArgument{Name: fmt.Sprint(i)})
			}
		}, `prompts.greet.args: there are 66, at most 64 can be`},
		{"unknown tool", func(_, read *irv1.Prompt, _ *irv1.Binding) { read.GetUse().Use.Tool = "got_book" }, `prompts.read.tool: the binding has no tool "got_book"`},
		{"no use", func(_, read *irv1.Prompt, _ *irv1.Binding) { read.GetUse().Use = nil }, `prompts.read.tool: the binding has no tool ""`},
		{"unknown variable of a use", func(_, read *irv1.Prompt, _ *irv1.Binding) {
			read.GetUse().Use.Arguments[1].Value = &irv1.UseArgument_Scalar{Scalar: "x"}
		}, `prompts.read.with.page: there is no "x" to take a value from`},
		{"argument of a use twice", func(_, read *irv1.Prompt, _ *irv1.Binding) { read.GetUse().Use.Arguments[1].Name = "id" }, `prompts.read.with.id: the argument has no name of its own`},
		{"constant that is no JSON", func(_, read *irv1.Prompt, _ *irv1.Binding) {
			read.GetUse().Use.Arguments[2].Value = &irv1.UseArgument_Json{Json: []byte("{")}
		}, `prompts.read.with.meta: member "meta" is not a JSON value`},
		{"too many values", func(greet, _ *irv1.Prompt, _ *irv1.Binding) {
			greet.Arguments[0].Completion.GetValues().Values = make([]string, 10001)
		}, `prompts.greet.args.name.complete: there are 10001 values, at most 10000 can be`},
		{"values in the request", func(greet, _ *irv1.Prompt, _ *irv1.Binding) {
			greet.Arguments[1].Completion.GetUse().At.Side = irv1.Side_SIDE_REQUEST
		}, `prompts.greet.args.book.complete.at: it is not a place in a response`},
		{"completion that changes something", func(_, _ *irv1.Prompt, b *irv1.Binding) { b.Tools[0].Annotations = nil },
			`prompts.greet.args.book.complete.tool: tool "get_book" is not read-only`},
	}
	show := func(i int, change func(m *irv1.PromptMessage)) func(_, _ *irv1.Prompt, b *irv1.Binding) {
		return func(_, _ *irv1.Prompt, b *irv1.Binding) { change(b.Prompts[1].GetMessages().Messages[i]) }
	}
	tests = append(tests, []struct {
		name   string
		change func(greet, read *irv1.Prompt, b *irv1.Binding)
		want   string
	}{
		{"image of nothing", show(0, func(m *irv1.PromptMessage) { m.GetImage().File = nil }), `prompts.show.messages: the bundle lacks the file`},
		{"image that is text", show(0, func(m *irv1.PromptMessage) { m.GetImage().File.Binary = false }), `prompts.show.messages: the file is not binary`},
		{"image that is audio", show(0, func(m *irv1.PromptMessage) { m.GetImage().MediaType = "audio/wav" }), `prompts.show.messages.mimeType: "audio/wav" is not a media type of this kind`},
		{"audio of another file", show(1, func(m *irv1.PromptMessage) { m.GetAudio().File.Sha256[0]++ }), `prompts.show.messages: the bundle lacks the file`},
		{"resource without URI", show(2, func(m *irv1.PromptMessage) { m.GetResource().Uri = nil }), `prompts.show.messages.uri: there is none`},
		{"URI of nobody", show(2, func(m *irv1.PromptMessage) { m.GetResource().Uri.Parts[1] = variable("x") }), `prompts.show.messages.uri: there is no "x" to take a value from`},
		{"text of nobody", show(2, func(m *irv1.PromptMessage) { m.GetResource().GetText().Parts[0] = variable("x") }), `prompts.show.messages.text: there is no "x" to take a value from`},
		{"resource of no type", show(3, func(m *irv1.PromptMessage) { m.GetResource().MediaType = "" }), `prompts.show.messages.mimeType: "" is not a media type`},
		{"resource of nothing", show(3, func(m *irv1.PromptMessage) { m.GetResource().Body = nil }), `prompts.messages.messages.resource: body is not set`},
		{"annotations for nobody", show(3, func(m *irv1.PromptMessage) { m.Annotations.Audience[0] = 7 }), `prompts.show.messages.annotations.audience: 7 is nobody`},
	}...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := prompting()
			tt.change(b.Prompts[0], b.Prompts[2], b)
			problems := content([]*irv1.Binding{b}).Validate()
			want := `binding "library": ` + tt.want
			for _, p := range problems {
				if p.String() == want {
					return
				}
			}
			t.Errorf("problems are %q, want %q", problems, want)
		})
	}
}

func TestValidateCountsPrompts(t *testing.T) {
	b := prompting()
	b.Prompts = nil
	for i := range irv1.MaxPrompts + 1 {
		p := prompting().Prompts[2]
		p.Name = fmt.Sprint(i)
		b.Prompts = append(b.Prompts, p)
	}
	p := content([]*irv1.Binding{b}).Validate()
	if len(p) != 1 || p[0].String() != `binding "library": endpoint: endpoint /mcp has 1001 prompts, at most 1000 can share one` {
		t.Errorf("problems are %.3v", p)
	}
}

func TestValidateCodes(t *testing.T) {
	first, second, third := library(), library(), library()
	second.Name, second.Documents, second.Tools[0].Name = "second", nil, "second"
	third.Name, third.Documents, third.Endpoint = "third", nil, "/third"
	first.Errors.ToolCodes, second.Errors.PromptCodes = &irv1.Codes{NotFound: -32001}, &irv1.Codes{NotFound: -32003, Failed: -32004}
	second.Errors.ToolCodes, third.Errors.ToolCodes = &irv1.Codes{NotFound: -32001}, &irv1.Codes{NotFound: -1}
	if problems := open(t, first, second, third).Validate(); len(problems) > 0 {
		t.Errorf("problems are %q", problems)
	}
	second.Errors.ToolCodes.NotFound = -32002
	problems := open(t, first, second, third).Validate()
	want := `binding "second": errors.codes.tool.notFound: endpoint /mcp has another code for this already`
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("problems are %q, want %q", problems, want)
	}
}
