// Package prompt makes the messages of prompts: a prompt and the values of its
// arguments come in, and messages as MCP has them go out, as JSON.
//
// They are the prompt's own, or those that a tool of its binding gives; then there is
// a call, whose outcome goes out, too.
package prompt

import (
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Check returns what is wrong with the values that a client gives for the arguments of
// p; nil when nothing is. Those of others are ignored.
func Check(p *table.Prompt, values fill.Values) *call.Error {
	for _, name := range p.Required {
		if _, given := values[name]; !given {
			return &call.Error{Code: call.CodeInvalidParams, Message: fmt.Sprintf("argument %q is missing", name), Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC}
		}
	}
	return nil
}

// Members returns the members of the result that has messages, an array.
func Members(p *table.Prompt, messages []byte) []byte {
	members := append([]byte(`"description":`), rawjson.Quote(p.Description)...)
	return append(append(members, `,"messages":`...), messages...)
}

// Messages returns the array of messages of p, which has its own, for a client that
// speaks a revision of MCP.
func Messages(p *table.Prompt, values fill.Values, version string) []byte {
	b := []byte{'['}
	for i, m := range p.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		for _, piece := range m.Pieces(version) {
			if piece.Text == nil {
				b = append(b, piece.JSON...)
			} else {
				b = rawjson.AppendQuote(b, fill.Text(piece.Text, values))
			}
		}
	}
	return append(b, ']')
}

// Request returns r, which is without arguments, as the call of the tool that gives the
// messages of p.
func Request(p *table.Prompt, values fill.Values, r call.Request) call.Request {
	r.Arguments, r.For = fill.Arguments(p.Use.Arguments, values), irv1.KindPrompt
	return r
}

// Received returns the array of messages that o, the outcome of that call or of the one
// of t that went on with it, gives p for a client that knows f. It is nil exactly if the
// outcome has an error: an answer without messages is one that cannot be used.
func Received(p *table.Prompt, t *table.Tool, o call.Outcome, f result.Form) ([]byte, call.Outcome) {
	if o.Error != nil {
		return nil, o
	}
	messages, err := received(p, t, o, f)
	if err != nil {
		return nil, call.Unfit(t, irv1.KindPrompt, o, err)
	}
	return messages, o
}
