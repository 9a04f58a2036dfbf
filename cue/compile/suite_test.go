package compile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestSuite reads the tests of each archive of testdata/suite, which is a module as
// those of [TestModule] are, with
//
//	want.err    the diagnostics of the module and its tests
//	want.cases  the cases, where there are any
func TestSuite(t *testing.T) {
	archives, err := filepath.Glob("testdata/suite/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives: ", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testSuite(t, name)
		})
	}
}

func testSuite(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	suite, err := compile.Tested(t.Context(), sourcesOf(archive))
	if err != nil {
		t.Fatal(err)
	}
	if diag.Failed(suite.Diagnostics) && suite.Cases != nil {
		t.Error("there are errors and cases")
	}
	alone, err := compile.Module(t.Context(), sourcesOf(archive))
	if err != nil || !proto.Equal(alone, suite.Compiled) {
		t.Errorf("tests change what the module compiles to: %v, %v", suite.Compiled.GetDiagnostics(), err)
	}
	for i, f := range archive.Files {
		var got bytes.Buffer
		switch f.Name {
		case "want.err":
			if err := diag.Print(&got, suite.Diagnostics); err != nil {
				t.Fatal(err)
			}
		case "want.cases":
			renderCases(&got, suite.Cases)
		default:
			continue
		}
		if archive.Files[i].Data = got.Bytes(); !*update && got.String() != string(f.Data) {
			t.Errorf("%s is\n%swant\n%s", f.Name, got.String(), f.Data)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func renderCases(b *bytes.Buffer, all []*cases.Case) {
	for _, c := range all {
		fmt.Fprintf(b, "%s %q: %s.%s(%s) at %s with %s\n", diag.Place(c.Position), c.Name, c.Binding, c.Tool, c.Arguments, c.Now.Format(time.RFC3339Nano), c.UUID)
		if len(c.Caller) > 0 {
			fmt.Fprintf(b, "\t@ %q\n", c.Caller)
		}
		for _, e := range c.Exchanges {
			fmt.Fprintf(b, "\t> %s %s %q%s\n", e.Request.Method, e.Request.Target, e.Request.Header, renderBody(e.Request.Body))
			if e.Response.Failure != cases.Answered {
				fmt.Fprintf(b, "\t< %s\n", e.Response.Failure)
				continue
			}
			fmt.Fprintf(b, "\t< %d %q%s\n", e.Response.Status, e.Response.Header, renderBody(e.Response.Body))
		}
		if len(c.Checks) > 0 {
			fmt.Fprintf(b, "\t! %q\n", c.Checks)
		}
		if c.Error != nil {
			fmt.Fprintf(b, "\t= error %d %q %s\n", c.Error.Code, c.Error.Message, c.Error.Data)
		} else {
			fmt.Fprintf(b, "\t= %s\n", c.Result)
		}
	}
}

func renderBody(b *cases.Body) string {
	switch {
	case b == nil:
		return ""
	case b.Exact:
		return fmt.Sprintf(" %q", b.Data)
	}
	return " " + string(b.Data)
}

// TestBrokenTestFile holds that a module compiles whatever its test files hold.
func TestBrokenTestFile(t *testing.T) {
	for _, broken := range []string{"{{{", "package bindings\n\nimport \"elsewhere.example/x\"\n", "package other\n\nx: 1 & 2\n", ""} {
		files := append(manyPackages(), &sourcev1.File{Path: "shelf1/broken_test.cue", Data: []byte(broken)})
		suite, err := compile.Tested(t.Context(), &sourcev1.Sources{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		if suite.Compiled.GetBundle() == nil || len(suite.Compiled.GetDiagnostics()) > 0 {
			t.Errorf("%q: the module does not compile: %v", broken, suite.Compiled.GetDiagnostics())
		}
		if !slices.ContainsFunc(suite.Diagnostics, func(d *sourcev1.Diagnostic) bool {
			return d.GetPosition().GetFile() == "shelf1/broken_test.cue"
		}) {
			t.Errorf("%q: nothing is said of it: %v", broken, suite.Diagnostics)
		}
	}
}
