package irv1_test

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// template returns the parts of a template whose variables are in braces.
func template(s string) *irv1.Text {
	t := &irv1.Text{}
	for s != "" {
		literal, rest, found := strings.Cut(s, "{")
		if literal != "" {
			t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: literal}})
		}
		name, after, closed := strings.Cut(rest, "}")
		if found && closed && name != "" {
			t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name}})
		}
		s = after
	}
	return t
}

func pattern(t *testing.T, s string) irv1.URIPattern {
	t.Helper()
	p, err := irv1.NewURIPattern(template(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return p
}

func TestURIPattern(t *testing.T) {
	tests := []struct {
		template, uri string
		want          map[string]string // nil: it is none of the pattern
	}{
		{"books://{id}", "books://1", map[string]string{"id": "1"}},
		{"books://{id}", "books://a%2Fb%20%C3%BC", map[string]string{"id": "a/b ü"}},
		{"books://{id}", "books://%61%2f", map[string]string{"id": "a/"}},
		{"books://{id}", "books://", nil},
		{"books://{id}", "books://a/b", nil},
		{"books://{id}", "books://a:b", nil},
		{"books://{id}", "books://ü", nil},
		{"books://{id}", "books://%FF", nil},
		{"books://{id}", "books://%4", nil},
		{"books://{id}", "books://%zz", nil},
		{"books://{id}", "books://a b", nil},
		{"books://{id}", "Books://1", nil},
		{"books://{id}", "books://1#", nil},
		{"books://{id}", "books://" + strings.Repeat("a", irv1.MaxURI), nil},
		{"shelf://template/{id}/data", "shelf://template/123/data", map[string]string{"id": "123"}},
		{"shelf://template/{id}/data", "shelf://template/123/datum", nil},
		{"a:{x}/{y}", "a:1/2", map[string]string{"x": "1", "y": "2"}},
		{"a:{x}.json", "a:v1.2.json", map[string]string{"x": "v1.2"}},
		{"a:{x}.json", "a:.json", nil},
		{"a:v{x}s/w{y}", "a:vvss/ww", map[string]string{"x": "vs", "y": "w"}},
		{"a:b?q={q}&n={n}", "a:b?q=x&n=1", map[string]string{"q": "x", "n": "1"}},
		{"a:b?q={q}&n={n}", "a:b?n=1&q=x", nil},
		{"a:{x}1", "a:b%41", nil},
		{"git+ssh:{x}", "git+ssh:a", map[string]string{"x": "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.template+" "+tt.uri[:min(len(tt.uri), 40)], func(t *testing.T) {
			p := pattern(t, tt.template)
			got, ok := p.Match(tt.uri)
			if ok != (tt.want != nil) || !maps.Equal(got, tt.want) {
				t.Errorf("Match() = %q, %t; want %q", got, ok, tt.want)
			}
			if p.String() != tt.template {
				t.Errorf("it is written as %s", p)
			}
		})
	}
}

func TestURIPatternRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"":                "there is no variable",
		"books://1":       "there is no variable",
		"{id}":            `it does not begin with a scheme such as "library:"`,
		"books{id}":       `it does not begin with a scheme such as "library:"`,
		"Books:{id}":      `it does not begin with a scheme such as "library:"`,
		"/books/{id}":     `it does not begin with a scheme such as "library:"`,
		"a:{x}{y}":        `variables "x" and "y" need a reserved character such as / between them`,
		"a:{x}-{y}":       `variables "x" and "y" need a reserved character such as / between them`,
		"a:{x}%2F{y}":     `variables "x" and "y" need a reserved character such as / between them`,
		"a:{x}/{x}":       `variable "x" stands twice`,
		"a:b c/{x}":       "a URI has no such characters: escape them, as %20",
		"a:ü/{x}":         "a URI has no such characters: escape them, as %20",
		"a:%2{x}":         "a URI has no such characters: escape them, as %20",
		"a:%2Z/{x}":       "a URI has no such characters: escape them, as %20",
		"a:<{x}>":         "a URI has no such characters: escape them, as %20",
		"a:{x}/" + long(): "it has more than 8192 bytes",
	} {
		if _, err := irv1.NewURIPattern(template(s)); err == nil || err.Error() != want {
			t.Errorf("%.40s: error is %v, want %s", s, err, want)
		}
	}
}

