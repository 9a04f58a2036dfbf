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

// A hall is the connection to a client at streams, in which each subscriptions/listen has
// a session of the SDK of its own, as it has over HTTP: a session keeps only the last that
// listens for something, and the first that ends takes the others with it.
type hall struct {
	*stdio.Conn
	mcp *mcp.Server

	mu       sync.Mutex
	open     map[jsonrpc.ID]*listen
	listened bool // something has listened
	empty    bool // nothing is said any more
}

func newHall(conn *stdio.Conn, server *mcp.Server) *hall {
	return &hall{Conn: conn, mcp: server, open: map[jsonrpc.ID]*listen{}}
}

// Connect returns h.
func (h *hall) Connect(context.Context) (mcp.Connection, error) { return h, nil }

// Read returns the next message that is about nothing of what listens.
func (h *hall) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := h.Conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || !h.begin(r) && !h.cancel(r) {
			return m, nil
		}
	}
}

// Write writes a message that is about nothing of what listens. Who has listened hears of
// changes there only: the SDK, which has not seen it, would take the client for an older
// one.
func (h *hall) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && strings.HasSuffix(r.Method, "/list_changed") && h.hasListened() {
		return nil
	}
	return h.Conn.Write(ctx, m)
}

func (h *hall) hasListened() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listened
}

// begin reports whether r is the beginning of a listen, which it begins then.
func (h *hall) begin(r *jsonrpc.Request) bool {
	if !r.IsCall() || r.Method != message.MethodListen {
		return false
	}
	params, _ := rawjson.Parse(r.Params, call.MaxDepth) // none of what is refused elsewhere
	version, _ := params.Member("_meta").Member(message.KeyVersion).Text()
	if version < message.Modern {
		return false
	}
	l := &listen{hall: h, id: r.ID, in: make(chan jsonrpc.Message, 2), over: make(chan struct{})}
	l.in <- r
	h.mu.Lock()
	h.open[r.ID], h.listened = l, true
	h.mu.Unlock()
	if _, err := h.mcp.Connect(context.Background(), l, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams:  &mcp.InitializeParams{ProtocolVersion: version},
		InitializedParams: &mcp.InitializedParams{},
	}}); err != nil {
		_ = l.Close() // it never fails
		return false
	}
	return true
}

// cancel reports whether r cancels a listen.
func (h *hall) cancel(r *jsonrpc.Request) bool {
	var params struct{ RequestID any }
	if r.IsCall() || r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &params) != nil {
		return false
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	if err != nil {
		return false
	}
	h.mu.Lock()
	l := h.open[id]
	h.mu.Unlock()
	if l == nil {
		return false
	}
	select {
	case l.in <- r:
	default: // one is there already
	}
	return true
}

// clear ends what listens. Nothing is written for it from now on.
func (h *hall) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.empty = true
	for _, l := range h.open {
		l.end()
	}
}

// A listen is one subscriptions/listen: the connection of its session.
type listen struct {
	hall *hall
	id   jsonrpc.ID
	in   chan jsonrpc.Message // the request, and what cancels it

	once sync.Once
	over chan struct{} // closed at the end
}

// Connect returns l.
func (l *listen) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID returns "": there is one client.
func (l *listen) SessionID() string { return "" }

// Read returns the next message. The error is [io.EOF] at the end.
func (l *listen) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	case <-l.over:
		return nil, io.EOF
	}
}

// Write writes a message to the client. The answer to the request ends l.
func (l *listen) Write(ctx context.Context, m jsonrpc.Message) error {
	if l.silenced() {
		return io.ErrClosedPipe
	}
	err := l.hall.Conn.Write(ctx, m)
	if answer, ok := m.(*jsonrpc.Response); ok && answer.ID == l.id {
		_ = l.Close() // it never fails
	}
	return err
}

func (l *listen) silenced() bool {
	l.hall.mu.Lock()
	defer l.hall.mu.Unlock()
	return l.hall.empty
}

// Close ends l. It never fails.
func (l *listen) Close() error {
	l.hall.mu.Lock()
	defer l.hall.mu.Unlock()
	delete(l.hall.open, l.id)
	l.end()
	return nil
}

func (l *listen) end() { l.once.Do(func() { close(l.over) }) }
