package table

import (
	"slices"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Field is a member of a body that is made of arguments.
type Field struct {
	Name     rawjson.Value // a string
	Argument string        // whose value it has; "": it is an object of Fields
	Fields   []*Field
}

// bodyOf returns the fields of the body that the arguments of t make up, in the
// order of the arguments; nil when none goes there.
func bodyOf(t *irv1.Tool) []*Field {
	root := &Field{}
	for _, a := range t.GetArguments() {
		if a.GetIn() != irv1.ArgumentIn_ARGUMENT_IN_BODY {
			continue
		}
		at := root
		for _, name := range a.GetPlace() {
			at = at.down(rawjson.Quote(name))
		}
		at.Argument = a.GetName()
	}
	return root.Fields
}

// down returns the field of f called name, which is added when it is not there.
func (f *Field) down(name rawjson.Value) *Field {
	i := slices.IndexFunc(f.Fields, func(g *Field) bool { return string(g.Name) == string(name) })
	if i < 0 {
		f.Fields = append(f.Fields, &Field{Name: name})
		i = len(f.Fields) - 1
	}
	return f.Fields[i]
}
