package compile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/outline"
	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A report says which rule of a module is broken. All its messages are here, so
// that they can be read and reworded side by side.
type report struct {
	list *diag.List
}

func (r report) badPath(name string) {
	r.list.Errorf(diag.Problem{Code: "bad-path"}, "%q is not a clean path, occurs twice, or is a file and a directory", name)
}

func (r report) tooLarge(files, size int) {
	r.list.Errorf(diag.Problem{Code: "too-large"}, "the module has %d files with %d bytes; at most %d files with %d MiB are compiled",
		files, size, source.MaxFiles, source.MaxBytes>>20)
}

func (r report) panicked(p *pkg, cause any) {
	r.list.Errorf(diag.Problem{Pos: p.place(), Code: "compiler-bug", Hint: "please report it with the file"},
		"the compiler failed on package %s: %v", p.name, cause)
}

func (r report) noModule() {
	r.list.Errorf(diag.Problem{Pos: &sourcev1.Position{File: moduleFile}, Code: "no-module", Hint: "run `bindery init` to make a module here"},
		"there is no CUE module")
}

func (r report) dependencies(at *sourcev1.Position) {
	r.list.Errorf(diag.Problem{Pos: at, Code: "dependencies", Path: "deps", Hint: "put the packages into cue.mod/pkg"},
		"modules are not fetched, so none can be depended on")
}

func (r report) nestedModule(file, dir string) {
	r.list.Errorf(diag.Problem{Pos: &sourcev1.Position{File: file, Line: 1, Column: 1}, Code: "nested-module",
		Hint: "remove " + dir + "/cue.mod, or compile the directory on its own"},
		"a module inside a module is not compiled with it")
}

func (r report) staleSchema(name string) {
	r.list.Warnf(diag.Problem{Pos: &sourcev1.Position{File: name, Line: 1, Column: 1}, Code: "stale-schema",
		Hint: "replace it with the copy that `bindery init` writes to a new directory"},
		"this copy of the language is not the one of this bindery, which does not use it; plain `cue vet` and editors do")
}

func (r report) otherPackage(f *file, root string, rootFile *ast.File) {
	at := packageClause(f)
	r.list.Errorf(diag.Problem{Pos: at, Code: "other-package", Hint: "write package " + root},
		"package %s has bindings, and the module's bindings are in package %s (%s): what parent directories demand would not hold here",
		f.pkg, root, rootFile.Filename)
}

func (r report) noPackage(f *file, root string) {
	if root == "" {
		root = "bindings"
	}
	r.list.Errorf(diag.Problem{Pos: &sourcev1.Position{File: f.path, Line: 1, Column: 1}, Code: "no-package", Hint: "begin the file with package " + root},
		"a file without a package clause belongs to no package and is not compiled")
}

func (r report) unvendored(spec *ast.ImportSpec, name string) {
	r.list.Errorf(imported(spec, "unvendored-import", "put the package into "+vendorDir+"/"+name), "package %q is not in the module", name)
}

// missingPackage reports an import, below the module's path own, of a directory without a
// package; all are those that have one.
func (r report) missingPackage(spec *ast.ImportSpec, own, dir string, all []string) {
	hint := "write the package in " + dir + "/"
	if best, found := diag.Closest(dir, all); found && best != "." {
		hint = fmt.Sprintf("did you mean %q?", path.Join(own, best))
	}
	r.list.Errorf(imported(spec, "missing-package", hint), "package %q is not in the module", path.Join(own, dir))
}

// imported returns a problem at an import.
func imported(spec *ast.ImportSpec, code, hint string) diag.Problem {
	return diag.Problem{Pos: importedAt(spec), Code: code, Hint: hint}
}

func importedAt(spec *ast.ImportSpec) *sourcev1.Position {
	at := spec.Path.Pos()
	return &sourcev1.Position{File: at.Filename(), Line: uint32(at.Line()), Column: uint32(at.Column())}
}

func (r report) notOwner(name string, places []outline.Place, owner *pkg) {
	for _, p := range places {
		r.list.Errorf(diag.Problem{Pos: p.Label, Code: "not-owner", Path: dotted("bindings", name),
			Hint: "change it there, or give this binding another name"},
			"binding %q belongs to %s; a directory below may not touch it", name, directory(owner.dir))
	}
}

