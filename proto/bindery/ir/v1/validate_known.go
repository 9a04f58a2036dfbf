package irv1

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// known adds a problem for everything in m, at any depth, that this build does not
// know or that leaves a choice open: a field, a value of an enumeration, an
// enumeration or a oneof without a value.
func (p *problems) known(m protoreflect.Message) {
	w := walk{problems: p}
	w.message(m)
}

// walk is a place in a message.
type walk struct {
	*problems
	path []string
}

func (w *walk) message(m protoreflect.Message) {
	if len(m.GetUnknown()) > 0 {
		w.addf(w.field(), "the bundle has a field here that this node does not know: upgrade the node")
	}
	oneofs := m.Descriptor().Oneofs()
	for i := range oneofs.Len() {
		if o := oneofs.Get(i); !o.IsSynthetic() && m.WhichOneof(o) == nil {
			w.addf(w.field(), "%s is not set", o.Name())
		}
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.ContainingOneof() != nil && !m.Has(f) {
			continue
		}
		w.path = append(w.path, string(f.Name()))
		w.value(f, m)
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *walk) value(f protoreflect.FieldDescriptor, m protoreflect.Message) {
	switch {
	case f.IsList() && f.Message() != nil:
		list := m.Get(f).List()
		for i := range list.Len() {
			w.message(list.Get(i).Message())
		}
	case f.Message() != nil && m.Has(f):
		w.message(m.Get(f).Message())
	case f.Enum() != nil && !f.IsList():
		w.enum(f, m.Get(f).Enum())
	}
}

func (w *walk) enum(f protoreflect.FieldDescriptor, n protoreflect.EnumNumber) {
	if n == 0 {
		w.addf(w.field(), "%s is not set", f.Name())
	} else if f.Enum().Values().ByNumber(n) == nil {
		w.addf(w.field(), "%s has the value %d, which this node does not know: upgrade the node", f.Name(), n)
	}
}

func (w *walk) field() string { return strings.Join(w.path, ".") }
