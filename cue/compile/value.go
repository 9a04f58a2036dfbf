package compile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"

	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A value is a CUE value on its way into the bundle. A field that is absent or does
// not evaluate reads as zero: what is wrong with it has been reported.
type value struct {
	cue cue.Value
	written
	source *places
}

// written is where the author wrote a value. It keeps nothing in memory of what was
// evaluated, which is a hundred times as much.
type written struct {
	path  []string // from the package
	*spot          // nil: nowhere
}

// A spot finds out what an author wrote for a value once somebody asks: of most values
// nobody does.
type spot struct {
	up     *spot
	labels []string              // from up
	draw   func() outline.Cursor // the package, where it has not been drawn
	cursor outline.Cursor        // once up and draw are nil
}

// writtenAt returns where the value at path of a package is written.
func writtenAt(author outline.Cursor, path ...string) written {
	return written{nil, &spot{cursor: author}}.below(path...)
}

// later returns where w is written as what outlives its package can keep it: the outline
// is drawn anew when somebody asks.
func (u *unit) later(w written) written {
	files := u.files
	return written{nil, &spot{draw: func() outline.Cursor { return draw(files) }}}.below(w.path...)
}

// below returns where the value at path below w is written.
func (w written) below(path ...string) written {
	if w.spot == nil {
		return written{path: slices.Concat(w.path, path)}
	}
	return written{slices.Concat(w.path, path), &spot{up: w.spot, labels: path}}
}

// author returns what is written for the value. Only one goroutine at a time may ask.
func (s *spot) author() outline.Cursor {
	switch {
	case s == nil:
		return outline.Cursor{}
	case s.up != nil:
		s.cursor, s.up = s.up.author().Down(s.labels...), nil
	case s.draw != nil:
		s.cursor, s.draw = s.draw(), nil
	}
	return s.cursor
}

// places collects where the author wrote what was read of one binding.
type places struct {
	binding string
	tool    string // "" for the binding itself
	base    int    // how much of a path names the binding or tool
	entries []*sourcev1.SourceMapEntry
}

// fields returns what v has, by label, without what is optional and absent.
func (v value) fields() map[string]value {
	if !v.cue.Exists() {
		return nil
	}
	it, err := v.cue.Fields()
	if err != nil {
		return nil
	}
	all := map[string]value{}
	for it.Next() {
		if it.Selector().LabelType() == cue.StringLabel {
			label := it.Selector().Unquoted()
			all[label] = v.down(label, it.Value())
		}
	}
	return all
}

// each returns what read makes of the fields that v has, by label.
func each[T any](v value, read func(label string, v value) T) []T {
	fields := v.fields()
	var all []T
	for _, label := range sorted(fields) {
		all = append(all, read(label, fields[label]))
	}
	return all
}

// children returns the elements that v has as a list, or the fields that it has as a
// struct, which need not evaluate.
func (v value) children() (elements []value, fields map[string]value) {
	it, err := v.cue.Fields()
	if err != nil {
		return v.elements(), nil
	}
	fields = map[string]value{}
	for it.Next() {
		switch it.Selector().LabelType() {
		case cue.IndexLabel:
			elements = append(elements, v.down(strconv.Itoa(it.Selector().Index()), it.Value()))
		case cue.StringLabel:
			label := it.Selector().Unquoted()
			fields[label] = v.down(label, it.Value())
		}
	}
	return elements, fields
}

// elements returns what a list has, by index. A list with a broken element is not
// one to CUE, but has fields.
func (v value) elements() []value {
	if !v.cue.Exists() {
		return nil
	}
	it, err := v.cue.List()
	if err != nil {
		if it, err = fieldsOf(v.cue); err != nil {
			return nil
		}
	}
	var all []value
	for it.Next() {
		if it.Selector().LabelType() == cue.IndexLabel {
			all = append(all, v.down(strconv.Itoa(it.Selector().Index()), it.Value()))
		}
	}
	return all
}

func fieldsOf(v cue.Value) (cue.Iterator, error) {
	it, err := v.Fields()
	if err != nil {
		return cue.Iterator{}, err
	}
	return *it, nil
}

// label returns the last label of v's path.
func (w written) label() string { return w.path[len(w.path)-1] }

// down returns the value c at a label below v.
func (v value) down(label string, c cue.Value) value {
	return value{c, v.below(label), v.source}
}

// get returns the field of a struct with that label, which may not exist. It is
// cheaper than fields, which sorts.
func (v value) get(label string) value {
	if !v.exists() {
		return value{written: written{path: v.path}}
	}
	return v.down(label, v.cue.LookupPath(cue.MakePath(cue.Str(label))))
}

func (v value) exists() bool { return v.cue.Exists() }

// sorted returns the labels of a map with their values, sorted.
func sorted(fields map[string]value) []string { return slices.Sorted(maps.Keys(fields)) }

// where returns the place of w's label, or of the nearest that encloses it.
func (w written) where() *sourcev1.Position {
	if at := w.author().Places(); len(at) > 0 {
		return at[0].Label
	}
	return nil
}

// whereValue returns the place of what is written for w.
func (w written) whereValue() *sourcev1.Position {
	if at := w.author().Places(); len(at) > 0 {
		return at[0].Value
	}
	return nil
}

// whereBelow returns the place of the value at path below w, or of the nearest that
// encloses it.
func (w written) whereBelow(path []string) *sourcev1.Position {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if at := w.author().Down(path...).Places(); len(at) > 0 {
			return at[0].Value
		}
	}
	return w.where()
}

// note enters v into the source map, if the author wrote it.
func (v value) note() {
	if at := v.where(); at != nil && v.source != nil {
		v.source.entries = append(v.source.entries, &sourcev1.SourceMapEntry{
			Binding: v.source.binding, Tool: v.source.tool, Field: strings.Join(v.path[v.source.base:], "."), Position: at,
		})
	}
}

func (v value) text() string {
	s := v.quiet()
	if s != "" {
		v.note()
	}
	return s
}

// quiet is text that is read for a second time.
func (v value) quiet() string {
	if !v.cue.Exists() {
		return ""
	}
	s, err := v.cue.String()
	if err != nil {
		return ""
	}
	return s
}

func (v value) flag() bool { return v.flagOr(false) }

// flagOr returns v, and otherwise when v is absent.
func (v value) flagOr(otherwise bool) bool {
	if !v.cue.Exists() {
		return otherwise
	}
	b, err := v.cue.Bool()
	if err != nil {
		return otherwise
	}
	v.note()
	return b
}

// denied reports whether v is false, and not only absent.
func (v value) denied() bool {
	if !v.exists() {
		return false
	}
	b, err := v.cue.Bool()
	v.note()
	return err == nil && !b
}

// number returns v, and otherwise when v is absent.
func (v value) number(otherwise int64) int64 {
	if !v.cue.Exists() {
		return otherwise
	}
	n, err := v.cue.Int64()
	if err != nil {
		return otherwise
	}
	v.note()
	return n
}

// texts returns the strings of a list.
func (v value) texts() []string {
	if !v.cue.Exists() {
		return nil
	}
	it, err := v.cue.List()
	if err != nil {
		return nil
	}
	v.note()
	var all []string
	for it.Next() {
		if s, err := it.Value().String(); err == nil {
			all = append(all, s)
		}
	}
	return all
}

func (v value) json() []byte {
	data, err := v.cue.MarshalJSON()
	if err != nil {
		return nil
	}
	return data
}
