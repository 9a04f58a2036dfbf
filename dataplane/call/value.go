package call

import (
	"errors"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// values are those of the arguments that are to be sent, by name.
type values map[string]rawjson.Value

// valuesOf takes the arguments of t from all, the object of arguments, and holds
// each to its type and its schema.
func valuesOf(t *table.Tool, all rawjson.Value) (values, error) {
	given := make(values, len(t.Args))
	for _, a := range t.Args {
		v := all.Member(a.GetName())
		if isAbsent(a, v) {
			if a.GetRequired() {
				return nil, invalidf("argument %q is missing", a.GetName())
			}
			continue
		}
		if err := checkValue(t, a, v); err != nil {
			return nil, err
		}
		given[a.GetName()] = v
	}
	return given, nil
}

// isAbsent reports whether v is no value of a. Null stands for an argument that is
// absent, except in the body, where it is one value among others.
func isAbsent(a *table.Argument, v rawjson.Value) bool {
	return v == nil || v.Kind() == rawjson.Null && a.GetIn() != irv1.ArgumentIn_ARGUMENT_IN_BODY
}

func checkValue(t *table.Tool, a *table.Argument, v rawjson.Value) error {
	isNull := v.Kind() == rawjson.Null && a.GetNullable()
	if !isNull && !isType(a.GetType(), v) {
		return invalidf("argument %q must be %s", a.GetName(), typeWord(a.GetType()))
	}
	if a.Items != nil {
		for e := range v.Elements() {
			if !isType(a.GetItems(), e) {
				return invalidf("each element of argument %q must be %s", a.GetName(), typeWord(a.GetItems()))
			}
		}
	}
	if a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY {
		if err := checkMembers(a, v); err != nil {
			return err
		}
	}
	if a.Schema == nil {
		return nil
	}
	return checkSchema(t, a, v)
}

// checkMembers holds an object of the query to what has a form there.
func checkMembers(a *table.Argument, v rawjson.Value) error {
	for name, m := range v.Members() {
		if text, _ := name.Text(); text == "" || strings.ContainsAny(text, "[]") {
			return invalidf("argument %q has a member whose name cannot be in a query", a.GetName())
		}
		if k := m.Kind(); k == rawjson.Array || k == rawjson.Object {
			return invalidf("each member of argument %q must be a string, a number or a boolean", a.GetName())
		}
	}
	return nil
}

// checkSchema holds v to the schema of a, an argument of t. The error names the place and
// what the schema says, never a value.
func checkSchema(t *table.Tool, a *table.Argument, v rawjson.Value) error {
	err := a.Schema.Check(v)
	var violation *schema.Violation
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &violation):
		return invalidf("argument %q: %v", a.GetName(), err)
	}
	violation = discreet(t, a.GetName(), violation)
	if violation.Path == "$" {
		return invalidf("argument %q: %s", a.GetName(), violation.Message)
	}
	return invalidf("argument %q at %s: %s", a.GetName(), violation.Path, violation.Message)
}

// isType reports whether v is of type t. An integer has neither fraction nor
// exponent: services differ in what they make of 1.0.
func isType(t irv1.ArgumentType, v rawjson.Value) bool {
	switch t {
	case irv1.ArgumentType_ARGUMENT_TYPE_STRING:
		return v.Kind() == rawjson.String
	case irv1.ArgumentType_ARGUMENT_TYPE_INTEGER:
		return v.Kind() == rawjson.Number && !strings.ContainsAny(string(v), ".eE")
	case irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:
		return v.Kind() == rawjson.Number
	case irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN:
		return v.Kind() == rawjson.Bool
	case irv1.ArgumentType_ARGUMENT_TYPE_ARRAY:
		return v.Kind() == rawjson.Array
	case irv1.ArgumentType_ARGUMENT_TYPE_OBJECT:
		return v.Kind() == rawjson.Object
	}
	return true
}

func typeWord(t irv1.ArgumentType) string {
	switch t {
	case irv1.ArgumentType_ARGUMENT_TYPE_STRING:
		return "a string"
	case irv1.ArgumentType_ARGUMENT_TYPE_INTEGER:
		return "an integer without fraction and exponent"
	case irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:
		return "a number"
	case irv1.ArgumentType_ARGUMENT_TYPE_ARRAY:
		return "an array"
	case irv1.ArgumentType_ARGUMENT_TYPE_OBJECT:
		return "an object"
	}
	return "true or false"
}

// text returns the text of a scalar: what a string says, and others as they are
// written.
func text(v rawjson.Value) string {
	if s, ok := v.Text(); ok {
		return s
	}
	return string(v)
}

// texts returns the texts of the elements of an array, or that of a scalar.
func texts(v rawjson.Value) []string {
	if v.Kind() != rawjson.Array {
		return []string{text(v)}
	}
	var all []string
	for e := range v.Elements() {
		all = append(all, text(e))
	}
	return all
}
