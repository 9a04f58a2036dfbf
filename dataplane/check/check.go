// Package check holds the parts of a call against each other: the request, the
// response and the checks of a tool come in, and the checks that fail go out.
//
// It reads raw bytes and only where a check looks.
package check

import (
	"encoding/json"
	"iter"

	"github.com/bindery-dev/bindery/dataplane/place"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Check is one condition on a call. It is immutable.
type Check struct {
	Name    string
	Message string // what it means that it fails
	Rejects bool   // a call that fails it does not go on
	// Response says that it looks at the response.
	Response bool
	// Path is the place in the request that it is about, as a JSONPath from "$"; ""
	// when Response.
	Path string

	has      *irv1.Place
	these    *irv1.Place
	of       *irv1.Place
	or       *irv1.Place
	orEquals *irv1.Scalar
}

// New returns the check that c, which is valid, describes.
func New(c *irv1.CallCheck) *Check {
	check := &Check{
		Name:    c.GetName(),
		Message: c.GetMessage(),
		Rejects: c.GetLevel() == irv1.CheckLevel_CHECK_LEVEL_REJECT,
		has:     c.GetHas(),
		these:   c.GetSubset().GetThese(),
		of:      c.GetSubset().GetOf(),
		or:      c.GetOr().GetAt(),

		orEquals: c.GetOr().GetEquals(),
	}
	for _, p := range []*irv1.Place{check.has, check.these, check.of, check.or} {
		check.Response = check.Response || p.GetSide() == irv1.Side_SIDE_RESPONSE
	}
	if !check.Response {
		check.Path = place.JSONPath(check.subject().GetSteps())
	}
	return check
}

// subject returns the place that c is about.
func (c *Check) subject() *irv1.Place {
	if c.has != nil {
		return c.has
	}
	return c.these
}

// Failed returns those of checks that a call fails. response is nil when there is
// none, or an empty one.
func Failed(checks []*Check, request, response rawjson.Value) []*Check {
	var failed []*Check
	for _, c := range checks {
		if !c.holds(sides{request, response}) {
			failed = append(failed, c)
		}
	}
	return failed
}

func (c *Check) holds(s sides) bool {
	if c.has != nil && s.has(c.has) || c.these != nil && s.subset(c.these, c.of) {
		return true
	}
	if c.or != nil {
		for v := range s.at(c.or) {
			if place.Equal(v, c.orEquals) {
				return true
			}
		}
	}
	return false
}

// sides are the two values that places lie in.
type sides struct {
	request, response rawjson.Value
}

// at returns what is at p.
func (s sides) at(p *irv1.Place) iter.Seq[rawjson.Value] {
	if p.GetSide() == irv1.Side_SIDE_RESPONSE {
		return place.Values(s.response, p.GetSteps())
	}
	return place.Values(s.request, p.GetSteps())
}

// has reports whether something at p is not null.
func (s sides) has(p *irv1.Place) bool {
	for v := range s.at(p) {
		if v.Kind() != rawjson.Null {
			return true
		}
	}
	return false
}

// subset reports whether each value of these is one of of.
func (s sides) subset(these, of *irv1.Place) bool {
	var known map[string]bool
	for v := range s.values(these) {
		if known == nil {
			known = map[string]bool{}
			for v := range s.values(of) {
				known[key(v)] = true
			}
		}
		if !known[key(v)] {
			return false
		}
	}
	return true
}

// values returns the elements of the lists at p, and what else is there but null.
func (s sides) values(p *irv1.Place) iter.Seq[rawjson.Value] {
	return func(yield func(rawjson.Value) bool) {
		for v := range s.at(p) {
			switch v.Kind() {
			case rawjson.Null:
			case rawjson.Array:
				for e := range v.Elements() {
					if !yield(e) {
						return
					}
				}
			default:
				if !yield(v) {
					return
				}
			}
		}
	}
}

// key returns what equal values have in common: strings are equal by what they say,
// numbers by how they are written, objects whatever the order of their members.
func key(v rawjson.Value) string {
	switch v.Kind() {
	case rawjson.String:
		text, _ := v.Text()
		return `"` + text
	case rawjson.Object, rawjson.Array:
		// Decoded values always marshal, members in order.
		data, _ := json.Marshal(v.Decode())
		return string(data)
	}
	return string(v)
}
