package document

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What the value of a keyword is.
type holding uint8

const (
	data       holding = iota // kept as it is; also of keywords that are not known
	nothing                   // left out
	refused                   // not supported
	reference                 // of another schema
	subschema                 // one schema
	subschemas                // a list of schemas
	named                     // an object of schemas
)

type keyword struct {
	holds holding
	check check // of data
}

// keywords are those of JSON Schema 2020-12. Others, such as those of OpenAPI, are
// annotations and kept.
var keywords = map[string]keyword{
	"$schema": {holds: nothing}, "$id": {holds: nothing}, "$comment": {holds: nothing}, "$anchor": {holds: nothing},
	"$defs": {holds: nothing}, "definitions": {holds: nothing}, "example": {holds: nothing}, "examples": {holds: nothing},
	"x-mcp-header": {holds: nothing}, // it is for the author of the tool to say

	"$dynamicRef": {holds: refused}, "$dynamicAnchor": {holds: refused}, "$vocabulary": {holds: refused},
	"$recursiveRef": {holds: refused}, "$recursiveAnchor": {holds: refused},

	"$ref": {holds: reference},

	"items": {holds: subschema}, "contains": {holds: subschema}, "additionalProperties": {holds: subschema},
	"propertyNames": {holds: subschema}, "unevaluatedItems": {holds: subschema}, "unevaluatedProperties": {holds: subschema},
	"not": {holds: subschema}, "if": {holds: subschema}, "then": {holds: subschema}, "else": {holds: subschema},
	"contentSchema": {holds: subschema},

	"allOf": {holds: subschemas}, "anyOf": {holds: subschemas}, "oneOf": {holds: subschemas}, "prefixItems": {holds: subschemas},

	"properties": {holds: named}, "patternProperties": {holds: named}, "dependentSchemas": {holds: named},

	"type": {check: isType}, "enum": {check: isList}, "required": {check: isNames}, "dependentRequired": {check: isNamesByName},
	"pattern": {check: isPattern}, "format": {check: isString}, "title": {check: isString}, "description": {check: isString},
	"contentEncoding": {check: isString}, "contentMediaType": {check: isString},
	"uniqueItems": {check: isBool}, "deprecated": {check: isBool}, "readOnly": {check: isBool}, "writeOnly": {check: isBool},
	"minimum": {check: isNumber}, "maximum": {check: isNumber}, "exclusiveMinimum": {check: isNumber}, "exclusiveMaximum": {check: isNumber},
	"multipleOf": {check: isPositive},
	"minLength":  {check: isCount}, "maxLength": {check: isCount}, "minItems": {check: isCount}, "maxItems": {check: isCount},
	"minProperties": {check: isCount}, "maxProperties": {check: isCount}, "minContains": {check: isCount}, "maxContains": {check: isCount},
}

// A check says what is wrong with a keyword's value: "must be a string". "" means
// nothing.
type check func(v *Value) string

func (c check) of(v *Value) string {
	if c == nil {
		return ""
	}
	return c(v)
}

var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func isType(v *Value) string {
	const want = "must be one of array, boolean, integer, null, number, object, string, or a list of them"
	if s, ok := v.AsString(); ok && slices.Contains(types, s) {
		return ""
	}
	if isNames(v) != "" || len(v.Items) == 0 {
		return want
	}
	for _, item := range v.Items {
		if s, _ := item.AsString(); !slices.Contains(types, s) {
			return want
		}
	}
	return ""
}

func isNames(v *Value) string {
	const want = "must be a list of strings, each once"
	if v.Kind != Array {
		return want
	}
	seen := map[string]bool{}
	for _, item := range v.Items {
		s, ok := item.AsString()
		if !ok || seen[s] {
			return want
		}
		seen[s] = true
	}
	return ""
}

func isNamesByName(v *Value) string {
	for _, m := range v.Members {
		if isNames(m.Value) != "" {
			return "must be an object of lists of strings"
		}
	}
	return when(v.Kind == Object, "must be an object of lists of strings")
}

func isPattern(v *Value) string {
	s, ok := v.AsString()
	if !ok {
		return "must be a string"
	}
	if _, err := regexp.Compile(s); err != nil {
		return "is not a regular expression that can be checked in linear time: " + err.Error()
	}
	return ""
}

func isString(v *Value) string {
	_, ok := v.AsString()
	return when(ok, "must be a string")
}

func isBool(v *Value) string {
	return when(v.Kind == Scalar && (v.Text[0] == 't' || v.Text[0] == 'f'), "must be true or false")
}

func isList(v *Value) string { return when(v.Kind == Array, "must be a list") }

func isNumber(v *Value) string {
	return when(v.Kind == Scalar && strings.IndexByte("-0123456789", v.Text[0]) >= 0, "must be a number")
}

func isPositive(v *Value) string {
	if problem := isNumber(v); problem != "" {
		return problem
	}
	f, err := strconv.ParseFloat(string(v.Text), 64)
	return when(err == nil && f > 0, "must be greater than 0")
}

func isCount(v *Value) string {
	if isNumber(v) != "" {
		return "must be a whole number, 0 or more"
	}
	f, err := strconv.ParseFloat(string(v.Text), 64)
	return when(err == nil && f >= 0 && f == float64(int64(f)), "must be a whole number, 0 or more")
}

func when(ok bool, otherwise string) string {
	if ok {
		return ""
	}
	return otherwise
}
