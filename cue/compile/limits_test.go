package compile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func codes(t *testing.T, s *sourcev1.Sources) string {
	t.Helper()
	compiled, err := compile.Module(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diag.Failed(compiled.GetDiagnostics()) == (compiled.GetBundle() != nil) {
		t.Error("there are errors and a bundle, or neither")
	}
	var all []string
	for _, d := range compiled.GetDiagnostics() {
		all = append(all, d.GetCode())
	}
	return strings.Join(all, " ")
}

// TestSourcesThatNobodyRead compiles sources that did not come from [source.Read]:
// an operator's client may send anything.
func TestSourcesThatNobodyRead(t *testing.T) {
	file := func(path string) *sourcev1.File { return &sourcev1.File{Path: path, Data: []byte("package p\n")} }
	tests := []struct {
		name string
		s    *sourcev1.Sources
		want string
	}{
		{"nothing", &sourcev1.Sources{}, "no-module"},
		{"nil", nil, "no-module"},
		{"absolute path", &sourcev1.Sources{Files: []*sourcev1.File{file("/etc/a.cue")}}, "bad-path"},
		{"path that climbs", &sourcev1.Sources{Files: []*sourcev1.File{file("../a.cue")}}, "bad-path"},
		{"path that is not clean", &sourcev1.Sources{Files: []*sourcev1.File{file("a//b.cue")}}, "bad-path"},
		{"no path", &sourcev1.Sources{Files: []*sourcev1.File{file("")}}, "bad-path"},
		{"path twice", &sourcev1.Sources{Files: []*sourcev1.File{file("a.cue"), file("a.cue")}}, "bad-path"},
		{"directory that is a file", &sourcev1.Sources{Files: []*sourcev1.File{file("a.cue"), file("a.cue/b.cue")}}, "bad-path"},
		{"too many files", &sourcev1.Sources{Files: many(source.MaxFiles+1, 0)}, "too-large"},
		{"too many bytes", &sourcev1.Sources{Files: many(5, source.MaxBytes/4)}, "too-large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := codes(t, tt.s); got != tt.want {
				t.Errorf("codes are %q, want %q", got, tt.want)
			}
		})
	}
}

func many(n, size int) []*sourcev1.File {
	var files []*sourcev1.File
	for i := range n {
		files = append(files, &sourcev1.File{Path: fmt.Sprintf("%d.json", i), Data: make([]byte, size)})
	}
	return files
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	compiled, err := compile.Module(ctx, &sourcev1.Sources{Files: manyPackages()})
	if compiled != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("compiled %v, %v", compiled, err)
	}
}

// TestSchemaTooLarge holds that an input schema that no message can carry is a
// diagnostic.
func TestSchemaTooLarge(t *testing.T) {
	files := manyPackages()
	for _, f := range files {
		if f.GetPath() == "common.json" {
			f.Data = fmt.Appendf(nil, `{"$defs": {"Book": {"description": %q}}}`, strings.Repeat("x", 1<<20))
		}
	}
	if got := codes(t, &sourcev1.Sources{Files: files}); got != "too-large" {
		t.Errorf("codes are %q", got)
	}
}

// TestInputIsNotChanged holds that a caller may compile the same sources again.
func TestInputIsNotChanged(t *testing.T) {
	sources := &sourcev1.Sources{Files: manyPackages()}
	first, err := digestsOf(sources)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := digestsOf(sources); err != nil || second != first {
		t.Errorf("digests are %s, then %s, %v", first, second, err)
	}
}
