package compile

import (
	"strings"
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestParseText(t *testing.T) {
	tests := []struct {
		text, want, stray string
	}{
		{text: "", want: ""},
		{text: "Hello.", want: "'Hello.'"},
		{text: "{a}", want: "<a>"},
		{text: "Read {a} and {b_2.c-d}!", want: "'Read '<a>' and '<b_2.c-d>'!'"},
		{text: "{{a}}", want: "'{a}'"},
		{text: "{{{a}}}", want: "'{'<a>'}'"},
		{text: "{a}{a}", want: "<a><a>"},
		{text: `{{"n": {n}}}`, want: `'{"n": '<n>'}'`},
		{text: "a {", stray: "{"},
		{text: "a } b", stray: "} b"},
		{text: "{1}", stray: "{1}"},
		{text: "{a b}", stray: "{a b}"},
		{text: "{a}}", want: "<a>", stray: "}"},
		{text: "{}", stray: "{}"},
		{text: "{" + strings.Repeat("a", 65) + "}", stray: "{" + strings.Repeat("a", 65) + "}"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			text, stray := parseText(tt.text)
			if stray != tt.stray || stray == "" && shown(text) != tt.want {
				t.Errorf("parseText() = %s, %q; want %s, %q", shown(text), stray, tt.want, tt.stray)
			}
		})
	}
}

func shown(t *irv1.Text) string {
	var b strings.Builder
	for _, part := range t.GetParts() {
		if part.GetVariable() != "" {
			b.WriteString("<" + part.GetVariable() + ">")
		} else {
			b.WriteString("'" + part.GetLiteral() + "'")
		}
	}
	return b.String()
}

var escape = strings.NewReplacer("{", "{{", "}", "}}")

// FuzzParseText holds that a text is what its parts are written as, that no two
// literals are next to each other, and that any text can be said by doubling its
// braces.
func FuzzParseText(f *testing.F) {
	for _, s := range []string{"", "Read {a}.", "{{a}}", "{{{a}}}", "{a", "}{", "{a}}", "{{}}{_}", "ü{ü}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, stray := parseText(s)
		written, literal := "", false
		for _, part := range text.GetParts() {
			name := part.GetVariable()
			if literal && name == "" || part.GetLiteral() == "" && name == "" {
				t.Errorf("parseText(%q) has a literal that is no part of its own: %v", s, text)
			}
			if literal = name == ""; literal {
				written += escape.Replace(part.GetLiteral())
			} else {
				written += "{" + name + "}"
			}
		}
		if stray == "" && written != s {
			t.Errorf("parseText(%q) is that of %q", s, written)
		}
		if stray != "" && (!strings.HasSuffix(s, stray) || !strings.HasPrefix(s, written)) {
			t.Errorf("parseText(%q) stops at %q", s, stray)
		}
		plain, stray := parseText(escape.Replace(s))
		if got := shown(plain); stray != "" || got != "'"+s+"'" && s != "" {
			t.Errorf("parseText(escaped %q) = %s, %q", s, got, stray)
		}
	})
}
