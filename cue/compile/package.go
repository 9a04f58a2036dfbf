package compile

import (
	"cuelang.org/go/cue"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// compile evaluates the package and reads the bindings that belong to it.
func (u *unit) compile(found *diag.List) (bindings []*binding) {
	list := &diag.List{}
	defer found.Append(list)
	defer recovered(list, u.pkg)
	x := u.examiner(list)
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
	whole := value{cue: under, written: writtenAt(x.author, "bindings")}
	x.lost(whole)
	all := whole.fields()
	for _, name := range sorted(all) {
		if u.inherited[name] != nil {
			continue
		}
		if b := x.read(name, all[name]); b != nil {
			bindings = append(bindings, b)
		}
	}
	x.definitions(broken)
	return bindings
}

// read examines a binding and reads it; nil when it cannot be read at all.
func (x examiner) read(name string, v value) *binding {
	own := x.apart()
	defer x.list.Append(own.list)
	if !own.binding(name, v) {
		return nil
	}
	own.hidden(v, own.shape("#Binding"))
	return x.unit.read(name, v, own.report)
}

// place returns the beginning of the package's first own file.
func (p *pkg) place() *sourcev1.Position {
	return &sourcev1.Position{File: p.own[0].path, Line: 1, Column: 1}
}
