package demo

import (
	"crypto/rand"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

// A shop is the two REST services that the purchase needs, and what they received.
type shop struct {
	merchant, psp *service
	tokens        map[string]string // by the name of the variable that a node reads
	ledger        ledger

	hold    chan struct{} // a request of heldID waits until it is closed
	holding chan struct{} // is closed when such a request has come
	once    sync.Once
}

// A service is an HTTP server on a free port.
type service struct {
	url    string
	server *http.Server
}

// heldID is the Request-Id of the request that the merchant answers late.
const heldID = "req-held"

func openShop() (*shop, error) {
	s := &shop{
		tokens:  map[string]string{"BINDERY_SECRET_MERCHANT_TOKEN": rand.Text(), "BINDERY_SECRET_PSP_TOKEN": rand.Text()},
		hold:    make(chan struct{}),
		holding: make(chan struct{}),
	}
	provider := psp.New(psp.Config{
		Token: s.tokens["BINDERY_SECRET_PSP_TOKEN"],
		Observe: func(r psp.Request) {
			s.ledger.add(request{from: "payment provider", method: r.Method, path: r.Path, header: r.Header})
		},
	})
	seller := merchant.New(merchant.Config{
		Token:  s.tokens["BINDERY_SECRET_MERCHANT_TOKEN"],
		Charge: provider.Redeem,
		Observe: func(r merchant.Request) {
			s.ledger.add(request{from: "shop", method: r.Method, path: r.Path, header: r.Header})
		},
		Intercept: s.intercept,
	})
	var err error
	if s.psp, err = serve(provider); err != nil {
		return nil, err
	}
	if s.merchant, err = serve(seller); err != nil {
		s.psp.server.Close()
		return nil, err
	}
	return s, nil
}

func serve(h http.Handler) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{url: "http://" + l.Addr().String(), server: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}}
	go s.server.Serve(l) // ends when the server is closed
	return s, nil
}

func (s *shop) close() {
	s.merchant.server.Close()
	s.psp.server.Close()
}

// secret finds the shop's tokens where a node looks for secrets.
func (s *shop) secret(name string) (string, bool) {
	v, ok := s.tokens[name]
	return v, ok
}

// intercept makes the request of heldID wait.
func (s *shop) intercept(_ http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Request-Id") == heldID {
		s.once.Do(func() { close(s.holding) })
		select {
		case <-s.hold:
		case <-r.Context().Done():
		}
	}
	return false
}

// A request is what a service received.
type request struct {
	from, method, path string
	header             http.Header // Authorization is redacted
}

// A ledger has the requests that were received. The zero ledger is empty; it is
// safe for concurrent use.
type ledger struct {
	mu   sync.Mutex
	byID map[string][]request // by Request-Id
}

func (l *ledger) add(r request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = map[string][]request{}
	}
	id := r.header.Get("Request-Id")
	l.byID[id] = append(l.byID[id], r)
}

// of returns the requests with a Request-Id, in the order they came.
func (l *ledger) of(id string) []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.byID[id])
}
