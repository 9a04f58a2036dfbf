package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// A message is one of JSON-RPC that a client sent.
type message struct {
	id     json.RawMessage // a string or a number, as it was sent; nil for none
	method string
	params json.RawMessage            // an object; nil for none
	param  map[string]json.RawMessage // the members of params
	answer bool                       // it answers a request of the server's: it has no method
}

// openMessage takes data, a valid JSON value, apart. The message that it returns
// beside a refusal has the id, if that is one.
//
// A member that stands twice is refused wherever the protocol itself reads it: who
// looked at the request before the node may have read the other one. In the
// arguments of a call it is refused later.
func openMessage(data []byte) (m message, refused *refusal) {
	envelope, ok := members(data)
	if !ok {
		return m, notARequest("is no object in which each member stands once")
	}
	if id, ok := envelope["id"]; ok {
		if !isID(id) {
			return m, notARequest("has an id that is neither a string nor a number")
		}
		m.id = id
	}
	if version, _ := text(envelope["jsonrpc"]); version != "2.0" {
		return m, notARequest(`does not say "jsonrpc": "2.0"`)
	}
	if envelope["method"] == nil {
		m.answer = m.id != nil && (envelope["result"] != nil || envelope["error"] != nil)
		if !m.answer {
			return m, notARequest("has no method")
		}
		return m, nil
	}
	if m.method, ok = text(envelope["method"]); !ok {
		return m, notARequest("has a method that is no string")
	}
	return m, m.openParams(envelope["params"])
}

// openParams takes the parameters apart. Null is none.
func (m *message) openParams(params json.RawMessage) *refusal {
	if params == nil || string(params) == "null" {
		return nil
	}
	var ok bool
	if m.param, ok = members(params); !ok {
		return &refusal{code: jsonrpc.CodeInvalidParams, message: "params are no object in which each member stands once"}
	}
	m.params = params
	for _, name := range slices.Sorted(maps.Keys(m.param)) {
		if m.method == methodCall && name == "arguments" {
			continue
		}
		if _, err := rawjson.Parse(m.param[name], call.MaxDepth); err != nil {
			return &refusal{code: jsonrpc.CodeInvalidParams, message: fmt.Sprintf("a member of params is not valid JSON: %v", err)}
		}
	}
	return nil
}

// check holds m to the protocol's revision and to the header h that it came with. It
// refuses what the SDK would explain by repeating it.
func (m *message) check(h http.Header) *refusal {
	version, refused := versionOf(h)
	switch {
	case refused != nil || m.answer:
		return refused
	case m.id == nil:
		return m.checkMethodHeader(h, version)
	}
	if method, ok := methodOf(m.method); !ok || !method.isIn(version) {
		return &refusal{code: jsonrpc.CodeMethodNotFound, message: "this endpoint has no such method in this revision of the protocol"}
	}
	if refused := m.checkEra(h, version); refused != nil {
		return refused
	}
	return m.checkParams()
}

// checkParams holds the parameters to the method, if that is one.
func (m *message) checkParams() *refusal {
	method, ok := methodOf(m.method)
	if ok && (m.params == nil && !method.optional || m.params != nil && json.Unmarshal(m.params, method.params) != nil) {
		return &refusal{code: jsonrpc.CodeInvalidParams, message: "params are not those that " + m.method + " takes"}
	}
	return nil
}

// checkEra holds what the body says of the protocol's revision to what the header
// says.
func (m *message) checkEra(h http.Header, version string) *refusal {
	meta, _ := members(m.param["_meta"])
	said, _ := text(meta[keyVersion])
	switch {
	case version >= modern && said == "":
		return &refusal{code: jsonrpc.CodeInvalidParams, message: fmt.Sprintf("params have no %q in _meta", keyVersion)}
	case said != "" && said != h.Get("Mcp-Protocol-Version"):
		return mismatch("Mcp-Protocol-Version")
	}
	if refused := m.checkMethodHeader(h, version); refused != nil {
		return refused
	}
	if name, named := m.name(); version >= modern && named && (name == "" || !says(h, "Mcp-Name", name)) {
		return mismatch("Mcp-Name")
	}
	return nil
}

