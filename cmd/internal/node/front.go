package node

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/whole"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// Stdio is one MCP client at the other end of two streams.
type Stdio struct {
	In  io.Reader
	Out io.Writer // gets the protocol and nothing else
	// Endpoint is the path of the endpoint that the client gets; "" for the only one.
	Endpoint string
}

// A front is where MCP clients come in.
type front interface {
	// serve returns nil when there will be no more clients.
	serve() error
	// stop ends serve once calls are answered, and returns after timeout at the latest;
	// false means that some were cut off, because they took longer, and that the log does
	// not have it yet.
	stop(timeout time.Duration) bool
	address() string
}

func (n *node) front() front {
	if n.cfg.Stdio == nil {
		server := n.httpServer(n.serve)
		return &httpFront{server, whole.Listener(server, &boundedListener{n.cfg.MCP, writeTimeout}), n.serve}
	}
	f := &stdioFront{streams: serve.Stdio{
		In: n.cfg.Stdio.In, Out: n.cfg.Stdio.Out, Endpoint: n.cfg.Stdio.Endpoint, Patience: n.cfg.DrainTimeout,
	}, server: n.serve, gone: make(chan struct{})}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// An httpFront is a listener.
type httpFront struct {
	server   *http.Server
	listener net.Listener
	mcp      *serve.Server
}

func (f *httpFront) serve() error    { return f.server.Serve(f.listener) }
func (f *httpFront) address() string { return f.listener.Addr().String() }

func (f *httpFront) stop(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if f.server.Shutdown(ctx) != nil {
		f.server.Close()
		return false
	}
	return f.mcp.WaitCalls(ctx) == nil // those whose client is gone
}

// A stdioFront is a client at two streams.
type stdioFront struct {
	server  *serve.Server
	streams serve.Stdio
	life    context.Context // until stop
	end     context.CancelFunc
	gone    chan struct{} // closed at the end of serve
}

func (f *stdioFront) serve() error {
	defer close(f.gone)
	f.server.ServeStdio(f.life, f.streams)
	return nil
}

func (f *stdioFront) stop(timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	f.end()
	select {
	case <-f.gone:
	case <-ctx.Done(): // a call that is not safe to give up may go on for longer
	}
	return ctx.Err() == nil
}

func (f *stdioFront) address() string { return "stdio" }

// checkEndpoint returns an error when the client at the streams cannot be given an
// endpoint of next. It wraps a [*discoveryv1.Refused] and a [*serve.EndpointError].
func (n *node) checkEndpoint(next *table.Table) error {
	if n.cfg.Stdio == nil {
		return nil
	}
	err := serve.CheckEndpoint(n.cfg.Stdio.Endpoint, next.Endpoints())
	unknown := (*serve.EndpointError)(nil)
	if !errors.As(err, &unknown) {
		return nil
	}
	return &noEndpoint{unknown, &discoveryv1.Refused{Reasons: []*discoveryv1.Reason{{
		Code: "endpoint", Message: unknown.Error(), Hint: "say which one with --endpoint, and start again",
	}}}}
}

// noEndpoint is why a good bundle is refused: for who serves it, and for who sent it.
type noEndpoint struct {
	unknown *serve.EndpointError
	refused *discoveryv1.Refused
}

func (e *noEndpoint) Error() string   { return e.unknown.Error() }
func (e *noEndpoint) Unwrap() []error { return []error{e.unknown, e.refused} }
