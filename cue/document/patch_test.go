package document_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
)

// TestPatch has what each part of a patch makes of each kind of schema.
func TestPatch(t *testing.T) {
	nullable, openEnum, open := document.Patch{Nullable: true}, document.Patch{OpenEnum: true}, document.Patch{Open: true}
	overlap := document.Patch{Overlap: true}
	optional := document.Patch{Optional: []string{"a", "c"}}
	tests := []struct {
		name     string
		patch    document.Patch
		in, want string
	}{
		{"null and a type", nullable, `{"type":"string","minLength":1}`, `{"type":["string","null"],"minLength":1}`},
		{"null and types", nullable, `{"type":["string","integer"]}`, `{"type":["string","integer","null"]}`},
		{"null and an enum", nullable, `{"enum":["a"],"title":"T"}`, `{"enum":["a",null],"title":"T"}`},
		{"null and an enum of a type", nullable, `{"type":"string","enum":["a"]}`, `{"type":["string","null"],"enum":["a",null]}`},
		{"null and a constant", nullable, `{"const":"a","title":"T"}`, `{"enum":["a",null],"title":"T"}`},
		{"null and a reference", nullable, `{"$ref":"#/$defs/A","description":"D"}`, `{"description":"D","anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`},
		{"null and alternatives", nullable, `{"anyOf":[{"type":"string"},{"$ref":"#/$defs/A"}]}`, `{"anyOf":[{"type":"string"},{"$ref":"#/$defs/A"},{"type":"null"}]}`},
		{"null and alternatives of a type", nullable, `{"type":"object","anyOf":[{"required":["a"]}]}`, `{"type":["object","null"],"anyOf":[{"required":["a"]}]}`},
		{"null and one of", nullable, `{"oneOf":[{},{"type":"string"}]}`, `{"anyOf":[{"oneOf":[{},{"type":"string"}]},{"type":"null"}]}`},
		{"null and all of", nullable, `{"allOf":[{"type":"string"}]}`, `{"anyOf":[{"allOf":[{"type":"string"}]},{"type":"null"}]}`},
		{"null and not", nullable, `{"not":{"type":"null"}}`, `{"anyOf":[{"not":{"type":"null"}},{"type":"null"}]}`},
		{"null and never", nullable, `false`, `{"type":"null"}`},
		{"null already: type", nullable, `{"type":["string","null"]}`, ``},
		{"null already: only", nullable, `{"type":"null"}`, ``},
		{"null already: enum", nullable, `{"enum":[null,"a"]}`, ``},
		{"null already: constant", nullable, `{"const":null}`, ``},
		{"null already: alternatives", nullable, `{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`, ``},
		{"null already: anything", nullable, `{}`, ``},
		{"null already: always", nullable, `true`, ``},

		{"enum of strings", openEnum, `{"enum":["a","b"],"description":"D."}`, `{"description":"D. Known values: a, b.","type":"string"}`},
		{"enum of a type", openEnum, `{"type":"string","enum":["a"]}`, `{"type":"string","description":"Known values: a."}`},
		{"enum of many types", openEnum, `{"enum":["a",1,null,{"b":2},[],1.5,true]}`, `{"type":["string","integer","null","object","array","number","boolean"],"description":"Known values: a, 1, {\"b\":2}, [], 1.5, true."}`},
		{"constant", openEnum, `{"const":"a"}`, `{"type":"string","description":"Known values: a."}`},
		{"empty enum", openEnum, `{"enum":[]}`, `{}`},
		{"no enum", openEnum, `{"type":"string"}`, ``},
		{"open enum and null", document.Patch{OpenEnum: true, Nullable: true}, `{"enum":["a"]}`, `{"type":["string","null"],"description":"Known values: a."}`},

		{"forms", overlap, `{"title":"T","oneOf":[{"type":"string"},true]}`, `{"title":"T","anyOf":[{"type":"string"},true]}`},
		{"forms of forms", overlap, `{"oneOf":[true],"anyOf":[false],"allOf":[{}]}`, `{"anyOf":[false],"allOf":[{},{"anyOf":[true]}]}`},
		{"forms of two kinds", overlap, `{"oneOf":[true],"anyOf":[false]}`, `{"allOf":[{"anyOf":[true]}],"anyOf":[false]}`},
		{"no forms", overlap, `{"anyOf":[true]}`, ``},
		{"forms and null", document.Patch{Overlap: true, Nullable: true}, `{"oneOf":[{"type":"string"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},

		{"closed", open, `{"additionalProperties":false,"unevaluatedProperties":false,"type":"object"}`, `{"type":"object"}`},
		{"open but for a schema", open, `{"additionalProperties":{"type":"string"}}`, ``},

		{"required", optional, `{"required":["a","b","c"]}`, `{"required":["b"]}`},
		{"only required", optional, `{"required":["a"],"type":"object"}`, `{"type":"object"}`},
		{"not required", optional, `{"required":["b"]}`, ``},
		{"nothing required", optional, `{}`, ``},

		{"first property", property("n", `{"type":"integer"}`), `{"type":"object"}`, `{"type":"object","properties":{"n":{"type":"integer"}}}`},
		{"another property", property("n", `true`), `{"properties":{"a":true},"title":"T"}`, `{"properties":{"a":true,"n":true},"title":"T"}`},
		{"the same property", property("a", `true`), `{"properties":{"a":false}}`, ``},
		{"nothing", document.Patch{}, `{"enum":[1],"required":["a"]}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, changes := patched(t, tt.in, tt.patch)
			if changes != (tt.want != "") {
				t.Errorf("it changes something: %t", changes)
			}
			if tt.want == "" {
				tt.want = tt.in
			}
			if got != tt.want {
				t.Errorf("it becomes %s, want %s", got, tt.want)
			}
		})
	}
}

