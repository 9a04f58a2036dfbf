package irv1

// A SecretRef is a secret that a binding names.
type SecretRef struct {
	Name  string
	Field string // the author's word for the place that names it, such as "upstream.auth.bearer.secret"
}

// Secrets returns every secret that a node needs for b.
func (b *Binding) Secrets() []SecretRef {
	return append(b.GetUpstream().Secrets(), b.GetState().Secrets()...)
}

// Secrets returns those that s names: what seals first.
func (s *State) Secrets() []SecretRef {
	var refs []SecretRef
	for _, ref := range []SecretRef{{s.GetSecret(), "state.secret"}, {s.GetPrevious(), "state.previous"}} {
		if ref.Name != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}

// Secrets returns every secret that a node needs for u: those of the credential
// before those of TLS.
func (u *Upstream) Secrets() []SecretRef {
	var refs []SecretRef
	switch k := u.GetCredential().GetKind().(type) {
	case *Credential_Bearer:
		refs = []SecretRef{{k.Bearer.GetSecret(), "upstream.auth.bearer.secret"}}
	case *Credential_Basic:
		refs = []SecretRef{{k.Basic.GetSecret(), "upstream.auth.basic.secret"}}
	case *Credential_Header:
		refs = []SecretRef{{k.Header.GetSecret(), "upstream.auth.header.secret"}}
	case *Credential_Oauth2:
		refs = []SecretRef{{k.Oauth2.GetSecret(), "upstream.auth.oauth2.secret"}}
		refs = append(refs, k.Oauth2.GetTls().secrets("upstream.auth.oauth2.tls")...)
	}
	return append(refs, u.GetTls().secrets("upstream.tls")...)
}

// secrets returns those that t, which is at field, names.
func (t *TLS) secrets(field string) []SecretRef {
	var refs []SecretRef
	for _, ref := range []SecretRef{
		{t.GetCa(), field + ".ca"}, {t.GetCertificate(), field + ".certificate"}, {t.GetKey(), field + ".key"},
	} {
		if ref.Name != "" {
			refs = append(refs, ref)
		}
	}
	return refs
}
