// Package fill puts values in the places that a bundle leaves open: a text or the
// arguments of a call as the IR has them come in, with the values of variables, and
// a string or a JSON object goes out.
//
// A value is only ever inserted: nothing in it is taken for a place of another.
package fill

import (
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Values are those of variables, by name. A variable without one is not there.
type Values map[string]string

// Text returns t with values; a variable without one stands for nothing.
func Text(t *irv1.Text, values Values) string {
	var b strings.Builder
	for _, part := range t.GetParts() {
		if k, ok := part.GetKind().(*irv1.TextPart_Variable); ok {
			b.WriteString(values[k.Variable])
		} else {
			b.WriteString(part.GetLiteral())
		}
	}
	return b.String()
}

// JSON returns t, whose variables stand within strings of JSON, with values.
func JSON(t *irv1.Text, values Values) string {
	var b strings.Builder
	for _, part := range t.GetParts() {
		if k, ok := part.GetKind().(*irv1.TextPart_Variable); ok {
			quoted := rawjson.Quote(values[k.Variable])
			b.Write(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(part.GetLiteral())
		}
	}
	return b.String()
}

// Arguments returns the object of arguments that all make with values. One that needs
// a variable which has no value is not in it.
func Arguments(all []*irv1.UseArgument, values Values) []byte {
	b := []byte{'{'}
	for _, a := range all {
		value := argument(a, values)
		if value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendQuote(b, a.GetName()), ':')
		b = append(b, value...)
	}
	return append(b, '}')
}

// argument returns the JSON of a; nil when a variable that it needs has no value.
func argument(a *irv1.UseArgument, values Values) []byte {
	switch k := a.GetValue().(type) {
	case *irv1.UseArgument_Text:
		if !complete(k.Text, values) {
			return nil
		}
		return rawjson.Quote(Text(k.Text, values))
	case *irv1.UseArgument_Scalar:
		if value, ok := values[k.Scalar]; ok {
			return scalar(value)
		}
		return nil
	}
	return a.GetJson()
}

// complete reports whether each variable of t has a value.
func complete(t *irv1.Text, values Values) bool {
	for _, part := range t.GetParts() {
		if k, ok := part.GetKind().(*irv1.TextPart_Variable); ok {
			if _, ok := values[k.Variable]; !ok {
				return false
			}
		}
	}
	return true
}

// scalar returns the number, the true or the false that value is, or else value as a
// string.
func scalar(value string) []byte {
	v, err := rawjson.Parse([]byte(value), 1)
	if err == nil && (v.Kind() == rawjson.Number || v.Kind() == rawjson.Bool) {
		return v
	}
	return rawjson.Quote(value)
}
