package irv1

import (
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
)

// maxSources is how many sources a meta rule can have, maxLocales how many languages an
// endpoint.
const (
	maxSources = 16
	maxLocales = 1000
)

var locale = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$`)

// SecretInbound reports whether the header of a request to a node called name, in
// canonical form, is between the caller and the node: what lets the caller in, and the
// connection's own.
func SecretInbound(name string) bool {
	return ReservedHeader(name) || slices.Contains([]string{"Cookie", "Mcp-Session-Id", "Payment-Signature", "X-Payment"}, name)
}

// locales checks the languages of an endpoint.
func (p *problems) locales(l *Locales) {
	if l == nil {
		return
	}
	lower := make([]string, len(l.GetSupported()))
	for i, tag := range l.GetSupported() {
		p.check(locale.MatchString(tag), "locales.supported", "%q is not the tag of a language", tag)
		lower[i] = strings.ToLower(tag)
	}
	p.check(len(lower) <= maxLocales, "locales.supported", "there are %d, at most %d can be", len(lower), maxLocales)
	p.check(slices.IsSorted(lower) && len(slices.Compact(lower)) == len(l.GetSupported()), "locales.supported", "they are not sorted, or one stands twice")
	p.check(slices.Contains(l.GetSupported(), l.GetFallback()), "locales.default", "%q is none of those that are supported", l.GetFallback())
}

// sharedLocales adds a problem for bindings of one endpoint that have not the same
// locales.
func (p *problems) sharedLocales(bindings []*Binding) {
	first := map[string]*Binding{} // by endpoint
	for _, b := range bindings {
		p.binding = b.GetName()
		other := first[b.GetEndpoint()]
		if other == nil {
			first[b.GetEndpoint()] = b
			continue
		}
		p.check(proto.Equal(other.GetLocales(), b.GetLocales()), "locales", "endpoint %s has others, of binding %q", b.GetEndpoint(), other.GetName())
	}
	p.binding = ""
}

// sources checks where else the value of a meta rule comes from.
func (p *problems) sources(field string, b *Binding, r *MetaRule) {
	p.check(len(r.GetSources()) <= maxSources, field+".from", "there are %d, at most %d can be", len(r.GetSources()), maxSources)
	p.check(!r.GetHidden() || len(r.GetSources()) > 0 || r.GetGenerate() != Generate_GENERATE_NOTHING, field+".argument", "nothing gives the field a value")
	for _, s := range r.GetSources() {
		switch k := s.GetKind().(type) {
		case *MetaSource_RequestMeta:
			p.check(entryKey.MatchString(k.RequestMeta.GetKey()), field+".from", "%q cannot be a key of _meta", k.RequestMeta.GetKey())
		case *MetaSource_Header:
			p.check(ValidHeaderName(k.Header) && !SecretInbound(k.Header), field+".from", "%q is not the canonical name of a header that a caller can say something in", k.Header)
		case *MetaSource_Locale:
			p.check(b.GetLocales() != nil, field+".from", "there are no locales to negotiate")
		}
	}
}
