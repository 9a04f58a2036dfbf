package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/term"
)

// TestTestingGuide does what docs/testing.md does: each CUE file that it shows is the
// library_test.cue of a new module, and the command below prints what it says.
func TestTestingGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile("(?s)```cue\n(.*?)```\n\n```\n\\$ bindery ([^\n]*)\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if len(steps) != strings.Count(string(guide), "```cue") {
		t.Fatalf("the guide shows %d files, and what %d of them give", strings.Count(string(guide), "```cue"), len(steps))
	}
	for _, step := range steps {
		dir := filepath.Join(t.TempDir(), "shop")
		if _, code := printed(t, "init", dir); code != exitOK {
			t.Fatal("init fails")
		}
		if err := os.WriteFile(filepath.Join(dir, "library_test.cue"), []byte(step[1]), 0o666); err != nil {
			t.Fatal(err)
		}
		got, _ := printed(t, append(strings.Fields(step[2]), dir)...)
		if want := step[3]; untimed(got) != untimed(want) {
			t.Errorf("bindery %s prints\n%s\nand the guide says\n%s", step[2], got, want)
		}
		if got, _ := printed(t, "fmt", "--check", dir); got != "" {
			t.Errorf("%s is not formatted:\n%s", got, step[1])
		}
	}
}

// TestGuides holds that the binding that a page shows passes the tests that it shows,
// which cover it, without a warning.
func TestGuides(t *testing.T) {
	for _, page := range []string{"requests.md", "errors.md", "apps.md"} {
		t.Run(page, func(t *testing.T) { testGuide(t, page) })
	}
}

func testGuide(t *testing.T, page string) {
	guide, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?s)```cue\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if len(files) != 2 {
		t.Fatalf("the guide shows %d files", len(files))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cue.mod/module.cue": "module: \"example.com/library@v0\"\nlanguage: version: \"v0.16.0\"\n", "library.cue": files[0][1], "library_test.cue": files[1][1],
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, code := printed(t, "test", "--coverage", dir); code != exitOK || !strings.HasPrefix(got, "coverage: 100%") {
		t.Errorf("bindery test prints\n%s", got)
	}
	if got, _ := printed(t, "fmt", "--check", dir); got != "" {
		t.Errorf("not formatted: %s", got)
	}
}

// printed runs a command and returns what it prints, and its exit code.
func printed(t *testing.T, args ...string) (string, int) {
	var out bytes.Buffer
	screen := term.NewScreen(&out)
	code := (&program{in: strings.NewReader(""), out: screen, err: screen}).execute(t.Context(), args)
	return out.String(), code
}

// untimed leaves out how long things took.
func untimed(s string) string { return regexp.MustCompile(`\([0-9.]+m?s\)`).ReplaceAllString(s, "") }
