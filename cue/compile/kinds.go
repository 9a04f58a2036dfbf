package compile

import (
	"math/bits"
	"strings"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A kindSet is a set of kinds of JSON values.
type kindSet uint8

const (
	nullKind kindSet = 1 << iota
	boolKind
	wholeKind    // a number without a fraction
	fractionKind // a number with one
	stringKind
	arrayKind
	objectKind

	numberKind = wholeKind | fractionKind
	allKinds   = nullKind | boolKind | numberKind | stringKind | arrayKind | objectKind
)

// kindNames are the kinds by the name of JSON Schema.
var kindNames = map[string]kindSet{
	"null": nullKind, "boolean": boolKind, "integer": wholeKind, "number": numberKind,
	"string": stringKind, "array": arrayKind, "object": objectKind,
}

// kindsOf returns the kinds of the values that schema lets through, as far as types,
// enumerations and what is made of them say; its $refs lead to defs.
func kindsOf(schema, defs *document.Value) kindSet {
	return kindsBelow(schema, defs, map[string]bool{})
}

func kindsBelow(schema, defs *document.Value, seen map[string]bool) kindSet {
	if string(schema.Text) == "false" {
		return 0
	}
	kinds := allKinds
	if typ := schema.Get("type"); typ != nil {
		kinds &= typeKinds(typ)
	}
	if c := schema.Get("const"); c != nil {
		kinds &= kindOfValue(c)
	}
	if enum := schema.Get("enum"); enum != nil {
		listed := kindSet(0)
		for _, v := range enum.Items {
			listed |= kindOfValue(v)
		}
		kinds &= listed
	}
	for _, part := range parts(schema, defs, seen) {
		kinds &= kindsBelow(part, defs, seen)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if arms := schema.Get(keyword); arms != nil {
			any := kindSet(0)
			for _, arm := range arms.Items {
				any |= kindsBelow(arm, defs, seen)
			}
			kinds &= any
		}
	}
	return kinds
}

// typeKinds returns the kinds that the value of the keyword type names.
func typeKinds(v *document.Value) (kinds kindSet) {
	if name, ok := v.AsString(); ok {
		return kindNames[name]
	}
	for _, item := range v.Items {
		name, _ := item.AsString()
		kinds |= kindNames[name]
	}
	return kinds
}

// kindOfValue returns the kind of a value in a schema. Whether a number that is not
// written as a whole one is one is left open.
func kindOfValue(v *document.Value) kindSet {
	switch {
	case v.Kind == document.Object:
		return objectKind
	case v.Kind == document.Array:
		return arrayKind
	}
	switch v.Text[0] {
	case '"':
		return stringKind
	case 'n':
		return nullKind
	case 't', 'f':
		return boolKind
	}
	if strings.ContainsAny(string(v.Text), ".eE") {
		return numberKind
	}
	return wholeKind
}

// argumentType returns the type of an argument whose values are all of these kinds; by
// default it is a string. Null stands for an argument that is absent.
func (k kindSet) argumentType() irv1.ArgumentType {
	switch k &^= nullKind; {
	case k == wholeKind:
		return irv1.ArgumentType_ARGUMENT_TYPE_INTEGER
	case k != 0 && k&^numberKind == 0:
		return irv1.ArgumentType_ARGUMENT_TYPE_NUMBER
	case bits.OnesCount8(uint8(k)) == 1:
		return oneKind[k]
	}
	return irv1.ArgumentType_ARGUMENT_TYPE_STRING
}

var oneKind = map[kindSet]irv1.ArgumentType{
	boolKind:   irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN,
	stringKind: irv1.ArgumentType_ARGUMENT_TYPE_STRING,
	arrayKind:  irv1.ArgumentType_ARGUMENT_TYPE_ARRAY,
	objectKind: irv1.ArgumentType_ARGUMENT_TYPE_OBJECT,
}

// A valueSchema is the schema of an argument outside the body, bundled. The zero
// valueSchema lets everything through.
type valueSchema struct {
	schema, defs *document.Value
}

// kinds returns the kinds of the values that s lets through.
func (s valueSchema) kinds() kindSet {
	if s.schema == nil {
		return allKinds
	}
	return kindsOf(s.schema, s.defs)
}

// elements returns the schema of all elements of an array: the first that s or a part of
// it has. Beside prefixItems, items is for the elements after those.
func (s valueSchema) elements() valueSchema {
	if s.schema == nil {
		return valueSchema{}
	}
	return valueSchema{itemsOf(s.schema, s.defs, map[string]bool{}), s.defs}
}

func itemsOf(schema, defs *document.Value, seen map[string]bool) *document.Value {
	if items := schema.Get("items"); items != nil && schema.Get("prefixItems") == nil {
		return items
	}
	for _, part := range parts(schema, defs, seen) {
		if items := itemsOf(part, defs, seen); items != nil {
			return items
		}
	}
	return nil
}
