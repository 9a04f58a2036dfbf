// Package place finds what is at a place in a call: a place as the IR has it and a
// JSON value come in, and the parts of the value that are there go out.
package place

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Values returns what is at steps in v, in the order of v. No steps lead to v itself.
func Values(v rawjson.Value, steps []*irv1.Step) iter.Seq[rawjson.Value] {
	return func(yield func(rawjson.Value) bool) { visit(v, steps, yield) }
}

// visit yields what is at steps in v and reports whether to go on.
func visit(v rawjson.Value, steps []*irv1.Step, yield func(rawjson.Value) bool) bool {
	if len(steps) == 0 {
		return v == nil || yield(v)
	}
	if token, ok := steps[0].GetKind().(*irv1.Step_Token); ok {
		return visit(v.Lookup([]string{token.Token}), steps[1:], yield)
	}
	for _, member := range v.Members() {
		if !visit(member, steps[1:], yield) {
			return false
		}
	}
	for element := range v.Elements() {
		if !visit(element, steps[1:], yield) {
			return false
		}
	}
	return true
}

// Equal reports whether v, nil for none, is the value want.
func Equal(v rawjson.Value, want *irv1.Scalar) bool {
	switch k := want.GetKind().(type) {
	case *irv1.Scalar_Text:
		text, ok := v.Text()
		return ok && text == k.Text
	case *irv1.Scalar_Number:
		n, err := strconv.ParseFloat(string(v), 64)
		return v.Kind() == rawjson.Number && err == nil && n == k.Number
	case *irv1.Scalar_Truth:
		return v.Kind() == rawjson.Bool && (v[0] == 't') == k.Truth
	}
	return false
}

// JSONPath returns steps as an RFC 9535 JSONPath from "$", such as "$.items[*].id".
// A token of digits is taken for an index.
func JSONPath(steps []*irv1.Step) string {
	path := []byte("$")
	for _, step := range steps {
		token, ok := step.GetKind().(*irv1.Step_Token)
		switch {
		case !ok:
			path = append(path, "[*]"...)
		case token.Token != "" && strings.Trim(token.Token, "0123456789") == "":
			path = append(append(append(path, '['), token.Token...), ']')
		default:
			path = AppendMember(path, token.Token)
		}
	}
	return string(path)
}

// AppendMember appends the step to a member in the shorthand of RFC 9535, or else as
// its normalized path has it.
func AppendMember(path []byte, name string) []byte {
	if isIdentifier(name) {
		return append(append(path, '.'), name...)
	}
	path = append(path, "['"...)
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			path = append(path, '\\', byte(r))
		case r < ' ':
			path = fmt.Appendf(path, `\u%04x`, r)
		default:
			path = append(path, string(r)...)
		}
	}
	return append(path, "']"...)
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
