// Package psp is a sample payment service provider. A card and an allowance
// come in through the protocol's Delegate Payment operation, and out goes a
// token; a merchant's charge and that token come in through [Server.Redeem], and
// out goes yes or no.
//
// It keeps no card data: what is stored beside a token is the allowance and the
// kind of card. Card data is in no answer, error or observation.
package psp

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/front"
	"github.com/bindery-dev/bindery/examples/internal/idempotency"
)

// Versions are the API versions that the server speaks, newest first.
var Versions = []string{"2026-04-17"}

// Config says how a server behaves. The zero value of a field means its
// default, never "unlimited".
type Config struct {
	Token        string // bearer token of agents; without one no request comes in
	RedeemSecret string // bearer token of merchants in other processes; without one they cannot redeem

	PerMinute   int   // delegations of one caller in a minute; default 6,000
	MaxBody     int64 // of a request, in bytes; default 64 KiB
	KeyOptional bool  // take requests without Idempotency-Key

	Now   func() time.Time           // default time.Now
	NewID func(prefix string) string // unique and not to be guessed; default prefix and 26 random characters

	Observe   func(Request)                                 // sees every request; may be nil
	Intercept func(http.ResponseWriter, *http.Request) bool // may slow a request down, or answer it and return true; may be nil
}

// A Request is what an observer sees of an HTTP request: neither its body nor
// its credential.
type Request struct {
	Method, Path string
	Header       http.Header // Authorization is replaced by "[redacted]"
}

// A Server is the provider. It may be used concurrently.
type Server struct {
	config Config
	mux    *http.ServeMux
	vault  *vault
	rate   *rate
}

// New returns a server without tokens.
func New(c Config) *Server {
	c = c.withDefaults()
	s := &Server{config: c, mux: http.NewServeMux(), vault: newVault(c.Now), rate: newRate(c.PerMinute, c.Now)}
	gate := &front.Gate{
		Tokens:      []string{c.Token},
		Versions:    Versions,
		MaxBody:     c.MaxBody,
		KeyOptional: c.KeyOptional,
		Keys:        idempotency.NewStore(c.Now),
		Observe:     s.observe,
	}
	const path = "/agentic_commerce/delegate_payment"
	s.mux.Handle("POST "+path, gate.Write(true, s.delegate))
	s.mux.Handle(path, front.NotAllowed(http.MethodPost))
	if c.RedeemSecret != "" {
		s.mux.HandleFunc("POST "+redeemPath, s.serveRedeem)
	}
	s.mux.HandleFunc("/", front.NotFound)
	return s
}

func (c Config) withDefaults() Config {
	if c.PerMinute == 0 {
		c.PerMinute = 6000
	}
	if c.MaxBody == 0 {
		c.MaxBody = 64 << 10
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func(prefix string) string { return prefix + rand.Text() }
	}
	return c
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.config.Intercept != nil && s.config.Intercept(w, r) {
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) observe(r *http.Request, _ []byte) {
	if s.config.Observe == nil {
		return
	}
	h := r.Header.Clone()
	if h.Get("Authorization") != "" {
		h.Set("Authorization", "[redacted]")
	}
	s.config.Observe(Request{Method: r.Method, Path: r.URL.Path, Header: h})
}

// delegate puts a card's allowance into the vault.
func (s *Server) delegate(_ context.Context, c front.Call) *front.Answer {
	if wait := s.rate.take(c.Caller); wait > 0 {
		return tooMany(wait)
	}
	var in delegation
	if fault := front.Decode(c.Body, &in); fault != nil {
		return fault
	}
	if fault := in.check(s.config.Now()); fault != nil {
		return fault
	}
	created := s.config.Now().UTC().Truncate(time.Millisecond)
	id := s.config.NewID("vt_")
	s.vault.put(id, in.held())
	return front.JSON(http.StatusCreated, struct {
		ID       string            `json:"id"`
		Created  time.Time         `json:"created"`
		Metadata map[string]string `json:"metadata"`
	}{id, created, in.correlation(c.Key)})
}

func tooMany(wait time.Duration) *front.Answer {
	a := front.Fail(http.StatusTooManyRequests, front.Error{
		Type: front.RateLimitExceeded, Code: "too_many_requests", Message: "Too many requests; retry after the time in Retry-After.",
	})
	seconds := int((wait + time.Second - 1) / time.Second)
	a.Header.Set("Retry-After", strconv.Itoa(seconds))
	return a
}

// correlation is the request's metadata and what this server adds to find the
// payment by.
func (d *delegation) correlation(key string) map[string]string {
	m := map[string]string{}
	for k, v := range d.Metadata {
		m[k] = v
	}
	m["merchant_id"] = d.Allowance.MerchantID
	if key = strings.TrimSpace(key); key != "" {
		m["idempotency_key"] = key
	}
	return m
}
