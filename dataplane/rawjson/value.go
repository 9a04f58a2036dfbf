package rawjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"
)

// Text returns what the string v says, and false when v is not a string.
func (v Value) Text() (string, bool) {
	if v.Kind() != String {
		return "", false
	}
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		inner = unescape(inner)
	}
	return string(inner), true
}

// Members returns the members of the object v in their order, names as they are
// written, quotes included. It returns none when v is not an object.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(name, value Value) bool) {
		if v.Kind() != Object {
			return
		}
		for i := v.skipSpace(1); v[i] != '}'; {
			name := v.at(i)
			colon := v.skipSpace(i + len(name))
			i = v.skipSpace(colon + 1)
			value := v.at(i)
			if !yield(name, value) {
				return
			}
			i = v.skipComma(i + len(value))
		}
	}
}

// Elements returns the elements of the array v in their order. It returns none
// when v is not an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		for i := v.skipSpace(1); v[i] != ']'; {
			element := v.at(i)
			if !yield(element) {
				return
			}
			i = v.skipComma(i + len(element))
		}
	}
}

// Numbers returns the numbers in v, however deep, in their order.
func (v Value) Numbers() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := 0; i < len(v); {
			switch c := v[i]; {
			case c == '"':
				i = v.endString(i)
			case c == '-' || '0' <= c && c <= '9':
				n := v.at(i)
				if !yield(n) {
					return
				}
				i += len(n)
			default:
				i++
			}
		}
	}
}

// Map returns v with each member of the object, or element of the array, replaced by
// what f makes of it; the name is nil for an element and stays so. All other bytes
// stay as they are. When f changes nothing, and for other values, that is v itself.
func (v Value) Map(f func(name, value Value) (Value, Value)) Value {
	if k := v.Kind(); k != Object && k != Array {
		return v
	}
	e := edit{of: v}
	for i := v.skipSpace(1); v[i] != '}' && v[i] != ']'; {
		var name Value
		start := i
		if v[0] == '{' {
			name = v.at(i)
			i = v.skipSpace(v.skipSpace(i+len(name)) + 1)
		}
		value := v.at(i)
		newName, newValue := f(name, value)
		e.replace(start, name, newName)
		e.replace(i, value, newValue)
		i = v.skipComma(i + len(value))
	}
	return e.done()
}

// An edit is a copy of a value in the making; there is none before the first change.
type edit struct {
	of   Value
	out  Value
	from int // where what is not in out begins in of
}

// replace replaces old, which begins at of[i], unless it is the same bytes.
func (e *edit) replace(i int, old, new Value) {
	if len(old) == 0 || len(old) == len(new) && &old[0] == &new[0] {
		return
	}
	e.out = append(append(e.out, e.of[e.from:i]...), new...)
	e.from = i + len(old)
}

func (e *edit) done() Value {
	if e.from == 0 {
		return e.of
	}
	return append(e.out, e.of[e.from:]...)
}

// Member returns the member of the object v that is called name; nil when there is
// none or v is not an object.
func (v Value) Member(name string) Value {
	for n, value := range v.Members() {
		if n.Says(name) {
			return value
		}
	}
	return nil
}

// Lookup returns the value in v that the reference tokens of a JSON Pointer (RFC
// 6901) lead to; nil when there is none. No token leads to v itself.
func (v Value) Lookup(tokens []string) Value {
	for _, token := range tokens {
		if v.Kind() == Array {
			v = v.element(token)
		} else {
			v = v.Member(token)
		}
	}
	return v
}

func (v Value) element(token string) Value {
	index, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(index) != token {
		return nil
	}
	for e := range v.Elements() {
		if index == 0 {
			return e
		}
		index--
	}
	return nil
}

// Says reports whether v is a string that means text.
func (v Value) Says(text string) bool {
	if v.Kind() != String {
		return false
	}
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		inner = unescape(inner)
	}
	return string(inner) == text
}

// OneLine returns v without newlines. In a valid value they stand only between
// tokens, so its meaning and every other byte stay. The result is v itself when
// there are none.
func (v Value) OneLine() Value {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	line := make(Value, 0, len(v))
	for _, c := range v {
		if c != '\n' && c != '\r' {
			line = append(line, c)
		}
	}
	return line
}

// Decode returns v as encoding/json would, with numbers as [json.Number].
func (v Value) Decode() any {
	switch v.Kind() {
	case Object:
		object := map[string]any{}
		for name, value := range v.Members() {
			key, _ := name.Text()
			object[key] = value.Decode()
		}
		return object
	case Array:
		array := []any{}
		for e := range v.Elements() {
			array = append(array, e.Decode())
		}
		return array
	case String:
		text, _ := v.Text()
		return text
	case Number:
		return json.Number(v)
	case Bool:
		return v[0] == 't'
	}
	return nil
}

// Quote returns the string that says text. Bytes of text that are not UTF-8 become
// U+FFFD.
func Quote(text string) Value { return AppendQuote(nil, text) }

// AppendQuote appends the string that says text to dst. Bytes of text that are not
// UTF-8 become U+FFFD.
func AppendQuote[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		if len(text)-i >= 8 {
			w := eight(text[i:])
			n := plainOf(w)
			dst = binary.LittleEndian.AppendUint64(dst, w)[:len(dst)+n]
			if i += n; n == 8 {
				continue
			}
		}
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			dst = utf8.AppendRune(dst, r) // U+FFFD for what is no rune
			i += size
		case isPlain(c):
			dst = append(dst, c)
			i++
		default:
			dst = appendEscaped(dst, c)
			i++
		}
	}
	return append(dst, '"')
}

// appendEscaped appends the escape of a byte that cannot stand for itself.
func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// at returns the value that begins at v[i].
func (v Value) at(i int) Value {
	end := v.end(i)
	return v[i:end:end]
}

// end returns the index after the value that begins at v[i].
func (v Value) end(i int) int {
	switch v[i] {
	case '"':
		return v.endString(i)
	case '{', '[':
		return v.endNested(i)
	}
	for i < len(v) && !isSpace(v[i]) && v[i] != ',' && v[i] != '}' && v[i] != ']' {
		i++
	}
	return i
}

func (v Value) endString(i int) int {
	for i++; ; i++ {
		i += plain(v[i:])
		switch v[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
}

func (v Value) endNested(i int) int {
	for depth := 0; ; {
		for !nests[v[i]] {
			i++
		}
		switch v[i] {
		case '"':
			i = v.endString(i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

// nests has the bytes that say how deep what follows them is.
var nests = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

func (v Value) skipSpace(i int) int {
	for isSpace(v[i]) {
		i++
	}
	return i
}

// skipComma returns where the next element or the closing bracket is, from v[i]
// behind an element.
func (v Value) skipComma(i int) int {
	i = v.skipSpace(i)
	if v[i] == ',' {
		i = v.skipSpace(i + 1)
	}
	return i
}
