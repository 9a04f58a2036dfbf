package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// callTool answers a tools/call by t.
func (e *endpoint) callTool(ctx context.Context, t *table.Table, req *mcp.CallToolRequest) (mcp.Result, error) {
	e.watch.enter()
	defer e.watch.leave()
	done := e.watch.begin(ctx, e.pathIn(t), t)
	tool := e.tool(t, req.Params.Name)
	if tool == nil {
		done(nil, call.Outcome{Class: call.InvalidParams})
		return nil, e.unknown(t, irv1.KindTool, req.Params.Name)
	}
	c := callerOf(ctx, req, req.Session, req.Params.Meta, req.Params.RequestState)
	end := narrate(ctx, tool, req, c.version >= message.Modern || c.session != nil)
	last, outcome, q := e.converse(ctx, tool, requestOf(req), whatCall+tool.Name, c)
	end()
	done(tool, outcome)
	askToWait(ctx, outcome.RetryAfter)
	if q != nil {
		return newQuestion(t, q), nil
	}
	a, refusal := answerOf(t, last, c.version, outcome)
	if refusal != nil {
		return nil, &jsonrpc.Error{Code: int64(refusal.Code), Message: refusal.Message, Data: json.RawMessage(refusal.Data)}
	}
	return a, nil
}

// whatCall is what precedes the name of a tool in what a client asks for.
const whatCall = message.MethodCall + " "

// callerOf returns who makes req, which came in session with meta, and with state from
// before.
func callerOf(ctx context.Context, req mcp.Request, session *mcp.ServerSession, meta mcp.Meta, state string) caller {
	met := session.InitializeParams()
	wanted, said := meta[message.KeyVersion].(string)
	if !said && met != nil {
		wanted = met.ProtocolVersion
	}
	c := caller{version: spoken(wanted, meta), state: state, answers: message.Exact(meta).Member("inputResponses")}
	if c.version >= message.Modern {
		c.able = declared(meta[message.KeyCapabilities])
	} else if keeps(ctx, req) { // else nothing comes back
		c.session = session
		if met != nil && met.Capabilities != nil {
			c.able = declared(met.Capabilities)
			c.able = c.able.without(met.Capabilities.RootsV2 == nil, irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS)
		}
	}
	return c
}

// unknown is the error for what there is not of a kind in t, which is called name.
func (e *endpoint) unknown(t *table.Table, k irv1.Kind, name string) *jsonrpc.Error {
	code := 0
	if at := e.at(t); at != nil {
		code = at.NotFound(k)
	}
	return &jsonrpc.Error{Code: int64(cmp.Or(code, call.CodeInvalidParams)), Message: fmt.Sprintf("unknown %s %.64q", k, name)}
}

// answerOf returns the answer of t that o, the outcome of a call of tool, becomes for
// a client that speaks version, or else the JSON-RPC error.
func answerOf(t *table.Table, tool *table.Tool, version string, o call.Outcome) (*answer, *call.Error) {
	members, refusal := result.Of(tool, o, formOf(version))
	switch {
	case refusal != nil:
		return nil, refusal
	case result.IsBare(tool, o):
		return &answer{members: members, bare: true}, nil
	}
	return newAnswer(t, version, members).with(o.Meta), nil
}

// requestOf returns the call that came as req.
func requestOf(req *mcp.CallToolRequest) call.Request {
	r := inboundOf(req.Extra, req.Params.Meta)
	r.Arguments = req.Params.Arguments
	return r
}

// tool returns the tool called name that clients can call; nil when there is none, or
// when t no longer has the endpoint.
func (e *endpoint) tool(t *table.Table, name string) *table.Tool {
	at := e.at(t)
	if at == nil {
		return nil
	}
	if tool := at.Tool(name); tool != nil && !tool.Hidden {
		return tool
	}
	return nil
}

// watch is what an operator gets to see of calls.
type watch struct {
	*metrics
	log   *slog.Logger
	ids   *ids
	calls *underWay
}

// enter has a call count as under way until leave is called, also if it panics.
func (w watch) enter() {
	w.inFlight.Inc()
	w.calls.add(1)
}

func (w watch) leave() {
	w.inFlight.Dec()
	w.calls.add(-1)
}

// ids numbers the calls of a process, for its log. It is safe for concurrent use.
type ids struct {
	prefix string // differs between processes
	last   atomic.Uint64
}

func newIDs() *ids { return &ids{prefix: rand.Text()[:10] + "-"} }

func (i *ids) next() string { return i.prefix + strconv.FormatUint(i.last.Add(1), 10) }

// begin notes that a call has begun and returns what notes its end; tool is nil
// when there is none of the name. What a caller or an upstream sent is noted
// nowhere, not even the name of an unknown tool.
func (w watch) begin(ctx context.Context, endpoint string, t *table.Table) (done func(tool *table.Tool, o call.Outcome)) {
	began := time.Now()
	return func(tool *table.Tool, o call.Outcome) {
		took := time.Since(began)
		var name, binding string
		if tool != nil {
			name, binding = tool.Name, tool.Binding
		}
		w.observe(endpoint, name, o, took)
		attrs := []slog.Attr{
			slog.String("request", w.ids.next()),
			slog.String("endpoint", endpoint),
			slog.String("binding", binding),
			slog.String("tool", name),
			slog.String("class", o.Class.String()),
			slog.Int("status", o.Status),
			slog.Int("attempts", o.Attempts),
			slog.Duration("took", took),
			slog.Uint64("revision", t.Generation().GetNumber()),
		}
		for _, rule := range o.Retries {
			w.retries.WithLabelValues(endpoint, name, rule).Inc()
		}
		for _, b := range o.Breaches {
			w.breaches.count(endpoint, name, b)
			attrs = append(attrs, slog.String(string(b.Direction)+"_breach", b.Place+" "+b.Keyword))
		}
		if len(o.Checks) > 0 {
			attrs = append(attrs, slog.Any("checks", o.Checks))
		}
		if o.Err != nil {
			attrs = append(attrs, slog.Any("err", o.Err))
		}
		w.log.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
	}
}
