package irv1

import (
	"net/textproto"
	"slices"
	"strings"
)

// ValidHeaderName reports whether name is a header name (RFC 9110, section 5.1) in
// canonical form.
func ValidHeaderName(name string) bool {
	return isToken(name) && textproto.CanonicalMIMEHeaderKey(name) == name
}

// ValidHeaderValue reports whether value can be sent as it is: printable ASCII that
// neither begins nor ends with a space. RFC 9110, section 5.5, also allows tabs and
// opaque bytes; senders and receivers disagree about both.
func ValidHeaderValue(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return value == "" || value[0] != ' ' && value[len(value)-1] != ' '
}

// ClientHeaderPrefix is what the headers begin with in which clients say arguments.
const ClientHeaderPrefix = "Mcp-Param-"

// ReservedHeader reports whether the header called name, in canonical form, is not
// for a binding to set: the connection's own, the body's framing, and what only a
// credential sets.
func ReservedHeader(name string) bool {
	return slices.Contains([]string{
		"Accept-Encoding", "Authorization", "Connection", "Content-Length", "Expect", "Host", "Http2-Settings",
		"Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
	}, name)
}

// ValidMediaType reports whether s is a media type in lower case without parameters,
// such as "application/problem+json" (RFC 9110, section 8.3.1).
func ValidMediaType(s string) bool {
	kind, sub, ok := strings.Cut(s, "/")
	return ok && isToken(kind) && isToken(sub) && strings.ToLower(s) == s
}

func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenChar(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenChar(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return slices.Contains([]byte("!#$%&'*+-.^_`|~"), c)
}
