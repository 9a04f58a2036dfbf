package serve

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/prompt"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// listPrompts answers a prompts/list by t.
func (e *endpoint) listPrompts(t *table.Table, req *mcp.ListPromptsRequest) (mcp.Result, error) {
	at := e.orNone(t)
	p := cmp.Or(req.Params, &mcp.ListPromptsParams{})
	return list(t, spoken(req.ProtocolVersion(), p.Meta), "prompts", at.Prompts, p.Cursor, at.Caching.Prompts)
}

// getPrompt answers a prompts/get by t.
func (e *endpoint) getPrompt(ctx context.Context, t *table.Table, req *mcp.GetPromptRequest) (mcp.Result, error) {
	p := e.prompt(t, req.Params.Name)
	if p == nil {
		return nil, e.unknown(t, irv1.KindPrompt, req.Params.Name)
	}
	if wrong := prompt.Check(p, req.Params.Arguments); wrong != nil {
		return nil, errorFrom(wrong)
	}
	messages, q, err := e.messages(ctx, t, p, req)
	if err != nil {
		return nil, err
	}
	if q != nil {
		return newQuestion(t, q), nil
	}
	return newAnswer(t, spoken(req.ProtocolVersion(), req.Params.Meta), prompt.Members(p, messages)), nil
}

// messages returns those of p, which has all that it requires, or else what the client
// is asked first.
func (e *endpoint) messages(ctx context.Context, t *table.Table, p *table.Prompt, req *mcp.GetPromptRequest) (messages []byte, q *asked, err error) {
	given := req.Params.Arguments
	if p.Use == nil {
		return prompt.Messages(p, given, spoken(req.ProtocolVersion(), req.Params.Meta)), nil, nil
	}
	o := e.use(ctx, t, p.Use, func(ctx context.Context) (o call.Outcome) {
		c := callerOf(ctx, req, req.Session, req.Params.Meta, req.Params.RequestState)
		r := prompt.Request(p, given, inboundOf(req.Extra, req.Params.Meta))
		var last *table.Tool
		last, o, q = e.converse(ctx, p.Use.Tool, r, message.MethodPrompt+" "+p.Name, c)
		if q == nil {
			messages, o = prompt.Received(p, last, o, formOf(c.version))
		}
		return o
	})
	return messages, q, errorFrom(o.Error)
}

// prompt returns the prompt called name; nil when there is none, or when t no longer
// has the endpoint.
func (e *endpoint) prompt(t *table.Table, name string) *table.Prompt {
	if at := e.at(t); at != nil {
		return at.Prompt(name)
	}
	return nil
}

// use makes a call for u, which is not one of tools/call, as ask does, and has it
// watched like any other.
func (e *endpoint) use(ctx context.Context, t *table.Table, u *table.Use, ask func(context.Context) call.Outcome) call.Outcome {
	e.watch.enter()
	defer e.watch.leave()
	done := e.watch.begin(ctx, e.pathIn(t), t)
	if !u.Tool.Interruptible {
		ctx = context.WithoutCancel(ctx)
	}
	o := ask(ctx)
	done(u.Tool, o)
	askToWait(ctx, o.RetryAfter)
	return o
}

// inboundOf returns the request for a call that was asked for with extra, nil over
// stdio, and meta.
func inboundOf(extra *mcp.RequestExtra, meta mcp.Meta) call.Request {
	var r call.Request
	if extra != nil {
		r.Header = extra.Header
	}
	r.Meta = rawMeta(meta)
	r.Traceparent, _ = meta[message.KeyTraceparent].(string)
	r.Tracestate, _ = meta[message.KeyTracestate].(string)
	return r
}

// errorFrom returns the JSON-RPC error that err is; nil for none.
func errorFrom(err *call.Error) error {
	if err == nil {
		return nil
	}
	return &jsonrpc.Error{Code: int64(err.Code), Message: err.Message, Data: json.RawMessage(err.Data)}
}
