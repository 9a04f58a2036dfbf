// Package held holds a document to the tests that it names: every one exists, and
// ran to its end.
//
// A document names a test in backquotes, by its package below the module's root and
// its name: `examples/acp TestWire/create`. A name of a subtest is written as the
// test gives it; it stands for all subtests below it. Where a package is left out,
// the last one before it on the same line is meant, or else the document's own.
//
// The document is read in a test, by [Read]: the test cache sees only what tests
// read. Only tests use this package.
package held

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Record is what a package's tests did. The zero Record is empty; a Record may be
// used concurrently.
type Record struct {
	mu    sync.Mutex
	ran   []string
	named []string // by documents
}

// Ran notes that t ran, when it ends neither failed nor skipped.
func (r *Record) Ran(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ran = append(r.ran, t.Name())
	})
}

// Main runs the tests of m and returns the exit code: not 0 either when all tests
// of the package were to run and one that a document names for it did not. A test of
// the package has read the document with [Record.Read].
func (r *Record) Main(m *testing.M) int {
	code := m.Run()
	if code != 0 || !all() {
		return code
	}
	for _, name := range r.missing() {
		fmt.Fprintf(os.Stderr, "held: a document names %s, which did not run\n", name)
		code = 1
	}
	return code
}

// Read returns the text of the document at path and the tests it names. Those of the
// package pkg, as the document writes it, have to run before [Record.Main] is done;
// pkg is the document's own where own is true. Read fails t for a test that does not
// exist. root is the module's root, relative to the directory of the test.
func (r *Record) Read(t testing.TB, root, path, pkg string, own bool) (text string, names []Name) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	names = Names(string(data))
	for _, n := range names {
		dir := n.Package
		if dir == "" && own {
			dir = pkg
		}
		if dir == "" {
			continue
		}
		if ok, err := defined(filepath.Join(root, dir), n.Test); err != nil || !ok {
			t.Errorf("%s names %s, which is no test of %s (%v)", path, n.Test, dir, err)
		}
		if dir == pkg {
			r.mu.Lock()
			r.named = append(r.named, n.Test)
			r.mu.Unlock()
		}
	}
	return string(data), names
}

// all reports whether the tests of a package run without a selection.
func all() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" && f.Value.String() != "false" {
			return false
		}
	}
	return true
}

// missing returns the tests that documents name and that did not run.
func (r *Record) missing() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.named), func(test string) bool { return among(test, r.ran) })
}

// A Name is a test as a document names it.
type Name struct {
	Package string // "" for the document's own
	Test    string // with its subtest, if one is meant
}

// among reports whether a test or one below it is in ran, which has names as package
// testing writes them.
func among(test string, ran []string) bool {
	want := strings.ReplaceAll(test, " ", "_")
	return slices.ContainsFunc(ran, func(name string) bool { return name == want || strings.HasPrefix(name, want+"/") })
}

var quoted = regexp.MustCompile("`(?:([a-z][a-z0-9/_-]*) )?((?:Test|Fuzz)[A-Za-z0-9]*(?:/[^`]*)?)`")

// Names returns the tests that text names, in its order.
func Names(text string) []Name {
	var all []Name
	for line := range strings.Lines(text) {
		pkg := ""
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			}
			all = append(all, Name{Package: pkg, Test: m[2]})
		}
	}
	return all
}

// defined reports whether a test file of dir defines the test that name begins with.
func defined(dir, name string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return false, err
	}
	test, _, _ := strings.Cut(name, "/")
	def := regexp.MustCompile(`(?m)^func ` + test + `\(`)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return false, err
		}
		if def.Match(src) {
			return true, nil
		}
	}
	return false, nil
}
