// Package http1 carries requests to one service over connections of HTTP/1.1 that it
// keeps, each on the goroutine that asks: net/http's transport has two more for every
// connection, and a call waits for both of them.
//
// Only that is its own. A request goes out as the bytes that net/http's
// [http.Request.Write] writes, a plain one in a single piece; responses are read by
// [http.ReadResponse], and what may be sent a second time is what net/http's transport
// would send. See RFC 9112 §9 for what a kept connection is.
package http1

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Pool is the connections to one service, as an [http.RoundTripper] of requests with
// the scheme http, whatever host they name. Its fields are not changed once it is in
// use. It is safe for concurrent use.
type Pool struct {
	// Dial opens a connection. It ends when its context does.
	Dial func(context.Context) (net.Conn, error)
	// MaxConnections is how many connections there can be. A request that finds all of
	// them in use waits as long as its context lasts.
	MaxConnections int
	// MaxHeader is how many bytes the header of a response can have, with those of all
	// responses of status 1xx before it.
	MaxHeader int
	// Idle is how long a connection is kept that no request uses.
	Idle time.Duration

	once  sync.Once
	slots chan struct{} // one for each request under way

	mu     sync.Mutex
	idle   []*conn // the one that was used last is last
	swept  bool    // a sweep is to come
	closed bool
}

// RoundTrip sends req and returns the response once its header is there. The body has
// to be closed, and the connection is kept if it was read to its end by then; it may
// not be read or closed by several goroutines at once. A response of status 101 has no
// body, and its connection is closed.
//
// A kept connection that the service has closed, or on which it said something that
// nobody asked for, is not used. If one turns out to be closed before a byte of the
// response, the request goes out again, once and on a new connection, if none of it had
// been written, or if it is safe or has an Idempotency-Key or X-Idempotency-Key.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	err := sendable(req)
	if err == nil {
		err = p.enter(req.Context())
	}
	if err != nil {
		_ = closeBody(req) // nothing was sent of it
		return nil, err
	}
	resp, err := p.exchange(req)
	if err != nil {
		p.leave()
	}
	if ended := req.Context().Err(); err != nil && ended != nil {
		err = ended
	}
	return resp, err
}

// exchange is RoundTrip within its slot, which is left with the response's body.
func (p *Pool) exchange(req *http.Request) (*http.Response, error) {
	if c := p.kept(); c != nil {
		resp, err := c.exchange(req)
		if err == nil || !c.again(req) {
			return resp, err
		}
		if req, err = rewound(req); err != nil {
			return nil, err
		}
	}
	c, err := p.open(req.Context())
	if err != nil {
		_ = closeBody(req) // nothing was sent of it
		return nil, err
	}
	return c.exchange(req)
}

// CloseIdleConnections closes the connections that no request is using, and the others
// when theirs ends: from now on none is kept.
func (p *Pool) CloseIdleConnections() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

// enter waits for a slot.
func (p *Pool) enter(ctx context.Context) error {
	p.once.Do(func() { p.slots = make(chan struct{}, p.MaxConnections) })
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Pool) leave() { <-p.slots }

// open opens a connection.
func (p *Pool) open(ctx context.Context) (*conn, error) {
	opened, err := p.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return newConn(p, opened), nil
}

// kept takes the connection that was used last of those that are still good; nil if
// there is none.
func (p *Pool) kept() *conn {
	for {
		c := p.last()
		if c == nil || c.look.isSilent() {
			return c
		}
		c.close()
	}
}

func (p *Pool) last() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle) - 1
	if n < 0 {
		return nil
	}
	c := p.idle[n]
	p.idle[n], p.idle = nil, p.idle[:n]
	return c
}

// keep takes c back from an exchange that left nothing on it.
func (p *Pool) keep(c *conn) {
	c.reused, c.since = true, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.close()
		return
	}
	p.idle = append(p.idle, c)
	if !p.swept {
		p.swept = true
		time.AfterFunc(p.Idle, p.sweep)
	}
}

// sweep closes the connections that no request has used for long, and comes again when
// it is time for the next.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(p.idle) && now.Sub(p.idle[n].since) >= p.Idle {
		p.idle[n].close()
		n++
	}
	p.idle = slices.Delete(p.idle, 0, n)
	if p.swept = len(p.idle) > 0; p.swept {
		time.AfterFunc(p.Idle-now.Sub(p.idle[0].since), p.sweep)
	}
}
