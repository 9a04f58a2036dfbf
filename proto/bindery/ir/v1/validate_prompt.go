package irv1

import "strings"

// MaxPrompts is the number of prompts that one endpoint can have.
const MaxPrompts = 1000

// Limits of a prompt.
const (
	MaxPromptArguments = 64
	MaxMessages        = 100
)

// MaxCompletions is how many values a completion can have.
const MaxCompletions = 10_000

// prompts checks those of b, apart from what other bindings have. files are those of
// the bundle.
func (p *problems) prompts(b *Binding, files map[Digest][]byte) {
	for _, prompt := range b.GetPrompts() {
		field := "prompts." + prompt.GetName()
		p.check(validName(prompt.GetName()), field, "%q cannot be the name of a prompt", prompt.GetName())
		p.check(prompt.GetDescription() != "", field+".description", "there is none")
		given := p.promptArguments(field, prompt, b)
		switch k := prompt.GetKind().(type) {
		case *Prompt_Messages:
			p.messages(field+".messages", k.Messages.GetMessages(), given, files)
		case *Prompt_Use:
			p.use(field, k.Use.GetUse(), given, b)
		}
	}
}

// endpointPrompts adds the prompts of b to those of its endpoint: name -> binding, by
// endpoint.
func (p *problems) endpointPrompts(endpoints map[string]map[string]string, b *Binding) {
	all := endpoints[b.GetEndpoint()]
	if all == nil {
		all = map[string]string{}
		endpoints[b.GetEndpoint()] = all
	}
	for _, prompt := range b.GetPrompts() {
		other, taken := all[prompt.GetName()]
		p.check(!taken, "prompts."+prompt.GetName(), "endpoint %s has another prompt of this name, in binding %q", b.GetEndpoint(), other)
		all[prompt.GetName()] = b.GetName()
	}
	p.check(len(all) <= MaxPrompts, "endpoint", "endpoint %s has %d prompts, at most %d can share one", b.GetEndpoint(), len(all), MaxPrompts)
}

// promptArguments checks the arguments of a prompt and returns their names.
func (p *problems) promptArguments(field string, prompt *Prompt, b *Binding) (names map[string]bool) {
	names = map[string]bool{}
	for _, a := range prompt.GetArguments() {
		at := field + ".args." + a.GetName()
		p.check(a.GetName() != "" && !names[a.GetName()], at, "the argument has no name of its own")
		names[a.GetName()] = true
	}
	p.check(len(names) <= MaxPromptArguments, field+".args", "there are %d, at most %d can be", len(names), MaxPromptArguments)
	for _, a := range prompt.GetArguments() {
		p.completion(field+".args."+a.GetName()+".complete", a.GetCompletion(), names, b)
	}
	return names
}

func (p *problems) messages(field string, all []*PromptMessage, given map[string]bool, files map[Digest][]byte) {
	p.check(len(all) > 0 && len(all) <= MaxMessages, field, "there are %d, from 1 to %d can be", len(all), MaxMessages)
	for _, m := range all {
		p.contentAnnotations(field+".annotations", m.GetAnnotations())
		switch k := m.GetContent().(type) {
		case *PromptMessage_Text:
			p.parts(field, k.Text, given)
		case *PromptMessage_Image:
			p.medium(field, k.Image, "image/", files)
		case *PromptMessage_Audio:
			p.medium(field, k.Audio, "audio/", files)
		case *PromptMessage_Resource:
			p.promptResource(field, k.Resource, given, files)
		}
	}
}

// medium checks a picture or a sound, whose media type begins with kind.
func (p *problems) medium(field string, m *Medium, kind string, files map[Digest][]byte) {
	p.file(field, m.GetFile(), files)
	p.check(m.GetFile().GetBinary(), field, "the file is not binary")
	p.check(strings.HasPrefix(m.GetMediaType(), kind) && ValidHeaderValue(m.GetMediaType()), field+".mimeType", "%q is not a media type of this kind", m.GetMediaType())
}

func (p *problems) promptResource(field string, r *PromptResource, given map[string]bool, files map[Digest][]byte) {
	p.check(len(r.GetUri().GetParts()) > 0, field+".uri", "there is none")
	p.parts(field+".uri", r.GetUri(), given)
	p.check(r.GetMediaType() != "" && ValidHeaderValue(r.GetMediaType()), field+".mimeType", "%q is not a media type", r.GetMediaType())
	switch k := r.GetBody().(type) {
	case *PromptResource_Text:
		p.parts(field+".text", k.Text, given)
	case *PromptResource_File:
		p.file(field+".file", k.File, files)
	}
}

// completion checks what is offered for a variable, nil for nothing; given are those
// that may be filled in.
func (p *problems) completion(field string, c *Completion, given map[string]bool, b *Binding) {
	switch k := c.GetKind().(type) {
	case *Completion_Values:
		p.check(len(k.Values.GetValues()) <= MaxCompletions, field, "there are %d values, at most %d can be", len(k.Values.GetValues()), MaxCompletions)
	case *Completion_Use:
		p.use(field, k.Use.GetUse(), given, b)
		p.check(k.Use.GetAt().GetSide() == Side_SIDE_RESPONSE, field+".at", "it is not a place in a response")
		t := b.tool(k.Use.GetUse().GetTool())
		p.check(t == nil || t.GetAnnotations().GetReadOnly(), field+".tool", "tool %q is not read-only", t.GetName())
	}
}
