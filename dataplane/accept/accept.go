// Package accept says quickly that a JSON value satisfies a JSON Schema, or that it
// does not know: a document comes in, and a [Schema] goes out that looks at raw bytes.
//
// It stands before a full validator, which decides and explains whatever is not a
// plain yes. So it only has to know the keywords that most schemas are made of, and
// must be right about them: what it accepts the full validator would accept.
package accept

import (
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// A Verdict is what is known of a value.
type Verdict int8

// The verdicts. The zero Verdict claims nothing.
const (
	Unknown Verdict = iota
	No
	Yes
)

// A Schema says of values whether they satisfy it. It is immutable and safe for
// concurrent use.
type Schema struct {
	root *node
}

// maxSteps is how many schemas a value is held to at most, references included: what
// takes more is for the full validator. It ends schemas that refer to themselves.
const maxSteps = 20_000

// Compile returns the schema at fragment, such as "/properties/payload", of the JSON
// Schema 2020-12 document doc, which a full validator has compiled. format returns
// what checks a format; nil for one that is not asserted. There is no error: of what
// it does not understand the schema knows nothing.
func Compile(doc rawjson.Value, fragment string, format func(name string) func(text string) bool) *Schema {
	if !plainDialect(doc) {
		return &Schema{root: &node{vague: true}}
	}
	c := compiler{doc: doc, format: format, nodes: map[string]*node{},
		parts: map[string]map[string]rawjson.Value{}, known: map[string]func(string) bool{}}
	return &Schema{root: c.at(fragment, c.lookup(fragment))}
}

// dialect is the one that is known here.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// plainDialect reports whether v, a document or a part of one, neither speaks another
// dialect nor gives a part an address of its own, which its references would go by.
func plainDialect(v rawjson.Value) bool {
	for name, value := range v.Members() {
		switch text, _ := name.Text(); text {
		case "$id", "$vocabulary":
			return false
		case "$schema":
			if text, _ := value.Text(); text != dialect {
				return false
			}
		}
		if !plainDialect(value) {
			return false
		}
	}
	for e := range v.Elements() {
		if !plainDialect(e) {
			return false
		}
	}
	return true
}

// Verdict returns what is known of v, a value that [rawjson.Parse] returned or part
// of one.
func (s *Schema) Verdict(v rawjson.Value) Verdict {
	steps := maxSteps
	return s.root.verdict(v, &steps)
}

// A node is one schema. All that it demands has to be met.
type node struct {
	vague bool // it has keywords that are not understood: yes is never known
	never bool // it is the schema false

	types   types // 0: any
	scalars []rawjson.Value
	texts   map[string]bool // the strings of enum and const, without escapes
	listed  bool            // only scalars and texts are allowed

	text   text
	number number
	array  array
	object object

	refs []*node
	all  []*node
	any  []*node
	one  []*node
}

// types is a set of JSON types.
type types uint8

const (
	isNull types = 1 << iota
	isBool
	isInteger
	isNumber
	isString
	isArray
	isObject
)

var typeNames = map[string]types{
	"null": isNull, "boolean": isBool, "integer": isInteger, "number": isNumber, "string": isString, "array": isArray, "object": isObject,
}

// verdict holds v to n. It takes a step for each schema that it comes to.
func (n *node) verdict(v rawjson.Value, steps *int) Verdict {
	if *steps--; *steps < 0 {
		return Unknown
	}
	if n.never {
		return No
	}
	sofar := Yes
	if n.vague {
		sofar = Unknown
	}
	sofar = worse(sofar, n.types.verdict(v))
	if sofar == No {
		return No
	}
	if n.listed {
		sofar = worse(sofar, n.isListed(v))
	}
	switch v.Kind() {
	case rawjson.String:
		sofar = worse(sofar, n.text.verdict(v))
	case rawjson.Number:
		sofar = worse(sofar, n.number.verdict(v))
	case rawjson.Array:
		sofar = worse(sofar, n.array.verdict(v, steps))
	case rawjson.Object:
		sofar = worse(sofar, n.object.verdict(v, steps))
	}
	for _, group := range [2][]*node{n.refs, n.all} {
		for _, sub := range group {
			if sofar == No {
				return No
			}
			sofar = worse(sofar, sub.verdict(v, steps))
		}
	}
	if sofar != No && n.any != nil {
		sofar = worse(sofar, anyOf(n.any, v, steps))
	}
	if sofar != No && n.one != nil {
		sofar = worse(sofar, oneOf(n.one, v, steps))
	}
	return sofar
}

// worse returns what is known when both a and b have to hold.
func worse(a, b Verdict) Verdict {
	if a == No || b == No {
		return No
	}
	return min(a, b) // Unknown before Yes
}

func anyOf(arms []*node, v rawjson.Value, steps *int) Verdict {
	sum := No
	for _, arm := range arms {
		switch arm.verdict(v, steps) {
		case Yes:
			return Yes
		case Unknown:
			sum = Unknown
		}
	}
	return sum
}

func oneOf(arms []*node, v rawjson.Value, steps *int) Verdict {
	yes, unknown := 0, 0
	for _, arm := range arms {
		switch arm.verdict(v, steps) {
		case Yes:
			yes++
		case Unknown:
			unknown++
		}
	}
	switch {
	case yes > 1 || yes == 0 && unknown == 0:
		return No
	case unknown > 0:
		return Unknown
	}
	return Yes
}

// verdict holds v to the type. Whether a number with a fraction or an exponent is an
// integer is left open.
func (t types) verdict(v rawjson.Value) Verdict {
	if t == 0 {
		return Yes
	}
	switch v.Kind() {
	case rawjson.Null:
		return t.has(isNull)
	case rawjson.Bool:
		return t.has(isBool)
	case rawjson.String:
		return t.has(isString)
	case rawjson.Array:
		return t.has(isArray)
	case rawjson.Object:
		return t.has(isObject)
	}
	if t&isNumber == 0 && t&isInteger != 0 && strings.ContainsAny(string(v), ".eE") {
		return Unknown
	}
	return t.has(isNumber | isInteger)
}

func (t types) has(u types) Verdict {
	if t&u != 0 {
		return Yes
	}
	return No
}

// isListed holds v to enum and const. Numbers may be equal in another spelling.
func (n *node) isListed(v rawjson.Value) Verdict {
	switch v.Kind() {
	case rawjson.String:
		if text, ok := plain(v); ok && n.texts[string(text)] {
			return Yes
		} else if !ok {
			return Unknown
		}
		return No
	case rawjson.Array, rawjson.Object:
		return Unknown
	}
	for _, s := range n.scalars {
		if string(s) == string(v) {
			return Yes
		}
	}
	if v.Kind() == rawjson.Number {
		return Unknown
	}
	return No
}

// plain returns what is between the quotes of the string v, and whether that is what
// it says.
func plain(v rawjson.Value) ([]byte, bool) {
	inner := v[1 : len(v)-1]
	for _, c := range inner {
		if c == '\\' {
			return nil, false
		}
	}
	return inner, true
}
