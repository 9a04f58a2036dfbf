package compile

import (
	"fmt"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxStray is how much of what follows a stray brace is repeated, in bytes.
const maxStray = 24

func (r report) strayBrace(v value, stray string) {
	if len(stray) > maxStray {
		n := maxStray
		for !utf8.RuneStart(stray[n]) {
			n--
		}
		stray = stray[:n]
	}
	r.list.Errorf(v.at("stray-brace", `a brace is written twice where it is one: "{{", "}}"`),
		"the brace at %q begins no placeholder such as {name}", stray)
}

func (r report) unknownPlaceholder(v value, name string, known []string) {
	r.list.Errorf(v.at("unknown-placeholder", diag.Nearest(name, known)), "{%s} stands for nothing: there is no argument or variable of this name", name)
}

func (r report) promptTwice(v value) {
	r.list.Errorf(v.atLabel("prompt-source", "remove one of them"), "a prompt has messages, or a tool that gives them, not both")
}

func (r report) noMessages(v value) {
	r.list.Errorf(v.atLabel("prompt-source", `add messages: [{text: "..."}], or tool: "NAME"`), "a prompt without messages says nothing")
}

func (r report) messageContent(v value, stated []string) {
	if len(stated) > 1 {
		r.list.Errorf(v.get(stated[1]).atLabel("message-content", "make two messages of it"), "a message has one of text, image, audio and resource")
	} else if v.cue.Err() == nil {
		r.list.Errorf(v.atLabel("message-content", `add text: "...", or an image, audio or resource`), "a message without content says nothing")
	}
}

func (r report) otherMedium(v value, kind, mediaType string) {
	if mediaType == "" {
		r.list.Errorf(v.atLabel("no-media-type", fmt.Sprintf(`add mimeType: "%s..."`, kind)), "the name of the file does not say what it is")
		return
	}
	r.list.Errorf(v.atLabel("other-medium", `make it a resource, or write another mimeType`), "%q is no media type that begins with %s", mediaType, kind)
}

func (r report) noURI(v value) {
	r.list.Errorf(v.atLabel("resource-uri", `add uri: "...", or the name of a resource of the binding`), "a resource that is read along has a URI")
}

func (r report) resourceContent(v value, stated []string) {
	if len(stated) > 1 {
		r.list.Errorf(v.get(stated[1]).atLabel("resource-body", "remove one of them"), "a resource has one of text and file")
	} else if v.cue.Err() == nil {
		r.list.Errorf(v.atLabel("resource-body", `add text: "...", or a file`), "there is nothing to read")
	}
}

func (r report) resourceOfTool(v value, name string) {
	r.list.Errorf(v.at("resource-of-tool", "let a tool give the messages of the prompt"), "resource %q comes from a tool, which is not called for a message", name)
}

func (r report) unknownResource(v value, name string, known []string) {
	r.list.Errorf(v.at("unknown-resource", diag.Nearest(name, known)), "the binding has no resource %q", name)
}

func (r report) tooManyMessages(v value, n int) {
	r.list.Errorf(v.at("too-many-messages", ""), "there are %d messages, at most %d can be", n, irv1.MaxMessages)
}

func (r report) tooManyArguments(v value, n int) {
	r.list.Errorf(v.atLabel("too-many-arguments", ""), "there are %d arguments, at most %d can be", n, irv1.MaxPromptArguments)
}

func (r report) tooManyValues(v value, n int) {
	r.list.Errorf(v.at("too-many-values", "let a tool find them"), "there are %d values, at most %d can be", n, irv1.MaxCompletions)
}

func (r report) noContent(v value, tool string) {
	r.list.Errorf(v.at("no-content", `add at: "/messages", the place of the messages in its answer`), "the result of tool %q is raw and has no content to make messages of", tool)
}

func (r report) completionSource(v value) {
	r.list.Errorf(v.atLabel("completion-source", `write values: ["..."], or tool: "NAME"`), "a completion has values, or a tool that gives them: one of the two")
}

func (r report) changingCompletion(v value, tool string) {
	r.list.Errorf(v.at("changing-completion", "name a tool of a GET, or write annotations: readOnly: true where it is"),
		"tool %q is not read-only, and a completion calls it at every key", tool)
}

func (r report) noToolToUse(v value, name string, tools []string) {
	r.list.Errorf(v.at("unknown-tool", diag.Nearest(name, tools)), "the binding has no tool %q", name)
}

func (r report) unknownUseArgument(v value, name, tool string, known []string) {
	r.list.Errorf(v.atLabel("unknown-argument", diag.Nearest(name, known)), "tool %q has no argument %q", tool, name)
}

func (r report) unfitUseArgument(v value, a *irv1.Argument) {
	hint := `write a value of that type`
	if scalarKinds[a.GetType()] != 0 {
		hint = `write a value of that type, or one placeholder and nothing else: "{x}"`
	}
	typ := typeNames[a.GetType()]
	if a == nil {
		typ = "object"
	}
	r.list.Errorf(v.at("unfit-argument", hint), "the tool takes no such value here: its type is %s", typ)
}

func (r report) unfilled(v value, name, tool string) {
	r.list.Errorf(v.at("unfilled-argument", fmt.Sprintf(`add with: %s: "{x}", x being an argument here`, name)), "tool %q is not called without argument %q", tool, name)
}

func (r report) perhapsUnfilled(v value, name, tool, variable string) {
	r.list.Errorf(v.at("unfilled-argument", fmt.Sprintf("write args: %s: required: true", variable)),
		"tool %q is not called without argument %q, and {%s} may have no value", tool, name, variable)
}

func (r report) duplicatePrompt(b, other *binding, prompt string) {
	r.list.Errorf(diag.Problem{Pos: b.promptAt[prompt], Code: "duplicate-prompt", Path: dotted("bindings", b.name, "prompts", prompt),
		Hint: "rename one of them, or give one of the bindings another endpoint"},
		"binding %q has a prompt %q at %s, too (%s)", other.name, prompt, b.ir.GetEndpoint(), diag.Place(other.promptAt[prompt]))
}

func (r report) tooManyPrompts(b *binding, endpoint string) {
	r.list.Errorf(diag.Problem{Pos: b.at, Code: "too-many-prompts", Path: dotted("bindings", b.name), Hint: "give some bindings another endpoint"},
		"%s has more than %d prompts", endpoint, irv1.MaxPrompts)
}
