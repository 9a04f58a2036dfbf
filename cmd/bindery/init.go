package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cue/scaffold"
	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func (p *program) init() *cobra.Command {
	var module string
	c := command("init [DIR] [--module PATH]", "Write a new module that compiles", oneDir, func(c *cobra.Command, args []string) error {
		dir := dirOf(args)
		if module == "" {
			module = modulePath(dir)
			if err := scaffold.CheckPath(module); err != nil {
				return fmt.Errorf("the directory's name makes no module path, %w: give one with --module", err)
			}
		} else if err := scaffold.CheckPath(module); err != nil {
			return usagef(c, "--module: %v: a path is like example.com/shop@v0", err)
		}
		files := scaffold.Module(module)
		if err := checkVacant(dir, files); err != nil {
			return err
		}
		if err := source.Write(dir, &sourcev1.Sources{Files: files}); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "wrote %s, %s, to %s\nnext: %s=t0k3n bindery dev %s\n", module, term.Count(len(files), "file"), dir, scaffold.Secret, term.Word(dir))
		return nil
	})
	c.Long = `Write a new module with one small binding to DIR, which is made if it is not
there. Files that exist are never changed: then nothing is written. Nor is it in a
directory of another module, which then would not compile.

The copy of the language under cue.mod/pkg is for cue vet and editors; bindery
itself uses the one it was built with.`
	c.Example = `  bindery init shop
  bindery init --module example.com/shop@v0`
	c.Flags().StringVar(&module, "module", "", "the CUE module's `PATH` (default \"example.com/DIR@v0\")")
	return c
}

// modulePath returns the path of a module that is called as its directory is. Of some
// names it is none.
func modulePath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-")
	return "example.com/" + strings.Trim(name, "-") + "@v0"
}

// checkVacant refuses a directory that has any of the files, or is a module or a part
// of one already.
func checkVacant(dir string, files []*sourcev1.File) error {
	if isModule(dir) {
		return fmt.Errorf("%s is a module already: edit its files, or name another directory", dir)
	}
	if outer := moduleAround(dir); outer != "" {
		return fmt.Errorf("%s would be a module within the module %s, which no longer compiles then: write bindings there as *.cue files, or name a directory outside", dir, outer)
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.GetPath()))
		if _, err := os.Lstat(name); err == nil {
			return fmt.Errorf("%s exists: name another directory", name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
