package compile_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestBrokenLines breaks modules in every line, in three of nine ways each. Whatever
// that does to them, what is said of it has a place in the author's files, and it is
// the compiler that says it, not a node.
func TestBrokenLines(t *testing.T) {
	text, number := regexp.MustCompile(`"[^"]*"`), regexp.MustCompile(`\b[0-9]+\b`)
	ways := []func(line string) string{
		func(string) string { return "" },
		func(line string) string { return text.ReplaceAllString(line, "5") },
		func(line string) string { return number.ReplaceAllString(line, `"x"`) },
		func(line string) string { return line + "\n" + line },
		func(line string) string { return text.ReplaceAllString(line, `""`) },
		func(line string) string { return text.ReplaceAllString(line, `"{ü %"`) },
		func(line string) string { return strings.Replace(line, "e", "ee", 1) },
		func(line string) string { return text.ReplaceAllString(line, "{}") },
		func(line string) string { return text.ReplaceAllString(line, "string") },
	}
	for _, name := range []string{"everything", "arguments", "results", "layers", "oauth2", "schema_bundle", "prompts", "prompt_contents", "asks", "resources"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			whole := sourcesOf(archive)
			for i, f := range whole.GetFiles() {
				lines := strings.SplitAfter(string(f.GetData()), "\n")
				for n, line := range lines {
					for way := n % 3; way < len(ways); way += 3 {
						if spoiled := ways[way](line); spoiled != line {
							data := strings.Join(lines[:n], "") + spoiled + strings.Join(lines[n+1:], "")
							checkSaid(t, fmt.Sprintf("%s:%d way %d", f.GetPath(), n+1, way), replaced(whole, i, data))
						}
					}
				}
			}
		})
	}
}

// replaced returns sources with other data in file i.
func replaced(s *sourcev1.Sources, i int, data string) *sourcev1.Sources {
	files := append([]*sourcev1.File(nil), s.GetFiles()...)
	files[i] = &sourcev1.File{Path: files[i].GetPath(), Data: []byte(data)}
	return &sourcev1.Sources{Files: files, Tags: s.GetTags()}
}

func checkSaid(t *testing.T, what string, s *sourcev1.Sources) {
	compiled, err := compile.Module(t.Context(), s)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if diag.Failed(compiled.GetDiagnostics()) == (compiled.GetBundle() != nil) {
		t.Errorf("%s: there are errors and a bundle, or neither", what)
	}
	for _, d := range compiled.GetDiagnostics() {
		at := d.GetPosition()
		switch {
		case d.GetCode() == "compiler-bug", d.GetCode() == "refused", d.GetMessage() == "":
			t.Errorf("%s: %v", what, d)
		case d.GetCode() == "unknown-tag", at.GetFile() == "cue.mod/module.cue":
		case at.GetLine() == 0 || strings.HasPrefix(at.GetFile(), "cue.mod/"):
			t.Errorf("%s: no place of the author's in %v", what, d)
		}
	}
}
