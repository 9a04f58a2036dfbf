// Package document reads JSON Schema documents and bundles what one schema needs
// of them into a single self-contained schema.
//
// What comes in are the documents of a module, as the author wrote them; what goes
// out is JSON with the author's order of members and nothing that a node would have
// to look up elsewhere. Every value remembers its place, so that a problem in what
// comes out is reported where it was written.
package document

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// MaxDepth is how deep the values of a document may be nested.
const MaxDepth = 128

// A Kind is the kind of a JSON value.
type Kind uint8

const (
	Scalar Kind = iota
	Object
	Array
)

// A Value is a JSON value. The zero Value is not one.
type Value struct {
	Kind    Kind
	Text    []byte   // of a Scalar: as it was written
	Members []Member // of an Object: in the order in which they were written
	Items   []*Value // of an Array

	doc    *Document // nil: made, not read
	offset int       // in the document
}

// A Member is a name and its value.
type Member struct {
	Name  string
	Value *Value
}

// Str returns a string value.
func Str(s string) *Value { return &Value{Text: quote(s)} }

// Num returns a whole number.
func Num(n int64) *Value { return &Value{Text: strconv.AppendInt(nil, n, 10)} }

// Bool returns true or false.
func Bool(b bool) *Value { return &Value{Text: strconv.AppendBool(nil, b)} }

// Obj returns an object.
func Obj(members ...Member) *Value { return &Value{Kind: Object, Members: members} }

// Arr returns an array.
func Arr(items ...*Value) *Value { return &Value{Kind: Array, Items: items} }

// Add adds a member to an object, after those it has.
func (v *Value) Add(name string, value *Value) { v.Members = append(v.Members, Member{name, value}) }

// Get returns the member of that name, and nil when there is none or v is no
// object.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// AsString returns the text of a string, and false for any other value.
func (v *Value) AsString() (string, bool) {
	if v == nil || v.Kind != Scalar || len(v.Text) == 0 || v.Text[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(v.Text, &s)
	return s, err == nil
}

// Strings returns the strings among the items of an array, in their order; nil when v
// is no array.
func (v *Value) Strings() []string {
	if v == nil {
		return nil
	}
	var all []string
	for _, item := range v.Items {
		if s, ok := item.AsString(); ok {
			all = append(all, s)
		}
	}
	return all
}

// AppendJSON appends v as JSON without spaces and returns the extended slice.
func (v *Value) AppendJSON(b []byte) []byte {
	switch v.Kind {
	case Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(m.Name)...), ':')
			b = m.Value.AppendJSON(b)
		}
		return append(b, '}')
	case Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	}
	return append(b, v.Text...)
}

// quote returns s as a JSON string. Unlike json.Marshal it leaves <, > and & as
// they are: schemas are read by people.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("document: a string does not encode: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
