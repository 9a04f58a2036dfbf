package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

const (
	// maxSessions is how many sessions a server has at once, unless [Config.MaxSessions]
	// says otherwise.
	maxSessions = 10_000
	// sessionIdle is how long a session may go without a request, or a stream that
	// listens, before it ends.
	sessionIdle = 30 * time.Minute
)

const headerSession = "Mcp-Session-Id"

// sessions are those of all endpoints of a server. They are safe for concurrent use.
type sessions struct {
	max int

	mu   sync.Mutex
	byID map[string]*session
}

func newSessions(max int) *sessions {
	if max == 0 {
		max = maxSessions
	}
	return &sessions{max: max, byID: map[string]*session{}}
}

// A session is what an endpoint and a client of the older revisions share from the
// client's initialize on.
type session struct {
	id       string
	endpoint *endpoint
	version  string // of the protocol
	owner    *sessions
	conn     *mcp.StreamableServerTransport
	mcp      *mcp.ServerSession
	life     context.Context // ends with the session
	die      context.CancelFunc

	mu      sync.Mutex
	busy    int                              // requests that are being answered
	idle    *time.Timer                      // ends the session
	running map[string]func(r *http.Request) // by the ID of a request in flight: cancels it
	waits   map[string]*wait                 // by headerWait of a request in flight
}

// open begins a session of e for a client that asks for version. It is busy until it
// is left.
func (all *sessions) open(e *endpoint, version string) (*session, *message.Refusal) {
	if e.life.Err() != nil {
		return nil, stopping()
	}
	s := &session{id: rand.Text(), endpoint: e, version: spoken(version, nil), owner: all, busy: 1, running: map[string]func(*http.Request){}, waits: map[string]*wait{}}
	s.life, s.die = context.WithCancel(e.life)
	s.idle = time.AfterFunc(sessionIdle, s.end)
	s.idle.Stop()
	s.conn = &mcp.StreamableServerTransport{SessionID: s.id}
	if !all.admit(s) {
		return nil, &message.Refusal{Status: http.StatusServiceUnavailable, Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("this node has the %d sessions that it can have: try again later", all.max)}
	}
	var err error
	if s.mcp, err = e.mcp.Connect(context.WithValue(context.WithoutCancel(s.life), sessionKey{}, s), s.conn, nil); err != nil {
		all.drop(s)
		return nil, &message.Refusal{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: "internal error"}
	}
	e.watch.sessions.Inc()
	context.AfterFunc(s.life, s.ended)
	return s, nil
}

// admit takes s in, if there is room.
func (all *sessions) admit(s *session) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.byID) >= all.max {
		return false
	}
	all.byID[s.id] = s
	return true
}

func (all *sessions) drop(s *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.byID, s.id)
}

// enter returns the session of e that a request with the header h names, busy until it
// is left; nil when the request is of none: it names none, or its revision of the
// protocol has none.
func (all *sessions) enter(e *endpoint, h http.Header) (*session, *message.Refusal) {
	ids := h.Values(headerSession)
	if all == nil || len(ids) == 0 || h.Get("Mcp-Protocol-Version") >= message.Modern {
		return nil, nil
	}
	if e.life.Err() != nil {
		return nil, stopping() // a client that hears that its session is gone gives up its calls
	}
	all.mu.Lock()
	s := all.byID[ids[0]]
	all.mu.Unlock()
	if len(ids) == 1 && s != nil && s.endpoint == e {
		if s.begin() {
			return s, nil
		}
		s.leave()
	}
	return nil, &message.Refusal{Status: http.StatusNotFound, Code: jsonrpc.CodeInvalidRequest, Message: "there is no such session: initialize another"}
}

func stopping() *message.Refusal {
	return &message.Refusal{Status: http.StatusServiceUnavailable, Code: jsonrpc.CodeInternalError, Message: "this node is about to stop"}
}

// begin keeps s from becoming idle until leave is called. It reports whether s has not
// ended.
func (s *session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	s.idle.Stop()
	return s.life.Err() == nil
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	switch {
	case s.busy > 0:
	case s.life.Err() == nil:
		s.idle.Reset(sessionIdle)
	default:
		go s.mcp.Close()
	}
}

