package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// bodyTimeout bounds how long a request body may take to arrive: a client that
// sends a byte a minute holds a connection no longer than this.
const bodyTimeout = 30 * time.Second

// A refusal is an answer to a request that never becomes an MCP request. Its text
// repeats nothing of that.
type refusal struct {
	status  int // HTTP's; 0: that which goes with the code
	code    int64
	message string
	data    []byte          // a JSON value; nil for none
	id      json.RawMessage // nil when no request was recognised
}

// notARequest is the refusal of a body or of an element of a batch, which is no
// request for the reason that what says.
func notARequest(what string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, message: "the message " + what}
}

// refuse answers with a JSON-RPC error, which MCP clients show to their users
// where they would swallow plain text.
func refuse(w http.ResponseWriter, r refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	id := rawjson.Value(r.id)
	if id == nil {
		id = rawjson.Value("null")
	}
	// A client that is gone needs no answer.
	_, _ = w.Write(refusalMessage(id, &call.Error{Code: int(r.code), Message: r.message, Data: r.data}))
}

// readWhole reads the body of r in one buffer when its length is stated.
func readWhole(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > limit {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

// readBody reads the body of r, at most limit bytes.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *refusal) {
	control := http.NewResponseController(w)
	// A connection without deadlines is a test's recorder; it cannot be slow.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := readWhole(w, r, limit)
	// Later reads on the connection notice a client that goes away during a call,
	// however long that takes.
	_ = control.SetReadDeadline(time.Time{})
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: jsonrpc.CodeInvalidRequest, message: fmt.Sprintf("request body is larger than %d bytes", limit)}
	}
	if err != nil {
		return nil, &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, message: "request body did not arrive completely"}
	}
	return body, nil
}
