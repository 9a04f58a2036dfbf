package accept_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/accept"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// TestManyReferences holds that what a schema costs to compile follows its size: at many
// times that, as when each reference is looked for from the beginning of the document, the
// schema takes minutes.
func TestManyReferences(t *testing.T) {
	const definitions = 30_000
	var arms, defs bytes.Buffer
	for i := range definitions {
		fmt.Fprintf(&arms, `{"$ref":"#/$defs/D%d"},`, i)
		fmt.Fprintf(&defs, `"D%d":{"type":"object"},`, i)
	}
	doc, err := rawjson.Parse(fmt.Appendf(nil, `{"allOf":[%s{}],"$defs":{%s"~/":{}},"not":{"$ref":"#/$defs/~0~1"}}`, arms.Bytes(), defs.Bytes()), 128)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	accept.Compile(doc, "", func(string) func(string) bool { return nil })
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d references took %s", definitions, took)
	}
}

// TestReferences holds that a reference leads to what its JSON Pointer says.
func TestReferences(t *testing.T) {
	const defs = `"$defs":{"a/b~c d":{"type":"string"},"list":{"anyOf":[{"type":"null"},{"type":"integer"}]},"same":{"$ref":"#/$defs/list/anyOf/1"}}`
	for ref, want := range map[string]accept.Verdict{
		"#/$defs/a~1b~0c%20d":   accept.No,
		"#/$defs/list/anyOf/1":  accept.Yes,
		"#/$defs/list/anyOf/0":  accept.No,
		"#/$defs/list/anyOf/01": accept.Unknown,
		"#/$defs/same":          accept.Yes,
		"#/$defs/none":          accept.Unknown,
		"#/$defs/none/at/all":   accept.Unknown,
		"#":                     accept.Unknown,
		"other.json":            accept.Unknown,
	} {
		doc, err := rawjson.Parse(fmt.Appendf(nil, `{"$ref":%q,%s}`, ref, defs), 128)
		if err != nil {
			t.Fatal(err)
		}
		schema := accept.Compile(doc, "", func(string) func(string) bool { return nil })
		if got := schema.Verdict(rawjson.Value("1")); got != want {
			t.Errorf("%s says %d of 1, want %d", ref, got, want)
		}
	}
}
