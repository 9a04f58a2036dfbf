package upstream

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/bindery-dev/bindery/dataplane/secret"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// SecretOf returns the name of the secret that c refers to, and the field in the
// author's source that names it; "" for none.
func SecretOf(c *irv1.Credential) (name, field string) {
	switch k := c.GetKind().(type) {
	case *irv1.Credential_Bearer:
		return k.Bearer.GetSecret(), "upstream.auth.bearer.secret"
	case *irv1.Credential_Basic:
		return k.Basic.GetSecret(), "upstream.auth.basic.secret"
	case *irv1.Credential_Header:
		return k.Header.GetSecret(), "upstream.auth.header.secret"
	}
	return "", ""
}

// Authorize sets the header that c asks for, with the secret as it is now. c nil
// asks for none. On an error, which never holds the secret, the request must not be
// sent.
func Authorize(h http.Header, c *irv1.Credential, secrets *secret.Store) error {
	name, _ := SecretOf(c)
	if name == "" {
		return nil
	}
	value, err := secrets.Lookup(name)
	if err != nil {
		return err
	}
	if c.GetBasic() == nil && !irv1.ValidHeaderValue(value) {
		return fmt.Errorf("secret %q cannot be sent in a header: it must be printable ASCII without spaces at its ends", name)
	}
	switch k := c.GetKind().(type) {
	case *irv1.Credential_Bearer:
		h.Set("Authorization", "Bearer "+value)
	case *irv1.Credential_Basic:
		pair := k.Basic.GetUser() + ":" + value
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case *irv1.Credential_Header:
		h.Set(k.Header.GetName(), value)
	}
	return nil
}
