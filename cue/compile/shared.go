package compile

import (
	"slices"

	"google.golang.org/protobuf/proto"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// checkShared reports what bindings say of the endpoint that they share and another
// one says otherwise.
func checkShared(bindings []*binding, r report) {
	icons := map[string]*binding{} // by endpoint: the first that has any
	for _, b := range bindings {
		if len(b.ir.GetIcons()) == 0 {
			continue
		}
		first := icons[b.ir.GetEndpoint()]
		if first == nil {
			icons[b.ir.GetEndpoint()] = b
		} else if !slices.EqualFunc(first.ir.GetIcons(), b.ir.GetIcons(), equal[*irv1.Icon]) {
			r.sharedConflict(b, first, "icons")
		}
	}
}

// equal reports whether two messages say the same.
func equal[M proto.Message](a, b M) bool { return proto.Equal(a, b) }
