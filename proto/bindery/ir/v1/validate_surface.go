package irv1

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
)

// MaxIcons is how many icons a list of them can have, MaxIcon how long the source of
// one can be, in bytes: every list that clients ask for has them all.
const (
	MaxIcons = 16
	MaxIcon  = 64 << 10
)

var (
	iconSource = regexp.MustCompile(`^https://[^/?# ]+[!-~]*$|^data:image/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$`)
	iconType   = regexp.MustCompile(`^image/[a-z0-9.+-]+$`)
	iconSize   = regexp.MustCompile(`^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$|^any$`)
	entryKey   = regexp.MustCompile(`^(([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?[.])*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)*$`)
)

// surface checks what the entry of a tool says.
func (p *problems) surface(t *Tool) {
	p.icons(t.GetIcons())
	p.entryMeta("_meta", t.GetEntryMeta())
	for i, s := range t.GetSecuritySchemes() {
		p.check(slices.IsSorted(s.GetOauth2().GetScopes()), "securitySchemes", "scopes are not sorted")
		p.check(!slices.ContainsFunc(t.GetSecuritySchemes()[:i], func(q *SecurityScheme) bool { return proto.Equal(q, s) }), "securitySchemes", "a scheme stands twice")
		for _, scope := range s.GetOauth2().GetScopes() {
			p.check(scope != "" && utf8.ValidString(scope), "securitySchemes", "%q cannot be a scope", scope)
		}
	}
}

func (p *problems) icons(all []*Icon) {
	p.check(len(all) <= MaxIcons, "icons", "there are more than %d", MaxIcons)
	for _, i := range all {
		p.check(len(i.GetSrc()) <= MaxIcon && iconSource.MatchString(i.GetSrc()), "icons", "a source is neither an https URL nor a data URI of a picture, or longer than %d bytes", MaxIcon)
		p.check(i.GetMediaType() == "" || iconType.MatchString(i.GetMediaType()), "icons", "%q is not the media type of a picture", i.GetMediaType())
		for _, size := range i.GetSizes() {
			p.check(iconSize.MatchString(size), "icons", "%q is not a size", size)
		}
	}
}

// entryMeta checks the "_meta" of an entry of a list.
func (p *problems) entryMeta(field string, members []*Member) {
	p.members(field, members)
	for _, m := range members {
		ok := entryKey.MatchString(m.GetName()) && !ReservedMetaKey(m.GetName()) && m.GetName() != "securitySchemes"
		p.check(ok, field, "%q cannot be a key of the _meta of an entry", m.GetName())
	}
}

// sharedIcons adds a problem for bindings of one endpoint that have icons, and not the
// same.
func (p *problems) sharedIcons(bindings []*Binding) {
	first := map[string]*Binding{} // by endpoint
	for _, b := range bindings {
		p.binding = b.GetName()
		switch other := first[b.GetEndpoint()]; {
		case len(b.GetIcons()) == 0:
		case other == nil:
			first[b.GetEndpoint()] = b
		default:
			same := slices.EqualFunc(other.GetIcons(), b.GetIcons(), func(x, y *Icon) bool { return proto.Equal(x, y) })
			p.check(same, "icons", "endpoint %s has others, of binding %q", b.GetEndpoint(), other.GetName())
		}
	}
	p.binding = ""
}
