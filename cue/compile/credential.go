package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var clientAuths = map[string]irv1.ClientAuth{
	"": irv1.ClientAuth_CLIENT_AUTH_BASIC, "basic": irv1.ClientAuth_CLIENT_AUTH_BASIC, "body": irv1.ClientAuth_CLIENT_AUTH_BODY,
}

var tlsVersions = map[string]irv1.TLSVersion{
	"": irv1.TLSVersion_TLS_VERSION_1_2, "1.2": irv1.TLSVersion_TLS_VERSION_1_2, "1.3": irv1.TLSVersion_TLS_VERSION_1_3,
}

func (rd *reading) credential(v value) *irv1.Credential {
	kinds := v.fields()
	names := sorted(kinds)
	if len(names) > 1 {
		rd.twoCredentials(kinds[names[1]], names)
	}
	for _, kind := range names {
		f := kinds[kind]
		switch kind {
		case "bearer":
			return &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: f.get("secret").text()}}}
		case "basic":
			return &irv1.Credential{Kind: &irv1.Credential_Basic{Basic: &irv1.BasicCredential{
				User: f.get("user").text(), Secret: f.get("secret").text(),
			}}}
		case "header":
			return &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{
				Name: canonical(f.get("name").text()), Secret: f.get("secret").text(),
			}}}
		case "oauth2":
			return &irv1.Credential{Kind: &irv1.Credential_Oauth2{Oauth2: rd.oauth2(f)}}
		}
	}
	return nil
}

func (rd *reading) oauth2(v value) *irv1.OAuth2Credential {
	c := &irv1.OAuth2Credential{
		ClientId:   v.get("clientID").text(),
		Secret:     v.get("secret").text(),
		Scopes:     v.get("scopes").texts(),
		ClientAuth: clientAuths[v.get("clientAuth").text()],
	}
	slices.Sort(c.Scopes) // their order means nothing (RFC 6749, section 3.3)
	c.Scopes = slices.Compact(c.Scopes)
	if s := v.get("tokenURL").text(); s != "" {
		c.Scheme, c.Authority, c.Path, _ = rd.splitURL(s, v.get("tokenURL"))
	}
	params := v.get("parameters").fields()
	for _, name := range sorted(params) {
		if irv1.GrantParameter(name) {
			rd.grantParameter(params[name], name)
		}
		c.Parameters = append(c.Parameters, &irv1.TokenParameter{Name: name, Value: params[name].text()})
	}
	c.Tls = rd.tls(v.get("tls"), c.GetScheme())
	return c
}

// tls reads how connections with a scheme are secured; nil when v says nothing.
func (rd *reading) tls(v value, scheme irv1.Scheme) *irv1.TLS {
	if !v.exists() {
		return nil
	}
	v.note()
	t := &irv1.TLS{
		Min:         tlsVersions[v.get("min").text()],
		Ca:          v.get("ca").text(),
		Certificate: v.get("certificate").text(),
		Key:         v.get("key").text(),
	}
	if scheme == irv1.Scheme_SCHEME_HTTP {
		rd.tlsWithoutHTTPS(v)
	}
	switch certificate, key := v.get("certificate"), v.get("key"); {
	case certificate.exists() && !key.exists():
		rd.halfACertificate(certificate, "key")
	case key.exists() && !certificate.exists():
		rd.halfACertificate(key, "certificate")
	}
	return t
}
