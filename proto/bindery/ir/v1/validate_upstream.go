package irv1

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (p *problems) upstream(u *Upstream) {
	if u == nil {
		p.addf("upstream", "there is no upstream")
		return
	}
	p.check(validAuthority(u.GetAuthority()), "upstream.url", "%q is not a host with an optional port", u.GetAuthority())
	base := u.GetBasePath()
	p.check(base == "" || validPath(base) && !strings.HasSuffix(base, "/"), "upstream.url", "%q cannot begin the path of a URL", base)
	p.check(u.GetMaxRequestBytes() > 0, "upstream.maxRequestBytes", "it must be more than 0")
	p.check(u.GetMaxResponseBytes() > 0, "upstream.maxResponseBytes", "it must be more than 0")
	names := map[string]bool{}
	for _, h := range u.GetHeaders() {
		field := "upstream.headers." + h.GetName()
		p.header(field, h.GetName())
		p.check(!names[h.GetName()], field, "there are two headers of this name")
		p.check(ValidHeaderValue(h.GetValue()), field, "its value must be printable ASCII without spaces at its ends")
		names[h.GetName()] = true
	}
	p.credential(u)
	p.tls(u.GetTls(), u.GetScheme(), "upstream.tls")
	p.check(u.GetRetryBudget().GetPercent() <= 100, "upstream.retryBudget.percent", "it must be at most 100")
	p.check(u.GetRetryBudget().GetPerSecond() <= maxRetriesPerSecond, "upstream.retryBudget.perSecond", "it must be at most %d", maxRetriesPerSecond)
}

// maxRetriesPerSecond is the most retries that a second can add to a budget.
const maxRetriesPerSecond = 1000

func (p *problems) header(field, name string) {
	p.check(ValidHeaderName(name), field, "%q is not the canonical name of a header", name)
	p.check(!ReservedHeader(name), field, "header %s is not for a binding to set", name)
}

func (p *problems) credential(u *Upstream) {
	for _, ref := range u.Secrets() {
		p.check(validSecret(ref.Name), ref.Field, "%q cannot be the name of a secret", ref.Name)
	}
	switch k := u.GetCredential().GetKind().(type) {
	case *Credential_Basic:
		p.check(!strings.Contains(k.Basic.GetUser(), ":"), "upstream.auth.basic.user", "a user name cannot have a colon")
	case *Credential_Header:
		p.check(ValidHeaderName(k.Header.GetName()), "upstream.auth.header.name", "%q is not the canonical name of a header", k.Header.GetName())
		p.check(k.Header.GetName() == "Authorization" || !ReservedHeader(k.Header.GetName()), "upstream.auth.header.name",
			"header %s cannot carry a credential", k.Header.GetName())
	case *Credential_Oauth2:
		p.oauth2(k.Oauth2)
	}
	if name := u.GetDeadline(); name != "" {
		p.header("upstream.deadline.header", name)
		p.check(name != credentialHeader(u), "upstream.deadline.header", "the credential sets this header")
	}
	for _, h := range u.GetHeaders() {
		p.check(h.GetName() != credentialHeader(u), "upstream.headers."+h.GetName(), "the credential sets this header")
	}
}

func (p *problems) oauth2(c *OAuth2Credential) {
	const field = "upstream.auth.oauth2"
	p.check(validAuthority(c.GetAuthority()), field+".tokenURL", "%q is not a host with an optional port", c.GetAuthority())
	p.check(c.GetScheme() == Scheme_SCHEME_HTTPS || IsLoopback(c.GetAuthority()), field+".tokenURL", "a token is asked for over https, or on loopback")
	p.check(c.GetPath() == "" || validPath(c.GetPath()), field+".tokenURL", "%q cannot be the path of a URL", c.GetPath())
	p.check(c.GetClientId() != "" && ValidHeaderValue(c.GetClientId()), field+".clientID", "it must be printable ASCII without spaces at its ends")
	scopes := map[string]bool{}
	for _, s := range c.GetScopes() {
		p.check(validScope(s), field+".scopes", "%q cannot be a scope", s)
		p.check(!scopes[s], field+".scopes", "scope %q stands twice", s)
		scopes[s] = true
	}
	names := map[string]bool{}
	for _, param := range c.GetParameters() {
		place := field + ".parameters." + param.GetName()
		p.check(param.GetName() != "" && !names[param.GetName()], place, "the parameter has no name of its own")
		p.check(!GrantParameter(param.GetName()), place, "the node sets this parameter")
		names[param.GetName()] = true
	}
	p.tls(c.GetTls(), c.GetScheme(), field+".tls")
}

// tls checks t, which is at field and may be nil, for connections of a scheme.
func (p *problems) tls(t *TLS, scheme Scheme, field string) {
	p.check(t == nil || scheme == Scheme_SCHEME_HTTPS, field, "there is no TLS without https")
	p.check((t.GetCertificate() == "") == (t.GetKey() == ""), field, "a certificate and its key come together")
}

// GrantParameter reports whether the parameter called name is part of every request
// for a token, so that no binding sets it.
func GrantParameter(name string) bool {
	return slices.Contains([]string{"grant_type", "scope", "client_id", "client_secret"}, name)
}

// IsLoopback reports whether authority, which is valid, is on the node's own machine
// by its name.
func IsLoopback(authority string) bool {
	u := url.URL{Host: authority}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// validScope reports whether s is a scope-token (RFC 6749, section 3.3).
func validScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// credentialHeader returns the header that the credential of u sets, "" for none.
func credentialHeader(u *Upstream) string {
	switch k := u.GetCredential().GetKind().(type) {
	case *Credential_Bearer, *Credential_Basic, *Credential_Oauth2:
		return "Authorization"
	case *Credential_Header:
		return k.Header.GetName()
	}
	return ""
}

// validSecret reports whether name can be that of a secret: a file name that does
// not lead elsewhere.
func validSecret(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isUnreserved(c) || c == '~' || i == 0 && strings.IndexByte("-._", c) >= 0 {
			return false
		}
	}
	return name != "" && len(name) <= 253
}

// validAuthority reports whether s is a host with an optional port and nothing
// else.
func validAuthority(s string) bool {
	if strings.ContainsAny(s, "/?#@\\%") || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	u, err := url.Parse("http://" + s)
	if err != nil || u.Host != s || u.Hostname() == "" {
		return false
	}
	if u.Port() == "" {
		return !strings.HasSuffix(s, ":")
	}
	port, err := strconv.Atoi(u.Port())
	return err == nil && port >= 1 && port <= 65535
}

// validPath reports whether s, which is escaped, is an absolute path that stays
// where it points to (RFC 3986, section 3.3): no dot segment, also none that is
// escaped, and no empty one before the last.
func validPath(s string) bool {
	rest, ok := strings.CutPrefix(s, "/")
	if !ok {
		return false
	}
	segments := strings.Split(rest, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." || !isPchars(segment) || segment == "" && i < len(segments)-1 {
			return false
		}
	}
	return true
}

// isPchars reports whether s consists of characters that a path segment can have
// unescaped, and of percent signs.
func isPchars(s string) bool {
	for i := range len(s) {
		if !isUnreserved(s[i]) && strings.IndexByte("%!$&'()*+,;=:@", s[i]) < 0 {
			return false
		}
	}
	return true
}
