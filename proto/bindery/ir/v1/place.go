package irv1

import (
	"strconv"
	"strings"
)

// Places notes which argument of a tool has which place in the request: a query
// parameter, a header, a member of the body. The zero Places has none.
type Places struct {
	taken  map[string]string // by place: the argument that has it
	around map[string]string // by place: an argument that has a place in it
}

// Claim notes the place of a. It returns the name of the argument that has that
// place already, or one around or in it, and "" when there is none. A query
// parameter "a[b]" lies in the place of "a", as it does for most services. Those of
// the path, whose places are in the path itself, claim none.
func (p *Places) Claim(a *Argument) (other string) {
	steps := a.steps()
	if len(steps) == 0 {
		return ""
	}
	if p.taken == nil {
		p.taken, p.around = map[string]string{}, map[string]string{}
	}
	var key strings.Builder
	for i, step := range steps {
		key.WriteString(strconv.Quote(step))
		if by := p.taken[key.String()]; other == "" {
			other = by
		}
		if i < len(steps)-1 {
			p.around[key.String()] = a.GetName()
		}
	}
	if by := p.around[key.String()]; other == "" {
		other = by
	}
	p.taken[key.String()] = a.GetName()
	return other
}

// steps returns the way to the place of a in a request, which is that of no other
// argument nor around it; none for an argument of the path.
func (a *Argument) steps() []string {
	switch a.GetIn() {
	case ArgumentIn_ARGUMENT_IN_QUERY:
		name, member, nested := strings.Cut(a.Parameter(), "[")
		if !nested {
			return []string{"query", name}
		}
		return []string{"query", name, member}
	case ArgumentIn_ARGUMENT_IN_HEADER:
		return []string{"header", a.GetWireName()}
	case ArgumentIn_ARGUMENT_IN_BODY:
		place := a.GetPlace()
		return append([]string{"body"}, place[:min(len(place), MaxPlace)]...)
	}
	return nil
}

// Parameter returns what the query parameter of a is called.
func (a *Argument) Parameter() string {
	if a.GetWireName() != "" {
		return a.GetWireName()
	}
	return a.GetName()
}