func (r report) syntax(name string, e errors.Error) {
	p := &sourcev1.Position{File: name}
	if at := e.Position(); at.IsValid() {
		p.Line, p.Column = uint32(at.Line()), uint32(at.Column())
	}
	r.list.Errorf(diag.Problem{Pos: p, Code: "syntax"}, "%s", text(e))
}

// load reports what CUE says before it evaluates anything.
func (r report) load(e errors.Error) {
	p := diag.Problem{Code: "load", Pos: &sourcev1.Position{File: moduleFile}}
	if at := positions(e); len(at) > 0 {
		p.Pos = at[0]
	}
	r.list.Errorf(p, "%s", inFull(e))
}

// inFull returns the message of e and that of its cause, without paths.
func inFull(e errors.Error) string {
	if deepest := cause(e); deepest != e {
		return text(e) + ": " + text(deepest)
	}
	return text(e)
}

// cause returns what is at the bottom of e.
func cause(e errors.Error) errors.Error {
	for {
		inner, ok := errors.Unwrap(e).(errors.Error)
		if !ok {
			return e
		}
		e = inner
	}
}

// strangeTag reports a tag, as it is given, that no file which is compiled takes.
func (r report) strangeTag(given string, known []knownTag) {
	name, _, value := strings.Cut(given, "=")
	var names []string
	for _, t := range known {
		switch {
		case t.name == name && r.list.Has(t.pos):
			return // what keeps CUE from taking it has been reported
		case t.name == name && t.value == value:
			r.list.Errorf(diag.Problem{Pos: t.pos, Code: "unknown-tag", Hint: "see which @if or @ignore leaves the file out"},
				"the file that takes the tag %q is not compiled", name)
			return
		case t.name == name && t.value:
			r.list.Errorf(diag.Problem{Pos: t.pos, Code: "unknown-tag", Hint: "-t " + name + "=..."}, "the tag %q needs a value", name)
			return
		case t.name == name:
			r.list.Errorf(diag.Problem{Pos: t.pos, Code: "unknown-tag", Hint: "-t " + name}, "the tag %q takes no value", name)
			return
		}
		names = append(names, t.name)
	}
	slices.Sort(names)
	hint := diag.Nearest(name, slices.Compact(names))
	if hint == "" {
		hint = "declare it: env: string @tag(" + name + ")"
	}
	r.list.Errorf(diag.Problem{Code: "unknown-tag", Hint: hint}, "no file of the module takes the tag %q", name)
}

// tagType reports a tag whose value is not of the type that it takes.
func (r report) tagType(tag knownTag) {
	example := map[string]string{"int": "1", "number": "1.5", "bool": "true"}[tag.kind]
	r.list.Errorf(diag.Problem{Pos: tag.pos, Code: "tag-type", Hint: "-t " + tag.name + "=" + example},
		"the tag %q must be %s", tag.name, kind(tag.kind))
}

// text returns the message of e without its path.
func text(e errors.Error) string {
	format, args := e.Msg()
	s := fmt.Sprintf(format, args...)
	if strings.TrimSpace(s) == "" {
		s = e.Error()
	}
	return strings.ReplaceAll(s, home+"/", "")
}

func packageClause(f *file) *sourcev1.Position {
	for _, d := range f.syntax.Decls {
		if p, ok := d.(*ast.Package); ok {
			at := p.Name.Pos()
			return &sourcev1.Position{File: f.path, Line: uint32(at.Line()), Column: uint32(at.Column())}
		}
	}
	return &sourcev1.Position{File: f.path, Line: 1, Column: 1}
}

func directory(dir string) string {
	if dir == "." {
		return "the root of the module"
	}
	return dir
}

// dotted returns a path as people write it.
func dotted(path ...string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if !ast.IsValidIdent(p) && !isIndex(p) {
			parts[i] = fmt.Sprintf("%q", p)
		}
	}
	return strings.Join(parts, ".")
}

func isIndex(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
