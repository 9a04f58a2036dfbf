package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/term"
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

// directory returns the directory that args mean, which is there.
func directory(args []string) (string, error) {
	dir := dirOf(args)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no directory %s: name that of a module, or make one with bindery init %s", dir, term.Word(dir))
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is no directory: name that of a module", dir)
	}
	return dir, nil
}

// moduleDir returns the directory that args mean, unless that is a part of a module
// only.
func moduleDir(args []string) (string, error) {
	dir, err := directory(args)
	if err != nil || isModule(dir) {
		return dir, err
	}
	if outer := moduleAround(dir); outer != "" {
		return "", fmt.Errorf("%s is a directory of the module %s: name that one", dir, outer)
	}
	return dir, nil
}

// isModule reports whether dir is the root of a module.
func isModule(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "cue.mod"))
	return err == nil
}

// moduleAround returns the root of the module that dir, which need not be there, is a
// part of without being its root; "" when there is none.
func moduleAround(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	up, below := "..", filepath.Base(abs)
	for abs = filepath.Dir(abs); abs != filepath.Dir(abs); abs = filepath.Dir(abs) {
		if isModule(abs) {
			if !source.Named(path.Join(filepath.ToSlash(below), "any.cue")) {
				return ""
			}
			return filepath.Join(dir, up)
		}
		up, below = filepath.Join(up, ".."), filepath.Join(filepath.Base(abs), below)
	}
	return ""
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

// readModule reads the module that args mean, to be compiled with tags.
func readModule(args, tags []string) (*sourcev1.Sources, error) {
	dir, err := moduleDir(args)
	if err != nil {
		return nil, err
	}
	return readSources(dir, tags)
}

// compileModule compiles the module that args mean in this process: these are the
// author's own files, and starting another process costs more than most compiles.
func compileModule(ctx context.Context, args, tags []string) (*sourcev1.Compiled, error) {
	worker.PrepareHeap()
	s, err := readModule(args, tags)
	if err != nil {
		return nil, err
	}
	return compile.Module(ctx, s)
}

// compileTested compiles the module that args mean with its tests, in this process.
func compileTested(ctx context.Context, args, tags []string) (*compile.Suite, error) {
	worker.PrepareHeap()
	s, err := readModule(args, tags)
	if err != nil {
		return nil, err
	}
	return compile.Tested(ctx, s)
}

// report prints diagnostics and returns errInvalid when one is an error.
func (p *program) report(all []*sourcev1.Diagnostic) error {
	if err := p.diagnose(all); err != nil {
		return err
	}
	if diag.Failed(all) {
		return errInvalid
	}
	return nil
}

// reportAs is report for a command that prints one JSON value where out says so: that of
// a module which does not compile is its diagnostics.
func (p *program) reportAs(out output, all []*sourcev1.Diagnostic) error {
	if out == text || !diag.Failed(all) {
		return p.report(all)
	}
	if err := p.printJSON(diagnosticsView{viewDiagnostics(all)}); err != nil {
		return err
	}
	return errInvalid
}

// diagnose prints diagnostics, whose words may be a node's or a foreign file's.
func (p *program) diagnose(all []*sourcev1.Diagnostic) error {
	var b strings.Builder
	if err := diag.Print(&b, all); err != nil {
		return err
	}
	_, err := io.WriteString(p.err, term.Lines(b.String()))
	return err
}
