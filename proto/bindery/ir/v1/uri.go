package irv1

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxURI is how long a URI can be, in bytes.
const MaxURI = 8192

// A URIPattern is the URIs of a template (RFC 6570, level 1). In one of them each
// variable is one or more unreserved characters (RFC 3986), or others in
// percent-encoding, which together are UTF-8; everything else is exactly as the template
// has it.
//
// Reserved characters, which no variable can be, take a URI apart into runs, and no run
// of a pattern has more than one variable: so a URI has one value for each.
type URIPattern struct {
	// Delimiters are the reserved characters of the URIs, in order.
	Delimiters string

	runs []run // one more than Delimiters
}

// A run is what stands between two reserved characters. Without a variable it is prefix.
type run struct{ prefix, variable, suffix string }

// NewURIPattern returns the pattern of a template. The error says what keeps it from
// being one.
func NewURIPattern(template *Text) (URIPattern, error) {
	p := URIPattern{runs: []run{{}}}
	names := map[string]bool{}
	for _, part := range template.GetParts() {
		if name := part.GetVariable(); name != "" {
			if names[name] {
				return p, fmt.Errorf("variable %q stands twice", name)
			}
			if p.last().variable != "" {
				return p, fmt.Errorf("variables %q and %q need a reserved character such as / between them", p.last().variable, name)
			}
			names[name] = true
			p.last().variable = name
		} else if err := p.literal(part.GetLiteral()); err != nil {
			return p, err
		}
	}
	switch {
	case len(names) == 0:
		return p, errors.New("there is no variable")
	case !scheme.MatchString(template.GetParts()[0].GetLiteral()):
		return p, errors.New(`it does not begin with a scheme such as "library:"`)
	case len(p.Expand(nil)) > MaxURI:
		return p, fmt.Errorf("it has more than %d bytes", MaxURI)
	}
	return p, nil
}

// last returns the run that is being made.
func (p *URIPattern) last() *run { return &p.runs[len(p.runs)-1] }

// literal adds a text to the pattern.
func (p *URIPattern) literal(s string) error {
	delimiters, texts, ok := splitURI(s)
	if !ok {
		return errors.New("a URI has no such characters: escape them, as %20")
	}
	for i, text := range texts {
		if i > 0 {
			p.Delimiters += delimiters[i-1 : i]
			p.runs = append(p.runs, run{})
		}
		if p.last().variable == "" {
			p.last().prefix += text
		} else {
			p.last().suffix += text
		}
	}
	return nil
}

// Match returns the values that the variables have in a URI, and false when it is none
// of the pattern.
func (p URIPattern) Match(uri string) (values map[string]string, ok bool) {
	delimiters, texts, ok := splitURI(uri)
	if !ok || delimiters != p.Delimiters || len(uri) > MaxURI {
		return nil, false
	}
	values = map[string]string{}
	for i, r := range p.runs {
		if r.variable == "" && texts[i] == r.prefix {
			continue
		}
		value, ok := r.value(texts[i])
		if !ok {
			return nil, false
		}
		values[r.variable] = value
	}
	return values, true
}

// value returns what the variable of r, which has one, stands for in text.
func (r run) value(text string) (string, bool) {
	rest, hasPrefix := strings.CutPrefix(text, r.prefix)
	rest, hasSuffix := strings.CutSuffix(rest, r.suffix)
	if r.variable == "" || !hasPrefix || !hasSuffix || rest == "" {
		return "", false
	}
	value, err := url.PathUnescape(rest)
	return value, err == nil && utf8.ValidString(value)
}

// Expand returns the URI in which the variables have values. It is one of the pattern if
// they all have one that is not empty, and it is not too long.
func (p URIPattern) Expand(values map[string]string) string {
	var b strings.Builder
	for i, r := range p.runs {
		if i > 0 {
			b.WriteByte(p.Delimiters[i-1])
		}
		b.WriteString(r.prefix)
		escapeUnreserved(&b, values[r.variable])
		b.WriteString(r.suffix)
	}
	return b.String()
}

// String returns the template as it is written.
func (p URIPattern) String() string {
	var b strings.Builder
	for i, r := range p.runs {
		if i > 0 {
			b.WriteByte(p.Delimiters[i-1])
		}
		b.WriteString(r.prefix)
		if r.variable != "" {
			b.WriteString("{" + r.variable + "}")
		}
		b.WriteString(r.suffix)
	}
	return b.String()
}

// Variables returns the names of the variables, from left to right.
func (p URIPattern) Variables() []string {
	var names []string
	for _, r := range p.runs {
		if r.variable != "" {
			names = append(names, r.variable)
		}
	}
	return names
}

// Overlaps reports whether there can be a URI of both patterns: when it says no, there is
// none.
func (p URIPattern) Overlaps(q URIPattern) bool {
	if p.Delimiters != q.Delimiters {
		return false
	}
	for i, r := range p.runs {
		if !r.overlaps(q.runs[i]) {
			return false
		}
	}
	return true
}

// overlaps reports whether there can be a text that is of both runs.
func (r run) overlaps(s run) bool {
	switch {
	case r.variable == "" && s.variable == "":
		return r.prefix == s.prefix
	case r.variable == "":
		_, ok := s.value(r.prefix)
		return ok
	case s.variable == "":
		return s.overlaps(r)
	}
	return (strings.HasPrefix(r.prefix, s.prefix) || strings.HasPrefix(s.prefix, r.prefix)) &&
		(strings.HasSuffix(r.suffix, s.suffix) || strings.HasSuffix(s.suffix, r.suffix))
}

// Delimiters returns the reserved characters of a URI in order: those of the patterns
// that it can be of. It reports false when a character is none of a URI's.
func Delimiters(uri string) (string, bool) {
	delimiters, _, ok := splitURI(uri)
	return delimiters, ok
}

// ValidURI reports whether s can be the URI of a resource: a scheme and something after
// it, of the characters of a URI.
func ValidURI(s string) bool {
	_, _, ok := splitURI(s)
	begin := scheme.FindString(s)
	return ok && len(s) <= MaxURI && begin != "" && begin != s
}

// scheme is what a URI begins with, in lower case.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)

// splitURI takes s apart at its reserved characters; there is one text more than those.
// It reports false when s has characters that a URI has not, or a percent sign without
// two digits.
func splitURI(s string) (delimiters string, texts []string, ok bool) {
	var reserved []byte
	from := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isUnreserved(c):
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", nil, false
			}
			i += 2
		case strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0:
			reserved = append(reserved, c)
			texts = append(texts, s[from:i])
			from = i + 1
		default:
			return "", nil, false
		}
	}
	return string(reserved), append(texts, s[from:]), true
}

// escapeUnreserved writes s with everything in percent-encoding that is not unreserved.
func escapeUnreserved(b *strings.Builder, s string) {
	for i := range len(s) {
		if isUnreserved(s[i]) {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(b, "%%%02X", s[i])
		}
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