// name returns what a request of m's method is about: a tool, a prompt, the URI of a
// resource. It reports false where such a request has no name, and where what is in its
// place is none.
func (m *message) name() (string, bool) {
	member := map[string]string{methodCall: "name", methodPrompt: "name", methodRead: "uri"}[m.method]
	name, ok := text(m.param[member])
	return name, member != "" && (ok || m.param[member] == nil)
}

func (m *message) checkMethodHeader(h http.Header, version string) *refusal {
	if version >= modern && !says(h, "Mcp-Method", m.method) {
		return mismatch("Mcp-Method")
	}
	return nil
}

// request returns m, which is one, with another id. It has no more than the protocol
// asks for.
func (m *message) request(id json.RawMessage) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = rawjson.AppendQuote(append(b, `,"method":`...), m.method)
	if m.params != nil {
		b = append(append(b, `,"params":`...), m.params...)
	}
	return append(b, '}')
}

// A method is what requests can ask for.
type method struct {
	params   any    // what its parameters decode into
	optional bool   // there need not be any
	from     string // the first revision of the protocol that has it; "": every one has
	until    string // the first revision that has it no more; "": there is none
}

// isIn reports whether a revision of the protocol has the method.
func (m method) isIn(version string) bool {
	return m.from <= version && (m.until == "" || version < m.until)
}

// methodOf returns the method called name, if an endpoint has it.
func methodOf(name string) (method, bool) {
	switch name {
	case methodInitialize:
		return method{params: new(mcp.InitializeParams), until: modern}, true
	case "ping":
		return method{params: new(mcp.PingParams), optional: true, until: modern}, true
	case methodSetLevel:
		return method{params: new(mcp.SetLoggingLevelParams), until: modern}, true
	case methodDiscover:
		return method{params: new(mcp.DiscoverParams), optional: true, from: modern}, true
	case "subscriptions/listen":
		return method{params: new(mcp.SubscriptionsListenParams), from: modern}, true
	case "tools/list":
		return method{params: new(mcp.ListToolsParams), optional: true}, true
	case methodCall:
		return method{params: new(mcp.CallToolParamsRaw)}, true
	case "prompts/list":
		return method{params: new(mcp.ListPromptsParams), optional: true}, true
	case methodPrompt:
		return method{params: new(mcp.GetPromptParams)}, true
	case "resources/list":
		return method{params: new(mcp.ListResourcesParams), optional: true}, true
	case "resources/templates/list":
		return method{params: new(mcp.ListResourceTemplatesParams), optional: true}, true
	case methodRead:
		return method{params: new(mcp.ReadResourceParams)}, true
	case "resources/subscribe":
		return method{params: new(mcp.SubscribeParams), until: modern}, true
	case "resources/unsubscribe":
		return method{params: new(mcp.UnsubscribeParams), until: modern}, true
	case "completion/complete":
		return method{params: new(mcp.CompleteParams)}, true
	}
	return method{}, false
}

// members returns the members of an object by name. It reports false when the JSON
// value data is something else, or has a member twice.
func members(data []byte) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
		return nil, false
	}
	all := map[string]json.RawMessage{}
	for d.More() {
		token, _ := d.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if !ok || d.Decode(&value) != nil || all[name] != nil {
			return nil, false
		}
		all[name] = value
	}
	return all, true
}

// text returns what the JSON string data says, and false when it is something else.
func text(data json.RawMessage) (s string, ok bool) {
	if len(data) == 0 || data[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(data, &s) == nil
}

// isID reports whether a JSON value can identify a request. MCP has no null there.
func isID(v json.RawMessage) bool {
	switch rawjson.Value(v).Kind() {
	case rawjson.String:
		return utf8.Valid(v)
	case rawjson.Number:
		return true
	}
	return false
}