// end ends s. Requests that are being answered get their answers; there is room for
// another session at once.
func (s *session) end() {
	s.owner.drop(s)
	s.die()
}

// ended takes down s after its life, when nothing is answered any more: once the SDK
// is told, it drops answers.
func (s *session) ended() {
	s.owner.drop(s)
	s.endpoint.watch.sessions.Dec()
	s.begin()
	s.leave()
}

// of returns r as a request of s: in the revision that was agreed on, which older
// clients do not repeat.
func (s *session) of(r *http.Request) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, s))
	r.Header = r.Header.Clone()
	r.Header.Set("Mcp-Protocol-Version", s.version)
	return r
}

// sessionKey is for the *session of a request; of one in a batch, a nil one.
type sessionKey struct{}

// withoutSession returns r as a request that has no session and gets none.
func withoutSession(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sessionKey{}, (*session)(nil)))
}

// inBatch reports whether the request of ctx, which has no session, is one of a batch: it
// begins none, and its answer is no stream.
func inBatch(ctx context.Context) bool { return ctx.Value(sessionKey{}) != nil }

// sessionOf returns the session that the request of ctx belongs to; nil for none.
func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// note has cancel called when the client cancels its request id, until the function
// that it returns is called.
func (s *session) note(id json.RawMessage, cancel func(*http.Request)) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[string(id)] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, string(id))
	}
}

// tell takes what is no request: what the client says of its own accord, and its
// answers to what the server asked. m came as r with body.
func (s *session) tell(r *http.Request, m message.Message, body []byte) {
	switch {
	case m.IsAnswer:
		s.deliver(r, message.Answer(body))
	case m.Method == "notifications/initialized":
		s.deliver(r, body)
	case m.Method == "notifications/cancelled":
		s.mu.Lock()
		cancel := s.running[string(m.Param["requestId"])]
		s.mu.Unlock()
		if cancel != nil {
			cancel(r)
		}
	}
}

// deliver hands a message that is answered with nothing to the SDK.
func (s *session) deliver(r *http.Request, body []byte) {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.conn.ServeHTTP(&part{header: http.Header{}}, r)
}

// cancelForwarded cancels the request that the SDK knows by the ID stand.
func (s *session) cancelForwarded(stand json.RawMessage) func(*http.Request) {
	return func(r *http.Request) {
		s.deliver(r, slices.Concat([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), stand, []byte(`}}`)))
	}
}

// cancelable returns ctx, that of a call of tool with the ID id, ended also by the
// client's cancellation where that comes as a message.
func cancelable(ctx context.Context, tool *table.Tool, id rawjson.Value) (context.Context, func()) {
	s := sessionOf(ctx)
	if s == nil || !tool.Interruptible {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := s.note(json.RawMessage(id), func(*http.Request) { cancel() })
	return ctx, func() { over(); cancel() }
}

// meet answers an initialize, which came as r, with a session.
func (e *endpoint) meet(w http.ResponseWriter, r *http.Request, m message.Message) {
	version, _ := m.Text("protocolVersion")
	s, refused := e.sessions.open(e, version)
	if refused != nil {
		refused.ID = m.ID
		refuse(w, *refused)
		return
	}
	defer s.leave()
	if version != s.version {
		// The SDK goes by what was wanted when it decides what a session can be asked.
		m.Param["protocolVersion"] = json.RawMessage(rawjson.Quote(s.version))
		m.Params, _ = json.Marshal(m.Param) // raw JSON always marshals
	}
	e.forwardTo(s.conn, w, r, m)
	if s.mcp.InitializeParams() == nil {
		s.end()
	}
}

// bodiless answers a GET or a DELETE of s.
func (s *session) bodiless(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.listen(w, r)
		return
	}
	s.end()
	w.WriteHeader(http.StatusNoContent)
}

// listen serves a GET of s: the stream for what the server says of its own
// accord.
func (s *session) listen(w http.ResponseWriter, r *http.Request) {
	e := s.endpoint
	if refused := e.checkStream(r); refused != nil {
		refuse(w, *refused)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	e.watch.streams.Inc()
	defer e.watch.streams.Dec()
	out := newOutbox(w, cancel)
	defer out.close()
	s.conn.ServeHTTP(&sdkWriter{ResponseWriter: out}, r.WithContext(ctx))
}
