package compile

import (
	"mime"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// checkHeaders reports headers that two things set, or one that may not.
func (rd *reading) checkHeaders(v value) {
	rd.headers = claims{rd.report, map[string]string{}}
	c := rd.headers
	u := v.get("upstream")
	if name := u.get("auth").get("header").get("name"); name.exists() {
		c.credential(name)
	}
	if name := u.get("deadline").get("header"); name.exists() {
		c.add(name, name.quiet(), "upstream.deadline")
	}
	constants := u.get("headers").fields()
	for _, name := range sorted(constants) {
		c.constant(constants[name], name)
	}
	rules := v.get("meta").fields()
	for _, field := range sorted(rules) {
		header := rules[field].get("header")
		if header.where() == nil { // it follows from the field
			header.spot = rules[field].spot
		}
		c.add(header, header.quiet(), "meta."+field)
	}
}

// claims is which headers are set, and by what.
type claims struct {
	report
	by map[string]string
}

// credential adds the header of a credential, which also may be Authorization.
func (c claims) credential(v value) {
	header := canonical(v.quiet())
	if reserved(header) && header != "Authorization" {
		c.reservedHeader(v, header)
	}
	c.by[header] = "upstream.auth.header"
}

// constant adds a header of all requests. One of them can say what JSON the bodies are.
func (c claims) constant(v value, name string) {
	const contentType = "Content-Type"
	by, s := "upstream.headers."+name, v.quiet()
	switch other := c.by[contentType]; {
	case canonical(name) != contentType:
		c.add(v, name, by)
	case other != "":
		c.headerTwice(v, contentType, other)
	case s != "" && !isJSON(s):
		c.notJSON(v, s)
	default:
		c.by[contentType] = by
	}
}

// isJSON reports whether a media type is one of JSON: application/json, or one that ends
// in +json (RFC 6839).
func isJSON(mediaType string) bool {
	name, _, err := mime.ParseMediaType(mediaType)
	return err == nil && (name == "application/json" || strings.HasSuffix(name, "+json"))
}

func (c claims) add(v value, name, by string) {
	header := canonical(name)
	switch other := c.by[header]; {
	case header == "":
	case reserved(header):
		c.reservedHeader(v, header)
	case other != "":
		c.headerTwice(v, header, other)
	default:
		c.by[header] = by
	}
}

// reserved reports whether only the node sets a header: those that no binding may
// set, and those that describe the payload.
func reserved(header string) bool {
	return irv1.ReservedHeader(header) || header == "Content-Type" || header == "Content-Encoding"
}

// checkMetaRule reports a rule that contradicts itself.
func (rd *reading) checkMetaRule(rule *irv1.MetaRule, v value) {
	if rule.GetMinLength() > rule.GetMaxLength() {
		rd.lengths(v, rule)
	}
	if rule.GetRequired() && rule.GetGenerate() != irv1.Generate_GENERATE_NOTHING {
		rd.requiredAndGenerated(v.get("generate"))
	}
	if rule.GetNamespace() != "" && !rule.GetKey() {
		rd.namespaceOfNoKey(v.get("namespace"))
	}
	if rule.GetHidden() && len(rule.GetSources()) == 0 && rule.GetGenerate() == irv1.Generate_GENERATE_NOTHING {
		rd.nothingGives(v.get("argument"))
	}
	for _, s := range rule.GetOneOf() {
		if n := uint32(len(s)); n < rule.GetMinLength() || n > rule.GetMaxLength() {
			rd.oneOfLength(v.get("oneOf"), s, rule)
		}
	}
}
