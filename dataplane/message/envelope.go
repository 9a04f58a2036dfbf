package message

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// An envelope is what is around the arguments of a plain tools/call: one that needs
// nothing of the SDK. All its values are parts of the request's body.
type Envelope struct {
	ID        rawjson.Value // a string or a number, as it was sent
	Tool      string
	Arguments rawjson.Value // nil when there are none
	Version   string        // of the protocol
	Meta      rawjson.Value // nil when there is none
}

// maxEnvelopeDepth is how deep a body can be nested whose envelope is opened here:
// the arguments are two levels down.
const maxEnvelopeDepth = call.MaxDepth + 2

// OpenEnvelope takes a request apart. Where it says no, the request may be good or
// bad: the SDK is to look at it. It says yes only to what the SDK would hand on as a
// call with just these parts.
func OpenEnvelope(h http.Header, body []byte) (Envelope, bool) {
	e := Envelope{Version: h.Get("Mcp-Protocol-Version")}
	if h.Get("Content-Type") != "application/json" || !acceptsBoth(h["Accept"]) || e.Version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), e.Version) {
		return e, false
	}
	v, err := rawjson.Parse(body, maxEnvelopeDepth)
	if err != nil || v.Kind() != rawjson.Object {
		return e, false
	}
	var params rawjson.Value
	known := 0
	for name, value := range v.Members() {
		switch string(name) {
		case `"jsonrpc"`:
			if string(value) != `"2.0"` {
				return e, false
			}
		case `"method"`:
			if string(value) != `"tools/call"` {
				return e, false
			}
		case `"id"`:
			e.ID = value
		case `"params"`:
			params = value
		default:
			return e, false
		}
		known++
	}
	return e, known == 4 && isID(json.RawMessage(e.ID)) && e.params(params) && e.era(h)
}

// params reads the parameters of the call.
func (e *Envelope) params(v rawjson.Value) bool {
	if v.Kind() != rawjson.Object {
		return false
	}
	for name, value := range v.Members() {
		switch string(name) {
		case `"name"`:
			text, ok := value.Text()
			if !ok || text == "" {
				return false
			}
			e.Tool = text
		case `"arguments"`:
			if value.Kind() != rawjson.Object {
				return false
			}
			e.Arguments = value
		case `"_meta"`:
			if value.Kind() != rawjson.Object || len(value) > maxAside || !areDoubles(value) {
				return false
			}
			e.Meta = value
		default:
			return false // an answer to a question of the server's, or something newer
		}
	}
	return e.Tool != ""
}

// areDoubles reports whether there is a double near each number in v, as the SDK wants it of
// what it reads by no schema.
func areDoubles(v rawjson.Value) bool {
	for number := range v.Numbers() {
		if _, err := strconv.ParseFloat(string(number), 64); err != nil {
			return false
		}
	}
	return true
}

// era holds "_meta" and the headers to the rules of the request's protocol version.
func (e *Envelope) era(h http.Header) bool {
	meta := e.Meta
	if e.Version < Modern {
		if e.Version == "" {
			e.Version = unsaid
		}
		return meta.Member(KeyVersion) == nil
	}
	version, _ := meta.Member(KeyVersion).Text()
	return version == e.Version &&
		says(h, "Mcp-Method", MethodCall) && says(h, "Mcp-Name", e.Tool) &&
		plainClient(meta.Member(keyClient)) && plainCapabilities(meta.Member(KeyCapabilities))
}

// plainClient reports whether v, where it is there, describes a client by the texts
// that MCP names.
func plainClient(v rawjson.Value) bool {
	if v == nil {
		return true
	}
	if v.Kind() != rawjson.Object {
		return false
	}
	for name, value := range v.Members() {
		switch string(name) {
		case `"name"`, `"title"`, `"version"`, `"description"`, `"websiteUrl"`:
			if value.Kind() != rawjson.String {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plainCapabilities reports whether v declares capabilities that MCP names, in the
// form that it gives them.
func plainCapabilities(v rawjson.Value) bool {
	if v.Kind() != rawjson.Object {
		return false
	}
	for name, value := range v.Members() {
		if value.Kind() != rawjson.Object {
			return false
		}
		switch string(name) {
		case `"extensions"`, `"experimental"`: // hold anything
		case `"roots"`:
			for name, value := range value.Members() {
				if string(name) != `"listChanged"` || value.Kind() != rawjson.Bool {
					return false
				}
			}
		case `"sampling"`, `"elicitation"`:
			for _, value := range value.Members() {
				if value.Kind() != rawjson.Object {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// Request returns the call that came in e, with the header h.
func (e *Envelope) Request(h http.Header) call.Request {
	r := call.Request{Arguments: e.Arguments, Parsed: e.Arguments != nil, Header: h, Meta: e.Meta}
	r.Traceparent, _ = e.Meta.Member(KeyTraceparent).Text()
	r.Tracestate, _ = e.Meta.Member(KeyTracestate).Text()
	return r
}
