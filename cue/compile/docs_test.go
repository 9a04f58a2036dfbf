package compile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// example returns the binding that the first example of a page of docs compiles to, in
// a module that also has files. Nothing is an error.
func example(t *testing.T, page string, files ...*sourcev1.File) (*irv1.Binding, []*sourcev1.Diagnostic) {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```cue\n")
	main, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: append([]*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(main)},
	}, files...)})
	if err != nil {
		t.Fatal(err)
	}
	d := compiled.GetDiagnostics()
	if diag.Failed(d) {
		t.Fatalf("diagnostics are %v", d)
	}
	return open(t, compiled).Bindings[0], d
}

// TestPromptsPage holds that the example of the page on prompts compiles, and to what
// it says.
func TestPromptsPage(t *testing.T) {
	b, d := example(t, "prompts.md")
	prompts := b.GetPrompts()
	if len(prompts) != 2 || prompts[0].GetUse() == nil || len(prompts[1].GetMessages().GetMessages()) != 2 {
		t.Errorf("prompts are %v", prompts)
	}
	if len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestResourcesPage holds that the example of the page on resources compiles, and to what
// it says.
func TestResourcesPage(t *testing.T) {
	b, d := example(t, "resources.md",
		&sourcev1.File{Path: "files/book.html", Data: []byte("<p>")}, &sourcev1.File{Path: "files/rules.md", Data: []byte("# Rules\n")})
	if len(b.GetResources()) != 4 || len(b.GetTemplates()) != 2 || len(b.GetTemplates()[1].GetCompletions()) != 2 || b.GetCaching().GetTools() == nil {
		t.Errorf("binding is %v", b)
	}
	if len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestGuards holds that the example of the page on documents, checks and secrets
// compiles, and to what it says.
func TestGuards(t *testing.T) {
	b, d := example(t, "guards.md", &sourcev1.File{Path: "library.json", Data: []byte(`{"$defs": {"Loan": {"type": "object"}}}`)})
	if len(b.GetDocuments()) != 1 || len(b.GetRedact()) != 2 || len(b.GetReveal()) != 1 || len(b.GetTools()[0].GetChecks()) != 2 {
		t.Errorf("binding is %v", b)
	}
	if len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestAsksPage holds that the example of the page on asks compiles, and to what it says.
func TestAsksPage(t *testing.T) {
	b, _ := example(t, "asks.md")
	if len(b.GetTools()[0].GetAsks()) != 1 || b.GetState() == nil || b.GetTools()[0].GetNotices() == nil || b.GetUpstream().GetDeadline() == "" {
		t.Errorf("the binding is %v", b)
	}
}
