// Package merchant is a sample seller that speaks the Agentic Commerce
// Protocol's checkout API, release 2026-04-17. HTTP requests of agents come in;
// out go checkout sessions with computed prices, negotiated capabilities and, in
// the end, an order that was paid through a charge function.
//
// Sessions live in memory. Below [Server] everything is computed from a
// session's state by functions without clock or lock: price makes a quote of it,
// negotiate the capabilities, assess the status and the messages.
package merchant

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/front"
	"github.com/bindery-dev/bindery/examples/internal/idempotency"
	"github.com/bindery-dev/bindery/examples/psp"
)

// Versions are the API versions that the server speaks, newest first.
var Versions = []string{"2026-04-17"}

// A Mismatch says how the seller reacts early when an agent cannot take the
// buyer through a required intervention. Either way no charge is made without
// it.
type Mismatch int

const (
	// Block answers with the status not_ready_for_payment and an error.
	Block Mismatch = iota
	// Inform answers with the status ready_for_payment and a warning word; only
	// an attempt to pay is stopped.
	Inform
)

// Config says how a server behaves. The zero value of a field means its
// default, never "unlimited".
type Config struct {
	Token       string   // bearer token of the agent platform; without one no request comes in
	OtherTokens []string // of further platforms, each with sessions and idempotency keys of its own

	// Charge takes the money. A *psp.DeclinedError means that the buyer should
	// pay otherwise; any other error is the seller's trouble. Its context is not
	// canceled when the agent goes away. Nil: every charge is declined.
	Charge func(context.Context, psp.Charge) error

	// PagesURL is where buyers reach the server: sessions that need them say so. "" for
	// nowhere: then the agent runs 3-D Secure itself.
	PagesURL string

	MerchantID string    // default "merchant_sample"
	Products   []Product // default SampleProducts()

	ThreeDSFrom   int64    // total in minor units from which 3-D Secure is required; default 50,000
	BiometricFrom int64    // total in minor units from which a biometric step inside it is required too; default 200,000
	OnMismatch    Mismatch // default Block
	ProbeLimit    int      // different declarations of capabilities that one caller may try in a minute; default 30

	SessionTTL  time.Duration // from the last change to expiry; default 1 hour
	MaxBody     int64         // of a request, in bytes; default 256 KiB
	KeyOptional bool          // take POST requests without Idempotency-Key, as the official examples send them

	Now   func() time.Time           // default time.Now
	NewID func(prefix string) string // unique and not to be guessed; default prefix and 26 random characters

	Observe   func(Request)                                 // sees every request; may be nil
	Intercept func(http.ResponseWriter, *http.Request) bool // may slow a request down, or answer it and return true; may be nil
}

// A Request is what an observer sees of an HTTP request.
type Request struct {
	Method, Path string
	Header       http.Header // Authorization is replaced by "[redacted]"
	Body         []byte      // with whatever the agent sent, payment tokens and addresses included
}

// A Server is the seller. It may be used concurrently.
type Server struct {
	config Config
	mux    *http.ServeMux
	probes *probes

	mu       sync.Mutex // guards what follows and every session
	sessions map[string]*session
	stock    map[string]int // by product ID; what is left to sell
}

// New returns a server without sessions.
func New(c Config) *Server {
	c = c.withDefaults()
	s := &Server{
		config:   c,
		mux:      http.NewServeMux(),
		probes:   newProbes(c.ProbeLimit, c.Now),
		sessions: map[string]*session{},
		stock:    map[string]int{},
	}
	for _, p := range c.Products {
		s.stock[p.ID] = p.Stock
	}
	s.route(&front.Gate{
		Tokens:      append([]string{c.Token}, c.OtherTokens...),
		Versions:    Versions,
		MaxBody:     c.MaxBody,
		KeyOptional: c.KeyOptional,
		Keys:        idempotency.NewStore(c.Now),
		Observe:     s.observe,
	})
	return s
}

func (s *Server) route(g *front.Gate) {
	const one = "/checkout_sessions/{id}"
	s.mux.Handle("POST /checkout_sessions", g.Write(true, s.create))
	s.mux.Handle("GET "+one, g.Read(s.get))
	s.mux.Handle("POST "+one, g.Write(true, s.update))
	s.mux.Handle("POST "+one+"/complete", g.Write(true, s.complete))
	s.mux.Handle("POST "+one+"/cancel", g.Write(false, s.cancel))
	s.mux.HandleFunc("GET "+errands+"{page}", s.serveErrand)
	s.mux.HandleFunc("POST "+errands+"{page}", s.serveErrand)
	s.mux.Handle("/checkout_sessions", front.NotAllowed(http.MethodPost))
	s.mux.Handle(one, front.NotAllowed(http.MethodGet, http.MethodPost))
	s.mux.Handle(one+"/complete", front.NotAllowed(http.MethodPost))
	s.mux.Handle(one+"/cancel", front.NotAllowed(http.MethodPost))
	s.mux.HandleFunc("/", front.NotFound)
}

func (c Config) withDefaults() Config {
	if c.Charge == nil {
		c.Charge = func(context.Context, psp.Charge) error { return &psp.DeclinedError{Reason: "no provider"} }
	}
	if c.MerchantID == "" {
		c.MerchantID = "merchant_sample"
	}
	if c.Products == nil {
		c.Products = SampleProducts()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func(prefix string) string { return prefix + rand.Text() }
	}
	setDefault(&c.ThreeDSFrom, 50_000)
	setDefault(&c.BiometricFrom, 200_000)
	setDefault(&c.ProbeLimit, 30)
	setDefault(&c.SessionTTL, time.Hour)
	setDefault(&c.MaxBody, 256<<10)
	return c
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.config.Intercept != nil && s.config.Intercept(w, r) {
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) observe(r *http.Request, body []byte) {
	if s.config.Observe == nil {
		return
	}
	h := r.Header.Clone()
	if h.Get("Authorization") != "" {
		h.Set("Authorization", "[redacted]")
	}
	s.config.Observe(Request{Method: r.Method, Path: r.URL.Path, Header: h, Body: body})
}
