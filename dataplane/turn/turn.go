// Package turn takes a call from the response that asks something of its user to the
// call that goes on with the answer: a question comes in and a call goes out, and where
// the client keeps what is known in between, a sealed state does.
package turn

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// MaxRounds is how often one call can ask.
const MaxRounds = 10

// maxDepth is how deep answers can be nested; see [rawjson.Parse].
const maxDepth = 64

// Errors of [Turn.Next]. Each says it to the client.
var (
	// ErrDeclined says that the user does not want the call to go on.
	ErrDeclined = errors.New("the user declined what the service asks")
	// ErrAnswers says that the answers are not those to what was asked.
	ErrAnswers = errors.New("inputResponses are not answers to what was asked")
)

// A Turn is a call that waits for the answer to a question.
type Turn struct {
	Tool      *table.Tool // whose call asks
	Ask       *table.Ask
	Arguments rawjson.Value            // of that call: an object
	Taken     map[string]rawjson.Value // arguments of the next that the response has
	Generated map[string]string        // as in [call.Question]
	Fork      []byte                   // as in [call.Request], of that call
	Round     int                      // how often the call asked before
}

// New returns the turn that q begins, which the call r of tool asks.
func New(tool *table.Tool, r call.Request, q *call.Question, round int) *Turn {
	t := &Turn{Tool: tool, Ask: q.Ask, Arguments: orNone(r.Arguments), Taken: map[string]rawjson.Value{}, Generated: q.Generated, Fork: r.Fork, Round: round}
	for _, a := range q.Ask.GetArguments() {
		if v := q.Body.Lookup(a.GetAt().GetTokens()); v != nil && a.GetSide() == irv1.AskSide_ASK_SIDE_RESPONSE {
			t.Taken[a.GetName()] = v
		}
	}
	return t
}

func orNone(arguments rawjson.Value) rawjson.Value {
	if arguments == nil {
		return rawjson.Value("{}")
	}
	return arguments
}

// Next returns the call that goes on with answers, a JSON object by key, nil for none.
// It is without what comes with the client's request. The error is [ErrDeclined] or
// [ErrAnswers].
func (t *Turn) Next(answers []byte) (*table.Tool, call.Request, error) {
	given, err := parse(answers)
	if err == nil {
		err = checkAnswer(t.Ask, given)
	}
	if err != nil {
		return nil, call.Request{}, err
	}
	return t.next(given)
}

// next is Next with answers that are good. The next call is another if its arguments say
// something else, however they are written: who answers again may write them anew, and
// nothing must be carried out twice for that.
func (t *Turn) next(answers rawjson.Value) (*table.Tool, call.Request, error) {
	merged := over(t.known(), t.values(answers))
	r := call.Request{Arguments: merged, Generated: t.Generated, Fork: t.Fork}
	before, err := sumOf(t.Arguments)
	if err != nil {
		return nil, call.Request{}, ErrAnswers
	}
	said, err := sumOf(merged)
	if err != nil {
		return nil, call.Request{}, ErrAnswers
	}
	if t.Ask.Next != t.Tool || !bytes.Equal(said, before) {
		sum := sha256.Sum256(append([]byte(t.Ask.Next.Name+"\x00"), said...))
		r.Fork = sum[:]
	}
	return t.Ask.Next, r, nil
}

// known returns those of the arguments that the next tool has: it may be another.
func (t *Turn) known() rawjson.Value {
	if t.Ask.Next == t.Tool {
		return t.Arguments
	}
	var all []table.Member
	for name, value := range t.Arguments.Members() {
		if text, _ := name.Text(); t.Ask.Next.Takes(text) {
			all = append(all, table.Member{Name: text, Value: value})
		}
	}
	return table.Object(all)
}

// values returns the arguments that are put over those of the call that asked.
func (t *Turn) values(answers rawjson.Value) map[string]rawjson.Value {
	all := map[string]rawjson.Value{}
	for _, a := range t.Ask.GetArguments() {
		var v rawjson.Value
		switch a.GetSide() {
		case irv1.AskSide_ASK_SIDE_ANSWERS:
			v = answers.Lookup(a.GetAt().GetTokens())
		case irv1.AskSide_ASK_SIDE_REQUEST:
			v = t.Arguments.Lookup(a.GetAt().GetTokens())
		case irv1.AskSide_ASK_SIDE_RESPONSE:
			v = t.Taken[a.GetName()]
		}
		if v != nil {
			all[a.GetName()] = v
		}
	}
	return all
}

