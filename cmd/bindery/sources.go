package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// oneDir is the arguments of a command that takes a directory or means this one.
var oneDir = cobra.MaximumNArgs(1)

func dirOf(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// tagsFlag adds -t to c.
func tagsFlag(c *cobra.Command) *[]string {
	return c.Flags().StringArrayP("tag", "t", nil, "compile with this CUE `TAG`, name or name=value, such as that of an environment; may be repeated")
}

// readSources reads the module at dir, to be compiled with tags.
func readSources(dir string, tags []string) (*sourcev1.Sources, error) {
	s, err := source.Read(dir)
	if err != nil {
		return nil, err
	}
	s.Tags = tags
	return s, nil
}

// compileDir compiles the module at dir in this process: these are the author's
// own files, and starting another process costs more than most compiles.
func compileDir(ctx context.Context, dir string, tags []string) (*sourcev1.Compiled, error) {
	worker.PrepareHeap()
	s, err := readSources(dir, tags)
	if err != nil {
		return nil, err
	}
	return compile.Module(ctx, s)
}

// compileTested compiles the module at dir with its tests, in this process.
func compileTested(ctx context.Context, dir string, tags []string) (*compile.Suite, error) {
	worker.PrepareHeap()
	s, err := readSources(dir, tags)
	if err != nil {
		return nil, err
	}
	return compile.Tested(ctx, s)
}

// report prints diagnostics and returns errInvalid when one is an error.
func (p *program) report(all []*sourcev1.Diagnostic) error {
	if err := diag.Print(p.err, all); err != nil {
		return err
	}
	if diag.Failed(all) {
		return errInvalid
	}
	return nil
}
