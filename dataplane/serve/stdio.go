package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/stdio"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// firstTable is how long a request over stdio waits for the first table: its client
// has started the process a moment ago and will not ask again.
const firstTable = 30 * time.Second

// meeting is how long a client over stdio waits for the first table when it meets the
// server. It asks once what there is; without a table it is told of all there can be.
const meeting = time.Second

// Stdio is one client at the other end of two streams.
type Stdio struct {
	In  io.Reader
	Out io.Writer // gets the protocol and nothing else
	// Endpoint is the path of the endpoint that the client gets; "" for the only one.
	Endpoint string
	// Patience is how long ServeStdio may go on once it was told to stop. Calls without an
	// answer shortly before that are answered with an error.
	Patience time.Duration
}

// ServeStdio speaks MCP with one client until its input ends and every request is
// answered, until ctx is done, or until its streams are broken. It gets the same answers as over HTTP, and notices
// of change. Lines are bounded by [Config.MaxBody]. Before the first table, requests
// that need one wait for it for up to 30 s, and a client that meets the server for up to 1 s.
//
// After it has returned, a read of In may still be blocked, and a write of Out if the
// client does not read.
func (s *Server) ServeStdio(ctx context.Context, streams Stdio) {
	e := s.newEndpoint(streams.Endpoint)
	e.only = streams.Endpoint == ""
	e.mcp.AddReceivingMiddleware(e.awaitTable(s.first))
	defer s.admit(e)()
	mux := newMux(e.mcp, stdio.Config{
		In: streams.In, Out: streams.Out, Max: int(s.maxBody), MaxBatch: message.MaxBatch, Patience: streams.Patience, Ended: e.end,
	})
	stop := context.AfterFunc(ctx, mux.Stop)
	defer stop()
	defer mux.clear()
	session, err := e.mcp.Connect(ctx, mux, nil)
	if err == nil {
		err = s.waitFor(session, mux.GivenUp())
	}
	if err != nil {
		s.log.Debug("the client was gone before it had its answers", "err", err)
	}
}

// waitFor waits until session has ended, or calls in it were given up: one that is not
// safe to interrupt may go on for as long as the process does. The error is that of the
// session.
func (s *Server) waitFor(session *mcp.ServerSession, givenUp <-chan struct{}) error {
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-givenUp:
		s.log.Warn("the client was told that calls have no answer: they took longer than a stop may")
		return nil
	}
}

// admit lets e hear of swaps until the function that it returns is called.
func (s *Server) admit(e *endpoint) (leave func()) {
	s.swapping.Lock()
	defer s.swapping.Unlock()
	s.stdio[e] = true
	return func() {
		s.swapping.Lock()
		defer s.swapping.Unlock()
		delete(s.stdio, e)
		e.end()
	}
}

// tellStdio lets clients at streams know what looks different. Of the first
// table it tells those that asked for it in vain; prev is nil then. s.swapping is held.
func (s *Server) tellStdio(prev, next *table.Table) {
	for e := range s.stdio {
		if prev != nil {
			e.changed(e.at(prev), e.at(next))
		} else if e.denied.Load() {
			e.changed(nil, e.at(next))
		}
	}
}

// surface returns what a client can see of at; zero when at is nil.
func surface(at *table.Endpoint) table.Surface {
	if at == nil {
		return table.Surface{}
	}
	return at.Surface
}

// awaitTable is the middleware that has requests for the table wait for the first.
func (e *endpoint) awaitTable(first <-chan struct{}) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == message.MethodInitialize || method == message.MethodDiscover {
				await(ctx, first, meeting)
			}
			switch req.(type) {
			case *mcp.CallToolRequest, *mcp.ListToolsRequest, *mcp.ListPromptsRequest, *mcp.GetPromptRequest, *mcp.CompleteRequest,
				*mcp.ListResourcesRequest, *mcp.ListResourceTemplatesRequest, *mcp.ReadResourceRequest, *mcp.SubscribeRequest:
				if !await(ctx, first, firstTable) && e.deny(first) {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is nothing to serve yet: the server's log says why"}
				}
			}
			return next(ctx, method, req)
		}
	}
}

// deny notes that a client is told that there is no table, and reports whether that is
// so still: from now on Swap sees the note.
func (e *endpoint) deny(first <-chan struct{}) bool {
	e.denied.Store(true)
	select {
	case <-first:
		return false
	default:
		return true
	}
}

// await reports whether first is closed before a request has waited for it for as long
// as d.
func await(ctx context.Context, first <-chan struct{}, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-first:
		return true
	case <-ctx.Done():
		return false
	}
}

// take returns a message that is valid JSON, as it goes to the SDK, or why it does not.
func (x *mux) take(data []byte) ([]byte, *stdio.Refusal) {
	m, refused := message.Open(data)
	if refused == nil {
		refused = m.CheckMet(x.met)
	}
	switch {
	case refused != nil:
		return nil, &stdio.Refusal{Code: refused.Code, Message: refused.Message, Data: refused.Data, ID: m.ID}
	case m.IsAnswer:
		return message.Answer(data), nil
	case m.IsRequest():
		return m.Request(m.ID), nil
	}
	return data, nil
}

// note has later requests held to the revision of the protocol that r, nil for none, leads
// to if it is the first initialize.
func (x *mux) note(r *jsonrpc.Request) {
	if r == nil || r.Method != message.MethodInitialize || !r.IsCall() || x.met != "" {
		return
	}
	params, _ := rawjson.Parse(r.Params, call.MaxDepth+1) // take has looked at every member
	wanted, _ := params.Member("protocolVersion").Text()
	x.met = spoken(wanted, nil)
}

// An EndpointError says that a client at streams cannot be given an endpoint.
type EndpointError struct {
	Path  string   // that was asked for; "" for the only one
	Known []string // the paths there are, sorted
}

func (e *EndpointError) Error() string {
	known := strings.Join(e.Known, ", ")
	if e.Path == "" {
		return fmt.Sprintf("there are several endpoints: choose one of %s", known)
	}
	return fmt.Sprintf("no endpoint is at %q: there is %s", e.Path, cmp.Or(known, "none"))
}

// CheckEndpoint returns an [*EndpointError] if [Stdio.Endpoint] path says nothing where
// known are the paths of all endpoints. Where there is none, the client gets no tools.
func CheckEndpoint(path string, known []string) error {
	if path == "" && len(known) <= 1 || slices.Contains(known, path) {
		return nil
	}
	return &EndpointError{path, known}
}
