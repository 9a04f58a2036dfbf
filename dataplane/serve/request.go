package serve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// bodyTimeout bounds how long a request body may take to arrive, be it read or, by
// net/http, thrown away: a client that sends a byte a minute holds a connection no longer
// than this.
const bodyTimeout = 30 * time.Second

// refuse answers with a JSON-RPC error, which MCP clients show to their users
// where they would swallow plain text.
func refuse(w http.ResponseWriter, r message.Refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.Status)
	id := rawjson.Value(r.ID)
	if id == nil {
		id = rawjson.Value("null")
	}
	// A client that is gone needs no answer.
	_, _ = w.Write(refusalMessage(id, &call.Error{Code: int(r.Code), Message: r.Message, Data: r.Data}))
}

// maxAhead is how much of a body there is room for before any of it has arrived, in bytes.
const maxAhead = 64 << 10

// readWhole reads the body of r, in one buffer when its length is stated and not more than
// maxAhead. A longer one has room for twice what has arrived: many clients could each state
// a length and send nothing.
func readWhole(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > limit {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	body, all := []byte(nil), int(r.ContentLength)
	for room := min(all, maxAhead); ; room = min(all, 2*room) {
		read := len(body)
		body = append(make([]byte, 0, room), body...)[:room]
		if _, err := io.ReadFull(r.Body, body[read:]); err != nil || room == all {
			return body, err
		}
	}
}

// boundBody has the body of r, if there is one, arrive within d.
func boundBody(w http.ResponseWriter, r *http.Request, d time.Duration) {
	if r.ContentLength != 0 {
		// A connection without deadlines is a test's recorder; it cannot be slow.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
	}
}

// readBody reads the body of r, at most limit bytes. The bound of [boundBody] ends with a
// body that is complete.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *message.Refusal) {
	body, err := readWhole(w, r, limit)
	if err == nil {
		// Later reads on the connection notice a client that goes away during a call,
		// however long that takes.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // as above
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, &message.Refusal{Status: http.StatusRequestEntityTooLarge, Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("request body is larger than %d bytes", limit)}
	}
	if err != nil {
		return nil, &message.Refusal{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: "request body did not arrive completely"}
	}
	return body, nil
}
