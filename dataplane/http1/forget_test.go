//go:build unix

package http1

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// lazy is a reader that leaves what it is to read into as it is.
type lazy struct{}

func (lazy) Read(p []byte) (int, error) { return len(p), nil }

// The buffers of a connection that is kept have nothing of the exchanges that it had.
func TestNothingIsRemembered(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "vt_0123456789")
	}))
	defer srv.Close()
	p := &Pool{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", srv.Listener.Addr().String())
		},
		MaxConnections: 1,
		MaxHeader:      64 << 10,
		Idle:           time.Minute,
	}
	defer p.CloseIdleConnections()
	for _, size := range []int{5000, 16} { // the second leaves some of the buffer as it is
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader(strings.Repeat("4", size)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		c := p.idle[0]
		if left := bytes.Trim(c.w[:cap(c.w)], "\x00"); cap(c.w) < size || len(left) > 0 {
			t.Errorf("%d bytes later it has %q of the request, in %d bytes", size, left, cap(c.w))
		}
		c.r.Reset(lazy{})
		read, _ := c.r.Peek(c.r.Size())
		if left := bytes.Trim(read, "\x00"); len(left) > 0 {
			t.Errorf("%d bytes later it has %q of the response", size, left)
		}
		c.r.Reset(reading{c})
	}
}
