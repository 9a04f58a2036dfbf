package compile

import (
	"cuelang.org/go/cue"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// compile evaluates the package and reads the bindings that belong to it.
func (u *unit) compile(list *diag.List) (bindings []*binding) {
	defer recovered(list, u.pkg)
	author := draw(u.files)
	x := examiner{report{list}, author, u}
	v := u.build()
	under := v.LookupPath(cue.MakePath(cue.Str("bindings")))
	if !under.Exists() {
		x.whole(v)
		return nil
	}
	if isMarked(under, "binding") {
		x.unnamed("bindings", "NAME", "bind.#Binding")
		return nil
	}
	broken := x.outside(v, "bindings")
	all := value{cue: under, written: writtenAt(author, "bindings")}.fields()
	for _, name := range sorted(all) {
		if u.inherited[name] == nil && x.binding(name, all[name]) {
			bindings = append(bindings, u.read(name, all[name], x.report))
		}
	}
	x.definitions(broken)
	return bindings
}

// place returns the beginning of the package's first own file.
func (p *pkg) place() *sourcev1.Position {
	return &sourcev1.Position{File: p.own[0].path, Line: 1, Column: 1}
}