// patched returns what bundling makes of a schema with a patch, and whether the patch
// says that it changes it.
func patched(t *testing.T, schema string, patch document.Patch) (string, bool) {
	t.Helper()
	set := document.NewSet(map[string][]byte{"d.json": []byte(`{"$defs":{"A":{},"S":` + schema + `}}`)})
	d, err := set.Open("d.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.At("/$defs/S")
	if err != nil {
		t.Fatal(err)
	}
	patches, list := &document.Patches{}, &diag.List{}
	patches.Add(v, patch)
	got := set.NewBundle(patches, list).Add(d, "/$defs/S", "")
	if list.Failed() {
		t.Errorf("problems are %v", list.Sorted())
	}
	if string(v.AppendJSON(nil)) != schema {
		t.Errorf("the document has become %s", v.AppendJSON(nil))
	}
	return string(got.AppendJSON(nil)), patch.Changes(v)
}

func property(name, schema string) document.Patch {
	d, err := document.Parse("p.json", []byte(schema))
	if err != nil {
		panic(err)
	}
	return document.Patch{Properties: []document.Member{{Name: name, Value: d.Root}}}
}

// TestPatchesAreMet holds that a patch is seen by whatever comes by its schema, and
// tells of it.
func TestPatchesAreMet(t *testing.T) {
	set := document.NewSet(map[string][]byte{
		"a.json": []byte(`{"$defs":{"A":{"items":{"$ref":"b.json#/$defs/B"}},"C":{"type":"string"}}}`),
		"b.json": []byte(`{"$defs":{"B":{"prefixItems":[{"$ref":"a.json#/$defs/C"},{"$ref":"#/$defs/B"}]}}}`),
	})
	a, _ := set.Open("a.json")
	c, err := a.At("/$defs/C")
	if err != nil {
		t.Fatal(err)
	}
	patches := &document.Patches{}
	if !patches.Add(c, document.Patch{Nullable: true}) || patches.Add(c, document.Patch{}) || patches.Met(c) {
		t.Error("a patch is added once, and not met before it is")
	}
	defs := definitions(set, a, patches, &diag.List{})
	if got := string(defs.Get("C").AppendJSON(nil)); got != `{"type":["string","null"]}` || !patches.Met(c) {
		t.Errorf("C is %s, and met: %t", got, patches.Met(c))
	}
	defs = definitions(set, a, nil, &diag.List{})
	if got := string(defs.Get("C").AppendJSON(nil)); got != `{"type":"string"}` {
		t.Errorf("without patches, C is %s", got)
	}
}

// definitions returns what bundling the definition A of d needs of others.
func definitions(set *document.Set, d *document.Document, patches *document.Patches, list *diag.List) *document.Value {
	bundle := set.NewBundle(patches, list)
	bundle.Add(d, "/$defs/A", "")
	return bundle.Defs
}

// TestFragment holds that a $ref in an added property is one of the document, and that
// a problem in it is where the property is written.
func TestFragment(t *testing.T) {
	set := document.NewSet(map[string][]byte{
		"x/a.json": []byte(`{"$defs":{"A":{"type":"object"},"N":{"type":"integer"}}}`),
		"x/b.json": []byte(`{"type":"string"}`),
	})
	a, _ := set.Open("x/a.json")
	v, _ := a.At("/$defs/A")
	list := &diag.List{}
	property, err := a.Fragment(position("in.cue", 7), []byte(`{"items":{"$ref":"#/$defs/N"},"contains":{"$ref":"b.json"},"not":{"$ref":"#/$defs/M"}}`))
	if err != nil {
		t.Fatal(err)
	}
	patches := &document.Patches{}
	patches.Add(v, document.Patch{Properties: []document.Member{{Name: "n", Value: property}}})
	defs := definitions(set, a, patches, list)
	if got := string(defs.AppendJSON(nil)); got != `{"N":{"type":"integer"},"b":{"type":"string"}}` {
		t.Errorf("definitions are %s", got)
	}
	if all := list.Sorted(); len(all) != 1 || diag.Place(all[0].GetPosition()) != "in.cue:7:1" {
		t.Errorf("problems are %v", all)
	}
	for _, bad := range []string{`{"a":1e999}`, `[1`} {
		if _, err := a.Fragment(nil, []byte(bad)); err == nil {
			t.Errorf("%s is a fragment", bad)
		}
	}
}

// FuzzPatch holds that a schema that bundles does so with any patch, that the result
// compiles, and that it lets through what went through before: null besides, where
// that is what the patch is for.
func FuzzPatch(f *testing.F) {
	schemas := []string{
		`{"oneOf":[{"type":"array","items":{"type":"string"}},{"type":"array"}],"type":"array"}`,
		`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"enum":["x",1]},"b":{"$ref":"#"}}}`,
		`{"anyOf":[{"const":1},{"type":["string","null"]}],"description":"D"}`,
		`{"allOf":[{"$ref":"#/$defs/A"}],"unevaluatedProperties":false,"$defs":{"A":{"properties":{"a":{"type":"string"}},"required":["a","b"]}}}`,
		`{"items":{"not":{"type":"string"}},"prefixItems":[false]}`,
	}
	values := []string{`[1]`, `{"a":"x"}`, `null`, `{"a":1,"b":{"a":"x"}}`, `["a",1]`, `1`}
	for i, s := range schemas {
		for _, pointer := range []string{"", "/properties/a", "/properties/b", "/anyOf/0", "/$defs/A", "/items"} {
			f.Add([]byte(s), pointer, byte(1<<i|17), []byte(values[i]))
			f.Add([]byte(s), pointer, byte(0xff), []byte(values[i+1]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, pointer string, parts byte, value []byte) {
		set := document.NewSet(map[string][]byte{"d.json": data})
		d, err := set.Open("d.json")
		if err != nil {
			return
		}
		at, err := d.At(pointer)
		if err != nil {
			return
		}
		patch := document.Patch{Nullable: parts&1 != 0, OpenEnum: parts&2 != 0, Open: parts&4 != 0, Overlap: parts&16 != 0}
		if parts&8 != 0 {
			patch.Optional = []string{"a", "b"}
		}
		patches := &document.Patches{}
		patches.Add(at, patch)
		before, after := whole(set, d, nil), whole(set, d, patches)
		if before == nil {
			return
		}
		if after == nil {
			t.Fatalf("%s does not bundle with %+v at %q", data, patch, pointer)
		}
		old, new := mustCompile(t, before), mustCompile(t, after)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err != nil || turns(d.Root) {
			return
		}
		if old.Validate(v) == nil && new.Validate(v) != nil {
			t.Errorf("%s, patched with %+v at %q, refuses %s: %v", data, patch, pointer, value, new.Validate(v))
		}
		if pointer == "" && patch.Nullable && new.Validate(nil) != nil {
			t.Errorf("%s, patched with %+v, refuses null: %s", data, patch, after)
		}
	})
}

// whole returns the document that the bundled root of d makes; nil when it does not
// bundle.
func whole(set *document.Set, d *document.Document, patches *document.Patches) []byte {
	list := &diag.List{}
	bundle := set.NewBundle(patches, list)
	schema := bundle.Add(d, "", "/properties/payload")
	if list.Failed() {
		return nil
	}
	return document.Obj(
		document.Member{Name: "properties", Value: document.Obj(document.Member{Name: "payload", Value: schema})},
		document.Member{Name: "$defs", Value: bundle.Defs},
	).AppendJSON(nil)
}

// turns reports whether v has a keyword under which letting more through refuses more.
func turns(v *document.Value) bool {
	for _, m := range v.Members {
		if slices.Contains([]string{"not", "if", "oneOf", "maxContains"}, m.Name) || turns(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(v.Items, turns)
}
