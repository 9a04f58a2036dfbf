package whole

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// countedListener counts what is written to its connections, and how often.
type countedListener struct {
	net.Listener
	writes atomic.Int64
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countedConn{c, l}, err
}

type countedConn struct {
	net.Conn
	l *countedListener
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.l.writes.Add(1)
	return c.Conn.Write(b)
}

// TestWhole holds that answers arrive as they were written, one after the other on one
// connection, whether or not they were announced, and that net/http gets rid of an
// announced one with one write.
func TestWhole(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedListener{Listener: plain}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		announced, _ := strconv.Atoi(r.URL.Query().Get("announced"))
		if announced > 0 {
			Announce(r, announced)
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		_, _ = w.Write(bytes.Repeat([]byte("x"), n)) // the client sees what is missing
	})}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(Listener(srv, counted)) }()
	t.Cleanup(func() { srv.Close(); <-done })

	for _, tt := range []struct{ n, announced, most int }{
		{n: 10, announced: 10, most: 1},
		{n: 10, most: 1},
		{n: 4000, announced: 4000, most: 2}, // with its header it is more than the 4 KiB of net/http
		{n: 7000, announced: 7000, most: 1},
		{n: 7000, most: 2},
		{n: 30000, announced: 30000, most: 1},
		{n: maxHeld, announced: maxHeld, most: 1},
		{n: maxHeld + 1, announced: maxHeld + 1, most: 2}, // not held back
		{n: 9000, announced: 100, most: 2},                // more than announced
		{n: 20, most: 1},
	} {
		before := counted.writes.Load()
		resp, err := http.Get("http://" + plain.Addr().String() + "/?n=" + strconv.Itoa(tt.n) + "&announced=" + strconv.Itoa(tt.announced))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(body) != tt.n {
			t.Errorf("%+v: %d bytes arrived, %v", tt, len(body), err)
		}
		if got := counted.writes.Load() - before; got > int64(tt.most) {
			t.Errorf("%+v: %d writes", tt, got)
		}
	}
}

// TestNothingIsHeld holds that a buffer that is used again has nothing of the answer that
// it was for.
func TestNothingIsHeld(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	held := new(bytes.Buffer)
	c := &conn{Conn: server, free: new(sync.Pool), announced: 12, held: held}
	for _, part := range []string{"header", "secret", "s"} {
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	server.Close()
	kept := held.AvailableBuffer()
	if left := bytes.Trim(kept[:cap(kept)], "\x00"); len(left) > 0 || cap(kept) == 0 {
		t.Errorf("it has %q", left)
	}
}
