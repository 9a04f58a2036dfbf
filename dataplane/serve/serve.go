// Package serve answers MCP over Streamable HTTP or stdio: requests of clients and
// tables come in, results and notices of change go out.
//
// A [Server] is the handler of one listener. It serves one table at a time and is
// given another by [Server.Swap]; a request is answered by the table that was
// current when it began. What a tool does is for dataplane/call; the protocol
// around it is the SDK's. In between sits one [mcp.Server] for every endpoint
// path, which knows no tools: a middleware answers for the table.
//
// All revisions of the protocol are served on the one listener. Unless clients are given
// sessions, see [Config.Stateful], any node can answer any request.
package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/guard"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/whole"
)

// DefaultMaxBody is how long a request body may be, in bytes, unless
// [Config.MaxBody] says otherwise.
const DefaultMaxBody = 4 << 20

// Config says how a [Server] serves. The zero value works.
type Config struct {
	// Version is told to clients as the server's.
	Version string
	// PublicURL is where clients reach the server; nil when that is not known. Its
	// host and its origin are allowed.
	PublicURL *url.URL
	// AllowedHosts are the names, without port, that the Host of a request may have
	// besides the address that the connection came in at.
	AllowedHosts []string
	// AllowedOrigins are the origins, as scheme://host[:port], whose pages may call
	// the server from a browser.
	AllowedOrigins []string
	// MaxBody bounds request bodies, in bytes; 0 means [DefaultMaxBody].
	MaxBody int64
	// Metrics is where the server registers its metrics; nil drops them.
	Metrics prometheus.Registerer
	// Stateful gives sessions to clients of revisions before 2026-07-28 that initialize,
	// so that they can be asked for something; a session is this process's own. Other
	// requests are answered without, as all are where it is not set.
	Stateful bool
	// MaxSessions is how many sessions there are at once; 0 means 10,000.
	MaxSessions int
	// NoFastPath leaves every request to the SDK. Without it the server answers plain
	// tools/call itself, with the same answers.
	NoFastPath bool
	// Log gets one line for every call, without arguments, bodies and headers; nil
	// drops them.
	Log *slog.Logger
}

// A Server is the handler of an MCP listener. Its methods may be called
// concurrently.
type Server struct {
	version string
	maxBody int64
	// bodyTimeout is bodyTimeout, but for tests.
	bodyTimeout time.Duration
	noFastPath  bool
	guard       guard.Guard
	metrics     *metrics
	log         *slog.Logger
	ids         *ids
	sessions    *sessions // nil: there are none
	calls       underWay

	live atomic.Pointer[live] // nil before the first table

	buffers buffers // of answers

	swapping sync.Mutex // held by who replaces live
	// stdio are those at streams; swapping guards it.
	stdio map[*endpoint]bool
	first chan struct{} // closed when there is a table

	// streams is the life of every stream on which clients wait for changes.
	streams    context.Context
	endStreams context.CancelFunc
}

// live is what a request sees: a table and who speaks MCP for each of its
// endpoints.
type live struct {
	table     *table.Table
	endpoints map[string]*endpoint // by path
}

// document returns the document at path; nil when there is none.
func (l *live) document(path string) *table.Document {
	if l == nil {
		return nil
	}
	return l.table.Document(path)
}

