package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bodyTimeout bounds how long a request body may take to arrive: a client that
// sends a byte a minute holds a connection no longer than this.
const bodyTimeout = 30 * time.Second

// A refusal is an answer to a request that never becomes an MCP request.
type refusal struct {
	status  int // HTTP's
	code    int64
	message string
	id      json.RawMessage // nil when no request was recognised
}

// refuse answers with a JSON-RPC error, which MCP clients show to their users
// where they would swallow plain text.
func refuse(w http.ResponseWriter, r refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(r.status)
	// Strings and a number always marshal; a client that is gone needs no answer.
	body, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": r.id,
		"error": map[string]any{"code": r.code, "message": r.message},
	})
	_, _ = w.Write(body)
}

// readBody reads the body of r, at most limit bytes, and puts it back for the
// next reader.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *refusal) {
	control := http.NewResponseController(w)
	// A connection without deadlines is a test's recorder; it cannot be slow.
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	var whole bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= limit {
		whole.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := whole.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	body := whole.Bytes()
	// Later reads on the connection notice a client that goes away during a call,
	// however long that takes.
	_ = control.SetReadDeadline(time.Time{})
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, &refusal{http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, fmt.Sprintf("request body is larger than %d bytes", limit), nil}
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "request body did not arrive completely", nil}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// checkBody refuses what the SDK would explain by repeating it: the error text of
// a tools/call that it cannot decode holds the arguments.
func checkBody(body []byte) *refusal {
	if !json.Valid(body) {
		return &refusal{http.StatusBadRequest, jsonrpc.CodeParseError, "request body is not one JSON value", nil}
	}
	messages := []json.RawMessage{body}
	if first := bytes.TrimLeft(body, " \t\r\n"); first[0] == '[' {
		messages = nil                      // else the first would be decoded into body
		_ = json.Unmarshal(body, &messages) // a valid array always unmarshals
	}
	for _, m := range messages {
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(m, &message) != nil {
			return &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "request body is not a JSON-RPC message", nil}
		}
		if message.Method == methodCall && len(message.Params) > 0 && json.Unmarshal(message.Params, new(mcp.CallToolParamsRaw)) != nil {
			return &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidParams, `params of tools/call want a string "name" and objects "arguments" and "_meta"`, message.ID}
		}
	}
	return nil
}
