package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// A conn is one connection. One goroutine has it at a time, but for a long body, which
// another one sends.
type conn struct {
	pool *Pool
	net  net.Conn
	look *look
	r    *bufio.Reader // of conn, which counts
	w    []byte        // that a request is written into, all zero between them

	reused bool      // there was an exchange before
	since  time.Time // the end of the last one

	// Of the exchange under way.
	sent     int  // bytes
	broken   bool // while sending
	answered bool // by at least one byte
	left     int  // bytes that the header of the response can still have
}

func newConn(p *Pool, n net.Conn) *conn {
	c := &conn{pool: p, net: n, look: newLook(n)}
	c.r = bufio.NewReader(reading{c})
	return c
}

func (c *conn) close() { _ = c.net.Close() } // nothing of it is of use any more

// waitless is how many bytes of a body a socket takes before the service reads any of
// them: less than what Linux and others give a new one to send from.
const waitless = 16 << 10

// errLongHeader ends an exchange whose header goes on and on.
var errLongHeader = errors.New("the header of the response is too long")

// exchange sends req and returns the response as it is after its header. If there is
// none, c is closed.
func (c *conn) exchange(req *http.Request) (*http.Response, error) {
	c.sent, c.broken, c.answered, c.left = 0, false, false, c.pool.MaxHeader
	b := &body{conn: c, stop: context.AfterFunc(req.Context(), c.interrupt)}
	var err error
	if req.ContentLength >= 0 && req.ContentLength <= waitless {
		err = c.send(req)
	} else {
		b.sending = make(chan error, 1)
		go func() { b.sending <- c.send(req) }() // so that an answer is seen that does not wait for the body
	}
	var resp *http.Response
	if err == nil {
		resp, err = c.receive(req)
	}
	if err != nil {
		b.end()
		return nil, err
	}
	b.of(req, resp)
	return resp, nil
}

// interrupt makes what waits for the network fail.
func (c *conn) interrupt() { _ = c.net.SetDeadline(time.Unix(1, 0)) } // fails for a closed one only

// send sends req and closes its body. When the connection breaks, there may be an answer
// all the same, and reading it does not wait; else nobody waits for one.
func (c *conn) send(req *http.Request) error {
	err := c.write(req)
	if err != nil && !c.broken {
		c.interrupt()
	}
	return err
}

// write writes req, in one piece if it is a plain one, and closes its body.
func (c *conn) write(req *http.Request) error {
	whole, plain, err := appendPlain(c.w, req)
	if !plain {
		return req.Write(writing{c})
	}
	defer func() {
		clear(whole[:cap(whole)]) // also what was read of a body that is too long
		c.w = whole[:0]
	}()
	if closed := closeBody(req); err == nil {
		err = closed
	}
	if err == nil {
		_, err = writing{c}.Write(whole)
	}
	return err
}

// again reports whether req may go out on another connection once its exchange on c has
// failed.
func (c *conn) again(req *http.Request) bool {
	switch {
	case !c.reused || c.answered || req.Context().Err() != nil:
		return false
	case req.Body != nil && req.Body != http.NoBody && req.GetBody == nil:
		return false
	}
	return c.sent == 0 || repeatable(req)
}

// receive reads the header of the response, after any responses that are not the last.
func (c *conn) receive(req *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(c.r, req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		c.left = math.MaxInt
		return resp, nil
	}
}

// forget overwrites what was read.
func (c *conn) forget() {
	c.r.Reset(zeros{})
	_, _ = c.r.Peek(c.r.Size())
	c.r.Reset(reading{c})
}

// zeros is a reader of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// reading is a conn that counts what it reads.
type reading struct{ *conn }

func (r reading) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLongHeader
	}
	n, err := r.net.Read(p[:min(len(p), r.left)])
	r.left -= n
	r.answered = r.answered || n > 0
	return n, err
}

// writing is a conn that counts what it writes.
type writing struct{ *conn }

func (w writing) Write(p []byte) (int, error) {
	n, err := w.net.Write(p)
	w.sent += n
	w.broken = err != nil
	return n, err
}

// A body is that of a response. The exchange ends when it is closed.
type body struct {
	io.Reader
	conn    *conn
	stop    func() bool // ends the watch over the request's context; false: it interrupted
	sending chan error  // gets what becomes of sending the request; nil: it is sent
	last    bool        // the connection ends with the response
	read    bool        // to its end
	closed  bool
}

// of makes b the body of resp.
func (b *body) of(req *http.Request, resp *http.Response) {
	b.Reader, b.read = resp.Body, resp.Body == http.NoBody
	b.last = resp.Close || req.Close || resp.StatusCode == http.StatusSwitchingProtocols
	resp.Body = b
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read = b.read || err == io.EOF
	return n, err
}

// Close never fails.
func (b *body) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	b.end()
	b.conn.pool.leave()
	return nil
}

// end keeps the connection, with nothing of the exchange in its buffers, if that left
// nothing on it, and nothing of the exchange goes on.
func (b *body) end() {
	clean := b.read && !b.last && b.conn.r.Buffered() == 0 && b.sent()
	if b.stop() && clean {
		b.conn.forget()
		b.conn.pool.keep(b.conn)
		return
	}
	b.conn.close()
	if b.sending != nil {
		<-b.sending
	}
}

// tail is how long the end of sending is waited for behind the end of the response.
const tail = 50 * time.Millisecond

// sent reports whether all of the request is sent.
func (b *body) sent() bool {
	if b.sending == nil {
		return true
	}
	late := time.NewTimer(tail)
	defer late.Stop()
	select {
	case err := <-b.sending:
		b.sending = nil
		return err == nil
	case <-late.C:
		return false
	}
}
