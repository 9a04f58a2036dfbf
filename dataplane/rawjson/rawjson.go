// Package rawjson reads JSON without decoding it: bytes come in, and the parts
// that a caller asks for go out as sub-slices of those bytes.
//
// [Parse] is strict where parsers of JSON differ from each other, so that what was
// checked and what is forwarded mean the same to everybody: a member name stands
// once in an object (names are compared unescaped), text is valid UTF-8, an
// escaped surrogate has its other half (RFC 7493, section 2.1), and one value is
// all there is. Every [Value] comes from Parse or is a part of one that did.
package rawjson

import (
	"fmt"
)

// A Value is one valid JSON value without space around it. It shares the bytes
// given to [Parse], which must not change while it is in use. The nil Value is no
// value; it has kind [None].
//
// A Value may be read concurrently.
type Value []byte

// Kind is the type of a JSON value.
type Kind byte

// The kinds of values. None is the kind of the nil Value.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the name that JSON Schema has for the kind, and "nothing" for
// None.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Kind returns the type of v.
func (v Value) Kind() Kind {
	if len(v) == 0 {
		return None
	}
	switch v[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// A SyntaxError is why bytes are not one JSON value. It never quotes them.
type SyntaxError struct {
	Offset  int // in bytes, where the problem was noticed
	Problem string
}

// Error names the problem and its offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Problem, e.Offset)
}

// Parse returns the value that data consists of, without the space around it.
// depth is how many arrays and objects may lie in each other; a scalar has depth
// 0. The error is a [*SyntaxError].
func Parse(data []byte, depth int) (Value, error) {
	var open [32][]byte
	s := scanner{data: data, names: open[:0]}
	return s.whole(depth)
}

// ParseNames is [Parse], and appends the names of the members to names when the value
// is an object: unescaped, without quotes, in their order. They may share the bytes
// of data.
func ParseNames(data []byte, depth int, names [][]byte) (Value, [][]byte, error) {
	var open [32][]byte
	s := scanner{data: data, names: open[:0], top: names, keep: true}
	v, err := s.whole(depth)
	if v.Kind() != Object {
		return v, names, err // s.top may have those of an array's elements
	}
	return v, s.top, nil
}

// whole scans all of data.
func (s *scanner) whole(depth int) (Value, error) {
	s.space()
	start := s.pos
	if err := s.value(depth); err != nil {
		return nil, err
	}
	end := s.pos
	if s.space(); s.pos != len(s.data) {
		return nil, s.fail("unexpected data after the value")
	}
	return Value(s.data[start:end:end]), nil
}
