package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// A bounded is a transport of net/http's that sends a request again once at most, and over
// HTTP/2 only what the service says that it did not look at. By itself net/http's goes on
// for as long as it finds kept connections that break.
type bounded struct{ *http.Transport }

// newBounded returns a bounded transport of t, which has not been used. Its HTTP/2 is that
// of golang.org/x/net: net/http's own (Go 1.26) also sends again, whatever the method, what
// a service ended by a PROTOCOL_ERROR, and so may have carried out.
func newBounded(t *http.Transport) bounded {
	//lint:ignore SA1019 see above
	if _, err := http2.ConfigureTransports(t); err != nil {
		panic(err) // t has been used
	}
	return bounded{t}
}

// errAgain ends an exchange whose request would be sent more often than it may be.
var errAgain = errors.New("the exchange ended before the response, and the request is not sent again")

// errUnderWay is wrapped by errors of an exchange that had its connection: the request,
// or a part of it, may have arrived.
var errUnderWay = errors.New("under way")

// RoundTrip is that of net/http's transport, within the bounds. The body of the response
// has to be closed.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, stop := context.WithCancelCause(req.Context())
	s := &sending{stop: stop}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.start, WroteHeaders: s.wrote})
	resp, err := b.Transport.RoundTrip(req.WithContext(traced))
	if err == nil {
		resp.Body = stopping{resp.Body, stop}
		return resp, nil
	}
	if cause := context.Cause(ctx); cause == errAgain {
		err = cause
	}
	stop(nil)
	if s.tries == 0 || s.fresh && refusesCertificate(err) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", errUnderWay, err)
}

// A sending is what becomes of one request, try by try.
type sending struct {
	stop    context.CancelCauseFunc
	tries   int
	again   bool        // over HTTP/1.1, after a try that was written
	fresh   bool        // the first try is under way, on a new connection
	written atomic.Bool // of the try under way, by another goroutine
}

// start is called when a connection was found for a try, before anything of it is written
// there. It ends a try of HTTP/1.1 that is one too many: the context alone would not keep
// that from being written, and nothing else uses the connection.
func (s *sending) start(info httptrace.GotConnInfo) {
	s.tries++
	s.fresh = s.tries == 1 && !info.Reused
	if !s.written.Swap(false) || isHTTP2(info.Conn) {
		return
	}
	if s.again {
		s.stop(errAgain)
		_ = info.Conn.Close() // nothing of it is of use any more
	}
	s.again = true
}

func (s *sending) wrote() { s.written.Store(true) }

func isHTTP2(c net.Conn) bool {
	secured, ok := c.(*tls.Conn)
	return ok && secured.ConnectionState().NegotiatedProtocol == "h2"
}

// stopping is a body that ends the context of its exchange when it is closed.
type stopping struct {
	io.ReadCloser
	stop context.CancelCauseFunc
}

func (s stopping) Close() error {
	defer s.stop(nil)
	return s.ReadCloser.Close()
}
