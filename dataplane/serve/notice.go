package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// What a client says in "_meta" of a call to hear of it while it runs.
const (
	keyProgress = "progressToken"
	keyLogLevel = "io.modelcontextprotocol/logLevel"
)

// narrate has the client of req hear what the tool says of a call while that runs: until
// the function that it returns is called. logged says that the client can have asked for
// logs.
func narrate(ctx context.Context, tool *table.Tool, req *mcp.CallToolRequest, logged bool) (end func()) {
	n, token := tool.Notices, json.RawMessage(progressToken(req.Params.Meta))
	progress, logs := n.GetProgress() != nil && token != nil, n.GetLog() != nil && logged
	if !progress && !logs {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	began := time.Now()
	var told sync.WaitGroup
	told.Go(func() {
		tick := time.NewTicker(n.GetEvery().AsDuration())
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// A client that does not hear of it gets the result all the same.
			if progress {
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: time.Since(began).Seconds(), Message: n.GetProgress().GetMessage()})
			}
			if logs {
				_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: levelOf(n.GetLog().GetLevel()), Logger: n.GetLog().GetLogger(), Data: n.GetLog().GetMessage()})
			}
		}
	})
	return func() { cancel(); told.Wait() }
}

// progressToken returns the token of a request with meta, as it was written; nil when there
// is none that MCP knows.
func progressToken(meta mcp.Meta) rawjson.Value {
	token := rawMeta(meta).Member(keyProgress)
	if k := token.Kind(); k != rawjson.String && k != rawjson.Number {
		return nil
	}
	return token
}

func levelOf(l irv1.LogLevel) mcp.LoggingLevel {
	switch l {
	case irv1.LogLevel_LOG_LEVEL_DEBUG:
		return "debug"
	case irv1.LogLevel_LOG_LEVEL_NOTICE:
		return "notice"
	case irv1.LogLevel_LOG_LEVEL_WARNING:
		return "warning"
	case irv1.LogLevel_LOG_LEVEL_ERROR:
		return "error"
	}
	return "info"
}

// narrates reports whether who calls tool with meta is to hear of the call while it
// runs: then the answer takes a stream. inSession says that the client may have set a
// level for logs before.
func narrates(tool *table.Tool, meta rawjson.Value, inSession bool) bool {
	n := tool.Notices
	return n.GetProgress() != nil && meta.Member(keyProgress) != nil ||
		n.GetLog() != nil && (inSession || meta.Member(keyLogLevel) != nil)
}

// streams reports whether the answer to m, which belongs to no session, takes a stream.
func (e *endpoint) streams(m message.Message) bool {
	name, _ := m.Text("name")
	if m.Method != message.MethodCall || m.Param["_meta"] == nil {
		return false
	}
	tool := e.tool(e.current(), name)
	return tool != nil && narrates(tool, rawjson.Value(bytes.TrimSpace(m.Param["_meta"])), false)
}

// keeps reports whether what the client of req says now holds for its later requests.
func keeps(ctx context.Context, req mcp.Request) bool {
	return sessionOf(ctx) != nil || req.GetExtra() == nil // stdio
}

// setLevel is the middleware that takes the level of logs only where there are some and
// it is kept.
func (e *endpoint) setLevel(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		p, ok := req.GetParams().(*mcp.SetLoggingLevelParams)
		if !ok || method != message.MethodSetLevel {
			return next(ctx, method, req)
		}
		if t := e.current(); t == nil || e.at(t) == nil || !e.at(t).Logs || !keeps(ctx, req) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nothing is logged to clients here"}
		}
		if !slices.Contains([]mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, p.Level) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "level is none of MCP"}
		}
		return next(ctx, method, req)
	}
}
