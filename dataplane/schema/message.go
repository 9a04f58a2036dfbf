package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// keyword returns the JSON Schema keyword that k is a failure of.
func keyword(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.FalseSchema:
		return "false"
	case *kind.Not:
		return "not"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// message says what the schema asks for. It repeats words of the schema, and names
// of members where they are the problem, but no value.
func message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("Expected %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return "Value must be one of " + list(k.Want)
	case *kind.Const:
		return "Value must be " + list([]any{k.Want})
	case *kind.Format:
		return "Value is not a valid " + k.Want
	case *kind.Pattern:
		return "Value does not match the pattern " + k.Want
	case *kind.AdditionalProperties, *kind.FalseSchema:
		return "Unknown field"
	case *kind.PropertyNames:
		return fmt.Sprintf("Field name is not allowed: %.128s", k.Property)
	case *kind.UniqueItems:
		return "Items must differ from each other"
	case *kind.OneOf:
		return "Value matches more than one of the allowed forms"
	case *kind.Not:
		return "Value has a form that is not allowed"
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		return "Value has not the right number of matching items"
	}
	if m := sizeMessage(k); m != "" {
		return m
	}
	return "Value is not valid"
}

// sizeMessage says which bound k is a failure of; "" if it is none.
func sizeMessage(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "Value must have at least " + count(k.Want, "character")
	case *kind.MaxLength:
		return "Value must have at most " + count(k.Want, "character")
	case *kind.MinItems:
		return "Value must have at least " + count(k.Want, "item")
	case *kind.MaxItems:
		return "Value must have at most " + count(k.Want, "item")
	case *kind.MinProperties:
		return "Value must have at least " + count(k.Want, "field")
	case *kind.MaxProperties:
		return "Value must have at most " + count(k.Want, "field")
	case *kind.Minimum:
		return "Value must be at least " + number(k.Want)
	case *kind.Maximum:
		return "Value must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "Value must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "Value must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "Value must be a multiple of " + number(k.Want)
	case *kind.AdditionalItems:
		return "Value has too many items"
	}
	return ""
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

// maxListed is the number of values after which a list of them ends.
const maxListed = 20

// list returns values of the schema, as JSON but strings without quotes.
func list(values []any) string {
	var words []string
	for i, v := range values {
		if i == maxListed {
			words = append(words, fmt.Sprintf("%d more", len(values)-i))
			break
		}
		words = append(words, word(v))
	}
	return strings.Join(words, ", ")
}

func word(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "a certain value"
	}
	return string(data)
}