// New returns a server without a table: it answers every request with 503 until
// the first [Server.Swap].
func New(cfg Config) *Server {
	s := &Server{
		version:     cfg.Version,
		maxBody:     cfg.MaxBody,
		bodyTimeout: bodyTimeout,
		noFastPath:  cfg.NoFastPath,
		guard:       guard.New(cfg.AllowedHosts, cfg.AllowedOrigins, cfg.PublicURL),
		metrics:     newMetrics(cfg.Metrics),
		log:         cfg.Log,
		ids:         newIDs(),
		stdio:       map[*endpoint]bool{},
		first:       make(chan struct{}),
	}
	if s.maxBody == 0 {
		s.maxBody = DefaultMaxBody
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if cfg.Stateful {
		s.sessions = newSessions(cfg.MaxSessions)
	}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	return s
}

// Table returns the table that a request would see now; nil before the first.
func (s *Server) Table() *table.Table {
	if now := s.live.Load(); now != nil {
		return now.table
	}
	return nil
}

// Swap makes next, which must not be nil, what new requests see. Calls that have
// begun finish on the table they began with. Clients that listen are told when
// the tools of their endpoint look different; streams of an endpoint that is no
// more are ended.
func (s *Server) Swap(next *table.Table) {
	s.swapping.Lock()
	defer s.swapping.Unlock()
	prev := s.live.Load()
	now := &live{table: next, endpoints: map[string]*endpoint{}}
	for _, path := range next.Endpoints() {
		if prev != nil && prev.endpoints[path] != nil {
			now.endpoints[path] = prev.endpoints[path]
		} else {
			now.endpoints[path] = s.newEndpoint(path)
		}
	}
	s.live.Store(now)
	if prev == nil {
		close(s.first)
		s.tellStdio(nil, next)
	} else {
		tell(prev, now)
		s.tellStdio(prev.table, next)
		s.metrics.forget(prev.table, next)
		prev.table.Retire(next)
	}
}

// tell lets the clients that listen know what became of their endpoint.
func tell(prev, now *live) {
	for path, e := range prev.endpoints {
		if now.endpoints[path] == nil {
			e.end()
		} else {
			e.changed(prev.table.Endpoint(path), now.table.Endpoint(path))
		}
	}
}

// EndStreams ends every stream on which a client waits for changes, and every
// session, and every later one at once. Calls are answered as before. It is for a node that is about
// to stop: streams would outlive its patience.
func (s *Server) EndStreams() { s.endStreams() }

// WaitCalls waits until no call is under way, and returns nil, or until ctx is done, and
// returns its error. A call can outlive the request that it came with: one that is not
// safe to give up goes on where its client is gone.
func (s *Server) WaitCalls(ctx context.Context) error { return s.calls.wait(ctx) }

// ServeHTTP answers one request: that of an MCP client, or of anyone for a document.
// The path selects the endpoint or the document.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			logPanic(s.log, p, "path", r.URL.Path)
			panic(http.ErrAbortHandler) // net/http would log what p says
		}
	}()
	boundBody(w, r, s.bodyTimeout)
	now := s.live.Load()
	document := now.document(r.URL.Path)
	check := s.guard.Check
	if document != nil {
		check = s.guard.CheckHost // it is for pages of any origin
	}
	if reason := check(r); reason != "" {
		refuse(w, message.Refusal{Status: http.StatusForbidden, Code: jsonrpc.CodeInvalidRequest, Message: reason})
		return
	}
	if document != nil {
		serveDocument(document, w, r)
		return
	}
	if s.guard.CORS(w, r) {
		return
	}
	if now == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, message.Refusal{Status: http.StatusServiceUnavailable, Code: jsonrpc.CodeInternalError, Message: "this node has nothing to serve yet"})
		return
	}
	e := now.endpoints[r.URL.Path]
	if e == nil {
		refuse(w, message.Refusal{Status: http.StatusNotFound, Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("no MCP endpoint at %q", r.URL.Path)})
		return
	}
	r.Header.Del("Last-Event-Id") // no event has an id to go on from
	switch r.Method {
	case http.MethodPost:
		s.post(e, w, r)
	case http.MethodGet, http.MethodDelete:
		s.bodiless(e, w, r)
	default:
		notAllowed(w, s.allowed())
	}
}

// bodiless answers a GET or a DELETE: of a session, or of a client that has none.
func (s *Server) bodiless(e *endpoint, w http.ResponseWriter, r *http.Request) {
	session, refused := s.sessions.enter(e, r.Header)
	switch {
	case refused != nil:
		refuse(w, *refused)
	case session != nil:
		defer session.leave()
		session.bodiless(w, session.of(r))
	case r.Method == http.MethodGet:
		e.stream(w, r)
	case s.sessions != nil:
		refuse(w, message.Refusal{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: "a DELETE ends a session: name it in " + headerSession})
	default:
		notAllowed(w, s.allowed())
	}
}

// allowed returns the methods that an endpoint takes.
func (s *Server) allowed() string {
	if s.sessions != nil {
		return "DELETE, GET, POST"
	}
	return "GET, POST"
}

func (s *Server) post(e *endpoint, w http.ResponseWriter, r *http.Request) {
	body, refused := readBody(w, r, s.maxBody)
	if refused == nil {
		var session *session
		if session, refused = s.sessions.enter(e, r.Header); session != nil {
			defer session.leave()
			r = session.of(r)
		}
	}
	if refused == nil && !s.noFastPath {
		if p, ok := e.fast(r, body); ok {
			whole.Announce(r, len(p.message))
			p.send(w)
			if r.ProtoMajor == 1 { // HTTP/2 may still be reading it where the client reset its stream
				s.buffers.give(p.message)
			}
			return
		}
	}
	if refused == nil {
		refused = message.CheckMedia(r.Header)
	}
	if refused == nil && !json.Valid(body) {
		refused = &message.Refusal{Status: http.StatusBadRequest, Code: jsonrpc.CodeParseError, Message: "request body is not one JSON value"}
	}
	switch {
	case refused != nil:
		refuse(w, *refused)
	case message.IsBatch(body):
		s.batch(e, w, r, body)
	default:
		e.answer(w, r, body)
	}
}

// answer answers one message of a batch.
func (s *Server) answer(e *endpoint, w http.ResponseWriter, r *http.Request, body []byte) {
	if !s.noFastPath {
		if p, ok := e.fast(r, body); ok {
			p.send(w)
			return
		}
	}
	e.answer(w, r, body)
}

// logPanic logs where a panic came from. What it was with may hold anything and is
// not logged.
func logPanic(log *slog.Logger, p any, where ...any) {
	log.With(where...).Error("request panicked", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
}

func notAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	refuse(w, message.Refusal{Status: http.StatusMethodNotAllowed, Code: jsonrpc.CodeInvalidRequest, Message: "this endpoint takes " + allow})
}