// Early returns the call that a call of tool with arguments and answers, but without
// state, is: a client may know what is going to be asked, or have been asked where
// nothing was sealed. It is without what comes with the client's request. Answers that
// are of no use without state are ignored, and so are those to what nobody asks. The
// error is [ErrDeclined] or [ErrAnswers].
func Early(tool *table.Tool, arguments rawjson.Value, answers []byte) (*table.Tool, call.Request, error) {
	given, err := parse(answers)
	if err != nil {
		return nil, call.Request{}, err
	}
	sent, err := rawjson.Parse(orNone(arguments), call.MaxDepth)
	if err != nil || sent.Kind() != rawjson.Object {
		return tool, call.Request{Arguments: arguments}, nil // the call is refused for that
	}
	r := call.Request{Arguments: sent}
	for _, ask := range tool.Asks.All {
		if !ask.Free || !isAnswered(ask, given) {
			continue
		}
		if err := checkAnswer(ask, given); err != nil {
			return nil, call.Request{}, err
		}
		var next *table.Tool
		t := &Turn{Tool: tool, Ask: ask, Arguments: r.Arguments, Fork: r.Fork}
		if next, r, err = t.next(given); err != nil || next != tool {
			return next, r, err
		}
	}
	return tool, r, nil
}

// isAnswered reports whether answers has something for ask. What a service asks itself
// has names of its own: that is answered by what becomes an argument.
func isAnswered(ask *table.Ask, answers rawjson.Value) bool {
	if ask.GetRequests() == nil {
		return answers.Member(ask.GetName()) != nil
	}
	return slices.ContainsFunc(ask.GetArguments(), func(a *irv1.AskArgument) bool {
		return a.GetSide() == irv1.AskSide_ASK_SIDE_ANSWERS && answers.Lookup(a.GetAt().GetTokens()) != nil
	})
}

// parse returns answers, nil for none. Each is an object.
func parse(answers []byte) (rawjson.Value, error) {
	if answers == nil {
		return nil, nil
	}
	v, err := rawjson.Parse(answers, maxDepth)
	if err != nil || v.Kind() != rawjson.Object {
		return nil, ErrAnswers
	}
	for _, answer := range v.Members() {
		if answer.Kind() != rawjson.Object {
			return nil, ErrAnswers
		}
	}
	return v, nil
}

// checkAnswer holds answers to ask. Those to questions of a service are for the service
// to look at.
func checkAnswer(ask *table.Ask, answers rawjson.Value) error {
	if ask.GetRequests() != nil {
		return nil
	}
	answer := answers.Member(ask.GetName())
	action, _ := answer.Member("action").Text()
	switch {
	case action == "decline" || action == "cancel":
		return ErrDeclined
	case action != "accept":
		return ErrAnswers
	case ask.Schema != nil && (answer.Member("content") == nil || ask.Schema.Check(answer.Member("content")) != nil):
		return ErrAnswers
	}
	return nil
}

// over returns object with members put over its own. Without any it is object.
func over(object rawjson.Value, members map[string]rawjson.Value) rawjson.Value {
	if len(members) == 0 {
		return object
	}
	var all []table.Member
	for name, value := range object.Members() {
		text, _ := name.Text()
		if _, replaced := members[text]; !replaced {
			all = append(all, table.Member{Name: text, Value: value})
		}
	}
	for _, name := range sorted(members) {
		all = append(all, table.Member{Name: name, Value: members[name]})
	}
	return table.Object(all)
}

// sumOf returns what arguments have in common that say the same.
func sumOf(arguments rawjson.Value) ([]byte, error) {
	v, err := rawjson.Parse(orNone(arguments), call.MaxDepth)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(normal(v).Decode())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return sum[:], nil
}

// normal returns v with every number written in the one way.
func normal(v rawjson.Value) rawjson.Value {
	if v.Kind() == rawjson.Number {
		return v.Normal()
	}
	return v.Map(func(name, value rawjson.Value) (rawjson.Value, rawjson.Value) { return name, normal(value) })
}
