package message

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

// maxVersion is how much of a version that nobody knows is repeated to who sent it, in
// bytes.
const maxVersion = 32

// VersionOf returns the revision of the protocol that the header h says, or why that
// is none.
func VersionOf(h http.Header) (string, *Refusal) {
	version := h.Get("Mcp-Protocol-Version")
	if version == "" {
		return unsaid, nil
	}
	if refused := checkVersion(version); refused != nil {
		return "", refused
	}
	return version, nil
}

// checkVersion returns why version is no revision of the protocol that is served; nil if
// it is one.
func checkVersion(version string) *Refusal {
	supported := mcp.SupportedProtocolVersions()
	if slices.Contains(supported, version) {
		return nil
	}
	// Texts always marshal.
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: supported, Requested: version[:min(len(version), maxVersion)]})
	return &Refusal{Status: http.StatusBadRequest, Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data}
}

// CheckMedia returns why a POST with the header h is not answered; nil when it is.
func CheckMedia(h http.Header) *Refusal {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return &Refusal{Status: http.StatusUnsupportedMediaType, Code: jsonrpc.CodeInvalidRequest, Message: "Content-Type must be application/json"}
	}
	if !acceptsBoth(h["Accept"]) {
		return &Refusal{Status: http.StatusNotAcceptable, Code: jsonrpc.CodeInvalidRequest, Message: "Accept must have application/json as well as text/event-stream"}
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
	v, ok := Said(h, name)
	return ok && v == value
}

// Said returns what the header name says, which h must have once: as it is or, as
// SEP-2243 has it for what a header cannot hold, in Base64.
func Said(h http.Header, name string) (value string, ok bool) {
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
