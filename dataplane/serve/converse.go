package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/turn"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A caller is who makes a call, as far as it can be asked for something.
type caller struct {
	version string
	able    abilities
	// session is where to ask in the course of a call; nil where that cannot be.
	session *mcp.ServerSession
	answers []byte // to what was asked before: a JSON object; nil for none
	state   string // that was sealed before; "" for none
}

// asked is what a client is asked in place of a result.
type asked struct {
	requests []call.InputRequest
	state    string // "" for none
}

// converse makes the call r of tool, which a client asked for as what, such as
// "tools/call get_book", and those that go on with it. It returns the outcome with the
// tool of the last call, or else what the client is asked.
func (e *endpoint) converse(ctx context.Context, tool *table.Tool, r call.Request, what string, c caller) (*table.Tool, call.Outcome, *asked) {
	if missing := c.able.lacks(tool.Requires); len(missing) > 0 {
		return tool, unable(missing), nil
	}
	client := turn.Request{What: what, Arguments: r.Arguments, Header: r.Header}
	last, next, round, err := resume(tool, r, client, c)
	for err == nil {
		o := call.Do(unbroken(ctx, last), last, next)
		q := o.Question
		if q == nil {
			return last, o, nil
		}
		possible, missing := c.able.split(q.Requests)
		switch {
		case round == turn.MaxRounds:
			return last, call.Stopped(last, call.Unusable, "The service asks its user again and again."), nil
		case len(possible) == 0 && q.Ask.GetOtherwise() == irv1.Otherwise_OTHERWISE_RESULT:
			return last, o, nil
		case len(possible) == 0:
			return last, unable(missing), nil
		}
		t := turn.New(last, next, q, round)
		if c.version >= message.Modern {
			return hold(t, possible, client, o)
		}
		var answers []byte
		if answers, err = e.elicit(ctx, c.session, possible, lifetime(last)); err != nil {
			failed := call.Stopped(last, call.Unanswered, "The client gave no answer to what the service asks.")
			failed.Err = err
			return last, failed, nil
		}
		last, next, err = goOn(t, answers, r)
		round++
	}
	return tool, refusedTurn(tool, err), nil
}

// unbroken returns ctx as a call of tool gets it: one that is not safe to give up goes on
// to its end, whoever cancels it.
func unbroken(ctx context.Context, tool *table.Tool) context.Context {
	if tool.Interruptible {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// resume returns the call that the client wants made, which may go on with another,
// and how often it asked so far. The error is one of package turn.
func resume(tool *table.Tool, r call.Request, client turn.Request, c caller) (*table.Tool, call.Request, int, error) {
	if c.state == "" {
		if c.answers == nil {
			return tool, r, 0, nil
		}
		next, nr, err := turn.Early(tool, r.Arguments, c.answers)
		return next, with(nr, r), 0, err
	}
	t, err := turn.Open(tool, c.state, client, tool.Deps().Now())
	if err != nil {
		return tool, r, 0, err
	}
	next, nr, err := goOn(t, c.answers, r)
	return next, nr, t.Round, err
}

// goOn returns the call that goes on with t after answers; r is the client's request.
func goOn(t *turn.Turn, answers []byte, r call.Request) (*table.Tool, call.Request, error) {
	tool, next, err := t.Next(answers)
	return tool, with(next, r), err
}

// with returns next with what came with the client's request r.
func with(next, r call.Request) call.Request {
	next.Header, next.Meta, next.Traceparent, next.Tracestate, next.For = r.Header, r.Meta, r.Traceparent, r.Tracestate, r.For
	return next
}

// hold returns what the client is asked, with t sealed where there is a secret for it; o
// is the outcome that asks.
func hold(t *turn.Turn, requests []call.InputRequest, client turn.Request, o call.Outcome) (*table.Tool, call.Outcome, *asked) {
	q := &asked{requests: requests}
	if t.Tool.State != nil {
		var err error
		if q.state, err = t.Seal(client, t.Tool.Deps().Now()); err != nil {
			failed := call.Stopped(t.Tool, call.Internal, "The node cannot ask what the service wants to know.")
			failed.Err = err
			return t.Tool, failed, nil
		}
	}
	o.Class, o.Error = call.Asked, nil
	return t.Tool, o, q
}

// refusedTurn is the outcome of answers or a state that err speaks against.
func refusedTurn(tool *table.Tool, err error) call.Outcome {
	switch {
	case errors.Is(err, turn.ErrDeclined):
		return call.Stopped(tool, call.Unanswered, "The user declined what the service asks.")
	case errors.Is(err, turn.ErrState), errors.Is(err, turn.ErrAnswers):
		return call.Outcome{Class: call.InvalidParams, Error: &call.Error{Code: call.CodeInvalidParams, Message: err.Error(), Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC}}
	}
	o := call.Stopped(tool, call.Internal, "The node cannot go on with the call.")
	o.Err = err
	return o
}

// unable is the outcome of a call that takes what the client cannot do.
func unable(missing []irv1.ClientCapability) call.Outcome {
	return call.Outcome{Class: call.Unanswered, Error: &call.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client does not declare a capability that the call takes",
		Data: fmt.Appendf(nil, `{"requiredCapabilities":%s}`, required(missing)), Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC,
	}}
}

// required returns capabilities as a client would declare them.
func required(capabilities []irv1.ClientCapability) []byte {
	all := map[string]map[string]any{}
	for _, c := range capabilities {
		name, mode := "sampling", ""
		switch c {
		case irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION:
			name, mode = "elicitation", "form"
		case irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION_URL:
			name, mode = "elicitation", "url"
		case irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS:
			name = "roots"
		}
		if all[name] == nil {
			all[name] = map[string]any{}
		}
		if mode != "" {
			all[name][mode] = struct{}{}
		}
	}
	data, _ := json.Marshal(all) // names always marshal
	return data
}

// appendAsked appends the members of the result that asks q.
func appendAsked(dst []byte, q *asked) []byte {
	dst = append(dst, `"inputRequests":{`...)
	for i, r := range q.requests {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendQuote(dst, r.Key)
		dst = append(dst, `:{"method":"`+r.Method+`","params":`...)
		dst = append(append(dst, r.Params...), '}')
	}
	dst = append(dst, '}')
	if q.state != "" {
		dst = append(dst, `,"requestState":"`+q.state+`"`...)
	}
	return append(dst, `,"resultType":"input_required"`...)
}
