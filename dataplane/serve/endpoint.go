package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// An endpoint speaks MCP at one path for as long as any table has the path, or with the
// one client of [Server.ServeStdio].
type endpoint struct {
	path    string
	only    bool        // it has no path of its own: it is the table's only one
	denied  atomic.Bool // a client was told that there is no table yet
	current func() *table.Table
	watch   watch
	// sessions are those of the server; nil where its clients have none.
	sessions *sessions
	// info is what every answer tells clients about the endpoint, and serverInfo the
	// same as JSON.
	info       *mcp.Implementation
	serverInfo []byte
	buffers    *buffers
	mcp        *mcp.Server
	http       http.Handler // answers with JSON
	sse        http.Handler // answers with a stream of events
	// life is done when the endpoint is no more or its streams shall end.
	life context.Context
	end  context.CancelFunc
}

func (s *Server) newEndpoint(path string) *endpoint {
	e := &endpoint{path: path, current: s.Table, watch: watch{s.metrics, s.log, s.ids, &s.calls}, sessions: s.sessions, buffers: &s.buffers}
	e.life, e.end = context.WithCancel(s.streams)
	e.info = &mcp.Implementation{Name: "bindery", Title: "Bindery", Version: s.version}
	e.serverInfo, _ = json.Marshal(e.info) // texts always marshal
	e.mcp = mcp.NewServer(e.info, &mcp.ServerOptions{
		Capabilities:       offered(),
		SubscribeHandler:   accept[*mcp.SubscribeRequest],
		UnsubscribeHandler: accept[*mcp.UnsubscribeRequest],
	})
	e.mcp.AddReceivingMiddleware(e.survive, findWait, e.endListening, e.introduce, e.setLevel, e.answerTools)
	options := mcp.StreamableHTTPOptions{
		Stateless:                    true,
		DisableLocalhostProtection:   true, // guard checks more
		MaxRequestBodyBytes:          -1,   // the server bounds them, and what it adds does not count
		PropagateRequestCancellation: true,
	}
	same := func(*http.Request) *mcp.Server { return e.mcp }
	e.sse = mcp.NewStreamableHTTPHandler(same, &options)
	options.JSONResponse = true // a listening client gets a stream all the same
	e.http = mcp.NewStreamableHTTPHandler(same, &options)
	return e
}

// at returns what t has of the endpoint; nil when it is not in t.
func (e *endpoint) at(t *table.Table) *table.Endpoint { return t.Endpoint(e.pathIn(t)) }

// pathIn returns the path of the endpoint in t.
func (e *endpoint) pathIn(t *table.Table) string {
	if e.only {
		if paths := t.Endpoints(); len(paths) == 1 {
			return paths[0]
		}
	}
	return e.path
}

// answerTools is the middleware that answers for the table what the SDK would
// answer from tools of its own. The table is loaded once and answers all of it.
func (e *endpoint) answerTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.CallToolRequest:
			return e.callTool(ctx, e.current(), req)
		case *mcp.ListToolsRequest:
			return e.listTools(e.current(), req)
		case *mcp.ListPromptsRequest:
			return e.listPrompts(e.current(), req)
		case *mcp.GetPromptRequest:
			return e.getPrompt(ctx, e.current(), req)
		case *mcp.CompleteRequest:
			return e.complete(ctx, e.current(), req)
		case *mcp.ListResourcesRequest:
			return e.listResources(e.current(), req)
		case *mcp.ListResourceTemplatesRequest:
			return e.listTemplates(e.current(), req)
		case *mcp.ReadResourceRequest:
			return e.readResource(ctx, e.current(), req)
		case *mcp.SubscribeRequest:
			if err := e.subscribe(ctx, e.current(), req); err != nil {
				return nil, err
			}
		case *mcp.SubscriptionsListenRequest:
			e.narrow(e.current(), req)
		}
		res, err := next(ctx, method, req)
		switch {
		case err != nil && method == message.MethodInitialize && !message.IsCoded(err):
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the client has met this endpoint already"}
		case err != nil:
			return nil, err // what the SDK returns beside it may be a pointer that is nil
		}
		if met, ok := res.(*mcp.InitializeResult); ok && met.ProtocolVersion < message.Structured {
			met.ServerInfo = &mcp.Implementation{Name: met.ServerInfo.Name, Version: met.ServerInfo.Version}
		}
		return res, nil
	}
}

