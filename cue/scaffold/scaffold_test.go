package scaffold_test

import (
	"bytes"
	"path"
	"slices"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/format"
	"github.com/bindery-dev/bindery/cue/scaffold"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func TestModuleCompiles(t *testing.T) {
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: scaffold.Module("example.com/shop@v0")})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compiled.GetDiagnostics() {
		t.Error(d)
	}
	if compiled.GetModule() != "example.com/shop@v0" {
		t.Errorf("module is %q", compiled.GetModule())
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, tool := range content.Bindings[0].GetTools() {
		tools = append(tools, tool.GetName())
	}
	if want := []string{"add_book", "find_books", "get_book"}; !slices.Equal(tools, want) {
		t.Errorf("tools are %q, want %q", tools, want)
	}
}

// TestModuleIsFormatted holds that `bindery fmt` has nothing to do after
// `bindery init`.
func TestModuleIsFormatted(t *testing.T) {
	for _, f := range scaffold.Module("example.com/shop@v0") {
		if path.Ext(f.GetPath()) != ".cue" {
			continue
		}
		formatted, problems := format.Source(f.GetPath(), f.GetData())
		if len(problems) > 0 || !bytes.Equal(formatted, f.GetData()) {
			t.Errorf("%s is not formatted: %v", f.GetPath(), problems)
		}
	}
}
