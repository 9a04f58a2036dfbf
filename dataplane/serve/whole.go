package serve

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
)

// Whole makes srv send short answers to calls in one piece, where net/http by itself
// makes one system call for each 4 KiB: it returns the listener that srv is to serve
// in place of l.
func Whole(srv *http.Server, l net.Listener) net.Listener {
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secured.NetConn()
		}
		return context.WithValue(ctx, wholeKey{}, c)
	}
	return &wholeListener{Listener: l}
}

// wholeKey is the key of the connection that a request came in at.
type wholeKey struct{}

type wholeListener struct {
	net.Listener
	free sync.Pool // of *bytes.Buffer, empty
}

func (l *wholeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wholeConn{Conn: c, free: &l.free}, nil
}

// maxHeld is how many bytes of an answer are held back at most.
const maxHeld = 64 << 10

// A wholeConn holds back what is written until it is as much as was announced. It
// counts on more being written than that, as it is behind each body that has a
// header before it.
type wholeConn struct {
	net.Conn
	free      *sync.Pool
	announced int           // 0: nothing is held back
	held      *bytes.Buffer // nil: nothing
}

// announce says that the next answer to r is longer than n bytes. Its writes and this
// must not be concurrent.
func announce(r *http.Request, n int) {
	if c, ok := r.Context().Value(wholeKey{}).(*wholeConn); ok && r.ProtoMajor == 1 && n <= maxHeld {
		c.announced = n
	}
}

// Write writes b, or holds it back for the rest of the answer.
func (c *wholeConn) Write(b []byte) (int, error) {
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
	_, err := c.held.WriteTo(c.Conn)
	c.held.Reset()
	c.free.Put(c.held)
	c.announced, c.held = 0, nil
	if err != nil {
		return 0, err
	}
	return len(b), nil
}
