// Package schema holds JSON values to a JSON Schema: a document comes in, and a
// [Schema] goes out that says of a value the one thing most worth fixing first.
//
// Formats are asserted: the words of an author who writes "format": "date-time"
// are a promise to the service behind it.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bindery-dev/bindery/dataplane/accept"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// location is what a document is called while it is compiled. Nothing is ever
// loaded from it.
const location = "bundle:///schema.json"

// maxDepth is how deep a document can be nested.
const maxDepth = 512

// A Schema is a compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	quick    *accept.Schema  // says yes sooner
	stated   map[string]bool // names of members, see [Violation.Place]
}

// Compile returns the schema at fragment, such as "/properties/payload", of the
// JSON Schema document doc; "" is the whole document. It resolves references within
// the document only: a schema never causes a file or an address to be read. The
// error says what is wrong with the document.
func Compile(doc []byte, fragment string) (s *Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("compiler gave up: %v", p)
		}
	}()
	document, err := rawjson.Parse(doc, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("not a JSON document: %w", err)
	}
	if !bounded(document) {
		return nil, ErrNumber
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(location, document.Decode()); err != nil {
		return nil, tidy(err)
	}
	compiled, err := c.Compile(location + "#" + fragment)
	if err != nil {
		return nil, tidy(err)
	}
	quick := accept.Compile(document, fragment, Format)
	return &Schema{compiled: compiled, quick: quick, stated: stated(document, map[string]bool{})}, nil
}

// Format returns what texts of a format are checked with; nil for a format that is not
// known, and so is not checked.
func Format(name string) func(string) bool {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(location, map[string]any{"format": name}); err != nil {
		return nil
	}
	compiled, err := c.Compile(location)
	if err != nil || compiled.Format == nil {
		return nil
	}
	return func(text string) bool { return compiled.Format.Validate(text) == nil }
}

// stated adds the names of members that a schema document states to names: those
// of properties and those that are required.
func stated(v rawjson.Value, names map[string]bool) map[string]bool {
	for keyword, value := range v.Members() {
		switch text, _ := keyword.Text(); text {
		case "properties":
			for name := range value.Members() {
				state(name, names)
			}
		case "required":
			for name := range value.Elements() {
				state(name, names)
			}
		}
		stated(value, names)
	}
	for e := range v.Elements() {
		stated(e, names)
	}
	return names
}

func state(name rawjson.Value, names map[string]bool) {
	if text, ok := name.Text(); ok && len(text) <= maxName {
		names[text] = true
	}
}

// noLoader refuses what is not in the document.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("the document refers to something outside of it")
}

// tidy puts a message of the library on one line and takes the made-up name of the
// document out of it.
func tidy(err error) error {
	text := strings.ReplaceAll(err.Error(), location, "")
	return errors.New(strings.Join(strings.Fields(text), " "))
}

// ErrNumber is returned by [Schema.Check] for a number that is too long to be
// compared with others at a bounded cost.
var ErrNumber = errors.New("number has too many digits")

// Check returns nil if v satisfies the schema. The error is a [*Violation], or
// ErrNumber.
func (s *Schema) Check(v rawjson.Value) error {
	if !bounded(v) {
		return ErrNumber
	}
	if s.quick.Verdict(v) == accept.Yes {
		return nil
	}
	return s.full(v)
}

// full is Check by the library alone, for a value whose numbers are bounded.
func (s *Schema) full(v rawjson.Value) error {
	value := v.Decode()
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var failure *jsonschema.ValidationError
	if !errors.As(err, &failure) {
		return &Violation{Path: "$", Place: "$", Message: "Value is not valid"}
	}
	return subject{value, s.stated}.explain(failure)
}

// maxDigits bounds the length of a number and, by powers of ten, its size.
const maxDigits = 1000

// bounded reports whether every number in v can be turned into a fraction of
// bounded size: the library computes with exact fractions, for which 1e999999999
// is a gigabyte.
func bounded(v rawjson.Value) bool {
	for n := range v.Numbers() {
		digits := 0 // of the exponent
		if at := bytes.IndexAny(n, "eE"); at >= 0 {
			digits = len(bytes.TrimLeft(n[at+1:], "+-0"))
		}
		if len(n) > maxDigits || digits > 3 {
			return false
		}
	}
	return true
}
