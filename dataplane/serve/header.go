package serve

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// defaultVersion is the revision of the protocol that a client speaks who names none:
// so the specification says.
const defaultVersion = "2025-03-26"

// maxVersion is how much of a version that nobody knows is repeated to who sent it, in
// bytes.
const maxVersion = 32

// versionOf returns the revision of the protocol that the header h says, or why that
// is none.
func versionOf(h http.Header) (string, *refusal) {
	version := h.Get("Mcp-Protocol-Version")
	if version == "" {
		return defaultVersion, nil
	}
	supported := mcp.SupportedProtocolVersions()
	if slices.Contains(supported, version) {
		return version, nil
	}
	// Texts always marshal.
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: supported, Requested: version[:min(len(version), maxVersion)]})
	return "", &refusal{status: http.StatusBadRequest, code: mcp.CodeUnsupportedProtocolVersion, message: "unsupported protocol version", data: data}
}

// checkMedia returns why a POST with the header h is not answered; nil when it is.
func checkMedia(h http.Header) *refusal {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return &refusal{status: http.StatusUnsupportedMediaType, code: jsonrpc.CodeInvalidRequest, message: "Content-Type must be application/json"}
	}
	if !acceptsBoth(h["Accept"]) {
		return &refusal{status: http.StatusNotAcceptable, code: jsonrpc.CodeInvalidRequest, message: "Accept must have application/json as well as text/event-stream"}
	}
	return nil
}

// acceptsBoth reports whether a client takes JSON as well as a stream of events, as
// it has to say.
func acceptsBoth(accept []string) bool {
	json, stream := false, false
	for _, line := range accept {
		for token := range strings.SplitSeq(line, ",") {
			kind, _, _ := strings.Cut(token, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				json = true
			case "text/event-stream", "text/*":
				stream = true
			case "*/*":
				json, stream = true, true
			}
		}
	}
	return json && stream
}

// says reports whether h has the header name once, with value.
func says(h http.Header, name, value string) bool {
	v, ok := said(h, name)
	return ok && v == value
}

// said returns what the header name says, which h must have once: as it is or, as
// SEP-2243 has it for what a header cannot hold, in Base64.
func said(h http.Header, name string) (value string, ok bool) {
	values := h[name]
	if len(values) != 1 {
		return "", false
	}
	encoded, ok := strings.CutPrefix(values[0], "=?base64?")
	if ok {
		encoded, ok = strings.CutSuffix(encoded, "?=")
	}
	if !ok {
		return values[0], true
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return string(decoded), err == nil
}

// mismatch is the refusal of a request whose header and body are not about the same.
func mismatch(header string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: mcp.CodeHeaderMismatch, message: "the header " + header + " must say once what the body says"}
}