// endListening is the middleware that lets a listening request end with the
// endpoint, with its result, as the client's own cancellation would.
func (e *endpoint) endListening(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if _, ok := req.(*mcp.SubscriptionsListenRequest); !ok {
			return next(ctx, method, req)
		}
		e.watch.streams.Inc()
		defer e.watch.streams.Dec()
		ctx, cancel := e.bound(ctx)
		defer cancel()
		return next(ctx, method, req)
	}
}

// survive is the middleware that turns a panic into an error: the SDK runs
// requests on goroutines of its own, where one would end the node. An error without a
// code of JSON-RPC becomes the same one: its text is not made for clients.
func (e *endpoint) survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				logPanic(e.watch.log, p, "endpoint", e.path, "method", method)
				res, err = nil, internalError()
			}
		}()
		res, err = next(ctx, method, req)
		if err != nil && !message.IsCoded(err) && !strings.HasPrefix(method, "notifications/") { // they get no answer
			e.watch.log.Error("request failed", "endpoint", e.path, "method", method, "error", fmt.Sprintf("%T", err)) // its text may repeat the request
			return nil, internalError()
		}
		return res, err
	}
}

func internalError() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
}

// bound returns ctx, ended also by the end of the endpoint.
func (e *endpoint) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// changed tells clients that listen which kinds look different, and those that have
// subscribed to a resource that it has changed. The SDK does the first when something of
// the kind is added; what is added here is in no list and cannot be used. Either endpoint
// is nil when there is none.
func (e *endpoint) changed(prev, next *table.Endpoint) {
	before, after := surface(prev), surface(next)
	if before.Tools != after.Tools {
		e.mcp.AddTool(&mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
	if before.Prompts != after.Prompts {
		e.mcp.AddPrompt(&mcp.Prompt{Name: "changed"}, nil)
	}
	if before.Resources != after.Resources {
		e.mcp.AddResource(&mcp.Resource{URI: "bindery:changed", Name: "changed"}, nil)
	}
	if prev != nil {
		go e.updated(prev.Changed(next))
	}
}

// answer answers a message, a valid JSON value, that came as r: the SDK has what it
// takes, and nothing else.
func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	m, refused := message.Open(body)
	if refused == nil {
		refused = m.Check(r.Header)
	}
	if refused == nil {
		refused = e.checkSaid(r.Header, m)
	}
	switch {
	case refused != nil:
		refused.ID = m.ID
		if refused.Status == 0 {
			refused.Status = message.StatusOf(r.Header.Get("Mcp-Protocol-Version"), refused.Code)
		}
		refuse(w, *refused)
	case !m.IsRequest():
		if s := sessionOf(r.Context()); s != nil {
			s.tell(r, m, body)
		} // Else there is nothing that it could change, and no request that it answers.
		w.WriteHeader(http.StatusAccepted)
	default:
		e.forward(w, r, m)
	}
}

// stream serves a GET: clients of the older revisions open it to hear of changes.
// The SDK offers that only with sessions, but needs none for it.
func (e *endpoint) stream(w http.ResponseWriter, r *http.Request) {
	version, refused := message.VersionOf(r.Header)
	if version >= message.Modern {
		notAllowed(w, "POST")
		return
	}
	if refused == nil {
		refused = e.checkStream(r)
	}
	if refused != nil {
		refuse(w, *refused)
		return
	}
	ctx, cancel := e.bound(r.Context())
	defer cancel()
	transport := &mcp.StreamableServerTransport{Stateless: true}
	session, err := e.mcp.Connect(ctx, transport, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams:  &mcp.InitializeParams{ProtocolVersion: version},
		InitializedParams: &mcp.InitializedParams{},
	}})
	if err != nil {
		refuse(w, message.Refusal{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: "internal error"})
		return
	}
	defer session.Close()
	e.watch.streams.Inc()
	defer e.watch.streams.Dec()
	out := newOutbox(w, cancel)
	defer out.close()
	transport.ServeHTTP(&sdkWriter{ResponseWriter: out}, r.WithContext(ctx))
}

// checkStream returns why a GET does not get a stream; nil when it does.
func (e *endpoint) checkStream(r *http.Request) *message.Refusal {
	switch {
	case !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream"):
		return &message.Refusal{Status: http.StatusNotAcceptable, Code: jsonrpc.CodeInvalidRequest, Message: "a GET is answered with a stream of events: accept text/event-stream"}
	case e.life.Err() != nil:
		return stopping()
	}
	return nil
}
