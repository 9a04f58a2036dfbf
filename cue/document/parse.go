package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Document is one JSON document of a module.
type Document struct {
	Path string // slash-separated, relative to the module's root
	Root *Value

	data []byte
	base *Document          // see Fragment; nil: the document itself
	at   *sourcev1.Position // of everything in it; nil: where it is in data

	once   sync.Once
	starts []int // see lines
}

// A SyntaxError says why a document does not parse, and where.
type SyntaxError struct {
	Pos *sourcev1.Position
	Msg string // lower case, no period
}

func (e *SyntaxError) Error() string { return e.Msg }

// Parse reads data as one JSON value. The error is a [*SyntaxError]. It also
// refuses what parsers disagree on: a member name that occurs twice in an object,
// and invalid UTF-8. A byte order mark is passed over, as RFC 8259, section 8.1, lets
// readers do; places do not count it.
func Parse(path string, data []byte) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := &Document{Path: path, data: data}
	if i := invalidUTF8(data); i >= 0 {
		return nil, d.errorAt(i, "invalid UTF-8")
	}
	p := parser{doc: d, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if end := skip(data, int(p.dec.InputOffset()), " \t\r\n"); end < len(data) {
		return nil, d.errorAt(end, "more than one value")
	}
	d.Root = v
	return d, nil
}

// Fragment reads data as a value that is written elsewhere, at the place at (nil
// when that is not known), and stands in d: a $ref in it is one of d's. The error is a [*SyntaxError].
func (d *Document) Fragment(at *sourcev1.Position, data []byte) (*Value, error) {
	f := &Document{Path: d.Path, data: data, base: d, at: at}
	if at == nil {
		f.at = &sourcev1.Position{}
	}
	p := parser{doc: f, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	return p.value(0)
}

// Pos returns the place of v, and nil when it was not read from a document.
func (v *Value) Pos() *sourcev1.Position {
	if v == nil || v.doc == nil {
		return nil
	}
	return v.doc.position(v.offset)
}

func (d *Document) position(offset int) *sourcev1.Position {
	if d.at != nil {
		return d.at
	}
	offset = min(offset, len(d.data))
	line, _ := slices.BinarySearch(d.lines(), offset+1)
	return &sourcev1.Position{File: d.Path, Line: uint32(line), Column: uint32(offset - d.lines()[line-1] + 1)}
}

// lines returns the offsets at which the lines of d begin.
func (d *Document) lines() []int {
	d.once.Do(func() {
		d.starts = []int{0}
		for i, c := range d.data {
			if c == '\n' {
				d.starts = append(d.starts, i+1)
			}
		}
	})
	return d.starts
}

func (d *Document) errorAt(offset int, format string, args ...any) error {
	return &SyntaxError{Pos: d.position(offset), Msg: fmt.Sprintf(format, args...)}
}

type parser struct {
	doc *Document
	dec *json.Decoder
}

// start returns the offset at which the next token begins: the decoder's offset
// is the end of the last one.
func (p *parser) start() int { return skip(p.doc.data, int(p.dec.InputOffset()), " \t\r\n,:") }

// skip returns the first offset from i on whose byte is not among chars.
func skip(data []byte, i int, chars string) int {
	for i < len(data) && strings.IndexByte(chars, data[i]) >= 0 {
		i++
	}
	return i
}

func (p *parser) token() (json.Token, int, error) {
	at := p.start()
	t, err := p.dec.Token()
	if err == nil {
		return t, at, nil
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, p.doc.errorAt(len(p.doc.data), "unexpected end of the document")
	case errors.As(err, &syntax):
		return nil, at, p.doc.errorAt(int(syntax.Offset), "%s", syntax.Error())
	}
	return nil, at, p.doc.errorAt(at, "%v", err)
}

func (p *parser) value(depth int) (*Value, error) {
	t, at, err := p.token()
	if err != nil {
		return nil, err
	}
	v := &Value{doc: p.doc, offset: at}
	delim, nested := t.(json.Delim)
	switch {
	case !nested:
		v.Text = p.doc.data[at:p.dec.InputOffset()]
		if _, number := t.(json.Number); number && !bounded(v.Text) {
			return nil, p.doc.errorAt(at, "number is too large, or has too many digits")
		}
		return v, nil
	case depth == MaxDepth:
		return nil, p.doc.errorAt(at, "nested deeper than %d", MaxDepth)
	case delim == '{':
		v.Kind = Object
		err = p.members(v, depth)
	default:
		v.Kind = Array
		err = p.items(v, depth)
	}
	if err != nil {
		return nil, err
	}
	_, _, err = p.token() // the closing delimiter
	return v, err
}

func (p *parser) members(v *Value, depth int) error {
	seen := map[string]bool{}
	for p.dec.More() {
		t, at, err := p.token()
		if err != nil {
			return err
		}
		name := t.(string)
		if seen[name] {
			return p.doc.errorAt(at, "member %q occurs twice", name)
		}
		seen[name] = true
		member, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Add(name, member)
	}
	return nil
}

func (p *parser) items(v *Value, depth int) error {
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	return nil
}

// bounded reports whether a number is finite to all who read it, and can be computed
// with at a bounded cost: 1e-999999999 takes a gigabyte when it is made a fraction.
func bounded(number []byte) bool {
	const maxDigits, maxExponentDigits = 1000, 3
	_, exponent, _ := bytes.Cut(bytes.ToLower(number), []byte("e"))
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil && len(number) <= maxDigits && len(bytes.TrimLeft(exponent, "+-0")) <= maxExponentDigits
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, -1 when
// there is none.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
