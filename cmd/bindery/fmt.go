package main

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cue/format"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func (p *program) fmt() *cobra.Command {
	var check bool
	c := command("fmt [--check] [DIR]", "Format the CUE files of a module", oneDir, func(_ *cobra.Command, args []string) error {
		dir, err := directory(args)
		if err != nil {
			return err
		}
		s, err := readSources(dir, nil)
		if err != nil {
			return err
		}
		changed, problems := formatted(s)
		for _, f := range changed {
			if !check {
				if err := replaceFile(filepath.Join(dir, filepath.FromSlash(f.GetPath())), f.GetData()); err != nil {
					return err
				}
			}
			fmt.Fprintln(p.out, f.GetPath())
		}
		if err := p.report(problems); err != nil {
			return err
		}
		if check && len(changed) > 0 {
			return errInvalid
		}
		return nil
	})
	c.Long = `Format the CUE files of the module in DIR as cue fmt does, and print the name of
each file that changed. What is under cue.mod/pkg is left alone.

With --check no file is written, and there being any to write exits 1.`
	c.Example = `  bindery fmt
  bindery fmt --check examples/acp`
	c.Flags().BoolVar(&check, "check", false, "only list the files that are not formatted")
	return c
}

// formatted returns the files of s that look different when formatted, so formatted,
// and what is wrong with those that cannot be.
func formatted(s *sourcev1.Sources) (changed []*sourcev1.File, problems []*sourcev1.Diagnostic) {
	for _, f := range s.GetFiles() {
		if path.Ext(f.GetPath()) != ".cue" || strings.HasPrefix(f.GetPath(), "cue.mod/pkg/") {
			continue
		}
		data, wrong := format.Source(f.GetPath(), f.GetData())
		problems = append(problems, wrong...)
		if len(wrong) == 0 && !bytes.Equal(data, f.GetData()) {
			changed = append(changed, &sourcev1.File{Path: f.GetPath(), Data: data})
		}
	}
	return changed, problems
}
