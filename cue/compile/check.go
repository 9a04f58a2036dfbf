package compile

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// reservedHeaders are set by the node itself, or would change what a request is.
var reservedHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func reserved(header string) bool {
	_, found := slices.BinarySearch(reservedHeaders, header)
	return found
}

// checkHeaders reports headers that are set by two things, or by one that may not.
func (rd *reading) checkHeaders(f map[string]value) {
	setters := map[string]string{}
	claim := func(v value, header, by string) {
		switch other := setters[header]; {
		case header == "":
			return
		case other != "":
			rd.headerTwice(v, header, other)
		case reserved(header), header == "Authorization" && by != "the credential":
			rd.reservedHeader(v, header)
		}
		setters[header] = by
	}
	u := f["upstream"].fields()
	for kind, v := range u["auth"].fields() {
		if kind == "header" {
			claim(v.fields()["name"], canonical(v.fields()["name"].quiet()), "the credential")
		}
	}
	constants := u["headers"].fields()
	for _, name := range sorted(constants) {
		claim(constants[name], canonical(name), "upstream.headers")
	}
	rules := f["meta"].fields()
	for _, field := range sorted(rules) {
		header := rules[field].fields()["header"]
		if header.where() == nil {
			header.author = rules[field].author
		}
		claim(header, canonical(header.quiet()), "meta."+field)
	}
}

// checkMetaRule reports a rule that contradicts itself.
func (rd *reading) checkMetaRule(rule *irv1.MetaRule, v value, f map[string]value) {
	if rule.GetMinLength() > rule.GetMaxLength() {
		rd.lengths(v, rule)
	}
	if rule.GetRequired() && rule.GetGenerate() != irv1.Generate_GENERATE_NOTHING {
		rd.requiredAndGenerated(f["generate"])
	}
	for _, s := range rule.GetOneOf() {
		if n := uint32(len(s)); n < rule.GetMinLength() || n > rule.GetMaxLength() {
			rd.oneOfLength(f["oneOf"], s, rule)
		}
	}
}

// checkTies reports error rules that match the same failure equally well.
func (rd *reading) checkTies(rules []*irv1.ErrorRule, places map[string]value) {
	for i, b := range rules {
		for _, a := range rules[:i] {
			for _, c := range b.GetConditions() {
				if slices.ContainsFunc(a.GetConditions(), func(d *irv1.Condition) bool { return compareConditions(c, d) == 0 }) {
					rd.tie(places[a.GetName()], places[b.GetName()], a.GetName(), b.GetName(), c)
				}
			}
		}
	}
}

// checkArguments holds the arguments against the path.
func (rd *reading) checkArguments(t *irv1.Tool, f map[string]value) {
	declared := f["args"].fields()
	var inPath []string
	for _, part := range t.GetPath() {
		name := part.GetArgument()
		if name == "" || slices.Contains(inPath, name) {
			continue
		}
		inPath = append(inPath, name)
		if _, ok := declared[name]; !ok {
			rd.unboundParameter(f["http"], name, unused(t, declared))
		}
	}
	for _, a := range t.GetArguments() {
		v := declared[a.GetName()]
		switch used := slices.Contains(inPath, a.GetName()); {
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_PATH && !used:
			rd.unusedArgument(v, a.GetName(), inPath)
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY && used:
			rd.misplacedArgument(v.fields()["in"], a.GetName())
		case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_PATH && !a.GetRequired():
			rd.optionalInPath(v.fields()["required"], a.GetName())
		}
	}
}

// unused returns the declared arguments that the path does not have, sorted.
func unused(t *irv1.Tool, declared map[string]value) []string {
	var names []string
	for _, name := range sorted(declared) {
		if !strings.Contains(skeletonNames(t), "{"+name+"}") {
			names = append(names, name)
		}
	}
	return names
}

// skeletonNames returns the path's arguments, each in braces.
func skeletonNames(t *irv1.Tool) string {
	var b strings.Builder
	for _, p := range t.GetPath() {
		if p.GetArgument() != "" {
			b.WriteString("{" + p.GetArgument() + "}")
		}
	}
	return b.String()
}
