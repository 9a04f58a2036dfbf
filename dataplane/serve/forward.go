package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// forward has the SDK answer m, a request that it takes, which came as r.
func (e *endpoint) forward(w http.ResponseWriter, r *http.Request, m message.Message) {
	switch s := sessionOf(r.Context()); {
	case s != nil && m.Method == message.MethodInitialize:
		refuse(w, message.Refusal{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: "the session is initialized", ID: m.ID})
	case s != nil:
		e.forwardTo(s.conn, w, r, m)
	case m.Method == message.MethodInitialize && e.sessions != nil && !inBatch(r.Context()):
		e.meet(w, r, m)
	case m.Method == message.MethodListen:
		e.forwardListen(w, r, m)
	case !inBatch(r.Context()) && e.streams(m):
		e.forwardTo(e.sse, w, r, m)
	default:
		e.forwardTo(e.http, w, r, m)
	}
}

// forwardListen has the SDK answer m, a subscriptions/listen.
func (e *endpoint) forwardListen(w http.ResponseWriter, r *http.Request, m message.Message) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	out := newOutbox(w, end)
	defer out.close()
	e.forwardTo(e.http, out, r.WithContext(ctx), m)
}

// forwardTo has the SDK's handler h answer m.
func (e *endpoint) forwardTo(h http.Handler, w http.ResponseWriter, r *http.Request, m message.Message) {
	r, end := withWait(w, r)
	defer end()
	out := &sdkWriter{ResponseWriter: w, id: m.ID, stand: m.ID}
	if !plainID(m.ID) {
		out.stand = json.RawMessage(rawjson.Quote(rand.Text()))
	}
	r.Header = r.Header.Clone()
	name, _ := m.Name()
	r.Header.Set("Mcp-Method", m.Method) // as it may have been, in Base64, the SDK does not know it
	r.Header.Set("Mcp-Name", name)
	r.Body = io.NopCloser(bytes.NewReader(m.Request(out.stand)))
	if s := sessionOf(r.Context()); s != nil {
		defer s.note(m.ID, s.cancelForwarded(out.stand))()
		defer s.keepWait(r)()
	}
	h.ServeHTTP(out, r)
}

// maxIDDigits is how long a number can be that every JSON library reads exactly.
const maxIDDigits = 15

// plainID reports whether the SDK returns an id as it was sent.
func plainID(id json.RawMessage) bool {
	switch rawjson.Value(id).Kind() {
	case rawjson.String:
		return !bytes.ContainsAny(id, "\\\u2028\u2029")
	case rawjson.Number:
		return len(id) <= maxIDDigits && strings.Trim(string(id), "0123456789") == "" && (id[0] != '0' || len(id) == 1)
	}
	return false
}

// An sdkWriter is what the SDK writes its answer to one request to. It puts the
// request's own id in the place of what stood for it, and turns text for people into
// a JSON-RPC error. What it is given at once has messages as a whole.
type sdkWriter struct {
	http.ResponseWriter
	id      json.RawMessage // nil for none
	stand   json.RawMessage // what the SDK took for id; the same where it returns that exactly
	refused bool            // the answer is written; what the SDK has to say is dropped
	events  bool            // the answer is a stream of events that has begun
	bare    bool            // what comes next is none of them, but should be
}

func (w *sdkWriter) WriteHeader(status int) {
	if w.bare = w.events; w.bare {
		return // an error that would have a status of its own had it come first
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.refused = true
	r := message.Refusal{Status: status, Code: jsonrpc.CodeInvalidRequest, Message: "the request is none of MCP", ID: w.id}
	if status >= http.StatusInternalServerError {
		r.Code, r.Message = jsonrpc.CodeInternalError, "internal error"
	}
	refuse(w.ResponseWriter, r)
}

func (w *sdkWriter) Write(p []byte) (int, error) {
	out := p
	if w.refused {
		out = nil
	} else if !bytes.Equal(w.id, w.stand) {
		out = bytes.ReplaceAll(p, w.stand, w.id)
	}
	if w.bare {
		out = slices.Concat([]byte("event: message\ndata: "), out, []byte("\n\n"))
	}
	w.events = w.events || w.Header().Get("Content-Type") == "text/event-stream"
	if _, err := w.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap lets [http.ResponseController] flush what was written.
func (w *sdkWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
