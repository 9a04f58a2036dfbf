package held

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	text := "| a | `TestA`, `x/y TestB/one two`, `TestC` |\n| b | `TestD/a, b` and `FuzzE` |\n"
	want := []Name{{"", "TestA"}, {"x/y", "TestB/one two"}, {"x/y", "TestC"}, {"", "TestD/a, b"}, {"", "FuzzE"}}
	if got := Names(text); !slices.Equal(got, want) {
		t.Errorf("Names() = %q, want %q", got, want)
	}
}

// TestMissing: a test that did not run, was skipped or belongs to another package
// does not hold what is said of it.
func TestMissing(t *testing.T) {
	r := &Record{}
	t.Run("ran", func(t *testing.T) {
		r.Ran(t)
		t.Run("a b", func(t *testing.T) { r.Ran(t) })
	})
	t.Run("skipped", func(t *testing.T) {
		r.Ran(t)
		t.Skip("to be skipped is what this one is for")
	})
	r.named = []string{"TestMissing/ran", "TestMissing/ran/a b", "TestMissing/skipped", "TestMissing/ran/a"}
	if got, want := r.missing(), []string{"TestMissing/skipped", "TestMissing/ran/a"}; !slices.Equal(got, want) {
		t.Errorf("missing() = %q, want %q", got, want)
	}
}

// TestRead reads a document that names tests of two packages.
func TestRead(t *testing.T) {
	r := &Record{}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "doc.md"), []byte("`TestRead`, `here TestMissing/ran`, `there TestX`"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"here", "there"} {
		test := map[string]string{"here": "func TestMissing(", "there": "func TestX("}[name] + "\nfunc TestRead("
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "x_test.go"), []byte(test), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, names := r.Read(t, dir, "doc.md", "here", true)
	if len(names) != 3 || !slices.Equal(r.named, []string{"TestRead", "TestMissing/ran"}) {
		t.Errorf("names %q; of this package %q", names, r.named)
	}
}

func TestDefined(t *testing.T) {
	for name, want := range map[string]bool{"TestDefined/x": true, "TestDefine": false} {
		if got, err := defined(".", name); got != want || err != nil {
			t.Errorf("defined(%q) = %t, %v", name, got, err)
		}
	}
}
