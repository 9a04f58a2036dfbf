package node

import (
	"net"
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
	return &boundedConn{c, l.timeout}, nil
}

type boundedConn struct {
	net.Conn
	timeout time.Duration
}

// Write writes b. The error wraps [os.ErrDeadlineExceeded] when the other side has not taken
// a piece in time.
func (c *boundedConn) Write(b []byte) (n int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
			return n, err
		}
		wrote, err := c.Conn.Write(b[n:min(n+maxPiece, len(b))])
		if n += wrote; err != nil || n == len(b) {
			return n, err
		}
	}
}
