// Package message takes apart what a client of MCP sends: bytes, and the headers that
// they came with, become a message that the SDK takes, the envelope of a plain
// tools/call, or the refusal that its sender gets. It reads nothing else, and answers
// nothing.
package message

import (
	"bytes"
	"encoding/json"
	"errors"
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

// A Message is one of JSON-RPC that a client sent.
type Message struct {
	ID       json.RawMessage // a string or a number, as it was sent; nil for none
	Method   string
	Params   json.RawMessage            // an object; nil for none
	Param    map[string]json.RawMessage // the members of Params
	IsAnswer bool                       // it answers a request of the server's: it has no method
}

// IsRequest reports whether m gets an answer.
func (m *Message) IsRequest() bool { return m.ID != nil && !m.IsAnswer }

// Text returns what the parameter name says, and false if it is not there or no string.
func (m *Message) Text(name string) (string, bool) { return text(m.Param[name]) }

// Open takes data, a valid JSON value, apart. The message that it returns
// beside a refusal has the id, if that is one.
//
// A member that stands twice is refused wherever the protocol itself reads it: who
// looked at the request before the node may have read the other one. In the
// arguments of a call it is refused later.
func Open(data []byte) (m Message, refused *Refusal) {
	envelope, ok := members(data)
	if len(envelope) > maxMembers {
		return m, notARequest(fmt.Sprintf("has more than %d members", maxMembers))
	}
	if !ok {
		return m, notARequest("is no object in which each member stands once")
	}
	if id, ok := envelope["id"]; ok {
		if !isID(id) {
			return m, notARequest("has an id that is neither a string nor a number")
		}
		m.ID = id
	}
	if version, _ := text(envelope["jsonrpc"]); version != "2.0" {
		return m, notARequest(`does not say "jsonrpc": "2.0"`)
	}
	if envelope["method"] == nil {
		m.IsAnswer = m.ID != nil && (envelope["result"] != nil || envelope["error"] != nil)
		if !m.IsAnswer {
			return m, notARequest("has no method")
		}
		return m, nil
	}
	if m.Method, ok = text(envelope["method"]); !ok {
		return m, notARequest("has a method that is no string")
	}
	return m, m.openParams(envelope["params"])
}

// openParams takes the parameters apart. Null is none.
func (m *Message) openParams(params json.RawMessage) *Refusal {
	if params == nil || string(params) == "null" {
		return nil
	}
	all, ok := members(params)
	if len(all) > maxMembers {
		return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("params have more than %d members", maxMembers)}
	}
	if !ok {
		return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: "params are no object in which each member stands once"}
	}
	m.Params, m.Param = params, all
	for _, name := range []string{"_meta", "capabilities"} {
		if len(bytes.TrimSpace(m.Param[name])) > maxAside {
			return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s is longer than %d bytes", name, maxAside)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Param)) {
		if m.Method == MethodCall && name == "arguments" {
			continue
		}
		if _, err := rawjson.Parse(m.Param[name], call.MaxDepth); err != nil {
			return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("a member of params is not valid JSON: %v", err)}
		}
	}
	return nil
}

// Check holds m to the protocol's revision and to the header h that it came with. It
// refuses what the SDK would explain by repeating it.
func (m *Message) Check(h http.Header) *Refusal {
	version, refused := VersionOf(h)
	switch {
	case refused != nil || m.IsAnswer:
		return refused
	case m.ID == nil:
		return m.checkMethodHeader(h, version)
	}
	if refused := m.checkMethod(version); refused != nil {
		return refused
	}
	if refused := m.checkEra(h, version); refused != nil {
		return refused
	}
	return m.checkParams()
}

// CheckMet is [Message.Check] for a message that came without headers. It holds a request
// to the revision of the protocol that its "_meta" says, or else to met, which its sender
// and the endpoint agreed on; "" before they have met.
func (m *Message) CheckMet(met string) *Refusal {
	if !m.IsRequest() {
		return nil
	}
	said := m.revision()
	if said != "" {
		if refused := checkVersion(said); refused != nil {
			return refused
		}
	}
	version := met
	if said >= Modern {
		version = said
	}
	if refused := m.checkMethod(version); refused != nil {
		return refused
	}
	if version == "" && m.Method != MethodInitialize && m.Method != methodPing {
		return notARequest("comes before the client is initialized")
	}
	return m.checkParams()
}

// checkMethod holds the method to a revision of the protocol, "" for any before [Modern].
func (m *Message) checkMethod(version string) *Refusal {
	if method, ok := methodOf(m.Method); !ok || !method.isIn(version) {
		return &Refusal{Code: jsonrpc.CodeMethodNotFound, Message: "this endpoint has no such method in this revision of the protocol"}
	}
	return nil
}

