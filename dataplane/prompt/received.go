package prompt

import (
	"errors"
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxDepth is how deep what an upstream sent can be nested, in a result of the node's
// as well.
const maxDepth = 512

// received returns the messages in o, an outcome without error, as an array. The error,
// which repeats nothing of o, says why there are none.
func received(p *table.Prompt, t *table.Tool, o call.Outcome, f result.Form) ([]byte, error) {
	if p.At == nil {
		return ofContent(t, o, f)
	}
	there := rawjson.Value(o.Body)
	if there != nil {
		there = there.Lookup(p.At.GetTokens())
	}
	if text, ok := there.Text(); ok {
		content := append(rawjson.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
		return append(appendSaid([]byte{'['}, content), ']'), nil
	}
	if err := checkMessages(there); err != nil {
		return nil, err
	}
	return there, nil
}

// ofContent returns the messages that the parts of the result's content are.
func ofContent(t *table.Tool, o call.Outcome, f result.Form) ([]byte, error) {
	members, _ := result.Of(t, o, f)
	v, err := rawjson.Parse(append(append([]byte{'{'}, members...), '}'), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the result is not JSON: %w", err)
	}
	b := []byte{'['}
	for part := range v.Member("content").Elements() {
		if err := checkContent(part); err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = appendSaid(b, part)
	}
	if len(b) == 1 {
		return nil, errors.New("the result has no content to make messages of")
	}
	return append(b, ']'), nil
}

// appendSaid appends a message of the user.
func appendSaid(b, content []byte) []byte {
	return append(append(append(b, `{"role":"user","content":`...), content...), '}')
}

// checkMessages returns why v is no list of messages as MCP has them; nil when it is.
func checkMessages(v rawjson.Value) error {
	if v.Kind() != rawjson.Array {
		return fmt.Errorf("the messages are no list and no text but %s", v.Kind())
	}
	n := 0
	for m := range v.Elements() {
		n++
		if !isMessage(m) {
			return fmt.Errorf("message %d is not {role, content} with the role user or assistant", n)
		}
		if err := checkContent(m.Member("content")); err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
	}
	if n == 0 || n > irv1.MaxMessages {
		return fmt.Errorf("there are %d messages, from 1 to %d can be", n, irv1.MaxMessages)
	}
	return nil
}

// checkContent returns why v is no content of a message; nil when it is.
func checkContent(v rawjson.Value) error {
	kind, _ := v.Member("type").Text()
	switch is := contents[kind]; {
	case is == nil:
		return errors.New("the content is of no type that a message has")
	case !is(v):
		return fmt.Errorf("the content of the type %s is not as MCP has it", kind)
	}
	return nil
}
