package serve

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/stdio"
)

// A mux is the connection to a client at streams, on which each subscriptions/listen has a
// session of the SDK of its own, as it has over HTTP: a session keeps only the last that
// listens for something, and the first that ends takes the others with it.
type mux struct {
	*stdio.Conn
	mcp *mcp.Server
	// met is the revision of the protocol that the first initialize leads to; "" before.
	// Only Read looks at it.
	met string

	mu       sync.Mutex
	open     map[jsonrpc.ID]*subscription
	listened bool // something has listened
	empty    bool // nothing is said any more
}

// newMux returns the connection that cfg says, but for what it takes, to server.
func newMux(server *mcp.Server, cfg stdio.Config) *mux {
	x := &mux{mcp: server, open: map[jsonrpc.ID]*subscription{}}
	cfg.Take = x.take
	x.Conn = stdio.New(cfg)
	return x
}

// Connect returns x.
func (x *mux) Connect(context.Context) (mcp.Connection, error) { return x, nil }

// Read returns the next message that is about nothing of what listens.
func (x *mux) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := x.Conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || !x.begin(r) && !x.cancel(r) {
			x.note(r)
			return m, nil
		}
	}
}

// Write writes a message that is about nothing of what listens. Who has listened hears of
// changes there only: the SDK, which has not seen it, would take the client for an older
// one.
func (x *mux) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && strings.HasSuffix(r.Method, "/list_changed") && x.hasListened() {
		return nil
	}
	return x.Conn.Write(ctx, m)
}

func (x *mux) hasListened() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.listened
}

// begin reports whether r is the beginning of a listen, which it begins then.
func (x *mux) begin(r *jsonrpc.Request) bool {
	if !r.IsCall() || r.Method != message.MethodListen {
		return false
	}
	params, _ := rawjson.Parse(r.Params, call.MaxDepth) // none of what is refused elsewhere
	version, _ := params.Member("_meta").Member(message.KeyVersion).Text()
	if version < message.Modern {
		return false
	}
	s := &subscription{mux: x, id: r.ID, in: make(chan jsonrpc.Message, 2), over: make(chan struct{})}
	s.in <- r
	x.mu.Lock()
	x.open[r.ID], x.listened = s, true
	x.mu.Unlock()
	if _, err := x.mcp.Connect(context.Background(), s, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams:  &mcp.InitializeParams{ProtocolVersion: version},
		InitializedParams: &mcp.InitializedParams{},
	}}); err != nil {
		_ = s.Close() // it never fails
		return false
	}
	return true
}

// cancel reports whether r cancels a listen.
func (x *mux) cancel(r *jsonrpc.Request) bool {
	var params struct{ RequestID any }
	if r.IsCall() || r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &params) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if err != nil {
		return false
	}
	x.mu.Lock()
	s := x.open[id]
	x.mu.Unlock()
	if s == nil {
		return false
	}
	select {
	case s.in <- r:
	default: // one is there already
	}
	return true
}

// clear ends what listens. Nothing is written for it from now on.
func (x *mux) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.empty = true
	for _, s := range x.open {
		s.end()
	}
}

// A subscription is one subscriptions/listen: the connection of its session.
type subscription struct {
	mux *mux
	id  jsonrpc.ID
	in  chan jsonrpc.Message // the request, and what cancels it

	once sync.Once
	over chan struct{} // closed at the end
}

// Connect returns s.
func (s *subscription) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// SessionID returns "": there is one client.
func (s *subscription) SessionID() string { return "" }

// Read returns the next message. The error is [io.EOF] at the end.
func (s *subscription) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.in:
		return m, nil
	case <-s.over:
		return nil, io.EOF
	}
}

// Write writes a message to the client. The answer to the request ends s.
func (s *subscription) Write(ctx context.Context, m jsonrpc.Message) error {
	if s.silenced() {
		return io.ErrClosedPipe
	}
	err := s.mux.Conn.Write(ctx, m)
	if answer, ok := m.(*jsonrpc.Response); ok && answer.ID == s.id {
		_ = s.Close() // it never fails
	}
	return err
}

func (s *subscription) silenced() bool {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	return s.mux.empty
}

// Close ends s. It never fails.
func (s *subscription) Close() error {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	delete(s.mux.open, s.id)
	s.end()
	return nil
}

func (s *subscription) end() { s.once.Do(func() { close(s.over) }) }
