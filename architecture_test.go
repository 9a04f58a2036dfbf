// Package bindery_test holds the project's own documents to its code.
package bindery_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestInvariantsAreHeld checks that every test that ARCHITECTURE.md names beside an
// invariant exists, and in the package that it names; a program is one that continuous
// integration runs.
func TestInvariantsAreHeld(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n## Invariants\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Invariants")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	word := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.HasPrefix(strings.TrimSpace(cells[2]), "-") || strings.TrimSpace(cells[2]) == "held by" {
			continue
		}
		rows++
		dir, held := ".", false
		for _, m := range word.FindAllStringSubmatch(cells[2], -1) {
			switch name := m[1]; {
			case strings.HasPrefix(name, "Test"), strings.HasPrefix(name, "Fuzz"):
				held = true
				if !defined(t, dir, name) {
					t.Errorf("%s is not in %s: %s", name, dir, strings.TrimSpace(cells[1]))
				}
			default:
				dir, held = name, held || runs(t, name)
			}
		}
		if !held {
			t.Errorf("no test holds: %s", strings.TrimSpace(cells[1]))
		}
	}
	if rows == 0 {
		t.Error("no invariant was found")
	}
}

// runs reports whether name is a program that continuous integration runs.
func runs(t *testing.T, name string) bool {
	t.Helper()
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && strings.Contains(string(ci), name)
}

// defined reports whether a test file of dir defines the test.
func defined(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	def := regexp.MustCompile(`(?m)^func ` + name + `\(`)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if def.Match(src) {
			return true
		}
	}
	return false
}
