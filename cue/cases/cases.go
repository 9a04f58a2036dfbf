// Package cases holds offline cases as authors state them: a call, the requests that
// it must become with what the upstream answers, and what the caller must get.
//
// Package compile reads them from a module's test files; who runs them is no matter
// of this package.
package cases

import (
	"time"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Case is one request of a client: the call of a tool, or one of what may take the call
// of a tool. What it says of the module has been checked: the binding has what it is about.
type Case struct {
	Name     string
	Position *sourcev1.Position // where it is written
	Binding  string
	// One of these is what the case is about, the others are "" or nil.
	Tool       string // that is called
	Prompt     string // that is asked for
	Resource   string // the URI of what is read
	Completion *Completion
	// Arguments are sent as they are; nil sends none. They need not be JSON.
	Arguments []byte
	// Caller is the header of the HTTP request that the call comes with, in canonical
	// form.
	Caller map[string]string
	// Meta is the "_meta" of the request, a JSON object; nil for none.
	Meta []byte
	// Exchanges are in their order; none means that no request may leave the node.
	Exchanges []Exchange
	// Result is the JSON of the result, without what a node adds for the client's
	// protocol; nil when Error is set.
	Result []byte
	Error  *Error
	Checks []string  // of the tool, those that the call fails; sorted
	Now    time.Time // of the call
	UUID   string    // each one that is generated
}

// A Completion is what somebody types.
type Completion struct {
	Prompt   string // "" for a template
	Template string // the name of one; "" for a prompt
	Argument string // of the prompt, or the variable of the template
	Value    string // so far
}

// An Exchange is a request that the upstream must get, and what happens then.
type Exchange struct {
	Request  Request
	Response Response
}

// A Request is one as the upstream gets it.
type Request struct {
	Method string
	Target string // escaped, with the query
	// Header is in canonical form; headers that every request has may be missing.
	Header map[string]string
	Body   *Body // nil: none
}

// A Response is an answer, or a failure in its place.
type Response struct {
	Failure Failure // Answered unless there is no answer
	Status  int
	Header  map[string]string // in canonical form
	Body    *Body             // nil: none
}

// A Failure is what happens in place of an answer, in the word of the language.
type Failure string

// The failures. Answered is none.
const (
	Answered    Failure = ""
	Unreachable Failure = "unreachable" // the connection fails
	TLS         Failure = "tls"         // it does not get secure
	Timeout     Failure = "timeout"     // no answer comes in time
)

// A Body is JSON, or text that counts byte for byte.
type Body struct {
	Data  []byte
	Exact bool
}

// An Error is a JSON-RPC error.
type Error struct {
	Code    int
	Message string
	Data    []byte // JSON; nil for none
}
