package compile

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var roles = map[string]irv1.Role{
	"":          irv1.Role_ROLE_USER,
	"user":      irv1.Role_ROLE_USER,
	"assistant": irv1.Role_ROLE_ASSISTANT,
}

// messages reads those that the prompt at v has.
func (rd *reading) messages(v value, given []variable) *irv1.PromptMessages {
	list := v.get("messages")
	elements := list.elements()
	if v.cue.Err() == nil && len(elements) == 0 {
		rd.noMessages(v)
	}
	if len(elements) > irv1.MaxMessages {
		rd.tooManyMessages(list, len(elements))
	}
	all := &irv1.PromptMessages{}
	for _, m := range elements {
		all.Messages = append(all.Messages, rd.message(m, names(given)))
	}
	return all
}

// message reads one, whose texts can take what is given.
func (rd *reading) message(v value, given []string) *irv1.PromptMessage {
	v.note()
	m := &irv1.PromptMessage{Role: roles[v.get("role").text()], Annotations: contentAnnotations(v.get("annotations"))}
	has := present(v, "text", "image", "audio", "resource")
	if len(has) != 1 {
		rd.messageContent(v, has)
		return m
	}
	switch content := v.get(has[0]); has[0] {
	case "text":
		m.Content = &irv1.PromptMessage_Text{Text: rd.filled(content, given)}
	case "image":
		m.Content = &irv1.PromptMessage_Image{Image: rd.medium(content, "image/")}
	case "audio":
		m.Content = &irv1.PromptMessage_Audio{Audio: rd.medium(content, "audio/")}
	case "resource":
		m.Content = &irv1.PromptMessage_Resource{Resource: rd.promptResource(content, given)}
	}
	return m
}

// present returns those of fields that v has.
func present(v value, fields ...string) []string {
	return slices.DeleteFunc(fields, func(f string) bool { return !v.get(f).exists() })
}

// medium reads a picture or a sound, whose media type begins with kind.
func (rd *reading) medium(v value, kind string) *irv1.Medium {
	name := v.get("file")
	m := &irv1.Medium{MediaType: v.get("mimeType").text()}
	data, ok := rd.file(name)
	if m.MediaType == "" {
		m.MediaType = typeOfFile(name.quiet())
	}
	if ok {
		m.File = rd.blob(data, true, name)
	}
	if name.quiet() != "" && !strings.HasPrefix(m.MediaType, kind) {
		rd.otherMedium(v, kind, m.MediaType)
	}
	return m
}

// promptResource reads what is read along with a prompt.
func (rd *reading) promptResource(v value, given []string) *irv1.PromptResource {
	if v.get("name").exists() {
		for _, field := range present(v, "uri", "mimeType", "text", "file") {
			rd.idleField(v.get(field), field, "the resource called name says it")
		}
		return rd.namedResource(v.get("name"))
	}
	r := &irv1.PromptResource{Uri: rd.filled(v.get("uri"), given), MediaType: v.get("mimeType").text()}
	if !v.get("uri").exists() && v.cue.Err() == nil {
		rd.noURI(v)
	}
	has := present(v, "text", "file")
	if len(has) != 1 {
		rd.resourceContent(v, has)
		return r
	}
	body := v.get(has[0])
	if has[0] == "text" {
		r.Body = &irv1.PromptResource_Text{Text: rd.filled(body, given)}
		if r.MediaType == "" {
			r.MediaType = "text/plain"
		}
		return r
	}
	data, ok := rd.file(body)
	if r.MediaType == "" {
		r.MediaType = typeOfFile(body.quiet())
	}
	if ok && r.MediaType == "" {
		rd.noMediaType(body, body.quiet())
	}
	if ok {
		r.Body = &irv1.PromptResource_File{File: rd.blob(data, !isText(r.MediaType), body)}
	}
	return r
}

// namedResource returns the resource of the binding that v names, as it is read along
// with a prompt. The binding's resources have been read.
func (rd *reading) namedResource(v value) *irv1.PromptResource {
	name := v.text()
	var known []string
	for _, r := range rd.out.ir.GetResources() {
		known = append(known, r.GetName())
		if r.GetName() != name {
			continue
		}
		if r.GetUse() != nil {
			rd.resourceOfTool(v, name)
		}
		uri := &irv1.Text{Parts: []*irv1.TextPart{{Kind: &irv1.TextPart_Literal{Literal: r.GetUri()}}}}
		return &irv1.PromptResource{Uri: uri, MediaType: r.GetMediaType(), Body: &irv1.PromptResource_File{File: r.GetFile()}}
	}
	if name != "" {
		rd.unknownResource(v, name, known)
	}
	return &irv1.PromptResource{}
}
