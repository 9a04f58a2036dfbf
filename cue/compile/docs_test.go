package compile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestPromptsPage holds that the example of the page on prompts compiles, and to what
// it says.
func TestPromptsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```cue\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(example)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	prompts := open(t, compiled).Bindings[0].GetPrompts()
	if len(prompts) != 2 || prompts[0].GetUse() == nil || len(prompts[1].GetMessages().GetMessages()) != 2 {
		t.Errorf("prompts are %v", prompts)
	}
	if d := compiled.GetDiagnostics(); len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestResourcesPage holds that the example of the page on resources compiles, and to what
// it says.
func TestResourcesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/resources.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```cue\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "files/book.html", Data: []byte("<p>")}, {Path: "files/rules.md", Data: []byte("# Rules\n")}, {Path: "library.cue", Data: []byte(example)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, compiled).Bindings[0]
	if len(b.GetResources()) != 4 || len(b.GetTemplates()) != 2 || len(b.GetTemplates()[1].GetCompletions()) != 2 || b.GetCaching().GetTools() == nil {
		t.Errorf("binding is %v", b)
	}
	if d := compiled.GetDiagnostics(); len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestGuards holds that the example of the page on documents, checks and secrets
// compiles, and to what it says.
func TestGuards(t *testing.T) {
	page, err := os.ReadFile("../../docs/guards.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```cue\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(example)},
		{Path: "library.json", Data: []byte(`{"$defs": {"Loan": {"type": "object"}}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, compiled).Bindings[0]
	if len(b.GetDocuments()) != 1 || len(b.GetRedact()) != 2 || len(b.GetReveal()) != 1 || len(b.GetTools()[0].GetChecks()) != 2 {
		t.Errorf("binding is %v", b)
	}
	if d := compiled.GetDiagnostics(); len(d) > 0 {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestAsksPage holds that the example of the page on asks compiles, and to what it says.
func TestAsksPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/asks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```cue\n")
	example, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(example)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d := compiled.GetDiagnostics(); diag.Failed(d) {
		t.Fatalf("diagnostics are %v", d)
	}
	b := open(t, compiled).Bindings[0]
	if len(b.GetTools()[0].GetAsks()) != 1 || b.GetState() == nil || b.GetTools()[0].GetNotices() == nil || b.GetUpstream().GetDeadline() == "" {
		t.Errorf("the binding is %v", b)
	}
}
