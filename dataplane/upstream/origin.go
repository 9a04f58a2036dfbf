package upstream

import irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"

// An Origin is a service that connections can be shared for.
type Origin struct {
	Scheme    string // "http" or "https"
	Authority string // host with an optional port
	TLS       TLS    // of connections with https
}

// OriginOf returns the origin of u.
func OriginOf(u *irv1.Upstream) Origin {
	return origin(u.GetScheme(), u.GetAuthority(), u.GetTls())
}

// TokenOriginOf returns the origin of the token endpoint of c.
func TokenOriginOf(c *irv1.OAuth2Credential) Origin {
	return origin(c.GetScheme(), c.GetAuthority(), c.GetTls())
}

func origin(scheme irv1.Scheme, authority string, t *irv1.TLS) Origin {
	if scheme == irv1.Scheme_SCHEME_HTTP {
		return Origin{Scheme: "http", Authority: authority}
	}
	return Origin{Scheme: "https", Authority: authority, TLS: tlsOf(t)}
}
