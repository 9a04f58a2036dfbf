package compile

import (
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"github.com/bindery-dev/bindery/cue/outline"
)

// hiding returns the labels that hide fields in a file, and the names that it refers to.
func hiding(tree *ast.File) (hidden, used map[string]bool) {
	labels := map[ast.Node]bool{}
	hidden, used = map[string]bool{}, map[string]bool{}
	ast.Walk(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if id, ok := n.Label.(*ast.Ident); ok && hides(id.Name) {
				labels[id], hidden[id.Name] = true, true
			}
		case *ast.Ident:
			if hides(n.Name) && !labels[n] {
				used[n.Name] = true
			}
		}
		return true
	}, nil)
	return hidden, used
}

// unread returns the labels, sorted, that hide fields in the package and that nothing
// refers to: no file of a package of that name, in whatever directory and with whatever
// tags. CUE keeps a field whose label begins with "_" from all who read the value: it can
// only be there for what refers to it.
func (u *unit) unread() []string {
	var all []string
	for _, f := range u.files {
		for name := range f.hidden {
			if !u.module.refers(u.name, name) {
				all = append(all, name)
			}
		}
	}
	return unique(all)
}

// refers reports whether a file of a package with that name refers to a hidden field.
func (m *module) refers(pkg, field string) bool {
	refers := func(f *file) bool { return f.pkg == pkg && f.used[field] }
	return slices.ContainsFunc(m.files, refers) || slices.ContainsFunc(m.out, refers)
}

// hides reports whether a label hides a field and is no definition.
func hides(label string) bool {
	return strings.HasPrefix(label, "_") && !strings.HasPrefix(label, "_#") && label != "_"
}

// hidden reports the fields at v and below that are hidden from whoever reads them. They
// count where all fields do: in data, and where the author chooses the labels.
func (x examiner) hidden(v value, shape outline.Cursor) {
	if len(x.unread) == 0 {
		return
	}
	if shape.Opaque() || len(shape.Patterns()) > 0 {
		x.lost(v)
	}
	elements, fields := v.children()
	for _, e := range elements {
		x.hidden(e, beneath(shape, e.label()))
	}
	for _, name := range sorted(fields) {
		x.hidden(fields[name], beneath(shape, name))
	}
}

// lost reports the fields of v that are hidden, and that nothing refers to.
func (x examiner) lost(v value) {
	for _, name := range x.unread {
		if v.hides(name) {
			x.hiddenField(v.below(name))
		}
	}
}
