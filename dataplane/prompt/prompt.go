// Package prompt makes the messages of prompts: a prompt and the values of its
// arguments come in, and messages as MCP has them go out, as JSON.
//
// They are the prompt's own, or those that a tool of its binding gives; then there is
// a call, whose outcome goes out, too.
package prompt

import (
	"slices"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Missing returns the first argument that p requires and that has no value; "" when
// each has one.
func Missing(p *table.Prompt, values fill.Values) string {
	i := slices.IndexFunc(p.Required, func(name string) bool {
		_, given := values[name]
		return !given
	})
	if i < 0 {
		return ""
	}
	return p.Required[i]
}

// Messages returns the array of messages of p, which has its own.
func Messages(p *table.Prompt, values fill.Values) []byte {
	b := []byte{'['}
	for i, m := range p.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, m.GetRole(), textContent(fill.Text(m.GetText(), values)))
	}
	return append(b, ']')
}

// Request returns r, which is without arguments, as the call of the tool that gives the
// messages of p.
func Request(p *table.Prompt, values fill.Values, r call.Request) call.Request {
	r.Arguments, r.For = fill.Arguments(p.Use.Arguments, values), irv1.KindPrompt
	return r
}

// Received returns the array of messages that o, the outcome of that call, gives p. It
// is nil exactly if the outcome has an error: an answer without messages is one that
// cannot be used.
func Received(p *table.Prompt, o call.Outcome) ([]byte, call.Outcome) {
	if o.Error != nil {
		return nil, o
	}
	messages, err := received(p, o)
	if err != nil {
		return nil, call.Unfit(p.Use.Tool, irv1.KindPrompt, o, err)
	}
	return messages, o
}

func appendMessage(b []byte, role irv1.Role, content []byte) []byte {
	word := "user"
	if role == irv1.Role_ROLE_ASSISTANT {
		word = "assistant"
	}
	b = append(append(b, `{"role":"`...), word...)
	b = append(append(b, `","content":`...), content...)
	return append(b, '}')
}

func textContent(text string) []byte {
	return append(rawjson.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
}
