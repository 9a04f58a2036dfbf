package trial_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-dev/bindery/cmd/internal/trial"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

var update = flag.Bool("update", false, "write the verdicts into the archives of testdata")

// TestRun runs the tests of each archive of testdata, a module with
//
//	want  the verdicts, and the parts of the module that no case exercises
func TestRun(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives: ", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := &archive.Files[len(archive.Files)-1]
			got := verdicts(t, archive.Files[:len(archive.Files)-1])
			if got != string(want.Data) && !*update {
				t.Errorf("verdicts are\n%swant\n%s", got, want.Data)
			}
			if want.Data = []byte(got); *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func verdicts(t *testing.T, files []txtar.File) string {
	sources := &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
	}}
	for _, f := range files {
		sources.Files = append(sources.Files, &sourcev1.File{Path: f.Name, Data: f.Data})
	}
	suite, content := tested(t, sources)
	all, err := trial.Run(t.Context(), content, suite.Cases)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, v := range all {
		fmt.Fprintf(&b, "%s: %q\n", diag.Place(v.Case.Position), v.Case.Name)
		for _, p := range v.Problems {
			fmt.Fprintf(&b, "\t%s\n\t\twant %s\n\t\tgot  %s\n", p.Where, p.Want, p.Got)
		}
	}
	for _, v := range all {
		if v.Large > 0 {
			fmt.Fprintf(&b, "%s: large: %d\n", diag.Place(v.Case.Position), v.Large)
		}
	}
	for _, part := range trial.Cover(content, suite.Compiled.GetSourceMap(), all) {
		if !part.Covered {
			fmt.Fprintf(&b, "%s: not covered: %s\n", diag.Place(part.Position), strings.Join([]string{part.Tool, part.Check, part.Rule}, " "))
		}
	}
	return b.String()
}

// tested compiles a module with its tests; there are no errors in either.
func tested(t testing.TB, sources *sourcev1.Sources) (*compile.Suite, *irv1.Content) {
	t.Helper()
	suite, err := compile.Tested(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	if diag.Failed(suite.Diagnostics) {
		t.Fatal(suite.Diagnostics)
	}
	content, err := irv1.Open(suite.Compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return suite, content
}
