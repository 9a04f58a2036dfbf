package serve

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// A reply is the answer to a request that has one.
type reply struct {
	status     int
	message    []byte
	retryAfter time.Duration // 0 for none
}

// send answers with p.
func (p reply) send(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(p.message))) // spares the chunks
	setRetryAfter(h, p.retryAfter)
	w.WriteHeader(p.status)
	_, _ = w.Write(p.message) // a client that is gone needs no answer
}

// fast answers body if it is a plain tools/call, and reports whether it was. The
// answer is the one that the SDK would give: a test holds both equal. What is not
// plain is for the SDK, which then has the request as it came.
func (e *endpoint) fast(r *http.Request, body []byte) (reply, bool) {
	env, ok := message.OpenEnvelope(r.Header, body)
	if !ok {
		return reply{}, false
	}
	t := e.current()
	tool := e.tool(t, env.Tool)
	if tool == nil || e.converses(r.Context(), tool, env) || env.Version >= message.Modern && unsaid(r.Header, tool, env.Arguments) != "" {
		return reply{}, false
	}
	ctx := r.Context()
	if env.Version < message.Modern || !tool.Interruptible {
		// Older clients cancel with a message; that they are gone means nothing. And
		// what is not safe to give up goes on to its end, for the log to tell.
		ctx = context.WithoutCancel(ctx)
	}
	ctx, over := cancelable(ctx, tool, env.ID)
	defer over()
	e.watch.enter()
	defer e.watch.leave()
	done := e.watch.begin(ctx, e.path, t)
	last, outcome, q := tool, call.Outcome{}, (*asked)(nil)
	if len(tool.Asks.All)+len(tool.Requires) > 0 {
		last, outcome, q = e.converse(ctx, tool, env.Request(r.Header), whatCall+tool.Name, senderOf(env))
	} else {
		outcome = call.Do(ctx, tool, env.Request(r.Header))
	}
	done(tool, outcome)
	if q != nil {
		return reply{http.StatusOK, e.question(t, env, q), outcome.RetryAfter}, true
	}
	whole, status := e.response(t, last, env, outcome)
	return reply{status, whole, outcome.RetryAfter}, true
}

// converses reports whether a call of tool with ctx may take more than one answer: a
// question to the client of a session, or what that hears in the meantime.
func (e *endpoint) converses(ctx context.Context, tool *table.Tool, env message.Envelope) bool {
	inSession := sessionOf(ctx) != nil
	return inSession && len(tool.Asks.All)+len(tool.Requires) > 0 || tool.Notices != nil && narrates(tool, env.Meta, inSession)
}

// senderOf returns who sent env, without a session.
func senderOf(env message.Envelope) caller {
	c := caller{version: env.Version}
	if env.Version >= message.Modern {
		c.able = abilitiesOf(env.Meta.Member(message.KeyCapabilities))
	}
	return c
}

// question returns the response to env that asks q.
func (e *endpoint) question(t *table.Table, env message.Envelope, q *asked) []byte {
	m := append(beginMessage(nil, env.ID), `"result":{`...)
	m = append(appendAsked(m, q), `,"_meta":`...)
	return append(e.appendMeta(m, t, env.Version, nil), `}}`...)
}

// response returns that to env which o, the outcome of a call of tool, becomes,
// and its status.
func (e *endpoint) response(t *table.Table, tool *table.Tool, env message.Envelope, o call.Outcome) ([]byte, int) {
	m := e.buffers.take(len(env.ID) + result.Size(o) + 512)
	m = append(beginMessage(m, env.ID), `"result":{`...)
	m, refusal := result.Append(m, tool, o, formOf(env.Version))
	if refusal != nil {
		return refusalMessage(env.ID, refusal), message.StatusOf(env.Version, int64(refusal.Code))
	}
	if !result.IsBare(tool, o) {
		if env.Version >= message.Modern {
			m = append(m, `,"resultType":"complete"`...)
		}
		m = append(m, `,"_meta":`...)
		m = e.appendMeta(m, t, env.Version, o.Meta)
	}
	return append(m, `}}`...), http.StatusOK
}

// appendMeta appends the "_meta" of newAnswer, with what the SDK adds to it and more.
func (e *endpoint) appendMeta(m []byte, t *table.Table, version string, more map[string]rawjson.Value) []byte {
	m = append(m, `{"`+metaDigest+`":"`...)
	digest := t.Digest()
	m = hex.AppendEncode(m, digest[:])
	m = append(m, `","`+metaRevision+`":`...)
	m = strconv.AppendUint(m, t.Generation().GetNumber(), 10)
	if version >= message.Modern {
		m = append(m, `,"`+mcp.MetaKeyServerInfo+`":`...)
		m = append(m, e.serverInfo...)
	}
	for key, value := range more {
		m = rawjson.AppendQuote(append(m, ','), key)
		m = append(append(m, ':'), value...)
	}
	return append(m, '}')
}

// refusalMessage returns the response with a JSON-RPC error.
func refusalMessage(id rawjson.Value, err *call.Error) []byte {
	m := append(beginMessage(nil, id), `"error":{"code":`...)
	m = strconv.AppendInt(m, int64(err.Code), 10)
	m = append(m, `,"message":`...)
	m = rawjson.AppendQuote(m, err.Message)
	if err.Data != nil {
		m = append(m, `,"data":`...)
		m = append(m, err.Data...)
	}
	return append(m, `}}`...)
}

func beginMessage(m []byte, id rawjson.Value) []byte {
	m = append(m, `{"jsonrpc":"2.0","id":`...)
	return append(append(m, id...), ',')
}
