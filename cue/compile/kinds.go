package compile

import (
	"math/bits"
	"slices"
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
// enumerations and what is made of them say; its $refs lead to defs. In found are those
// of the schemas that were looked at.
func kindsOf(schema, defs *document.Value, found map[*document.Value]kindSet) kindSet {
	if kinds, looked := found[schema]; looked {
		return kinds
	}
	found[schema] = allKinds // where it comes back to itself
	kinds := ownKinds(schema)
	for _, part := range parts(schema, defs, map[string]bool{}) {
		kinds &= kindsOf(part, defs, found)
	}
	for _, arms := range armsOf(schema) {
		any := kindSet(0)
		for _, arm := range arms {
			any |= kindsOf(arm, defs, found)
		}
		kinds &= any
	}
	found[schema] = kinds
	return kinds
}

// ownKinds returns the kinds that schema itself lets through.
func ownKinds(schema *document.Value) kindSet {
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
	return kinds
}

// armsOf returns the lists of schemas of which one has to hold, too.
func armsOf(schema *document.Value) (all [][]*document.Value) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if arms := schema.Get(keyword); arms != nil {
			all = append(all, arms.Items)
		}
	}
	return all
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
	return kindsOf(s.schema, s.defs, map[*document.Value]kindSet{})
}

// elements returns the schema of all elements of an array: the first that s, a part of it
// or its only alternative that is an array has. Beside prefixItems, items is for the
// elements after those.
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
	all := parts(schema, defs, seen)
	for _, arms := range armsOf(schema) {
		arrays := slices.DeleteFunc(slices.Clone(arms), func(arm *document.Value) bool {
			return valueSchema{arm, defs}.kinds()&arrayKind == 0
		})
		if len(arrays) == 1 {
			all = append(all, arrays[0])
		}
	}
	for _, part := range all {
		if items := itemsOf(part, defs, seen); items != nil {
			return items
		}
	}
	return nil
}
