package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestReadme compiles the binding that README.md shows, and misspells it as README.md
// does: what is printed then is what README.md says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, binding, _ := strings.Cut(string(readme), "```cue\n")
	binding, _, ok := strings.Cut(binding, "```")
	if !ok {
		t.Fatal("README.md shows no binding")
	}
	if got := vetted(t, binding); got != "" {
		t.Errorf("the binding of README.md:\n%s", got)
	}
	_, want, _ := strings.Cut(string(readme), "$ bindery vet\n")
	want, _, _ = strings.Cut(want, "```")
	if got := vetted(t, strings.Replace(binding, "\t\tdescription:", "\t\tdesription:", 1)); got != want {
		t.Errorf("misspelt, it gives\n%s\nREADME.md says\n%s", got, want)
	}
}

// vetted returns what vet prints of a module with this binding.
func vetted(t *testing.T, binding string) string {
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(binding)},
		{Path: "library.json", Data: []byte(`{"$defs":{"Book":{"type":"object"}}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := diag.Print(&out, compiled.GetDiagnostics()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
