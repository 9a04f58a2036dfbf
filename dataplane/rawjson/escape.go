package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escapeLen returns the length of the escape that s begins with, both halves of a
// surrogate pair taken together; 0 when it is none.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), s[1]) < 0 {
			return 0
		}
		return 2
	}
	r, ok := hex4(s)
	switch {
	case !ok:
		return 0
	case !utf16.IsSurrogate(r):
		return 6
	}
	if low, ok := hex4(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		return 12
	}
	return 0
}

// hex4 returns the code unit of the \uXXXX that s begins with.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape returns the text of a string without its quotes. All escapes in s are
// good.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(out, s...)
		}
		out = append(out, s[:i]...)
		n := escapeLen(s[i:])
		out = appendEscape(out, s[i:i+n])
		s = s[i+n:]
	}
}

func appendEscape(out, escape []byte) []byte {
	switch c := escape[1]; c {
	case 'u':
		r, _ := hex4(escape)
		if len(escape) == 12 {
			low, _ := hex4(escape[6:])
			r = utf16.DecodeRune(r, low)
		}
		return utf8.AppendRune(out, r)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	default:
		return append(out, c)
	}
}
