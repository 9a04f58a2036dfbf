package compile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestSchemasDoc holds that the binding of docs/schemas.md compiles in silence.
func TestSchemasDoc(t *testing.T) {
	page, err := os.ReadFile("../../docs/schemas.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```cue\n")
	binding, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/schemas.md has no binding")
	}
	const book = `{"type": "object", "required": ["isbn"], "additionalProperties": false, "properties": {
		"isbn": {"type": "string"}, "shelf": {"enum": ["a", "b"]}, "authors": {"items": {"$ref": "people.json#/$defs/Person"}}}}`
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(binding)},
		{Path: "library.json", Data: []byte(`{"$defs": {"Book": ` + book + `}}`)},
		{Path: "people.json", Data: []byte(`{"$defs": {"Person": {"type": "object", "additionalProperties": false}}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := diag.Print(&b, compiled.GetDiagnostics()); err != nil || b.Len() > 0 {
		t.Errorf("diagnostics are %s, %v", b.String(), err)
	}
	open(t, compiled)
}
