package compile

import (
	"slices"

	"google.golang.org/protobuf/proto"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// shareEndpoints reports what bindings say of the endpoint that they share and another
// one says otherwise. What one says of locales, all get.
func shareEndpoints(bindings []*binding, r report) {
	icons, locales := map[string]*binding{}, map[string]*binding{} // by endpoint: the first that has any
	for _, b := range bindings {
		if first := firstOf(icons, b, len(b.ir.GetIcons()) > 0); first != nil && !slices.EqualFunc(first.ir.GetIcons(), b.ir.GetIcons(), equal[*irv1.Icon]) {
			r.sharedConflict(b, first, "icons")
		}
		if first := firstOf(locales, b, b.ir.GetLocales() != nil); first != nil && !proto.Equal(first.ir.GetLocales(), b.ir.GetLocales()) {
			r.sharedConflict(b, first, "locales")
		}
	}
	for _, b := range bindings {
		if first := locales[b.ir.GetEndpoint()]; first != nil {
			b.ir.Locales = first.ir.GetLocales()
		}
		checkNegotiated(b, r)
	}
}

// firstOf returns the binding of b's endpoint that first had something, nil if that
// is b, or if b has nothing.
func firstOf(all map[string]*binding, b *binding, has bool) *binding {
	first := all[b.ir.GetEndpoint()]
	if has && first == nil {
		all[b.ir.GetEndpoint()] = b
	}
	if !has {
		return nil
	}
	return first
}

// checkNegotiated reports meta rules of a locale that there is not.
func checkNegotiated(b *binding, r report) {
	for _, rule := range b.ir.GetMeta() {
		negotiated := slices.ContainsFunc(rule.GetSources(), func(s *irv1.MetaSource) bool { return s.GetLocale() != nil })
		if negotiated && b.ir.GetLocales() == nil {
			r.noLocales(b, rule.GetField(), b.ir.GetEndpoint())
		}
	}
}

// equal reports whether two messages say the same.
func equal[M proto.Message](a, b M) bool { return proto.Equal(a, b) }
