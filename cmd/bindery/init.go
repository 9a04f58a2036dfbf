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
	c := command("init [DIR] [--module PATH]", "Write a new module that compiles", oneDir, func(_ *cobra.Command, args []string) error {
		dir := dirOf(args)
		if module == "" {
			path, err := modulePath(dir)
			if err != nil {
				return err
			}
			module = path
		}
		files := scaffold.Module(module)
		if err := checkVacant(dir, files); err != nil {
			return err
		}
		if err := source.Write(dir, &sourcev1.Sources{Files: files}); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "wrote %s, %s, to %s\nnext: bindery dev %s\n", module, term.Count(len(files), "file"), dir, dir)
		return nil
	})
	c.Long = `Write a new module with one small binding to DIR, which is made if it is not
there. Files that exist are never changed: then nothing is written.

The copy of the language under cue.mod/pkg is for cue vet and editors; bindery
itself uses the one it was built with.`
	c.Example = `  bindery init shop
  bindery init --module example.com/shop@v0`
	c.Flags().StringVar(&module, "module", "", "the CUE module's `PATH` (default \"example.com/DIR@v0\")")
	return c
}

// modulePath returns the path of a module that is called as its directory is.
func modulePath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-")
	if name = strings.Trim(name, "-"); name == "" {
		return "", errors.New("the directory's name makes no module path: give one with --module")
	}
	return "example.com/" + name + "@v0", nil
}

// checkVacant refuses a directory that has any of the files, or is in a module
// already.
func checkVacant(dir string, files []*sourcev1.File) error {
	if _, err := os.Lstat(filepath.Join(dir, "cue.mod")); err == nil {
		return fmt.Errorf("%s is a module already: edit its files, or name another directory", dir)
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
