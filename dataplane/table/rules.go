package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/place"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// rules are the error rules of a binding by what they match. Every list has the
// rules that could match, the one to ask first in front.
type rules struct {
	statuses map[int][]*Rule // with those of the status's class
	classes  [6][]*Rule      // by first digit
	failures map[irv1.Failure][]*Rule
}

func newRules(source []*irv1.ErrorRule) (rules, error) {
	// The more specific first, so that appending keeps every list in order.
	source = slices.SortedStableFunc(slices.Values(source), irv1.CompareRules)
	rs := rules{statuses: map[int][]*Rule{}, failures: map[irv1.Failure][]*Rule{}}
	for _, r := range source {
		rule, err := newRule(r)
		if err != nil {
			return rules{}, fmt.Errorf("rule %q: %w", r.GetName(), err)
		}
		for _, c := range r.GetConditions() {
			switch k := c.GetKind().(type) {
			case *irv1.Condition_Status:
				rs.statuses[int(k.Status)] = append(rs.statuses[int(k.Status)], rule)
			case *irv1.Condition_Class:
				rs.classes[k.Class] = append(rs.classes[k.Class], rule)
			case *irv1.Condition_Failure:
				rs.failures[k.Failure] = append(rs.failures[k.Failure], rule)
			}
		}
	}
	for status, own := range rs.statuses {
		rs.statuses[status] = slices.Concat(own, rs.classes[status/100])
	}
	return rs, nil
}

// forStatus returns the rules that could match a response with status, 200..999. One of
// more than 599, which HTTP does not have, is a 5xx (RFC 9110, section 15).
func (rs *rules) forStatus(status int) []*Rule {
	if own := rs.statuses[status]; own != nil {
		return own
	}
	return rs.classes[min(status/100, 5)]
}

// pick returns the first of candidates that agrees with a response; nil for none.
func pick(candidates []*Rule, contentType string, said rawjson.Value) *Rule {
	for _, r := range candidates {
		if r.narrow.admits(contentType, said) {
			return r
		}
	}
	return nil
}

// A narrowing is what a rule asks of a response besides its status. The zero
// narrowing asks nothing.
type narrowing struct {
	mediaType string // in lower case; "": any
	body      []*irv1.BodyCondition
}

func (n *narrowing) admits(contentType string, said rawjson.Value) bool {
	if n.mediaType != "" {
		kind, _, _ := strings.Cut(contentType, ";")
		if !strings.EqualFold(strings.TrimSpace(kind), n.mediaType) {
			return false
		}
	}
	for _, c := range n.body {
		v := said.Lookup(c.GetAt().GetTokens())
		if !slices.ContainsFunc(c.GetValues(), func(want *irv1.Scalar) bool { return place.Equal(v, want) }) {
			return false
		}
	}
	return true
}
