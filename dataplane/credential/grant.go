package credential

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/singleflight"

	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Limits of fetching a token.
const (
	fetchTimeout = 10 * time.Second // from dialing to the last byte of the answer
	maxAnswer    = 64 << 10         // bytes
)

// early is how long before its end a token is not used any more, so that it is still
// good when it arrives; of a token that lives shorter than ten times that, a tenth
// of its life.
const early = 30 * time.Second

// A grant is the client credentials of a node at one token endpoint (RFC 6749,
// section 4.4), and the token that it got for them last.
type grant struct {
	source    *irv1.OAuth2Credential
	client    *upstream.Client
	userAgent string

	held    atomic.Pointer[token] // nil: none
	fetches singleflight.Group    // by the client's secret
}

// A token is a bearer token.
type token struct {
	header string    // the value of Authorization
	secret string    // the client's, which it was fetched with
	until  time.Time // when it is not used any more; zero for never
}

func newGrant(source *irv1.OAuth2Credential, client *upstream.Client, userAgent string) *grant {
	return &grant{source: source, client: client, userAgent: userAgent}
}

// header returns the value of Authorization with a token that the client's secret
// buys. Concurrent callers wait for one fetch, which goes on when one of them gives
// up.
func (g *grant) header(ctx context.Context, limit time.Duration, secret string) (string, error) {
	if t := g.at(secret); t != nil {
		return t.header, nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	fetched := g.fetches.DoChan(secret, func() (any, error) { return g.renew(secret) })
	select {
	case <-ctx.Done():
		return "", g.fail(interruption(ctx), "no token in time")
	case r := <-fetched:
		if r.Err != nil {
			return "", r.Err
		}
		return r.Val.(*token).header, nil
	}
}

// interruption returns what the end of ctx means for an exchange.
func interruption(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return upstream.ErrCanceled
	}
	return upstream.ErrTimeout
}

// at returns the token at hand that secret has bought and that is still good; nil
// for none.
func (g *grant) at(secret string) *token {
	t := g.held.Load()
	if t == nil || t.secret != secret || !t.until.IsZero() && !time.Now().Before(t.until) {
		return nil
	}
	return t
}

// drop forgets the token at hand if header is its.
func (g *grant) drop(header string) {
	if t := g.held.Load(); t != nil && t.header == header {
		g.held.CompareAndSwap(t, nil)
	}
}

// renew returns a token that is at hand since the caller looked, or else fetches one.
func (g *grant) renew(secret string) (t *token, err error) {
	defer func() {
		if p := recover(); p != nil { // it would end the process
			t, err = nil, g.fail(upstream.ErrUnreachable, fmt.Sprintf("a bug: %T", p))
		}
	}()
	if t := g.at(secret); t != nil {
		return t, nil
	}
	if t, err = g.fetch(secret); err != nil {
		return nil, err
	}
	g.held.Store(t)
	return t, nil
}

// fetch asks the token endpoint.
func (g *grant) fetch(secret string) (*token, error) {
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{
		Transport:     carrier{g},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	got, err := g.config(secret).Token(ctx)
	if err != nil {
		return nil, g.explain(err)
	}
	t := &token{header: "Bearer " + got.AccessToken, secret: secret}
	if got.Type() != "Bearer" || !irv1.ValidHeaderValue(t.header) || strings.Contains(got.AccessToken, " ") {
		return nil, g.fail(upstream.ErrUnreachable, "its token is not one that can be sent")
	}
	if !got.Expiry.IsZero() {
		t.until = got.Expiry.Add(-min(early, time.Until(got.Expiry)/10))
	}
	return t, nil
}

func (g *grant) config(secret string) *clientcredentials.Config {
	origin := g.client.Origin()
	c := &clientcredentials.Config{
		ClientID:       g.source.GetClientId(),
		ClientSecret:   secret,
		TokenURL:       origin.Scheme + "://" + origin.Authority + g.source.GetPath(),
		Scopes:         g.source.GetScopes(),
		EndpointParams: url.Values{},
		AuthStyle:      oauth2.AuthStyleInHeader,
	}
	for _, p := range g.source.GetParameters() {
		c.EndpointParams.Set(p.GetName(), p.GetValue())
	}
	if g.source.GetClientAuth() == irv1.ClientAuth_CLIENT_AUTH_BODY {
		c.AuthStyle = oauth2.AuthStyleInParams
	}
	return c
}

// explain puts the error of a fetch into words of our own: the library's quote the
// answer.
func (g *grant) explain(err error) error {
	var (
		exchange *upstream.Error
		refusal  *oauth2.RetrieveError
	)
	switch {
	case errors.As(err, &exchange) && exchange.Kind != upstream.ErrTooLarge:
		return fmt.Errorf("no token: %w", exchange)
	case errors.As(err, &refusal) && refusal.Response.StatusCode != http.StatusOK:
		return g.fail(upstream.ErrUnreachable, fmt.Sprintf("it answered with status %d", refusal.Response.StatusCode))
	}
	return g.fail(upstream.ErrUnreachable, "its answer holds no token")
}

// fail returns the error of the token endpoint that is of a kind.
func (g *grant) fail(kind error, cause string) error {
	return fmt.Errorf("no token: %w", &upstream.Error{Authority: g.client.Origin().Authority, Kind: kind, Cause: cause})
}

// A carrier lets the OAuth2 library send requests through the client of a grant,
// within its limits.
type carrier struct{ *grant }

// RoundTrip implements [http.RoundTripper].
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	header := r.Header.Clone()
	header.Set("Accept", "application/json")
	header.Set("User-Agent", c.userAgent)
	resp, err := c.client.Do(r.Context(), &upstream.Request{
		Method: r.Method, Target: r.URL.RequestURI(), Header: header, Body: body, Timeout: fetchTimeout, MaxBody: maxAnswer,
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: resp.Status, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(resp.Body)), Request: r,
	}, nil
}
