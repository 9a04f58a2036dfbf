package irv1

import (
	"regexp"
	"slices"
	"strings"
)

// result checks what becomes of a body and of headers of a response.
func (p *problems) result(t *Tool) {
	p.check(len(t.GetProduces()) == 0 || t.GetResult() == ResultMode_RESULT_MODE_MCP, "produces", "only an MCP result has parts")
	p.check(len(t.GetProduces()) == 0 || !t.GetOutput().GetShown(), "produces", "clients expect what the output schema says")
	p.content(t)
	for i, r := range t.GetProduces() {
		p.check(r.GetKind() <= PartKind_PART_KIND_TEXT, "produces", "a body is no %s", r.GetKind())
		p.check(r.GetSubtype() == "" || subtype.MatchString(r.GetSubtype()), "produces", "%q is not a subtype in lower case", r.GetSubtype())
		p.check(!slices.ContainsFunc(t.GetProduces()[:i], func(q *MediaRange) bool { return q.GetKind() == r.GetKind() && q.GetSubtype() == r.GetSubtype() }),
			"produces", "a media type stands twice")
	}
	p.check(len(t.GetResultMeta()) == 0 || t.GetResult() != ResultMode_RESULT_MODE_RAW, "resultMeta", "a raw result has no _meta of the node's")
	keys := map[string]bool{}
	for _, m := range t.GetResultMeta() {
		field := "resultMeta." + m.GetKey()
		p.check(metaKey.MatchString(m.GetKey()) && !ReservedMetaKey(m.GetKey()), field, "it cannot be a key of a result's _meta")
		p.check(!keys[m.GetKey()], field, "there are two of this key")
		if _, ok := m.GetSource().(*ResultMeta_Header); ok {
			p.check(ValidHeaderName(m.GetHeader()), field, "%q is not the canonical name of a header", m.GetHeader())
			p.check(!SecretHeader(m.GetHeader()), field, "header %s is not for callers", m.GetHeader())
		}
		keys[m.GetKey()] = true
	}
}

var (
	subtype = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]{0,63}$`)
	metaKey = regexp.MustCompile(`^([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?[.])*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

// ReservedMetaKey reports whether the prefix of a key of "_meta" is one that MCP
// keeps for itself, with its name as a label, or that of Bindery.
func ReservedMetaKey(key string) bool {
	prefix, _, prefixed := strings.Cut(strings.ToLower(key), "/")
	if !prefixed {
		return false
	}
	labels := strings.Split(prefix, ".")
	return slices.Contains(labels, "mcp") || slices.Contains(labels, "modelcontextprotocol") || prefix == "bindery.dev"
}

// SecretHeader reports whether the header of a response called name, in canonical
// form, says what only the two ends of a connection are to know.
func SecretHeader(name string) bool {
	return slices.Contains([]string{
		"Authentication-Info", "Authorization", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Set-Cookie", "Set-Cookie2",
		"Www-Authenticate",
	}, name)
}
