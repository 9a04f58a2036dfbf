package node

import (
	"net"
	"sync"
	"time"
)

const (
	// writeTimeout is how long a client may take for a piece of an answer: one that does
	// not read holds what its answers take no longer than this.
	writeTimeout = 30 * time.Second
	// maxPiece is how large a piece is at most, in bytes: a slow client gets a long answer
	// all the same.
	maxPiece = 64 << 10
)

// A boundedListener has connections that a client which does not read breaks.
type boundedListener struct {
	net.Listener
	timeout time.Duration // for each piece that is written
}

func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &boundedConn{Conn: c, timeout: l.timeout}, nil
}

type boundedConn struct {
	net.Conn
	timeout time.Duration

	mu    sync.Mutex
	until time.Time // as SetWriteDeadline says; zero for no end
}

// SetWriteDeadline bounds what is written, now and later, beside the bound of each piece.
func (c *boundedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = t
	return c.Conn.SetWriteDeadline(t)
}

// boundPiece has the next piece written in time.
func (c *boundedConn) boundPiece() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := time.Now().Add(c.timeout)
	if !c.until.IsZero() && c.until.Before(end) {
		end = c.until
	}
	return c.Conn.SetWriteDeadline(end)
}

// Write writes b. The error wraps [os.ErrDeadlineExceeded] when the other side has not taken
// a piece in time.
func (c *boundedConn) Write(b []byte) (n int, err error) {
	for {
		if err := c.boundPiece(); err != nil {
			return n, err
		}
		wrote, err := c.Conn.Write(b[n:min(n+maxPiece, len(b))])
		if n += wrote; err != nil || n == len(b) {
			return n, err
		}
	}
}
