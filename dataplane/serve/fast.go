package serve

import (
	"context"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// fast answers body if it is a plain tools/call, and reports whether it was. The
// answer is the one that the SDK would give: a test holds both equal. What is not
// plain is for the SDK, which then has the request as it came.
func (e *endpoint) fast(w http.ResponseWriter, r *http.Request, body []byte) bool {
	env, ok := openEnvelope(r.Header, body)
	if !ok {
		return false
	}
	t := e.current()
	tool := e.tool(t, env.tool)
	if tool == nil {
		return false
	}
	ctx := r.Context()
	if env.version < modern {
		// Older clients cancel with a message; that they are gone means nothing.
		ctx = context.WithoutCancel(ctx)
	}
	done := e.watch.begin(ctx, e.path, t)
	outcome := call.Do(ctx, tool, call.Request{Arguments: env.arguments, Parsed: env.arguments != nil, Header: r.Header})
	done(tool, outcome)
	h := w.Header()
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Type", "application/json")
	setRetryAfter(h, outcome.RetryAfter)
	a, refusal := answerOf(t, tool, env.version, outcome)
	var message []byte
	if refusal != nil {
		message = refusalMessage(env.id, refusal)
		w.WriteHeader(statusOf(env.version, refusal.Code))
	} else {
		message = e.resultMessage(env, a)
	}
	_, _ = w.Write(message) // a client that is gone needs no answer
	return true
}

// resultMessage returns the response to env whose result is a.
func (e *endpoint) resultMessage(env envelope, a *answer) []byte {
	if env.version >= modern && !a.bare {
		a.Meta[mcp.MetaKeyServerInfo] = e.implementation
	}
	m := make([]byte, 0, len(a.members)+len(env.id)+512)
	m = append(openMessage(m, env.id), `"result":`...)
	m, _ = a.appendJSON(m) // texts and a number always marshal
	return append(m, '}')
}

// refusalMessage returns the response with a JSON-RPC error.
func refusalMessage(id rawjson.Value, err *call.Error) []byte {
	m := append(openMessage(nil, id), `"error":{"code":`...)
	m = strconv.AppendInt(m, int64(err.Code), 10)
	m = append(m, `,"message":`...)
	m = rawjson.AppendQuote(m, err.Message)
	if err.Data != nil {
		m = append(m, `,"data":`...)
		m = append(m, err.Data...)
	}
	return append(m, `}}`...)
}

func openMessage(m []byte, id rawjson.Value) []byte {
	m = append(m, `{"jsonrpc":"2.0","id":`...)
	return append(append(m, id...), ',')
}

// statusOf returns the status of HTTP that goes with an error code. The modern
// revisions give some codes one of their own.
func statusOf(version string, code int) int {
	if version < modern {
		return http.StatusOK
	}
	switch int64(code) {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, mcp.CodeUnsupportedProtocolVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
