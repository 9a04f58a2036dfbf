package irv1

import (
	"regexp"
	"strings"
)

var contentType = regexp.MustCompile(`^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+([ ]*;[ -~]*)?$`)

// ValidBase64 reports whether s is something in the Base64 of RFC 4648, section 4, with
// its padding. Nothing is not.
func ValidBase64(s string) bool {
	digits := strings.TrimRight(s, "=")
	return len(s)%4 == 0 && len(s)-len(digits) <= 2 && digits != "" && strings.IndexFunc(digits, notBase64) < 0
}

func notBase64(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '/')
}

// ValidContentType reports whether s is a media type, with or without parameters.
func ValidContentType(s string) bool { return contentType.MatchString(s) }
