package compile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	"github.com/bindery-dev/bindery/cue/outline"
	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A module is the files of one, surveyed but not evaluated.
type module struct {
	path      string                // "example.com/shop@v0"
	tags      []string              // to compile it with
	cue       map[string][]byte     // all CUE files, by path; the schema's replaced
	files     []*file               // those that belong to packages with these tags, by path
	documents *document.Set         // JSON files
	contents  map[string][]byte     // of what is in directories called files, by path
	packages  map[string]*pkg       // by directory and name, see key
	vendored  map[string]bool       // import paths in cue.mod/pkg
	shape     func() outline.Cursor // of the language; needed for what is wrong
	sound     bool                  // it can be loaded
	tested    bool                  // its packages are those with test files, and hold them

	out []*file // those that CUE leaves out of their packages

	missing map[string]bool // places of imports that are not in the module, which has been reported
}

// A file is a CUE file outside cue.mod.
type file struct {
	path   string
	dir    string // "." for the root
	pkg    string // "" without a package clause
	data   []byte
	syntax *ast.File // as far as it parses; see tree
	broken bool      // it does not parse
	test   bool      // it holds tests

	hidden, used map[string]bool // see hiding
}

// tree returns the file's syntax, which is parsed anew where it was let go.
func (f *file) tree() *ast.File {
	if f.syntax != nil {
		return f.syntax
	}
	syntax, _ := parser.ParseFile(f.path, f.data) // what is wrong has been reported
	return syntax
}

// A pkg is a package in one directory. It holds the files there and in all parent
// directories that have the same package name, as CUE has it.
type pkg struct {
	dir, name string
	own       []*file         // in dir
	files     []*file         // with those of the parents
	bindings  []string        // the names that own files write out, sorted
	tests     []string        // as are these
	parent    bool            // there are packages whose files these are, too
	inherited map[string]*pkg // bindings that parents name, and the parents
}

// size returns how many bytes the package's files have.
func (p *pkg) size() (n int) {
	for _, f := range p.files {
		n += len(f.data)
	}
	return n
}

// forget lets the syntax of the package's own files go, unless others need it: it
// takes thirty times the room of the files.
func (p *pkg) forget() {
	for _, f := range p.own {
		if !p.parent {
			f.syntax = nil
		}
	}
}

// survey takes stock of sources and reports what breaks the rules of a module.
func survey(sources *sourcev1.Sources, list *diag.List) *module {
	m := &module{tags: sources.GetTags(), cue: map[string][]byte{}, contents: map[string][]byte{}, vendored: map[string]bool{}, missing: map[string]bool{}}
	r := report{list}
	if !m.admit(sources, r) {
		return m
	}
	m.readModuleFile(r)
	m.refuseNested(sources, r)
	m.takeSchema(r)
	m.parse(r)
	m.group()
	m.checkPackages(r)
	m.checkImports(r)
	m.checkOwners(r)
	return m
}

// admit sorts the files by kind. It refuses what [source.Read] would not have
// read.
func (m *module) admit(sources *sourcev1.Sources, r report) bool {
	all, documents := map[string]bool{}, map[string][]byte{}
	size := 0
	for _, f := range sources.GetFiles() {
		name := f.GetPath()
		if all[name] || !clean(name) {
			r.badPath(name)
			return false
		}
		all[name] = true
		size += len(f.GetData())
		switch path.Ext(name) {
		case ".cue":
			m.cue[name] = f.GetData()
		case ".json":
			documents[name] = f.GetData()
		}
		if source.IsFile(name) {
			m.contents[name] = f.GetData()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if all[dir] {
				r.badPath(dir)
				return false
			}
		}
	}
	if len(all) > source.MaxFiles || size > source.MaxBytes {
		r.tooLarge(len(all), size)
		return false
	}
	m.documents = document.NewSet(documents)
	return true
}

// clean reports whether a path is relative, and stays where it is from.
func clean(name string) bool {
	return name != "" && path.Clean("/" + name)[1:] == name
}

// parse reads the CUE files outside cue.mod.
func (m *module) parse(r report) {
	for _, name := range slices.Sorted(maps.Keys(m.cue)) {
		if !inside(name, "cue.mod") && source.Named(name) && !ignored(name) {
			m.take(m.parseFile(name, r))
		}
	}
}

// take makes f a file of its package, unless CUE leaves it out with the module's tags.
func (m *module) take(f *file) {
	if f.syntax != nil && excluded(f.syntax, m.tags) {
		m.out = append(m.out, f)
	} else {
		m.files = append(m.files, f)
	}
}

func (m *module) parseFile(name string, r report) *file {
	f := &file{path: name, dir: path.Dir(name), data: m.cue[name], test: isTest(name)}
	syntax, err := parser.ParseFile(name, f.data)
	f.syntax, f.broken = syntax, err != nil
	for _, e := range errors.Errors(err) {
		r.syntax(name, e)
	}
	if syntax != nil {
		f.pkg = syntax.PackageName()
		f.hidden, f.used = hiding(syntax)
	}
	return f
}

// ignored reports whether CUE leaves a file out of packages.
func ignored(name string) bool {
	return strings.HasPrefix(path.Base(name), "_") || isTest(name) || strings.HasSuffix(name, "_tool.cue")
}

// isTest reports whether a file holds tests. CUE leaves those out of packages unless
// it is asked for them.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.cue") && !strings.HasPrefix(path.Base(name), "_")
}

// group makes packages of files.
func (m *module) group() {
	m.packages = map[string]*pkg{}
	for _, f := range m.files {
		if f.pkg == "" || f.pkg == "_" {
			continue
		}
		k := key(f.dir, f.pkg)
		if m.packages[k] == nil {
			m.packages[k] = &pkg{dir: f.dir, name: f.pkg}
		}
		m.packages[k].own = append(m.packages[k].own, f)
	}
	for _, p := range m.packages {
		tree := draw(p.own)
		p.bindings, p.tests = tree.Down("bindings").Fields(), tree.Down("tests").Fields()
		p.files = slices.Clone(p.own)
		for _, above := range m.above(p) {
			p.files = append(p.files, above.own...)
			above.parent = true
		}
	}
}

// above returns the packages in the directories above p whose files are also p's,
// the nearest first.
func (m *module) above(p *pkg) []*pkg {
	var all []*pkg
	for dir := p.dir; dir != "."; {
		dir = path.Dir(dir)
		if q := m.packages[key(dir, p.name)]; q != nil {
			all = append(all, q)
		}
	}
	return all
}

func draw(files []*file) outline.Cursor {
	var trees []*ast.File
	for _, f := range files {
		if tree := f.tree(); tree != nil {
			trees = append(trees, tree)
		}
	}
	return outline.Draw(trees...)
}

func key(dir, name string) string { return dir + ":" + name }

// sorted returns the packages by directory and name.
func (m *module) sorted() []*pkg {
	var all []*pkg
	for _, k := range slices.Sorted(maps.Keys(m.packages)) {
		all = append(all, m.packages[k])
	}
	return all
}

// inside reports whether a path is dir or below it.
func inside(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}
