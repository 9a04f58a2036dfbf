package irv1

import (
	"encoding/json"
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
		p.check(r.GetNamespace() == "" || r.GetKey() && ValidHeaderName(r.GetNamespace()), field+".namespace",
			"only a key has one, and it is the canonical name of a header")
		p.sources(field, b, r)
		for _, v := range r.GetOneOf() {
			p.check(v != "" && ValidHeaderValue(v), field+".oneOf", "%q cannot be the value of a header", v)
		}
		fields[r.GetField()], headers[r.GetHeader()] = true, true
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
