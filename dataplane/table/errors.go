package table

import (
	"fmt"

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

	statuses map[int]*Rule
	classes  map[int]*Rule // by first digit
	failures map[irv1.Failure]*Rule
}

// A Rule is what a failure that it matches becomes.
type Rule struct {
	Name     string
	Code     int           // of JSON-RPC; 0: as Errors has it
	Set      []Member      // overwrite those of the upstream's error
	Fallback rawjson.Value // an object, the error without one of the upstream; nil: none
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

// Status returns the rule for an HTTP status: that of the status itself before
// that of its class; nil for none.
func (e *Errors) Status(status int) *Rule {
	if r := e.statuses[status]; r != nil {
		return r
	}
	return e.classes[status/100]
}

// Failure returns the rule for a failure without a usable response; nil for none.
func (e *Errors) Failure(f irv1.Failure) *Rule { return e.failures[f] }

func newErrors(source *irv1.Errors) (*Errors, error) {
	e := &Errors{
		Style:    source.GetStyle(),
		Code:     int(source.GetCode()),
		Unwrap:   source.GetUnwrap(),
		Message:  source.GetMessage(),
		Usable:   source.GetUsable(),
		statuses: map[int]*Rule{},
		classes:  map[int]*Rule{},
		failures: map[irv1.Failure]*Rule{},
	}
	for _, r := range source.GetRules() {
		rule, err := newRule(r)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.GetName(), err)
		}
		e.add(rule, r.GetConditions())
	}
	var err error
	e.Payload, err = newPayloadError(source.GetPayload())
	return e, err
}

func (e *Errors) add(rule *Rule, conditions []*irv1.Condition) {
	for _, c := range conditions {
		switch k := c.GetKind().(type) {
		case *irv1.Condition_Status:
			e.statuses[int(k.Status)] = rule
		case *irv1.Condition_Class:
			e.classes[int(k.Class)] = rule
		case *irv1.Condition_Failure:
			e.failures[k.Failure] = rule
		}
	}
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
	rule := &Rule{Name: r.GetName(), Code: int(r.GetCode()), Set: set}
	if len(fallback) > 0 {
		rule.Fallback = Object(fallback)
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
