// Package credential identifies a node to upstreams: what a binding says about its
// credential comes in, and the header that a request needs goes out, with the
// secrets as they are at that time.
package credential

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Credential authorizes the requests to an upstream. It is safe for concurrent
// use. A nil Credential is that of an upstream that needs none.
type Credential struct {
	source  *irv1.Credential
	secrets *secret.Store
	grant   *grant // nil for a credential that is a secret itself
}

// New returns the credential that source, which is valid, describes. tokens is a
// client for the token endpoint of an OAuth2 credential, whose requests say
// userAgent; it is not used for other kinds.
func New(source *irv1.Credential, secrets *secret.Store, tokens *upstream.Client, userAgent string) *Credential {
	c := &Credential{source: source, secrets: secrets}
	if oauth2 := source.GetOauth2(); oauth2 != nil {
		c.grant = newGrant(oauth2, tokens, userAgent)
	}
	return c
}

// Authorize sets the header that the upstream wants, with the secret as it is now.
// On an error the request must not be sent.
//
// Where that takes a token which is not at hand, Authorize waits for it until ctx is
// done or limit is over. The error wraps an [*upstream.Error] of the token endpoint
// if there was none then; otherwise it is about the secret. It never holds a secret
// or anything that the token endpoint sent.
func (c *Credential) Authorize(ctx context.Context, h http.Header, limit time.Duration) error {
	if c == nil {
		return nil
	}
	name, value, err := c.header(ctx, limit)
	if err != nil {
		return err
	}
	h.Set(name, value)
	return nil
}

// Sent returns what identifies the node in the header h that it authorized, as an upstream
// may repeat it: the whole value, and the parts of it that are secrets by themselves; nil
// when there is none. Some can be "".
func (c *Credential) Sent(h http.Header) []string {
	if c == nil {
		return nil
	}
	name := "Authorization"
	if k := c.source.GetHeader(); k != nil {
		name = k.GetName()
	}
	return parts(h.Get(name))
}

// minPart is how long, in bytes, the value of a parameter is at least that is taken for a
// secret by itself: shorter ones may be versions or flags.
const minPart = 8

// parts returns value, what follows its scheme, of a Basic one (RFC 7617) the pair and the
// password as well, and the values of parameters such as session=... and token="...".
func parts(value string) []string {
	scheme, rest, _ := strings.Cut(value, " ")
	all := []string{value, rest}
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		all = append(all, string(pair), password)
	}
	for field := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
		_, v, _ := strings.Cut(field, "=")
		if v = strings.Trim(v, `"`); len(v) >= minPart {
			all = append(all, v)
		}
	}
	return all
}

// Rejected says that the upstream answered 401 to a request with header h. A token
// that it had is not used again.
func (c *Credential) Rejected(h http.Header) {
	if c != nil && c.grant != nil {
		c.grant.drop(h.Get("Authorization"))
	}
}

func (c *Credential) header(ctx context.Context, limit time.Duration) (name, value string, err error) {
	switch k := c.source.GetKind().(type) {
	case *irv1.Credential_Bearer:
		value, err = c.plain(k.Bearer.GetSecret())
		return "Authorization", "Bearer " + value, err
	case *irv1.Credential_Basic:
		value, err = c.secrets.Lookup(k.Basic.GetSecret())
		pair := k.Basic.GetUser() + ":" + value
		return "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), err
	case *irv1.Credential_Header:
		value, err = c.plain(k.Header.GetSecret())
		return k.Header.GetName(), value, err
	case *irv1.Credential_Oauth2:
		value, err = c.secrets.Lookup(k.Oauth2.GetSecret())
		if err == nil {
			value, err = c.grant.header(ctx, limit, value)
		}
		return "Authorization", value, err
	}
	return "", "", fmt.Errorf("the credential is of no known kind")
}

// plain returns a secret that goes into a header as it is.
func (c *Credential) plain(name string) (string, error) {
	value, err := c.secrets.Lookup(name)
	if err == nil && !irv1.ValidHeaderValue(value) {
		err = fmt.Errorf("secret %q cannot be sent in a header: it must be printable ASCII without spaces at its ends", name)
	}
	return value, err
}
