package table

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/bindery-dev/bindery/dataplane/credential"
	"github.com/bindery-dev/bindery/dataplane/seal"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxReasons is the number of reasons after which a refusal lists no more.
const maxReasons = 100

// Build makes c, the bundle of gen, runnable. What is equal in prev, the table in
// use, is shared with it; prev nil shares nothing, and nothing of prev changes.
//
// The error is a [*discoveryv1.Refused] with all reasons (at most 100). It is
// retryable if only secrets are missing: the bundle is good then, and Build
// succeeds once they are there.
func Build(c *irv1.Content, gen *discoveryv1.Generation, prev *Table, deps Deps) (*Table, error) {
	if problems := c.Validate(); len(problems) > 0 {
		return nil, refuse(problems)
	}
	if prev == nil {
		prev = &Table{}
	}
	b := builder{content: c, prev: prev, deps: deps.complete(), next: &Table{
		generation:  gen,
		digest:      c.Digest,
		bindings:    map[irv1.Digest]*binding{},
		shapes:      map[part]*shape{},
		clients:     map[upstream.Origin]*upstream.Client{},
		credentials: map[irv1.Digest]*credential.Credential{},
	}}
	bindings := b.bindings()
	if len(b.reasons) > 0 {
		return nil, &discoveryv1.Refused{Reasons: first(b.reasons)}
	}
	if reasons := missingSecrets(c, deps); len(reasons) > 0 {
		return nil, &discoveryv1.Refused{Reasons: first(reasons), Retryable: true}
	}
	b.next.endpoints = newEndpoints(bindings)
	b.next.paths = slices.Sorted(maps.Keys(b.next.endpoints))
	b.next.documents = documents(bindings)
	return b.next, nil
}

// complete returns d with every function set.
func (d Deps) complete() *Deps {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Sleep == nil {
		d.Sleep = sleep
	}
	if d.UUID == nil {
		d.UUID = randomUUID
	}
	d.UserAgent = cmp.Or(d.UserAgent, "bindery")
	if d.Transport == nil {
		d.Transport = func(o upstream.Origin) http.RoundTripper { return upstream.Transport(o, d.Secrets) }
	}
	return &d
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// randomUUID returns a random UUID of version 4 (RFC 9562, section 5.4).
func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func refuse(problems []irv1.Problem) *discoveryv1.Refused {
	var reasons []*discoveryv1.Reason
	for _, p := range problems {
		reasons = append(reasons, &discoveryv1.Reason{
			Code: "invalid-bundle", Binding: p.Binding, Tool: p.Tool, Field: p.Field, Message: p.Message,
		})
	}
	return &discoveryv1.Refused{Reasons: first(reasons)}
}

func first(reasons []*discoveryv1.Reason) []*discoveryv1.Reason {
	return reasons[:min(len(reasons), maxReasons)]
}

// missingSecrets returns a reason for everything that bindings name as a secret and
// that cannot be looked up or cannot be used now. Those of TLS are only used by the
// node's own transport, and only a node with that has secrets worth the name.
func missingSecrets(c *irv1.Content, deps Deps) []*discoveryv1.Reason {
	var reasons []*discoveryv1.Reason
	for _, b := range c.Bindings {
		missing := missingOf(b, deps.Secrets)
		if len(missing) == 0 && deps.Transport == nil {
			missing = append(unusableTLS(b, deps.Secrets), weakSecrets(b, deps.Secrets)...)
		}
		reasons = append(reasons, missing...)
	}
	return reasons
}

func missingOf(b *irv1.Binding, secrets *secret.Store) []*discoveryv1.Reason {
	var reasons []*discoveryv1.Reason
	for _, ref := range b.Secrets() {
		_, err := secrets.Lookup(ref.Name)
		if err == nil {
			continue
		}
		r := &discoveryv1.Reason{Code: "unreadable-secret", Binding: b.GetName(), Field: ref.Field, Message: err.Error(), Hint: secrets.Hint(ref.Name)}
		if errors.Is(err, secret.ErrMissing) {
			r.Code, r.Message = "missing-secret", fmt.Sprintf("secret %q is missing on this node", ref.Name)
		}
		reasons = append(reasons, r)
	}
	return reasons
}

// weakSecrets returns a reason for every secret of b that seals and is so short that
// who has something sealed could guess it.
func weakSecrets(b *irv1.Binding, secrets *secret.Store) []*discoveryv1.Reason {
	var reasons []*discoveryv1.Reason
	for _, ref := range b.GetState().Secrets() {
		if value, err := secrets.Lookup(ref.Name); err == nil && len(value) < seal.MinSecret {
			reasons = append(reasons, &discoveryv1.Reason{
				Code: "weak-secret", Binding: b.GetName(), Field: ref.Field,
				Message: fmt.Sprintf("secret %q is shorter than %d bytes", ref.Name, seal.MinSecret), Hint: "make one with: openssl rand -hex 32",
			})
		}
	}
	return reasons
}

// unusableTLS returns a reason for every TLS of b whose secrets are not what it
// takes.
func unusableTLS(b *irv1.Binding, secrets *secret.Store) []*discoveryv1.Reason {
	var reasons []*discoveryv1.Reason
	check := func(o upstream.Origin, field string) {
		if err := o.TLS.Check(secrets); err != nil {
			reasons = append(reasons, &discoveryv1.Reason{Code: "unreadable-secret", Binding: b.GetName(), Field: field, Message: err.Error()})
		}
	}
	if oauth2 := b.GetUpstream().GetCredential().GetOauth2(); oauth2 != nil {
		check(upstream.TokenOriginOf(oauth2), "upstream.auth.oauth2.tls")
	}
	check(upstream.OriginOf(b.GetUpstream()), "upstream.tls")
	return reasons
}

// digestOf returns the digest of what entries look like to a client; zero for none.
func digestOf[E interface{ newest() []byte }](entries []E) irv1.Digest {
	if len(entries) == 0 {
		return irv1.Digest{}
	}
	h := sha256.New()
	for _, e := range entries {
		text := e.newest()
		// The length keeps one list from looking like another.
		_ = binary.Write(h, binary.BigEndian, uint64(len(text)))
		h.Write(text)
	}
	return irv1.Digest(h.Sum(nil))
}