func long() string { return strings.Repeat("a", irv1.MaxURI) }

func TestOverlaps(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"a:{x}", "a:{y}", true},
		{"a:{x}", "b:{x}", false},
		{"a:{x}", "a:{x}/", false},
		{"a:b/{x}", "a:{x}/b", true},
		{"a:b/{x}", "a:c/{x}", false},
		{"a:{x}.json", "a:{x}.xml", false},
		{"a:{x}.json", "a:v{x}", true},
		{"a:v1{x}", "a:v2{x}", false},
		{"a:ab{x}b", "a:a{x}bb", true},
		{"a:b/{x}", "a:b{y}/c", false},
		{"a:bb/{x}", "a:b{y}/c", true},
	}
	for _, tt := range tests {
		a, b := pattern(t, tt.a), pattern(t, tt.b)
		if a.Overlaps(b) != tt.want || b.Overlaps(a) != tt.want {
			t.Errorf("%s and %s: %t and %t, want %t", tt.a, tt.b, a.Overlaps(b), b.Overlaps(a), tt.want)
		}
	}
}

func TestValidURI(t *testing.T) {
	for s, want := range map[string]bool{
		"books://1": true, "a:b": true, "ui://widget/a-1.html": true, "https://a.example/b?c=d#e": true, "a:%20": true,
		"": false, "a": false, "a:": false, ":a": false, "A:b": false, "1:b": false, "a:b c": false, "a:%2": false, "a:{b}": false, "a:" + long(): false,
	} {
		if irv1.ValidURI(s) != want {
			t.Errorf("ValidURI(%.40q) = %t", s, !want)
		}
	}
}

// FuzzURIPattern states the law of templates: a URI that is made of a template and values
// is one of its pattern and gives the values back, and it is one of no other pattern that
// does not overlap.
func FuzzURIPattern(f *testing.F) {
	for _, s := range [][2]string{
		{"books://{id}", "books://{isbn}/cover"}, {"a:{x}/{y}", "a:b/{y}"}, {"a:v{x}s/w{y}", "a:{x}/{y}z"}, {"a:{x}1", "a:{x}%41"},
		{"a:b?q={q}&n={n}", "a:b?q={q}"}, {"a:%41{x}", "a:A{x}"}, {"a:{x}.json", "a:{x}"},
	} {
		f.Add(s[0], s[1], "1", "a/b ü")
		f.Add(s[1], s[0], "%41", "1")
	}
	f.Fuzz(func(t *testing.T, one, two, first, second string) {
		p, err := irv1.NewURIPattern(template(one))
		if err != nil || first == "" || second == "" || !utf8.ValidString(first) || !utf8.ValidString(second) {
			return
		}
		values := map[string]string{}
		for i, name := range p.Variables() {
			values[name] = []string{first, second}[i%2]
		}
		uri := p.Expand(values)
		if len(uri) > irv1.MaxURI {
			return
		}
		if got, ok := p.Match(uri); !ok || !maps.Equal(got, values) {
			t.Errorf("%s with %q is %s, which gives %q, %t", one, values, uri, got, ok)
		}
		if delimiters, ok := irv1.Delimiters(uri); !ok || delimiters != p.Delimiters || !irv1.ValidURI(uri) {
			t.Errorf("%s has delimiters %q, %t", uri, delimiters, ok)
		}
		q, err := irv1.NewURIPattern(template(two))
		if err != nil {
			return
		}
		if _, both := q.Match(uri); both && !(p.Overlaps(q) && q.Overlaps(p)) {
			t.Errorf("%s is of %s and of %s, which do not overlap", uri, one, two)
		}
	})
}
