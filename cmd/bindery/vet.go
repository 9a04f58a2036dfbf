package main

import (
	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cue/diag"
)

func (p *program) vet() *cobra.Command {
	var tags *[]string
	var out *output
	c := command("vet [DIR] [-t TAG]... [-o json]", "Check a module and its tests, and print every problem", oneDir, func(c *cobra.Command, args []string) error {
		suite, err := compileTested(c.Context(), args, *tags)
		if err != nil {
			return err
		}
		if *out == text {
			return p.report(suite.Diagnostics)
		}
		if err := p.printJSON(diagnosticsView{viewDiagnostics(suite.Diagnostics)}); err != nil {
			return err
		}
		if diag.Failed(suite.Diagnostics) {
			return errInvalid
		}
		return nil
	})
	c.Long = `Check the module in DIR, with its tests, and print every problem as

  file:line:column: path: message
  	hint: what to do about it

with file relative to DIR. A clean module prints nothing. Warnings alone exit 0.`
	c.Example = `  bindery vet
  bindery vet examples/acp -t staging
  bindery vet -o json | jq '.diagnostics[].message'`
	tags, out = tagsFlag(c), outputFlag(c)
	return c
}
