package message

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Refusal is the JSON-RPC error that answers what never becomes a request of MCP. Its
// text repeats nothing of that.
type Refusal struct {
	Status  int // of HTTP; 0: that which goes with the code, see [StatusOf]
	Code    int64
	Message string
	Data    []byte          // a JSON value; nil for none
	ID      json.RawMessage // nil when no request was recognised
}

// notARequest is the refusal of a body or of an element of a batch, which is no
// request for the reason that what says.
func notARequest(what string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: jsonrpc.CodeInvalidRequest, Message: "the message " + what}
}

// Mismatch is the refusal of a request whose header and body are not about the same.
func Mismatch(header string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: mcp.CodeHeaderMismatch, Message: "the header " + header + " must say once what the body says"}
}

// StatusOf returns the status of HTTP that goes with the code of a JSON-RPC error. The
// modern revisions give some codes one of their own.
func StatusOf(version string, code int64) int {
	if version < Modern {
		return http.StatusOK
	}
	switch code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, mcp.CodeUnsupportedProtocolVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
