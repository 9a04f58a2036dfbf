package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// An output is the value of --output.
type output string

const (
	text    output = "text"
	jsonOut output = "json"
)

func (o *output) String() string { return string(*o) }
func (o *output) Type() string   { return "text|json" }

func (o *output) Set(s string) error {
	switch output(s) {
	case text, jsonOut:
		*o = output(s)
		return nil
	}
	return fmt.Errorf("%q is neither text nor json", s)
}

// outputFlag adds -o to c.
func outputFlag(c *cobra.Command) *output {
	o := text
	c.Flags().VarP(&o, "output", "o", "how to print: text, or json for scripts")
	return &o
}

// printJSON writes v, indented.
func (p *program) printJSON(v any) error {
	e := json.NewEncoder(p.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
