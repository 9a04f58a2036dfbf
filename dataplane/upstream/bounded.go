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

	"github.com/bindery-dev/bindery/dataplane/http1"
)

// A bounded is a transport of net/http's that sends a request again once at most. By
// itself net/http's goes on for as long as it finds kept connections that break, and over
// HTTP/2 up to seven times, whatever the method, also after a PROTOCOL_ERROR of the
// service, which does not say that it did nothing.
type bounded struct{ *http.Transport }

// errAgain ends an exchange whose request would be sent more often than it may be.
var errAgain = errors.New("the exchange ended before the response, and the request is not sent again")

// errUnderWay is wrapped by errors of an exchange that had its connection: the request,
// or a part of it, may have arrived.
var errUnderWay = errors.New("under way")

// RoundTrip is that of net/http's transport, within the bounds. The body of the response
// has to be closed.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, stop := context.WithCancelCause(req.Context())
	s := &sending{stop: stop, repeatable: http1.Repeatable(req)}
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

// A sending is what becomes of one request.
type sending struct {
	repeatable bool
	stop       context.CancelCauseFunc

	tries   int
	first   net.Conn    // of the first try
	fresh   bool        // the first try is under way, on a new connection
	written atomic.Bool // the header, or a part of it, over HTTP/2 by a goroutine of its own
}

// start is called when a connection was found for the request, before anything of it is
// written there. It ends a try that is one too many: HTTP/2 looks at the context before
// it writes; HTTP/1.1 does not, and has the connection to itself.
func (s *sending) start(info httptrace.GotConnInfo) {
	s.tries++
	s.fresh = s.tries == 1 && !info.Reused
	switch {
	case s.tries == 1:
		s.first = info.Conn
	case s.tries > 2 || !s.again(info.Conn):
		s.stop(errAgain)
		if !isHTTP2(info.Conn) {
			_ = info.Conn.Close() // it has no other request
		}
	}
}

func (s *sending) wrote() { s.written.Store(true) }

// again reports whether there may be a second try, on c. What net/http repeats over
// HTTP/1.1 was not written or is repeatable. Over HTTP/2 it is what a service refused,
// which leaves the connection as it was, or something worse, after which net/http takes
// another one.
func (s *sending) again(c net.Conn) bool {
	return s.repeatable || !s.written.Load() || s.first == c || !isHTTP2(s.first)
}

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
