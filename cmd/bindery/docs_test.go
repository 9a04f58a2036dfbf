package main

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bindery-dev/bindery/cmd/internal/term"
)

// commands returns every command that a person can find.
func commands() []*cobra.Command {
	screen := term.NewScreen(&bytes.Buffer{})
	root := (&program{in: strings.NewReader(""), out: screen, err: screen}).root()
	var all []*cobra.Command
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		all = append(all, c)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return all
}

// TestHelp: every command says what it does, with an example, and every flag what it
// is for.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: help lacks a text or an example", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s has no text", c.CommandPath(), f.Name)
			}
		})
	}
}

// TestCLIDoc: docs/cli.md has every command, flag and member of the JSON output.
func TestCLIDoc(t *testing.T) {
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, c := range commands() {
		if c.HasParent() && !strings.Contains(doc, "`"+c.UseLine()+"`") {
			t.Errorf("docs/cli.md lacks `%s`", c.UseLine())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(doc, "--"+f.Name) {
				t.Errorf("docs/cli.md lacks --%s of %s", f.Name, c.CommandPath())
			}
		})
	}
	for _, v := range []any{
		diagnosticsView{}, diagnosticView{}, testsView{}, testView{}, problemView{}, coverageView{}, partView{}, bundleView{}, outcomeView{}, revisionsView{}, revisionView{}, bindingView{},
		nodesView{}, nodeView{}, generationView{}, statusView{}, groupView{}, toolsView{}, versionView{},
	} {
		for f := range reflect.TypeOf(v).Fields() {
			if name := f.Tag.Get("json"); !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("docs/cli.md lacks the member `%s` of %T", name, v)
			}
		}
	}
}
