package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
)

func TestCheck(t *testing.T) {
	const zoo = `"type":"object","required":["name","age"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":2,"maxLength":3}, "age":{"type":"integer","minimum":0,"exclusiveMaximum":99.5},
		"tags":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}},
		"born":{"format":"date-time"}, "mail":{"format":"email"}, "home":{"format":"uri"}, "code":{"pattern":"^[a-z]+$"},
		"size":{"enum":["s","m","l"]}, "kind":{"const":"animal"}, "odd name":{"type":"string"}, "step":{"multipleOf":0.5}, "no":false, "map":{"type":"object","minProperties":1,"propertyNames":{"maxLength":3}}}`
	tests := []struct {
		name   string
		schema string
		value  string
		want   string // path: keyword: message; "" when the value is good
	}{
		{name: "good", schema: zoo, value: `{"name":"Ada","age":3,"tags":[{"id":"x"}],"born":"2026-01-31T09:30:00Z","mail":"a@b.example","home":"https://a.example/"}`},
		{name: "one is missing", schema: zoo, value: `{"name":"Ada"}`, want: "$.age: required: Missing required field: age"},
		{name: "the schema's order counts", schema: zoo, value: `{}`, want: "$.name: required: Missing required field: name"},
		{name: "misspelt", schema: zoo, value: `{"nam":"Ada","age":3}`, want: "$.name: required: Missing required field: name"},
		{name: "superfluous", schema: zoo, value: `{"name":"Ada","age":3,"zzz":1,"aaa":2}`, want: "$.aaa: additionalProperties: Unknown field"},
		{name: "missing deep inside", schema: zoo, value: `{"name":"Ada","age":3,"tags":[{"id":"x"},{}]}`, want: "$.tags[1].id: required: Missing required field: id"},
		{name: "wrong type deep inside", schema: zoo, value: `{"name":"Ada","age":3,"tags":[{"id":7}]}`, want: "$.tags[0].id: type: Expected string, got number"},
		{name: "the shallow one first", schema: zoo, value: `{"name":"Ada","age":"3","tags":[{"id":7}]}`, want: "$.age: type: Expected integer, got string"},
		{name: "an integer by value", schema: zoo, value: `{"name":"Ada","age":3.0}`},
		{name: "not an integer", schema: zoo, value: `{"name":"Ada","age":3.5}`, want: "$.age: type: Expected integer, got number"},
		{name: "null", schema: zoo, value: `{"name":null,"age":3}`, want: "$.name: type: Expected string, got null"},
		{name: "wrong as a whole", schema: zoo, value: `[1]`, want: "$: type: Expected object, got array"},
		{name: "too short", schema: zoo, value: `{"name":"A","age":3}`, want: "$.name: minLength: Value must have at least 2 characters"},
		{name: "too long", schema: zoo, value: `{"name":"Augusta","age":3}`, want: "$.name: maxLength: Value must have at most 3 characters"},
		{name: "too small", schema: zoo, value: `{"name":"Ada","age":-1}`, want: "$.age: minimum: Value must be at least 0"},
		{name: "too large", schema: zoo, value: `{"name":"Ada","age":100}`, want: "$.age: exclusiveMaximum: Value must be less than 99.5"},
		{name: "no items", schema: zoo, value: `{"name":"Ada","age":3,"tags":[]}`, want: "$.tags: minItems: Value must have at least 1 item"},
		{name: "equal items", schema: zoo, value: `{"name":"Ada","age":3,"tags":[{"id":"x","n":1},{"n":1.0,"id":"x"}]}`, want: "$.tags: uniqueItems: Items must differ from each other"},
		{name: "date-time", schema: zoo, value: `{"name":"Ada","age":3,"born":"yesterday"}`, want: "$.born: format: Value is not a valid date-time"},
		{name: "email", schema: zoo, value: `{"name":"Ada","age":3,"mail":"ada"}`, want: "$.mail: format: Value is not a valid email"},
		{name: "uri", schema: zoo, value: `{"name":"Ada","age":3,"home":"/relative"}`, want: "$.home: format: Value is not a valid uri"},
		{name: "pattern", schema: zoo, value: `{"name":"Ada","age":3,"code":"A1"}`, want: "$.code: pattern: Value does not match the pattern ^[a-z]+$"},
		{name: "enum", schema: zoo, value: `{"name":"Ada","age":3,"size":"xl"}`, want: "$.size: enum: Value must be one of s, m, l"},
		{name: "const", schema: zoo, value: `{"name":"Ada","age":3,"kind":"plant"}`, want: "$.kind: const: Value must be animal"},
		{name: "odd name", schema: zoo, value: `{"name":"Ada","age":3,"odd name":1}`, want: "$['odd name']: type: Expected string, got number"},
		{name: "multiple", schema: zoo, value: `{"name":"Ada","age":3,"step":0.7}`, want: "$.step: multipleOf: Value must be a multiple of 0.5"},
		{name: "never", schema: zoo, value: `{"name":"Ada","age":3,"no":0}`, want: "$.no: false: Unknown field"},
		{name: "property name", schema: zoo, value: `{"name":"Ada","age":3,"map":{"long name":1}}`, want: "$: propertyNames: Field name is not allowed: long name"},
		{name: "empty map", schema: zoo, value: `{"name":"Ada","age":3,"map":{}}`, want: "$.map: minProperties: Value must have at least 1 field"},
		{name: "dependent", schema: `"dependentRequired":{"a":["b"]}`, value: `{"a":1}`, want: "$.b: dependentRequired: Missing required field: b"},
		{name: "unevaluated", schema: `"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false`, value: `{"a":1,"b":1}`, want: "$.b: false: Unknown field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.schema, tt.value, tt.want) })
	}
}

func TestAlternatives(t *testing.T) {
	const tagged = `"oneOf":[
		{"type":"object","required":["kind","wings"],"properties":{"kind":{"const":"bird"},"wings":{"type":"integer"}}},
		{"type":"object","required":["kind","legs"],"properties":{"kind":{"enum":["dog"]},"legs":{"type":"integer"},"coat":{"enum":["long","short"]}}}]`
	const nullable = `"properties":{"owner":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/Owner"}]}},"$defs":{"Owner":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}`
	tests := []struct{ name, schema, value, want string }{
		{"the tag tells", tagged, `{"kind":"dog"}`, "$.legs: required: Missing required field: legs"},
		{"an enumeration is no tag", tagged, `{"kind":"dog","legs":4,"coat":"wet"}`, "$.coat: enum: Value must be one of long, short"},
		{"unknown tag", tagged, `{"kind":"fish"}`, "$: oneOf: Value matches none of the allowed forms"},
		{"no tag", tagged, `{}`, "$: oneOf: Value matches none of the allowed forms"},
		{"type tells", nullable, `{"owner":{}}`, "$.owner.id: required: Missing required field: id"},
		{"none of the types", nullable, `{"owner":7}`, "$.owner: type: Expected null or object, got number"},
		{"none of the types of all", `"anyOf":[{"oneOf":[{"type":["string","null"]},{"type":"integer"}]},{"type":"null"}]`, `{}`, "$: type: Expected null or string or integer, got object"},
		{"type tells of nothing", `"anyOf":[{"type":"null"},{"type":"string"},{"minimum":9}]`, `7`, "$: minimum: Value must be at least 9"},
		{"more than one", `"oneOf":[{"minimum":1},{"maximum":3}]`, `2`, "$: oneOf: Value matches more than one of the allowed forms"},
		{"a plain failure comes first", `"properties":{"b":{"type":"string"},"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, `{"a":1,"b":1}`, "$.b: type: Expected string, got number"},
		{"all of them", `"allOf":[{"required":["b"]},{"required":["a"]}]`, `{}`, "$.a: required: Missing required field: a"},
		{"condition", `"if":{"required":["a"]},"then":{"required":["b"]}`, `{"a":1}`, "$.b: required: Missing required field: b"},
		{"not", `"properties":{"a":{"not":{"type":"string"}}}`, `{"a":"secret"}`, "$.a: not: Value has a form that is not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.schema, tt.value, tt.want) })
	}
}

// check holds the violation of value to want, and to being the same every time.
func check(t *testing.T, members, value, want string) {
	t.Helper()
	s := compile(t, `{`+members+`}`)
	v, err := rawjson.Parse([]byte(value), 64)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got := ""
		if err := s.Check(v); err != nil {
			violation := err.(*schema.Violation)
			got = violation.Path + ": " + violation.Keyword + ": " + violation.Message
			if violation.Root != (violation.Path == "$" && violation.Keyword == "type") {
				t.Errorf("Root is %t", violation.Root)
			}
		}
		if got != want {
			t.Fatalf("Check(%s)\n got %s\nwant %s", value, got, want)
		}
	}
}

func compile(t testing.TB, doc string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(doc), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the caller sent is in no message, whatever keyword refused it.
func TestMessagesHoldNoValues(t *testing.T) {
	const secret = "4111111111111111"
	keywords := []string{
		`"type":"integer"`, `"enum":["a"]`, `"const":"a"`, `"format":"email"`, `"pattern":"^a$"`, `"maxLength":3`, `"minLength":99`, `"not":{}`,
		`"oneOf":[{"const":"a"},{"const":"b"}]`, `"anyOf":[{"type":"null"},{"maxLength":3}]`, `"format":"uri"`, `"format":"date"`, `"format":"uuid"`, `"format":"regex","pattern":"["`,
		`"allOf":[{"pattern":"^a$"}]`, `"contains":{"const":1},"type":"array"`,
	}
	for _, k := range keywords {
		s, err := schema.Compile([]byte(`{"properties":{"a":{`+k+`}}}`), "")
		if err != nil {
			continue // the one that is meant to be bad
		}
		v, _ := rawjson.Parse([]byte(`{"a":"`+secret+`"}`), 9)
		err = s.Check(v)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", k, err)
		}
	}
}

// Names come from the caller too: only so much of them is repeated.
func TestPathsAreBounded(t *testing.T) {
	s := compile(t, `{"additionalProperties":{"$ref":"#"},"maxProperties":1}`)
	deep := strings.Repeat(`{"`+strings.Repeat("n", 100)+`":`, 50) + `{"a":1,"b":2}` + strings.Repeat("}", 50)
	for _, value := range []string{`{"` + strings.Repeat("x", 1<<20) + `":{"a":1,"b":2}}`, deep} {
		v, err := rawjson.Parse([]byte(value), 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(v); err == nil || len(err.Error()) > 1024 {
			t.Errorf("error has %d bytes", len(err.Error()))
		}
	}
}

// A place is told in words of the schema, whatever callers call their members.
func TestPlaces(t *testing.T) {
	const doc = `{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"odd name":{"items":{"type":"string"}},
		"tree":{"$ref":"#"},"map":{"additionalProperties":{"type":"integer"}},"grid":{"items":{"items":{"enum":[1]}}}},"maxProperties":3}`
	deep := strings.Repeat(`{"id":"1","tree":`, 40) + `{}` + strings.Repeat(`}`, 40)
	tests := []struct{ value, want string }{
		{`{}`, "$.id"},
		{`{"id":"1","odd name":["a",7]}`, "$['odd name'][*]"},
		{`{"id":"1","map":{"4111111111111111":"x"}}`, "$.map.*"},
		{`{"id":"1","map":{"tree":"x"}}`, "$.map.tree"},
		{`{"id":"1","tree":{"id":"1","tree":{}}}`, "$.tree.tree.id"},
		{`{"id":"1","grid":[[1],[1,2]]}`, "$.grid[*][*]"},
		{`{"id":"1","x":1,"y":2,"z":3}`, "$"},
		{deep, "$" + strings.Repeat(".tree", 16) + "..*"},
	}
	s := compile(t, doc)
	for _, tt := range tests {
		v, err := rawjson.Parse([]byte(tt.value), 64)
		if err != nil {
			t.Fatal(err)
		}
		violation, ok := s.Check(v).(*schema.Violation)
		if !ok || violation.Place != tt.want {
			t.Errorf("Check(%s) is %+v, want the place %s", tt.value, violation, tt.want)
		}
	}
}

// Exact arithmetic on 1e999999999 would take a gigabyte.
func TestNumbersAreBounded(t *testing.T) {
	s := compile(t, `{"items":{"minimum":0,"multipleOf":0.01},"uniqueItems":true}`)
	for value, good := range map[string]bool{
		`[1e999]`: true, `[1e+0999]`: true, `[1E-999]`: false, `[12345678901234567890]`: true,
		`[1e1000]`: false, `[1e-1000]`: false, `[1E999999999]`: false, `[{"a":1e99999}]`: false, `[` + strings.Repeat("9", 1001) + `]`: false,
	} {
		v, err := rawjson.Parse([]byte(value), 64)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Check(v)
		if (err == nil) != good {
			t.Errorf("Check(%.30s): %v", value, err)
		}
		if strings.Contains(value, "1000") && !errors.Is(err, schema.ErrNumber) {
			t.Errorf("Check(%.30s): %v, want ErrNumber", value, err)
		}
	}
}

func TestCompile(t *testing.T) {
	tests := []struct{ name, doc, fragment, wantErr string }{
		{name: "whole", doc: `{"type":"object"}`},
		{name: "part", doc: `{"properties":{"payload":{"$ref":"#/$defs/X"}},"$defs":{"X":{"type":"object"}}}`, fragment: "/properties/payload"},
		{name: "no JSON", doc: `{`, wantErr: "not a JSON document"},
		{name: "no schema", doc: `{"type":7}`, wantErr: "is not valid against metaschema"},
		{name: "no such part", doc: `{}`, fragment: "/properties/payload", wantErr: "not found"},
		{name: "reference to nothing", doc: `{"$ref":"#/$defs/X"}`, wantErr: "not found"},
		{name: "reference to a file", doc: `{"$ref":"file:///etc/hostname"}`, wantErr: "the document refers to something outside of it"},
		{name: "reference to an address", doc: `{"$ref":"https://example.com/x.json"}`, wantErr: "the document refers to something outside of it"},
		{name: "reference beside it", doc: `{"$ref":"other.json"}`, wantErr: "the document refers to something outside of it"},
		{name: "pattern", doc: `{"pattern":"(?=a)"}`, wantErr: "pattern"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile([]byte(tt.doc), tt.fragment)
			if (err != nil) != (tt.wantErr != "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("error is %v, want one with %q", err, tt.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %q", err)
			}
		})
	}
}

// FuzzCheck holds that neither documents nor values make the validator panic, and
// that a refusal has a place and a message.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"object","required":["a"]}`), []byte(`{}`))
	f.Add([]byte(`{"properties":{"a":{"oneOf":[{"const":1},{"type":"string"}]}}}`), []byte(`{"a":2}`))
	f.Add([]byte(`{"propertyNames":{"maxLength":1},"items":{"multipleOf":0.1}}`), []byte(`[[{"abc":1e5}]]`))
	f.Add([]byte(`{"$ref":"#"}`), []byte(`1`))
	f.Add([]byte(`{"minimum":1e999999999}`), []byte(`1`))
	f.Fuzz(func(t *testing.T, doc, value []byte) {
		s, err := schema.Compile(doc, "")
		if err != nil {
			return
		}
		v, err := rawjson.Parse(value, 64)
		if err != nil {
			return
		}
		var violation *schema.Violation
		if err := s.Check(v); errors.As(err, &violation) && (!strings.HasPrefix(violation.Path, "$") || !strings.HasPrefix(violation.Place, "$") || violation.Message == "") {
			t.Errorf("violation is %#v", violation)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"string"},"quantity":{"type":"integer","minimum":1}}}}}}`)
	v, err := rawjson.Parse([]byte(`{"items":[`+strings.Repeat(`{"id":"item_1","quantity":2},`, 9)+`{"id":"x"}]}`), 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Check(v); err != nil {
			b.Fatal(err)
		}
	}
}
