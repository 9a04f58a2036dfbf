package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/term"
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
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.out.Write(term.JSON(b.Bytes()))
	return err
}
