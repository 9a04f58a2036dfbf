package schema

import (
	"testing"

	"github.com/bindery-dev/bindery/dataplane/accept"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// quickSeeds are schemas and values that are close to the edges of what is said
// quickly.
var quickSeeds = []struct{ schema, value string }{
	{`{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1}},"additionalProperties":false}`, `{"a":1}`},
	{`{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":1}},"additionalProperties":false}`, `{"a":1.0}`},
	{`{"type":"object","required":["a","a"]}`, `{"a":null}`},
	{`{"required":["a"]}`, `{"\u0061":1}`},
	{`{"enum":["a",1,null,true]}`, `"a"`},
	{`{"enum":[1,{"a":1}]}`, `{"a":1}`},
	{`{"enum":["a"],"const":"b"}`, `"b"`},
	{`{"const":1}`, `1.0`},
	{`{"oneOf":[{"type":"string"},{"enum":[{}]}]}`, `"x"`},
	{`{"oneOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`, `{"a":1,"b":2}`},
	{`{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"string","maxLength":2}}}`, `"äö"`},
	{`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true}`, `["a","b"]`},
	{`{"items":{"type":"string"},"prefixItems":[{"type":"number"}]}`, `[1,"a"]`},
	{`{"additionalProperties":false,"patternProperties":{"^a":true}}`, `{"ab":1}`},
	{`{"type":"string","pattern":"^[a-z]{3}$","format":"date"}`, `"abc"`},
	{`{"type":"string","format":"email"}`, `"a@b.example"`},
	{`{"type":"string","format":"nonsense"}`, `"a"`},
	{`{"minimum":1.5}`, `2`},
	{`{"minimum":1,"maximum":3}`, `1e0`},
	{`{"$ref":"#"}`, `1`},
	{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{}}}`},
	{`{"$id":"x","properties":{"a":{"$ref":"#/$defs/y"}},"$defs":{"y":false}}`, `{"a":1}`},
	{`{"not":{"type":"string"}}`, `1`},
	{`{"type":["string","null"],"minLength":1}`, `null`},
	{`{"allOf":[{"type":"string"},false]}`, `"a"`},
	{`{"items":false}`, `[]`},
	{`true`, `1`},
	{`{"type":"number"}`, `1e400`},
	{`{"unevaluatedProperties":false,"properties":{"a":true}}`, `{"b":1}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/x","type":"string","definitions":{"x":true}}`, `1`},
}

// FuzzQuick states the law of the quick look: its yes and its no are those of the
// library.
func FuzzQuick(f *testing.F) {
	for _, s := range quickSeeds {
		f.Add([]byte(s.schema), []byte(s.value))
	}
	f.Fuzz(func(t *testing.T, doc, value []byte) {
		s, err := Compile(doc, "")
		if err != nil {
			return
		}
		v, err := rawjson.Parse(value, 64)
		if err != nil || !bounded(v) {
			return
		}
		hold(t, s, v)
	})
}

func hold(t *testing.T, s *Schema, v rawjson.Value) {
	t.Helper()
	verdict, err := s.quick.Verdict(v), s.full(v)
	if verdict == accept.Yes && err != nil || verdict == accept.No && err == nil {
		t.Errorf("quick verdict %d of %s; the library says %v", verdict, v, err)
	}
}
