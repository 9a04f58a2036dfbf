package irv1

import (
	"net/textproto"
	"slices"
)

// ValidHeaderName reports whether name is a header name (RFC 9110, section 5.1) in
// canonical form.
func ValidHeaderName(name string) bool {
	for i := range len(name) {
		if !isTokenChar(name[i]) {
			return false
		}
	}
	return name != "" && textproto.CanonicalMIMEHeaderKey(name) == name
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

func isTokenChar(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return slices.Contains([]byte("!#$%&'*+-.^_`|~"), c)
}
