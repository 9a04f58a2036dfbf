package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cmd/internal/trial"
	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/dataplane/result"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A testRequest is what `bindery test` was asked for.
type testRequest struct {
	tags     *[]string
	out      *output
	run      string
	coverage bool
	verbose  bool
}

func (p *program) test() *cobra.Command {
	var t testRequest
	c := command("test [DIR] [--run REGEXP] [--coverage] [-v] [-t TAG]... [-o json]", "Run a module's offline tests", oneDir, func(c *cobra.Command, args []string) error {
		chosen, err := regexp.Compile(t.run)
		if err != nil {
			return usagef(c, "--run: %v", err)
		}
		began := time.Now()
		suite, err := compileTested(c.Context(), args, *t.tags)
		if err != nil {
			return err
		}
		if err := p.reportAs(*t.out, suite.Diagnostics); err != nil {
			return err
		}
		trials, err := runTests(c.Context(), suite, chosen)
		if err != nil {
			return err
		}
		trials.took = time.Since(began)
		return p.showTests(trials, t)
	})
	c.Long = `Run the tests of the module in DIR: calls, the HTTP requests that they must
become, and the results or errors that answers must become. Tests are in files
whose names end in _test.cue. They are run by what a node runs, without a
network: only the connection, the clock, the source of UUIDs and the secrets are
replaced.

A test that fails is printed as file:line:column: "name", followed by each thing
that is not as it is stated. --coverage lists the tools, their checks and the
error rules that no test exercises.`
	c.Example = `  bindery test
  bindery test examples/acp --coverage
  bindery test --run 'unavailable|timeout' -v`
	t.tags, t.out = tagsFlag(c), outputFlag(c)
	c.Flags().StringVar(&t.run, "run", "", "run only the tests whose name matches `REGEXP`")
	c.Flags().BoolVar(&t.coverage, "coverage", false, "list the tools, checks and error rules that no test exercises")
	c.Flags().BoolVarP(&t.verbose, "verbose", "v", false, "list the tests that pass, too")
	return c
}

// trials are the tests that were run.
type trials struct {
	verdicts []trial.Verdict
	parts    []trial.Part
	stated   int // tests that the module has
	took     time.Duration
}

func runTests(ctx context.Context, suite *compile.Suite, chosen *regexp.Regexp) (*trials, error) {
	content, err := irv1.Open(suite.Compiled.GetBundle())
	if err != nil {
		return nil, err
	}
	selected := slices.DeleteFunc(slices.Clone(suite.Cases), func(c *cases.Case) bool { return !chosen.MatchString(c.Name) })
	verdicts, err := trial.Run(ctx, content, selected)
	if err != nil {
		return nil, err
	}
	return &trials{
		verdicts: verdicts,
		parts:    trial.Cover(content, suite.Compiled.GetSourceMap(), verdicts),
		stated:   len(suite.Cases),
	}, nil
}

// failed returns how many tests failed.
func (t *trials) failed() (n int) {
	for _, v := range t.verdicts {
		if !v.Passed() {
			n++
		}
	}
	return n
}

// showTests prints what became of tests, and returns errInvalid when one failed.
func (p *program) showTests(t *trials, asked testRequest) error {
	if *asked.out == jsonOut {
		if err := p.printJSON(viewTests(t)); err != nil {
			return err
		}
	} else {
		for _, v := range t.verdicts {
			p.showVerdict(v, asked.verbose)
		}
		if asked.coverage {
			p.showCoverage(t.parts)
		}
		p.showSummary(t)
	}
	switch {
	case t.failed() > 0:
		return errInvalid
	case t.stated > 0 && len(t.verdicts) == 0:
		return fmt.Errorf("no test has a name that matches %q", asked.run)
	}
	return nil
}

func (p *program) showVerdict(v trial.Verdict, verbose bool) {
	switch {
	case !v.Passed():
		fmt.Fprintf(p.out, "%s: %q\n", diag.Place(v.Case.Position), v.Case.Name)
		for _, problem := range v.Problems {
			fmt.Fprintf(p.out, "\t%s\n\t\t%s %s\n\t\t%s  %s\n", problem.Where,
				p.out.Paint(term.Green, "want"), something(problem.Want), p.out.Paint(term.Red, "got"), something(problem.Got))
		}
	case verbose:
		fmt.Fprintf(p.out, "%s: %q %s\n", diag.Place(v.Case.Position), v.Case.Name, p.out.Paint(term.Green, "ok"))
	}
	if v.Large > 0 {
		fmt.Fprintf(p.out, "%s: %q: warning: the result has %d bytes of structuredContent; models work best with at most %d: see resultMeta and maxResultBytes\n",
			diag.Place(v.Case.Position), v.Case.Name, v.Large, result.MaxStructured)
	}
}

// maxShown is how much of a value a person is shown, in bytes.
const maxShown = 2000

// something returns a value for a person: on one line, and not all of a long one.
func something(s string) string {
	switch {
	case s == "":
		return "nothing"
	case len(s) > maxShown:
		return fmt.Sprintf("%s... (%d bytes)", term.OneLine(strings.ToValidUTF8(s[:maxShown], "")), len(s))
	}
	return term.OneLine(s)
}

func (p *program) showSummary(t *trials) {
	took, n := term.Took(t.took), term.Count(len(t.verdicts), "test")
	switch failed := t.failed(); {
	case t.stated == 0:
		fmt.Fprintln(p.out, "no tests: state some in a file whose name ends in _test.cue, beside the bindings")
	case failed > 0:
		fmt.Fprintf(p.out, "%s %d of %s (%s)\n", p.out.Paint(term.Red, "FAIL"), failed, n, took)
	case len(t.verdicts) > 0:
		fmt.Fprintf(p.out, "%s  %s (%s)\n", p.out.Paint(term.Green, "ok"), n, took)
	}
}
