package compile

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// An operation is a tool's http: "GET /books/{isbn}".
type operation struct {
	method irv1.Method
	path   []*irv1.PathPart
}

var methods = map[string]irv1.Method{
	"GET": irv1.Method_METHOD_GET, "POST": irv1.Method_METHOD_POST, "PUT": irv1.Method_METHOD_PUT,
	"PATCH": irv1.Method_METHOD_PATCH, "DELETE": irv1.Method_METHOD_DELETE,
}

var argumentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// parseOperation reads a method and a path. The second result says what is wrong,
// and is "" otherwise.
func parseOperation(s string) (operation, string) {
	method, rest, _ := strings.Cut(s, " ")
	op := operation{method: methods[method]}
	if op.method == 0 || !strings.HasPrefix(rest, "/") || strings.ContainsAny(rest, " ?#") {
		return op, "it must be a method and a path without query, such as GET /books/{isbn}"
	}
	for rest != "" {
		text, after, found := strings.Cut(rest, "{")
		literal, problem := escapeLiteral(text)
		if problem != "" {
			return op, problem
		}
		if literal != "" {
			op.path = append(op.path, &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: literal}})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed || !argumentName.MatchString(name) {
			return op, "a { needs the name of an argument and a } after it"
		}
		op.path = append(op.path, &irv1.PathPart{Kind: &irv1.PathPart_Argument{Argument: name}})
		rest = after
	}
	return op, straightness(skeleton(op.path))
}

// straightness says what keeps a path, which is escaped, from meaning what it says;
// "" when nothing does. Only its last segment may be empty.
func straightness(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return "a % needs two hexadecimal digits after it"
		case plain == "." || plain == "..":
			return `a path has no segments "." and ".."`
		case segment == "" && i < len(segments)-1:
			return "a path has no empty segments"
		}
	}
	return ""
}

// skeleton returns the path with "x" for each argument.
func skeleton(parts []*irv1.PathPart) string {
	var b strings.Builder
	for _, p := range parts {
		if p.GetArgument() != "" {
			b.WriteString("x")
		}
		b.WriteString(p.GetLiteral())
	}
	return b.String()
}

const hexDigits = "0123456789ABCDEFabcdef"

// escapeLiteral escapes what may not stand in a path as it is, and leaves what is
// escaped already.
func escapeLiteral(s string) (string, string) {
	const plain = "-._~!$&'()*+,;=:@/"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(plain, c) >= 0:
			b.WriteByte(c)
		case c == '}':
			return "", "a } has no { before it"
		case c != '%':
			fmt.Fprintf(&b, "%%%02X", c)
		case i+2 < len(s) && strings.IndexByte(hexDigits, s[i+1]) >= 0 && strings.IndexByte(hexDigits, s[i+2]) >= 0:
			b.WriteByte(c)
		default:
			return "", "a % needs two hexadecimal digits after it"
		}
	}
	return b.String(), ""
}
