package schema_test

import (
	"io/fs"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/schema"
)

// TestDocumented holds that every definition and every field of the language has a
// comment that begins with its name: editors show it, and diagnostics take their
// hints from it. A comment may speak for the fields that follow it.
func TestDocumented(t *testing.T) {
	names, err := fs.Glob(schema.FS, "bind/*.cue")
	if err != nil || len(names) == 0 {
		t.Fatal("no files: ", err)
	}
	for _, name := range names {
		data, err := schema.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(name, data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		undocumented(t, f.Decls)
	}
}

func undocumented(t *testing.T, decls []ast.Decl) {
	last := ""
	for _, d := range decls {
		field, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		label, _, err := ast.LabelName(field.Label)
		if err != nil || strings.HasPrefix(label, "_") {
			continue // a pattern, or not for authors
		}
		if doc := comment(field); doc != "" {
			last = doc
		}
		if !mentions(last, strings.TrimPrefix(label, "#")) {
			t.Errorf("%s: the comment of %s does not speak of it: %q", field.Pos(), label, last)
		}
		if body, ok := field.Value.(*ast.StructLit); ok && !strings.HasPrefix(last, "members names") {
			undocumented(t, body.Elts)
		}
	}
}

func comment(f *ast.Field) string {
	for _, g := range ast.Comments(f) {
		if g.Doc {
			return g.Text()
		}
	}
	return ""
}

func mentions(doc, name string) bool {
	for _, word := range strings.Fields(doc)[:min(4, len(strings.Fields(doc)))] {
		if strings.Trim(word, ":,") == name {
			return true
		}
	}
	return false
}