// revision returns the revision of the protocol that the body says; "" for none.
func (m *Message) revision() string {
	meta, _ := members(m.Param["_meta"])
	said, _ := text(meta[KeyVersion])
	return said
}

// checkParams holds the parameters to the method, if that is one.
func (m *Message) checkParams() *Refusal {
	method, ok := methodOf(m.Method)
	if ok && (m.Params == nil && !method.optional || m.Params != nil && json.Unmarshal(m.Params, method.params) != nil) {
		return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: "params are not those that " + m.Method + " takes"}
	}
	return nil
}

// checkEra holds what the body says of the protocol's revision to what the header
// says.
func (m *Message) checkEra(h http.Header, version string) *Refusal {
	said := m.revision()
	switch {
	case version >= Modern && said == "":
		return &Refusal{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("params have no %q in _meta", KeyVersion)}
	case said != "" && said != h.Get("Mcp-Protocol-Version"):
		return Mismatch("Mcp-Protocol-Version")
	}
	if refused := m.checkMethodHeader(h, version); refused != nil {
		return refused
	}
	if name, named := m.Name(); version >= Modern && named && (name == "" || !says(h, "Mcp-Name", name)) {
		return Mismatch("Mcp-Name")
	}
	return nil
}

// Name returns what a request of m's method is about: a tool, a prompt, the URI of a
// resource. It reports false where such a request has no name, and where what is in its
// place is none.
func (m *Message) Name() (string, bool) {
	member := map[string]string{MethodCall: "name", MethodPrompt: "name", MethodRead: "uri"}[m.Method]
	name, ok := text(m.Param[member])
	return name, member != "" && (ok || m.Param[member] == nil)
}

func (m *Message) checkMethodHeader(h http.Header, version string) *Refusal {
	if version >= Modern && !says(h, "Mcp-Method", m.Method) {
		return Mismatch("Mcp-Method")
	}
	return nil
}

// Request returns m, which is one, as it goes to the SDK: with another id, and with what
// [Exact] finds again. It has no more than the protocol asks for.
func (m *Message) Request(id json.RawMessage) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = rawjson.AppendQuote(append(b, `,"method":`...), m.Method)
	if m.Params != nil {
		b = append(append(b, `,"params":`...), m.exactParams()...)
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
	case MethodInitialize:
		return method{params: new(mcp.InitializeParams), until: Modern}, true
	case methodPing:
		return method{params: new(mcp.PingParams), optional: true, until: Modern}, true
	case MethodSetLevel:
		return method{params: new(mcp.SetLoggingLevelParams), until: Modern}, true
	case MethodDiscover:
		return method{params: new(mcp.DiscoverParams), optional: true, from: Modern}, true
	case MethodListen:
		return method{params: new(mcp.SubscriptionsListenParams), from: Modern}, true
	case "tools/list":
		return method{params: new(mcp.ListToolsParams), optional: true}, true
	case MethodCall:
		return method{params: new(mcp.CallToolParamsRaw)}, true
	case "prompts/list":
		return method{params: new(mcp.ListPromptsParams), optional: true}, true
	case MethodPrompt:
		return method{params: new(mcp.GetPromptParams)}, true
	case "resources/list":
		return method{params: new(mcp.ListResourcesParams), optional: true}, true
	case "resources/templates/list":
		return method{params: new(mcp.ListResourceTemplatesParams), optional: true}, true
	case MethodRead:
		return method{params: new(mcp.ReadResourceParams)}, true
	case "resources/subscribe":
		return method{params: new(mcp.SubscribeParams), until: Modern}, true
	case "resources/unsubscribe":
		return method{params: new(mcp.UnsubscribeParams), until: Modern}, true
	case "completion/complete":
		return method{params: new(mcp.CompleteParams)}, true
	}
	return method{}, false
}

// What is taken apart costs many times the bytes that it came as. Arguments of a call are
// not taken apart here.
const (
	// maxMembers is how many members a message, and its params, can have.
	maxMembers = 1000
	// maxAside is how long "_meta" and the capabilities of a client can be, in bytes: they
	// hold anything, and the SDK takes all of it apart.
	maxAside = 256 << 10
)

// members returns the members of an object by name. It reports false when the JSON
// value data is something else, or has a member twice; and when it has more than
// maxMembers, with one more than that.
func members(data []byte) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
		return nil, false
	}
	all := map[string]json.RawMessage{}
	for len(all) <= maxMembers && d.More() {
		token, _ := d.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if !ok || d.Decode(&value) != nil || all[name] != nil {
			return nil, false
		}
		all[name] = value
	}
	return all, len(all) <= maxMembers
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

// IsCoded reports whether err has a code, as JSON-RPC asks for.
func IsCoded(err error) bool {
	coded := (*jsonrpc.Error)(nil)
	return errors.As(err, &coded) && coded.Code != 0
}
