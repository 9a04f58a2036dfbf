package irv1

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxMetaLength is the most, in bytes, that a meta rule can let through.
const maxMetaLength = 8 << 10

func (p *problems) meta(b *Binding) {
	fields, headers := map[string]bool{}, map[string]bool{}
	for _, r := range b.GetMeta() {
		field := "meta." + r.GetField()
		p.check(r.GetField() != "", "meta", "a rule names no field")
		p.check(!fields[r.GetField()], field, "there are two rules for this field")
		p.header(field+".header", r.GetHeader())
		p.check(!headers[r.GetHeader()], field+".header", "another rule sets %s too", r.GetHeader())
		p.check(r.GetHeader() != credentialHeader(b.GetUpstream()), field+".header", "the credential sets %s", r.GetHeader())
		p.check(r.GetHeader() != "Content-Type", field+".header", "the payload decides about Content-Type")
		p.check(r.GetMaxLength() >= 1 && r.GetMaxLength() <= maxMetaLength, field+".maxLength", "it must be from 1 to %d", maxMetaLength)
		p.check(r.GetMinLength() <= r.GetMaxLength(), field+".minLength", "it is more than the maximum")
		for _, v := range r.GetOneOf() {
			p.check(v != "" && ValidHeaderValue(v), field+".oneOf", "%q cannot be the value of a header", v)
		}
		fields[r.GetField()], headers[r.GetHeader()] = true, true
	}
}

func (p *problems) errors(e *Errors) {
	if e == nil {
		p.addf("errors", "there is nothing about errors")
		return
	}
	p.check(e.GetCode() != 0, "errors.code", "it must not be 0")
	names, claimed := map[string]bool{}, map[string]string{}
	for _, r := range e.GetRules() {
		field := "errors.rules." + r.GetName()
		p.check(r.GetName() != "" && !names[r.GetName()], field, "the rule has no name of its own")
		p.check(r.Code == nil || r.GetCode() != 0, field+".code", "it must not be 0")
		p.check(len(r.GetConditions()) > 0, field, "the rule has no condition")
		p.members(field+".set", r.GetSet())
		p.members(field+".fallback", r.GetFallback())
		for _, c := range r.GetConditions() {
			key := p.condition(field, c)
			p.check(claimed[key] == "", field, "rule %q matches %s too", claimed[key], key)
			claimed[key] = r.GetName()
		}
		names[r.GetName()] = true
	}
	p.payload(e.GetPayload())
}

// condition checks c and returns what tells it from others.
func (p *problems) condition(field string, c *Condition) string {
	switch k := c.GetKind().(type) {
	case *Condition_Status:
		p.check(k.Status >= 100 && k.Status <= 599, field, "%d is not an HTTP status", k.Status)
		return fmt.Sprint("status ", k.Status)
	case *Condition_Class:
		p.check(k.Class >= 1 && k.Class <= 5, field, "%d is not the first digit of an HTTP status", k.Class)
		return fmt.Sprint("class ", k.Class)
	default:
		return fmt.Sprint("failure ", c.GetFailure())
	}
}

func (p *problems) members(field string, members []*Member) {
	names := map[string]bool{}
	for _, m := range members {
		p.check(m.GetName() != "" && !names[m.GetName()], field, "member %q stands twice or has no name", m.GetName())
		p.check(json.Valid(m.GetJson()) && utf8.Valid(m.GetJson()), field, "member %q is not a JSON value", m.GetName())
		names[m.GetName()] = true
	}
}

func (p *problems) payload(e *PayloadError) {
	if e == nil {
		p.addf("errors.payload", "there is nothing about payloads")
		return
	}
	p.check(e.GetCode() != 0, "errors.payload.code", "it must not be 0")
	p.members("errors.payload.data", e.GetData())
	explained := slices.DeleteFunc([]string{e.GetMessageMember(), e.GetPathMember(), e.GetKeywordMember()},
		func(name string) bool { return name == "" })
	slices.Sort(explained)
	p.check(len(slices.Compact(slices.Clone(explained))) == len(explained), "errors.payload", "one member takes two explanations")
	keywords := map[string]bool{}
	for _, k := range e.GetKeywords() {
		p.check(k.GetKeyword() != "" && !keywords[k.GetKeyword()], "errors.payload.keywords", "keyword %q stands twice or has no name", k.GetKeyword())
		keywords[k.GetKeyword()] = true
	}
}
