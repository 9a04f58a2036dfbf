// Package scaffold takes the path of a module and gives the files of a new one that
// compiles: what `bindery init` writes.
package scaffold

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"cuelang.org/go/mod/module"

	"github.com/bindery-dev/bindery/cue/schema"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// language is the version of CUE that a new module asks for.
const language = "v0.16.0"

//go:embed module
var files embed.FS

// Secret is the variable of a node's environment that has the secret of a new module.
const Secret = "BINDERY_SECRET_LIBRARY_TOKEN"

// CheckPath returns what keeps a text from being the path of a module, in CUE's words.
func CheckPath(path string) error { return module.CheckPath(path) }

// Module returns the files of a new module with one small binding, sorted by path.
// path is the module's, such as "example.com/shop@v0", and one that [CheckPath] takes.
func Module(path string) []*sourcev1.File {
	all := append(Language(), read(files, "module", "")...)
	all = append(all, &sourcev1.File{
		Path: "cue.mod/module.cue",
		Data: fmt.Appendf(nil, "module: %q\nlanguage: version: %q\n", path, language),
	})
	slices.SortFunc(all, byPath)
	return all
}

// Language returns the copy of the language that a module keeps in cue.mod/pkg,
// sorted by path. Bindery does not need it; plain `cue vet` and editors do.
func Language() []*sourcev1.File {
	return read(schema.FS, "bind", "cue.mod/pkg/"+schema.Path+"/")
}

// read returns the files of a directory of an embedded file system.
func read(fsys fs.FS, dir, prefix string) []*sourcev1.File {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		panic("scaffold: " + err.Error())
	}
	var all []*sourcev1.File
	for _, e := range entries {
		data, err := fs.ReadFile(fsys, dir+"/"+e.Name())
		if err != nil {
			panic("scaffold: " + err.Error())
		}
		all = append(all, &sourcev1.File{Path: prefix + e.Name(), Data: data})
	}
	return all
}

func byPath(a, b *sourcev1.File) int { return cmp.Compare(a.GetPath(), b.GetPath()) }
