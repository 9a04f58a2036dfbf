// Package redact keeps what a binding declares secret out of what a node says: the
// places that are declared and raw JSON come in, and the same JSON without the values
// at those places, or without what repeats them, goes out.
//
// [Rules] are what is declared. An [Echo] is what one call has at those places, to be
// struck out of an answer that may repeat it anywhere.
package redact

import (
	"iter"
	"slices"
	"strconv"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Mask stands for what is left out.
const Mask = "[redacted]"

// Rules are the places of a binding whose values are not repeated. They are immutable.
// Nil Rules declare none.
type Rules struct {
	request, response []rule
}

// A rule is a place and whether what is there is hidden.
type rule struct {
	steps  []*irv1.Step
	hidden bool
	loose  int // how many of the steps branch
}

// New returns the rules of a binding that hides the values at and below some places,
// less those at and below others. Of the places that a value is at or below, the
// longest decides, and of equally long ones the one with fewer branches.
func New(hide, reveal []*irv1.Place) *Rules {
	if len(hide) == 0 {
		return nil
	}
	r := &Rules{}
	for _, p := range hide {
		r.add(p, true)
	}
	for _, p := range reveal {
		r.add(p, false)
	}
	return r
}

func (r *Rules) add(p *irv1.Place, hidden bool) {
	made := rule{steps: p.GetSteps(), hidden: hidden}
	for _, step := range made.steps {
		if step.GetEvery() != nil {
			made.loose++
		}
	}
	if p.GetSide() == irv1.Side_SIDE_RESPONSE {
		r.response = append(r.response, made)
	} else {
		r.request = append(r.request, made)
	}
}

// Value returns v, one side of a call, with [Mask] in place of every value that is
// hidden. An object or list stays only if something below it is revealed. All other
// bytes are those of v.
func (r *Rules) Value(side irv1.Side, v rawjson.Value) rawjson.Value {
	return mask(v, r.start(side))
}

func mask(v rawjson.Value, at here) rawjson.Value {
	switch {
	case at.hidden && !at.reveals():
		return rawjson.Quote(Mask)
	case len(at.open) == 0:
		return v
	}
	switch v.Kind() {
	case rawjson.Object, rawjson.Array:
		i := -1
		return v.Map(func(name, value rawjson.Value) (rawjson.Value, rawjson.Value) {
			i++
			return name, mask(value, at.below(name, i))
		})
	}
	if at.hidden {
		return rawjson.Quote(Mask)
	}
	return v
}

// Hidden returns the strings and numbers in v, one side of a call, that are hidden.
func (r *Rules) Hidden(side irv1.Side, v rawjson.Value) iter.Seq[rawjson.Value] {
	return func(yield func(rawjson.Value) bool) { visit(v, r.start(side), yield) }
}

// visit yields what is hidden in v and reports whether to go on.
func visit(v rawjson.Value, at here, yield func(rawjson.Value) bool) bool {
	switch v.Kind() {
	case rawjson.String, rawjson.Number:
		return !at.hidden || yield(v)
	}
	if !at.hidden && len(at.open) == 0 {
		return true
	}
	for name, member := range v.Members() {
		if !visit(member, at.below(name, 0), yield) {
			return false
		}
	}
	i := -1
	for element := range v.Elements() {
		if i++; !visit(element, at.below(nil, i), yield) {
			return false
		}
	}
	return true
}

// Depth returns how many of tokens, which lead into one side of a call, lead to the
// value that hides what they lead to; -1 when that is not hidden.
func (r *Rules) Depth(side irv1.Side, tokens []string) int {
	at := r.start(side)
	depth := -1
	for i := 0; ; i++ {
		if !at.hidden {
			depth = -1
		} else if depth < 0 {
			depth = i
		}
		if i == len(tokens) {
			return depth
		}
		at = at.step(func(token string) bool { return token == tokens[i] })
	}
}

// here is a place on the way down: whether it is hidden, and the rules that may
// decide otherwise below it.
type here struct {
	hidden bool
	open   []rule // what is left of their steps is never none
}

func (r *Rules) start(side irv1.Side) here {
	if r == nil {
		return here{}
	}
	if side == irv1.Side_SIDE_RESPONSE {
		return arrive(false, slices.Clone(r.response))
	}
	return arrive(false, slices.Clone(r.request))
}

// below returns the place of a member, or of element i when name is nil.
func (h here) below(name rawjson.Value, i int) here {
	if len(h.open) == 0 {
		return h
	}
	text, isMember := name.Text()
	if !isMember {
		text = strconv.Itoa(i)
	}
	return h.step(func(token string) bool { return token == text })
}

// step returns the place below h by a token that is as is says.
func (h here) step(is func(token string) bool) here {
	var left []rule
	for _, r := range h.open {
		token, ok := r.steps[0].GetKind().(*irv1.Step_Token)
		if !ok || is(token.Token) {
			r.steps = r.steps[1:]
			left = append(left, r)
		}
	}
	return arrive(h.hidden, left)
}

// arrive returns the place that rules, with what is left of their steps, lead to.
func arrive(hidden bool, rules []rule) here {
	h := here{hidden: hidden}
	var decides *rule
	for i, r := range rules {
		switch {
		case len(r.steps) > 0:
			h.open = append(h.open, r)
		case decides == nil || r.loose < decides.loose || r.loose == decides.loose && r.hidden:
			decides = &rules[i]
		}
	}
	if decides != nil {
		h.hidden = decides.hidden
	}
	return h
}

// reveals reports whether something below h may be revealed.
func (h here) reveals() bool {
	return slices.ContainsFunc(h.open, func(r rule) bool { return !r.hidden })
}
