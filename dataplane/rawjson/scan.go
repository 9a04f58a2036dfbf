package rawjson

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// manyNames is the number of members from which on an object's names are kept in
// a set: up to there comparing them one by one is faster.
const manyNames = 16

// scanner is a place in bytes that are not known to be JSON.
type scanner struct {
	data  []byte
	pos   int
	names [][]byte // unescaped, of all the objects that pos is in
	keep  bool     // whether there is top
	top   [][]byte // unescaped, of the objects that were in no other
}

func (s *scanner) fail(problem string) error {
	return &SyntaxError{Offset: s.pos, Problem: problem}
}

func (s *scanner) space() {
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
}

// next returns the byte after space, which it leaves in place; 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *scanner) value(depth int) error {
	switch c := s.next(); {
	case c == '"':
		return s.string()
	case c == '{' || c == '[':
		if depth == 0 {
			return s.fail("too deeply nested value")
		}
		s.pos++
		if c == '{' {
			return s.object(depth - 1)
		}
		return s.array(depth - 1)
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case s.pos == len(s.data):
		return s.fail("unexpected end")
	}
	return s.fail("unexpected character")
}

// object scans what follows an opening brace.
func (s *scanner) object(depth int) error {
	if s.next() == '}' {
		s.pos++
		return nil
	}
	seen := nameSet{outer: len(s.names)}
	for {
		if s.next() != '"' {
			return s.fail("expected a member name")
		}
		if err := s.name(&seen); err != nil {
			return err
		}
		if s.next() != ':' {
			return s.fail("expected a colon")
		}
		s.pos++
		if err := s.value(depth); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			s.close(seen.outer)
			return nil
		default:
			return s.fail("expected a comma or a closing brace")
		}
	}
}

// close forgets the names of the object that ends, those from outer on.
func (s *scanner) close(outer int) {
	if s.keep && outer == 0 {
		s.top = append(s.top, s.names...)
	}
	s.names = s.names[:outer]
}

// array scans what follows an opening bracket.
func (s *scanner) array(depth int) error {
	if s.next() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.fail("expected a comma or a closing bracket")
		}
	}
}

// nameSet is the member names of one object: those of scanner.names from outer on,
// also in a map once they are many.
type nameSet struct {
	outer int
	many  map[string]struct{}
}

// name scans a member name and adds it to seen.
func (s *scanner) name(seen *nameSet) error {
	start := s.pos
	if err := s.string(); err != nil {
		return err
	}
	name := s.data[start+1 : s.pos-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescape(name)
	}
	if s.seenBefore(seen, name) {
		s.pos = start
		return s.fail("duplicate member name")
	}
	s.names = append(s.names, name)
	return nil
}

func (s *scanner) seenBefore(seen *nameSet, name []byte) bool {
	names := s.names[seen.outer:]
	if len(names) < manyNames {
		for _, n := range names {
			if bytes.Equal(n, name) {
				return true
			}
		}
		return false
	}
	if seen.many == nil {
		seen.many = make(map[string]struct{}, 2*manyNames)
		for _, n := range names {
			seen.many[string(n)] = struct{}{}
		}
	}
	_, found := seen.many[string(name)]
	if !found {
		seen.many[string(name)] = struct{}{}
	}
	return found
}

// string scans a string whose opening quote is at pos.
func (s *scanner) string() error {
	for s.pos++; ; {
		s.pos += plain(s.data[s.pos:])
		if s.pos == len(s.data) {
			return s.fail("unexpected end of a string")
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			n := escapeLen(s.data[s.pos:])
			if n == 0 {
				return s.fail("bad escape")
			}
			s.pos += n
		case c < ' ':
			return s.fail("control character in a string")
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return s.fail("invalid UTF-8")
			}
			s.pos += n
		}
	}
}

// plain returns how many bytes from the first on stand for themselves in a string: ASCII
// but control characters, quotes and backslashes.
func plain(s []byte) int {
	i := 0
	for len(s)-i >= 8 {
		n := plainOf(eight(s[i:]))
		if i += n; n < 8 {
			return i
		}
	}
	for i < len(s) && isPlain(s[i]) {
		i++
	}
	return i
}

func isPlain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// eight returns the first eight bytes of s, the first as the lowest.
func eight[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// plainOf returns how many bytes of w from the lowest on are plain. Taking from a byte that
// is too small borrows from those above it only, so the lowest bit that stays is right.
func plainOf(w uint64) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	control := w - each*' '
	quote := w ^ each*'"' - each
	backslash := w ^ each*'\\' - each
	return bits.TrailingZeros64((w|control|quote|backslash)&highest) / 8
}

func (s *scanner) number() error {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fail("expected a digit")
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return s.fail("expected a digit")
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail("expected a digit")
		}
	}
	return nil
}

// digits scans digits and reports whether there were any.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) word(w string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return s.fail("unexpected character")
	}
	s.pos += len(w)
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
