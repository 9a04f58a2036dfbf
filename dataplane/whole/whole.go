// Package whole has the answers of an HTTP server leave in one piece, where net/http by
// itself makes one system call for each 4 KiB.
package whole

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener makes srv send in one piece what its handler announces: it returns the
// listener that srv is to serve in place of l.
func Listener(srv *http.Server, l net.Listener) net.Listener {
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secured.NetConn()
		}
		return context.WithValue(ctx, key{}, c)
	}
	return &listener{Listener: l}
}

// key is the key of the connection that a request came in at.
type key struct{}

type listener struct {
	net.Listener
	free sync.Pool // of *bytes.Buffer, empty and all zero
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, free: &l.free}, nil
}

// maxHeld is how many bytes of an answer are held back at most.
const maxHeld = 64 << 10

// A conn holds back what is written until it is as much as was announced. It
// counts on more being written than that, as it is behind each body that has a
// header before it.
type conn struct {
	net.Conn
	free      *sync.Pool
	announced int           // 0: nothing is held back
	held      *bytes.Buffer // nil: nothing
}

// Announce says that the next answer to r is longer than n bytes. Its writes and this
// must not be concurrent. It does nothing for a request that came in elsewhere than at a
// [Listener], or over HTTP/2.
func Announce(r *http.Request, n int) {
	if c, ok := r.Context().Value(key{}).(*conn); ok && r.ProtoMajor == 1 && n <= maxHeld {
		c.announced = n
	}
}

// Write writes b, or holds it back for the rest of the answer.
func (c *conn) Write(b []byte) (int, error) {
	if c.held == nil && len(b) >= c.announced {
		c.announced = 0
		return c.Conn.Write(b)
	}
	if c.held == nil {
		c.held, _ = c.free.Get().(*bytes.Buffer)
		if c.held == nil {
			c.held = new(bytes.Buffer)
		}
	}
	c.held.Write(b)
	if c.held.Len() < c.announced {
		return len(b), nil
	}
	answer := c.held.Bytes()
	_, err := c.held.WriteTo(c.Conn)
	clear(answer)
	c.held.Reset()
	c.free.Put(c.held)
	c.announced, c.held = 0, nil
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
