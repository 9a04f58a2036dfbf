package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		want     string
	}{
		{"nothing", "", "d.json:1:1: unexpected end of the document"},
		{"open object", "{\n \"a\": 1", "d.json:2:8: unexpected end of the document"},
		{"no colon", "{\n \"a\" 1}", "d.json:2:6: invalid character '1' after object key"},
		{"comma at the end", "[1,\n]", "d.json:2:1: invalid character ']' looking for beginning of value"},
		{"two values", "1 2", "d.json:1:3: more than one value"},
		{"member twice", "{\"a\": 1,\n  \"\\u0061\": 2}", "d.json:2:3: member \"a\" occurs twice"},
		{"invalid UTF-8", "[\n\"\xff\"]", "d.json:2:2: invalid UTF-8"},
		{"comma after the value", "[],", "d.json:1:3: more than one value"},
		{"gigantic number", "[1, -1e999999999]", "d.json:1:5: number is too large, or has too many digits"},
		{"tiny number", "[1, 1e-999999999]", "d.json:1:5: number is too large, or has too many digits"},
		{"number that is infinite to most", "1e700", "d.json:1:1: number is too large, or has too many digits"},
		{"bare word", "[nul]", "d.json:1:5: invalid character ']' in literal null (expecting 'l')"},
		{"too deep", strings.Repeat("[", 200), "d.json:1:129: nested deeper than 128"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := document.Parse("d.json", []byte(tt.in))
			var syntax *document.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error is %v", err)
			}
			if got := diag.Place(syntax.Pos) + ": " + syntax.Msg; got != tt.want {
				t.Errorf("error is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestByteOrderMark holds that a byte order mark is passed over where a document begins,
// and no place counts it.
func TestByteOrderMark(t *testing.T) {
	d, err := document.Parse("d.json", []byte("\ufeff{\"a\": \"\ufeff\"}"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.At("/a")
	if err != nil || diag.Place(v.Pos()) != "d.json:1:7" || string(d.Root.AppendJSON(nil)) != "{\"a\":\"\ufeff\"}" {
		t.Errorf("a is at %s, %v; the document is %s", diag.Place(v.Pos()), err, d.Root.AppendJSON(nil))
	}
	if _, err := document.Parse("d.json", []byte("\ufeff\ufeff{}")); err == nil {
		t.Error("a second mark is passed over")
	}
}

func TestAt(t *testing.T) {
	d, err := document.Parse("d.json", []byte(`{"a/b": [{"c~d": 1}], "": {"x": null}}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{"/a~1b/0/c~0d": "1", "//x": "null", "/a~1b/0": `{"c~d":1}`} {
		v, err := d.At(pointer)
		if err != nil || string(v.AppendJSON(nil)) != want {
			t.Errorf("at %s is %v, %v", pointer, v, err)
		}
	}
	for pointer, want := range map[string]string{
		"/x": `the document has no "x"`, "/a~1b/1": `/a~1b has no "1"`, "/a~1b/-1": `/a~1b has no "-1"`, "x": `the document has no "x"`,
		"/a~1b/0/c~0d/e": `/a~1b/0/c~0d has no "e"`,
	} {
		if _, err := d.At(pointer); err == nil || err.Error() != want {
			t.Errorf("at %s: %v, want %s", pointer, err, want)
		}
	}
	if got := document.Tokens("/a~1b//c~0d"); !slices.Equal(got, []string{"a/b", "", "c~d"}) || document.Tokens("") != nil {
		t.Errorf("tokens are %q", got)
	}
}

// TestAmbiguousID holds that a $ref by an $id that two documents have is refused,
// and names both.
func TestAmbiguousID(t *testing.T) {
	set := document.NewSet(map[string][]byte{
		"a.json": []byte(`{"$ref": "https://x.example/same.json"}`),
		"b.json": []byte(`{"$id": "https://x.example/same.json"}`),
		"c.json": []byte(`{"$id": "https://x.example/same.json"}`),
	})
	got := problems(t, set, "a.json", "")
	want := "a.json:1:10: $ref \"https://x.example/same.json\": b.json and c.json both have the $id \"https://x.example/same.json\": refer to one by its file name\n"
	if got != want {
		t.Errorf("problems are %s", got)
	}
}

// TestManyProblems holds that of a document with a problem in every value the first are
// told, and soon.
func TestManyProblems(t *testing.T) {
	const values = 200_000
	set := document.NewSet(map[string][]byte{"a.json": []byte(`{"allOf": [` + strings.Repeat("1,\n", values) + `{}]}`)})
	began := time.Now()
	lines := strings.Split(strings.TrimSpace(problems(t, set, "a.json", "")), "\n")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d problems took %s", values, took)
	}
	if last := "a.json:101:1: the document has more problems, which are not shown"; len(lines) != 101 || lines[100] != last {
		t.Errorf("there are %d problems, the last is %s", len(lines), lines[len(lines)-1])
	}
	if want := "a.json:100:1: a schema is an object, true or false"; lines[99] != want {
		t.Errorf("problem 100 is %s, want %s", lines[99], want)
	}
}

// TestReferences holds that a $ref leads where its document says, or nowhere.
func TestReferences(t *testing.T) {
	const below = `{"$defs": {"A": {"$id": "https://x.example/a.json", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {}}}, "N": {}}, `
	tests := []struct {
		name, in, want string
	}{
		{"a path", `{"$ref": "v1/common.json"}`, ""},
		{"a path out of the directory", `{"$ref": "../v2/common.json"}`,
			`d/d.json:1:10: $ref "../v2/common.json": no such document: there is no file v2/common.json`},
		{"a URI whose file is here", `{"$ref": "https://x.example/v2/common.json"}`, ""},
		{"another path by $id", `{"$id": "https://x.example/v1/d.json", "$ref": "../v3/other.json"}`, ""},
		{"below an $id", below + `"$ref": "#/$defs/A"}`,
			`d/d.json:1:82: $ref "#/$defs/N" is relative to the $id "https://x.example/a.json" that it stands below`},
		{"into what is below an $id", below + `"$ref": "#/$defs/A/properties/n"}`,
			`d/d.json:1:82: $ref "#/$defs/N" is relative to the $id "https://x.example/a.json" that it stands below`},
		{"beside an $id", below + `"$ref": "#/$defs/A/$defs/N"}`, ""},
		{"a whole URI below an $id", `{"$id": "https://x.example/d.json", "items": {"$id": "a", "$ref": "https://x.example/v2/common.json"}}`, ""},
		{"an $id that is a fragment", `{"$ref": "#/$defs/A", "$defs": {"A": {"$id": "#A", "$ref": "common.json"}}}`, ""},
		{"only itself", `{"$ref": "#"}`, "d/d.json:1:10: $ref leads back to where it stands, for the same value: a check would not end"},
		{"each other", `{"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"anyOf": [{}, {"not": {"$ref": "#/$defs/A"}}]}}}`,
			"d/d.json:1:111: $ref leads back to where it stands, for the same value: a check would not end"},
		{"by a property", `{"$ref": "#/$defs/A", "$defs": {"A": {"oneOf": [{"properties": {"a": {"$ref": "#/$defs/A"}}}, {"items": {"$ref": "#"}}]}}}`, ""},
		{"one from two sides", `{"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}], "$defs": {"A": {}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := document.NewSet(map[string][]byte{
				"d/d.json":         []byte(tt.in),
				"d/common.json":    []byte(`{}`),
				"d/v1/common.json": []byte(`{}`),
				"other.json":       []byte(`{"$id": "https://x.example/v3/other.json"}`),
			})
			got, _, _ := strings.Cut(problems(t, set, "d/d.json", ""), "\n")
			if got != tt.want {
				t.Errorf("problems are %s, want %s", got, tt.want)
			}
		})
	}
}

func problems(t *testing.T, set *document.Set, name, pointer string) string {
	t.Helper()
	d, err := set.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	list := &diag.List{}
	set.NewBundle(nil, list).Add(d, pointer, "")
	var b strings.Builder
	if err := diag.Print(&b, list.Sorted()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzParse holds that what parses is the JSON that it was: the standard library
// reads it as the same value, and refuses nothing that Parse accepts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 2.50, "x\n", null, true], "b": {}}`, `"\ud800"`, ` [ ] `, `1e5`, `{"a":1,"a":2}`, "\"\u2028<\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := document.Parse("d.json", data)
		if err != nil {
			return
		}
		out := d.Root.AppendJSON(nil)
		if !same(data, out) {
			t.Errorf("%q became %q", data, out)
		}
		again, err := document.Parse("d.json", out)
		if err != nil || !bytes.Equal(again.Root.AppendJSON(nil), out) {
			t.Errorf("%q parses to something else: %v", out, err)
		}
	})
}

func same(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}

// FuzzBundle holds that schemas that are bundled without a problem compile, need
// nothing from elsewhere, and so would run on a node.
func FuzzBundle(f *testing.F) {
	for _, seed := range []string{
		`{"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "object", "properties": {"a": {"$ref": "#"}}}}, "$ref": "#/$defs/A"}`,
		`{"type": ["string", "null"], "pattern": "^a+$", "minLength": 1, "examples": [1]}`,
		`{"allOf": [true, {"not": {"enum": [1, "a", null]}}], "dependentRequired": {"a": ["b"]}}`,
		`{"$ref": "other.json#/$defs/X~1Y", "prefixItems": [{"$ref": "other.json"}]}`,
		`{"patternProperties": {"^x": {"format": "date"}}, "multipleOf": 0.5, "contains": {}, "minContains": 2.0}`,
		`{"if": {"const": 1}, "then": {"maximum": 1e3}, "else": false, "propertyNames": {"maxLength": 3}, "uniqueItems": true}`,
	} {
		f.Add([]byte(seed), "")
		f.Add([]byte(seed), "/$defs/A")
	}
	other := []byte(`{"$defs": {"X/Y": {"$ref": "#/$defs/Z"}, "Z": {"type": "integer"}}, "items": {"$ref": "d.json"}}`)
	f.Fuzz(func(t *testing.T, data []byte, pointer string) {
		set := document.NewSet(map[string][]byte{"d.json": data, "other.json": other})
		d, err := set.Open("d.json")
		if err != nil {
			return
		}
		if _, err := d.At(pointer); err != nil {
			return
		}
		list := &diag.List{}
		bundle := set.NewBundle(nil, list)
		schema, again := bundle.Add(d, pointer, "/properties/payload"), bundle.Add(d, pointer, "/properties/again")
		if list.Failed() {
			return
		}
		whole := document.Obj()
		whole.Add("properties", document.Obj(document.Member{Name: "payload", Value: schema}, document.Member{Name: "again", Value: again}))
		whole.Add("$defs", bundle.Defs)
		if err := compiles(whole.AppendJSON(nil)); err != nil {
			t.Errorf("%s at %q becomes %s: %v", data, pointer, whole.AppendJSON(nil), err)
		}
	})
}

type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, errors.New("outside: " + url) }

func compiles(schema []byte) error {
	_, err := compile(schema)
	return err
}

func mustCompile(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	s, err := compile(schema)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return s
}

// compile returns the schema of the payload in a document.
func compile(schema []byte) (*jsonschema.Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(nowhere{})
	if err := c.AddResource("bundle:///schema.json", v); err != nil {
		return nil, err
	}
	return c.Compile("bundle:///schema.json#/properties/payload")
}

func position(file string, line uint32) *sourcev1.Position {
	return &sourcev1.Position{File: file, Line: line, Column: 1}
}
