package compile

import (
	"regexp"
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// placeholder is one at the beginning of a text.
var placeholder = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_.-]{0,63})\}`)

// parseText takes a text with placeholders apart: "{x}" stands for the variable x,
// "{{" and "}}" for braces. stray is the first brace that is neither, with what
// follows it; "" when there is none.
func parseText(s string) (t *irv1.Text, stray string) {
	t = &irv1.Text{}
	var literal strings.Builder
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		literal.WriteString(s[:i])
		s = s[i:]
		if name := placeholder.FindStringSubmatch(s); strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
			literal.WriteByte(s[0])
			s = s[2:]
		} else if name != nil {
			t.Parts = append(appendLiteral(t.Parts, &literal), &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name[1]}})
			s = s[len(name[0]):]
		} else if s != "" {
			return t, s
		}
	}
	t.Parts = appendLiteral(t.Parts, &literal)
	return t, ""
}

// appendLiteral appends what b has gathered, unless that is nothing, and empties it.
func appendLiteral(parts []*irv1.TextPart, b *strings.Builder) []*irv1.TextPart {
	if b.Len() > 0 {
		parts = append(parts, &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: b.String()}})
	}
	b.Reset()
	return parts
}

// variables returns the names that t has placeholders for, in their order.
func variables(t *irv1.Text) []string {
	var names []string
	for _, part := range t.GetParts() {
		if name := part.GetVariable(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// filled reads a text whose placeholders stand for known variables, and reports those
// that do not.
func (rd *reading) filled(v value, known []string) *irv1.Text {
	t, stray := parseText(v.text())
	if stray != "" {
		rd.strayBrace(v, stray)
	}
	for _, name := range variables(t) {
		if !slices.Contains(known, name) {
			rd.unknownPlaceholder(v, name, known)
		}
	}
	return t
}
