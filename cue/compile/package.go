package compile

import (
	"cuelang.org/go/cue"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// compile evaluates the package and reads the bindings that belong to it.
//
// The evaluator has bugs that panic. One that does is a diagnostic for its package
// and leaves the others alone.
func (u *unit) compile(list *diag.List) (bindings []*binding) {
	defer func() {
		if p := recover(); p != nil {
			list.Errorf(diag.Problem{Pos: u.place(), Code: "evaluator", Hint: "this is a bug: please report it with the file"},
				"the compiler failed on package %s: %v", u.name, p)
		}
	}()
	author := draw(u.files)
	x := examiner{report{list}, author, u.module.shape, u}
	v := u.build()
	under := v.LookupPath(cue.MakePath(cue.Str("bindings")))
	if !under.Exists() {
		x.whole(v)
		return nil
	}
	broken := x.outside(v)
	all := value{cue: under, path: []string{"bindings"}, author: author.Down("bindings")}.fields()
	for _, name := range sorted(all) {
		if u.inherited[name] == nil && x.binding(name, all[name]) {
			bindings = append(bindings, u.read(name, all[name], x.report))
		}
	}
	x.definitions(broken)
	return bindings
}

// place returns the beginning of the package's first own file.
func (u *unit) place() *sourcev1.Position {
	return &sourcev1.Position{File: u.own[0].path, Line: 1, Column: 1}
}
