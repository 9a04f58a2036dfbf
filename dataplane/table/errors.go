package table

import (
	"fmt"
	"net/http"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Errors says what becomes of failed calls of a binding.
type Errors struct {
	Style   irv1.ErrorStyle
	Code    int           // of JSON-RPC, where no rule has another
	Unwrap  *irv1.Pointer // nil: the upstream's body is the error
	Message *irv1.Pointer // nil: an error of the upstream has no message
	Usable  []string      // string members that an upstream's error must have
	Payload PayloadError

	rules rules
	codes map[irv1.Kind]*irv1.Codes // nil for the defaults
}

// CodeFor returns the code of JSON-RPC for a failure that no rule has a code for, where
// something of a kind was asked for; status is the upstream's, 0 for none.
func (e *Errors) CodeFor(k irv1.Kind, status int) int {
	c := e.codes[k]
	denied := status == http.StatusUnauthorized || status == http.StatusForbidden
	switch {
	case denied && c.GetDenied() != 0:
		return int(c.GetDenied())
	case c.GetFailed() != 0:
		return int(c.GetFailed())
	}
	return e.Code
}

// A Rule is what a failure that it matches becomes.
type Rule struct {
	Name     string
	Code     int           // of JSON-RPC; 0: as Errors has it
	Message  string        // of the error, whatever the upstream says; "": as it says
	Set      []Member      // overwrite those of the upstream's error
	Fallback rawjson.Value // an object, the error without one of the upstream; nil: none
	Headers  []Header      // of the response that become members, sorted by member
	Retry    bool          // the request may be sent again

	narrow narrowing
}

// A Header is a header of a response that becomes a member of the error.
type Header struct {
	Member string
	Name   string // canonical
}

// A Member is a member of an object.
type Member struct {
	Name  string
	Value rawjson.Value
}

// PayloadError describes the error of a payload that breaks its schema.
type PayloadError struct {
	Code     int
	Data     []Member          // constants, sorted by name
	Message  string            // the member that takes the explanation; "": none
	Path     string            // the member that takes the JSONPath; "": none
	Keyword  string            // the member that takes the keyword's word; "": none
	Keywords map[string]string // words by JSON Schema keyword
}

// Response returns the rule for a response whose status is no 2xx; nil for none.
// contentType is its header of that name, and said what its body says of the error,
// nil when that is no JSON.
func (e *Errors) Response(status int, contentType string, said rawjson.Value) *Rule {
	return pick(e.rules.forStatus(status), contentType, said)
}

// Failure returns the rule for a failure without a usable response; nil for none.
// contentType is that of the response which cannot be used, "" without one.
func (e *Errors) Failure(f irv1.Failure, contentType string) *Rule {
	rule := pick(e.rules.failures[f], contentType, nil)
	switch {
	case rule == nil && f == irv1.Failure_FAILURE_TLS:
		return e.Failure(irv1.Failure_FAILURE_UNREACHABLE, "")
	case rule == nil && f == irv1.Failure_FAILURE_TOO_LARGE:
		return e.Failure(irv1.Failure_FAILURE_UNUSABLE, contentType)
	}
	return rule
}

func newErrors(source *irv1.Errors) (*Errors, error) {
	e := &Errors{
		Style:   source.GetStyle(),
		Code:    int(source.GetCode()),
		Unwrap:  source.GetUnwrap(),
		Message: source.GetMessage(),
		Usable:  source.GetUsable(),
		codes:   map[irv1.Kind]*irv1.Codes{},
	}
	for _, k := range irv1.Kinds() {
		e.codes[k] = source.Codes(k)
	}
	var err error
	if e.rules, err = newRules(source.GetRules()); err != nil {
		return nil, err
	}
	e.Payload, err = newPayloadError(source.GetPayload())
	return e, err
}

func newRule(r *irv1.ErrorRule) (*Rule, error) {
	set, err := newMembers(r.GetSet())
	if err != nil {
		return nil, err
	}
	fallback, err := newMembers(r.GetFallback())
	if err != nil {
		return nil, err
	}
	rule := &Rule{
		Name:    r.GetName(),
		Code:    int(r.GetCode()),
		Message: r.GetMessage(),
		Set:     set,
		Retry:   r.GetRetry(),
		narrow:  narrowing{r.GetMediaType(), r.GetBody()},
	}
	if len(fallback) > 0 {
		rule.Fallback = Object(fallback)
	}
	for _, h := range r.GetHeaders() {
		rule.Headers = append(rule.Headers, Header{Member: h.GetName(), Name: h.GetHeader()})
	}
	return rule, nil
}

func newPayloadError(p *irv1.PayloadError) (PayloadError, error) {
	data, err := newMembers(p.GetData())
	words := map[string]string{}
	for _, k := range p.GetKeywords() {
		words[k.GetKeyword()] = k.GetWord()
	}
	return PayloadError{
		Code:     int(p.GetCode()),
		Data:     data,
		Message:  p.GetMessageMember(),
		Path:     p.GetPathMember(),
		Keyword:  p.GetKeywordMember(),
		Keywords: words,
	}, err
}

// maxMemberDepth is how deep a constant member can be.
const maxMemberDepth = 64

func newMembers(source []*irv1.Member) ([]Member, error) {
	var members []Member
	for _, m := range source {
		v, err := rawjson.Parse(m.GetJson(), maxMemberDepth)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", m.GetName(), err)
		}
		members = append(members, Member{Name: m.GetName(), Value: v.OneLine()})
	}
	return members, nil
}

// Object returns the object that has members, in their order.
func Object(members []Member) rawjson.Value {
	object := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(object, rawjson.Quote(m.Name)...), ':')
		object = append(object, m.Value...)
	}
	return append(object, '}')
}
