package compile

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/outline"
	"github.com/bindery-dev/bindery/cue/schema"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	moduleFile = "cue.mod/module.cue"
	localFile  = "cue.mod/local-module.cue"
	vendorDir  = "cue.mod/pkg"
)

// readModuleFile finds the module's path. What else is wrong with module.cue is for
// CUE to say.
func (m *module) readModuleFile(r report) {
	data, ok := m.cue[moduleFile]
	if !ok {
		r.noModule()
		return
	}
	m.sound = true
	f, err := parser.ParseFile(moduleFile, data)
	if err != nil {
		return
	}
	tree := outline.Draw(f)
	for _, p := range tree.Down("module").Places() {
		if lit, ok := p.Expr.(*ast.BasicLit); ok {
			m.path, _ = literal.Unquote(lit.Value)
		}
	}
	if _, _, versioned := strings.Cut(m.path, "@"); m.path != "" && !versioned {
		m.path += "@v0"
	}
	for _, p := range tree.Down("deps").Places() {
		r.dependencies(p.Label)
		m.sound = false
	}
	if m.cue[localFile] != nil {
		r.dependencies(&sourcev1.Position{File: localFile, Line: 1, Column: 1})
		m.sound = false
	}
}

// refuseNested reports modules below the root and leaves their files out.
func (m *module) refuseNested(sources *sourcev1.Sources, r report) {
	nested := map[string]bool{}
	for _, f := range sources.GetFiles() {
		dir, _, found := strings.Cut(f.GetPath(), "/cue.mod/")
		if found && !inside(f.GetPath(), "cue.mod") && !nested[dir] {
			nested[dir] = true
			r.nestedModule(f.GetPath(), dir)
		}
	}
	for dir := range nested {
		maps.DeleteFunc(m.cue, func(name string, _ []byte) bool { return inside(name, dir) })
	}
}

// takeSchema puts the built-in language where modules import it from, in place of
// a copy that is there.
func (m *module) takeSchema(r report) {
	const home = vendorDir + "/bindery.dev"
	own := schemaFiles()
	stale := ""
	for _, name := range slices.Sorted(maps.Keys(m.cue)) {
		switch {
		case inside(name, "cue.mod/gen/bindery.dev"), inside(name, "cue.mod/usr/bindery.dev"), inside(name, home):
			if stale == "" && !bytes.Equal(m.cue[name], own[name]) {
				stale = name
			}
			delete(m.cue, name)
		case inside(name, vendorDir):
			m.vendored[strings.TrimPrefix(path.Dir(name), vendorDir+"/")] = true
		}
	}
	if stale != "" {
		r.staleSchema(stale)
	}
	for name, data := range own {
		m.cue[name] = uncommented(data)
	}
	m.vendored[schema.Path] = true
	m.shape = sync.OnceValue(func() outline.Cursor { return shapeOf(own) })
}

// uncommented returns a file of the language without its comments, which are half of it
// and cost time wherever it is parsed.
func uncommented(data []byte) []byte {
	var code []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			code = append(code, line...)
		}
	}
	return code
}

// shapeOf outlines the language.
func shapeOf(files map[string][]byte) outline.Cursor {
	var trees []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := parser.ParseFile(name, files[name], parser.ParseComments)
		if err != nil {
			panic("compile: the embedded schema: " + err.Error())
		}
		trees = append(trees, f)
	}
	return outline.Draw(trees...)
}

// schemaFiles returns the built-in language as files of a module that has it
// vendored.
func schemaFiles() map[string][]byte {
	files := map[string][]byte{}
	names, err := fs.Glob(schema.FS, "bind/*.cue")
	if err != nil {
		panic("compile: the embedded schema: " + err.Error())
	}
	for _, name := range names {
		data, err := schema.FS.ReadFile(name)
		if err != nil {
			panic("compile: the embedded schema: " + err.Error())
		}
		files[vendorDir+"/bindery.dev/"+name] = data
	}
	return files
}

// checkPackages holds every package that has bindings to the root's name: files
// with another name do not see the policy that parents set.
func (m *module) checkPackages(r report) {
	root, at := "", (*ast.File)(nil)
	for _, p := range m.sorted() {
		for _, f := range p.own {
			if root == "" && (p.dir == "." || p.bindings != nil) {
				root, at = p.name, f.syntax
			}
			if f.pkg != root && root != "" && (p.dir == "." || p.bindings != nil) {
				r.otherPackage(f, root, at)
				f.broken = true
			}
		}
	}
	for _, f := range m.files {
		if f.pkg == "" && !f.broken {
			r.noPackage(f, root)
		}
	}
}

// checkImports reports imports that would have to be fetched, and those of directories of
// the module that have no package.
func (m *module) checkImports(r report) {
	own, _, _ := strings.Cut(m.path, "@")
	directories := m.directories()
	for _, f := range m.files {
		if f.syntax == nil {
			continue
		}
		for spec := range f.syntax.ImportSpecs() {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			name, _, _ = strings.Cut(name, ":")
			name, _, _ = strings.Cut(name, "@")
			first, _, _ := strings.Cut(name, "/")
			dir, below := strings.CutPrefix(name+"/", own+"/")
			dir = path.Clean(dir)
			switch {
			case !strings.Contains(first, ".") || m.vendored[name]:
				continue
			case own == "" || !below:
				r.unvendored(spec, name)
			default:
				if _, there := slices.BinarySearch(directories, dir); there {
					continue
				}
				r.missingPackage(spec, own, dir, directories)
			}
			f.broken = true
			m.missing[diag.Place(importedAt(spec))] = true
		}
	}
}

// directories returns those that have a package, sorted.
func (m *module) directories() []string {
	var all []string
	for _, p := range m.packages {
		all = append(all, p.dir)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkOwners reports bindings that a directory names though one above it does.
func (m *module) checkOwners(r report) {
	for _, p := range m.sorted() {
		if p.dir == "." {
			continue
		}
		above := map[string]*pkg{} // the shallowest wins
		for _, q := range m.above(p) {
			for _, name := range q.bindings {
				above[name] = q
			}
		}
		for _, name := range p.bindings {
			if q := above[name]; q != nil {
				r.notOwner(name, draw(p.own).Down("bindings", name).Places(), q)
			}
		}
		p.inherited = above
	}
}
