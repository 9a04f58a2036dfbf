package trial

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/compile"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const thousand = 1000

// BenchmarkThousandCases says how long a thousand cases take: to run those of the
// example module over and over, and to compile a module with as many tests and run
// them, which is what `bindery test` does.
func BenchmarkThousandCases(b *testing.B) {
	b.Run("run", func(b *testing.B) {
		suite, content := example(b)
		var all []*cases.Case
		for len(all) < thousand {
			all = append(all, suite.Cases...)
		}
		for b.Loop() {
			run(b, content, all[:thousand])
		}
	})
	b.Run("compile-and-run", func(b *testing.B) {
		sources := thousandTests()
		for b.Loop() {
			suite, err := compile.Tested(b.Context(), sources)
			if err != nil || len(suite.Cases) != thousand {
				b.Fatal(err, suite.Diagnostics)
			}
			content, err := irv1.Open(suite.Compiled.GetBundle())
			if err != nil {
				b.Fatal(err)
			}
			run(b, content, suite.Cases)
		}
	})
}

func run(b *testing.B, content *irv1.Content, all []*cases.Case) {
	began := time.Now()
	verdicts, err := Run(b.Context(), content, all)
	if err != nil {
		b.Fatal(err)
	}
	for _, v := range verdicts {
		if !v.Passed() {
			b.Fatalf("%q: %+v", v.Case.Name, v.Problems)
		}
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(len(all)), "µs/case")
}

// thousandTests returns a module with a thousand tests, each written out.
func thousandTests() *sourcev1.Sources {
	var tests bytes.Buffer
	fmt.Fprint(&tests, "package bindings\n\nimport \"bindery.dev/bind\"\n")
	for i := range thousand {
		fmt.Fprintf(&tests, `
tests: "book %[1]d": bind.#Test & {
	tool: "get_book"
	arguments: isbn: "%[1]d"
	request: http: "GET /books/%[1]d"
	response: body: {isbn: "%[1]d", title: "Emma", pages: %[1]d}
	result: structuredContent: {isbn: "%[1]d", title: "Emma", pages: %[1]d}
}
`, i)
	}
	return &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(`package bindings

import "bindery.dev/bind"

bindings: library: bind.#Binding & {
	upstream: url: "https://api.library.example"
	tools: get_book: {
		description: "Read one book."
		http:        "GET /books/{isbn}"
		args: isbn: description: "The book's ISBN."
	}
}
`)},
		{Path: "library_test.cue", Data: tests.Bytes()},
	}}
}
