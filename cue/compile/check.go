package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// checkHeaders reports headers that two things set, or one that may not.
func (rd *reading) checkHeaders(v value) {
	c := claims{rd.report, map[string]string{}}
	u := v.get("upstream")
	if name := u.get("auth").get("header").get("name"); name.exists() {
		c.credential(name)
	}
	constants := u.get("headers").fields()
	for _, name := range sorted(constants) {
		c.add(constants[name], name, "upstream.headers."+name)
	}
	rules := v.get("meta").fields()
	for _, field := range sorted(rules) {
		header := rules[field].get("header")
		if header.where() == nil { // it follows from the field
			header.author = rules[field].author
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
	for _, s := range rule.GetOneOf() {
		if n := uint32(len(s)); n < rule.GetMinLength() || n > rule.GetMaxLength() {
			rd.oneOfLength(v.get("oneOf"), s, rule)
		}
	}
}

// checkArguments holds the arguments against the path.
func (rd *reading) checkArguments(t *irv1.Tool, v value) {
	declared := v.get("args").fields()
	var inPath []string
	for _, part := range t.GetPath() {
		name := part.GetArgument()
		if name == "" || slices.Contains(inPath, name) {
			continue
		}
		inPath = append(inPath, name)
		if _, ok := declared[name]; !ok {
			rd.unboundParameter(v.get("http"), name, notInPath(t, declared))
		}
	}
	for _, a := range t.GetArguments() {
		switch used := slices.Contains(inPath, a.GetName()); {
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_PATH && !used:
			rd.unusedArgument(declared[a.GetName()], a.GetName(), inPath)
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY && used:
			rd.misplacedArgument(declared[a.GetName()].get("in"), a.GetName())
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_PATH && !a.GetRequired():
			rd.optionalInPath(declared[a.GetName()].get("required"), a.GetName())
		}
	}
}

// notInPath returns the declared arguments that are not in the path, sorted.
func notInPath(t *irv1.Tool, declared map[string]value) []string {
	return slices.DeleteFunc(sorted(declared), func(name string) bool {
		return slices.ContainsFunc(t.GetPath(), func(p *irv1.PathPart) bool { return p.GetArgument() == name })
	})
}
