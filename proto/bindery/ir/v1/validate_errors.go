package irv1

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Limits of error rules: a binding has at most maxRules of them, and one has at most
// so many conditions, places in a body, and values at a place.
const (
	maxRules      = 100
	maxConditions = 64
	maxPlaces     = 8
	maxValues     = 64
)

func (p *problems) errors(e *Errors) {
	if e == nil {
		p.addf("errors", "there is nothing about errors")
		return
	}
	p.check(e.GetCode() != 0, "errors.code", "it must not be 0")
	p.payload(e.GetPayload())
	if len(e.GetRules()) > maxRules {
		p.addf("errors.rules", "there are %d rules, at most %d can be", len(e.GetRules()), maxRules)
		return
	}
	names := map[string]bool{}
	for i, r := range e.GetRules() {
		p.check(r.GetName() != "" && !names[r.GetName()], "errors.rules."+r.GetName(), "the rule has no name of its own")
		p.errorRule(r)
		p.ties(e.GetRules()[:i], r)
		names[r.GetName()] = true
	}
}

func (p *problems) errorRule(r *ErrorRule) {
	field := "errors.rules." + r.GetName()
	p.check(r.Code == nil || r.GetCode() != 0, field+".code", "it must not be 0")
	p.check(len(r.GetConditions()) > 0, field, "the rule has no condition")
	p.check(len(r.GetConditions()) <= maxConditions, field, "the rule has %d conditions, at most %d can be", len(r.GetConditions()), maxConditions)
	p.check(utf8.ValidString(r.GetMessage()), field+".message", "it is not UTF-8")
	p.check(r.GetMediaType() == "" || ValidMediaType(r.GetMediaType()), field+".mediaType", "%q is not a media type in lower case", r.GetMediaType())
	p.members(field+".set", r.GetSet())
	p.members(field+".fallback", r.GetFallback())
	for _, c := range r.GetConditions() {
		p.condition(field, c)
		if f, ok := c.GetKind().(*Condition_Failure); ok {
			p.check(len(r.GetBody()) == 0, field+".body", "a failure other than a status has no body to look at")
			p.check(r.GetMediaType() == "" || HasResponse(f.Failure), field+".mediaType", "a failure without a response has no media type")
		}
	}
	p.bodyConditions(field+".body", r.GetBody())
	headers := map[string]bool{}
	for _, h := range r.GetHeaders() {
		p.check(h.GetName() != "" && utf8.ValidString(h.GetName()) && !headers[h.GetName()], field+".headers", "member %q stands twice or has no name", h.GetName())
		p.check(ValidHeaderName(h.GetHeader()), field+".headers", "%q is not the canonical name of a header", h.GetHeader())
		headers[h.GetName()] = true
	}
}

func (p *problems) condition(field string, c *Condition) {
	switch k := c.GetKind().(type) {
	case *Condition_Status:
		p.check(k.Status >= 100 && k.Status <= 599 && k.Status/100 != 2, field, "%d is not the status of a failure", k.Status)
	case *Condition_Class:
		p.check(k.Class >= 1 && k.Class <= 5 && k.Class != 2, field, "%d is not the first digit of a failure's status", k.Class)
	}
}

func (p *problems) bodyConditions(field string, body []*BodyCondition) {
	p.check(len(body) <= maxPlaces, field, "there are %d places, at most %d can be", len(body), maxPlaces)
	places := map[string]bool{}
	for _, c := range body {
		at := strings.Join(c.GetAt().GetTokens(), "\x00/")
		p.check(c.GetAt() != nil && !places[at], field, "a place stands twice or is missing")
		p.check(len(c.GetValues()) > 0 && len(c.GetValues()) <= maxValues, field, "a place has from 1 to %d values", maxValues)
		for _, v := range c.GetValues() {
			p.scalar(field, v)
		}
		places[at] = true
	}
}

// ties adds a problem for each of earlier that matches, as well as r does, what r
// matches.
func (p *problems) ties(earlier []*ErrorRule, r *ErrorRule) {
	for _, other := range earlier {
		if c := Tie(other, r); c != nil {
			p.addf("errors.rules."+r.GetName(), "rule %q matches %s too", other.GetName(), c.Words())
		}
	}
}

func (p *problems) scalar(field string, v *Scalar) {
	p.check(v != nil, field, "there is no value")
	p.check(!math.IsNaN(v.GetNumber()) && !math.IsInf(v.GetNumber(), 0), field, "a value is not a number of JSON")
}
