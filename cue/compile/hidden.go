package compile

import (
	"strings"

	"cuelang.org/go/cue/ast"

	"github.com/bindery-dev/bindery/cue/outline"
)

// unread returns the labels, sorted, that hide fields in files and that nothing there
// refers to. CUE keeps a field whose label begins with "_" from all who read the value: it
// can only be there for what refers to it.
func unread(files []*file) []string {
	labels, declared, used := map[ast.Node]bool{}, map[string]bool{}, map[string]bool{}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if id, ok := n.Label.(*ast.Ident); ok && hides(id.Name) {
				labels[id], declared[id.Name] = true, true
			}
		case *ast.Ident:
			if !labels[n] {
				used[n.Name] = true
			}
		}
		return true
	}
	for _, f := range files {
		if tree := f.tree(); tree != nil {
			ast.Walk(tree, visit, nil)
		}
	}
	var all []string
	for name := range declared {
		if !used[name] {
			all = append(all, name)
		}
	}
	return unique(all)
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
