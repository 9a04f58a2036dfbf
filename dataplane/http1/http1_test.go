//go:build unix

package http1_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/http1"
)

// A service answers at a loopback address, a connection at a time, by what a test says
// of it.
type service struct {
	net.Listener
	wg     sync.WaitGroup
	opened atomic.Int32
}

// serve starts a service that hands each connection to answer and closes it after that.
func serve(t *testing.T, answer func(n int, c *bufio.ReadWriter, conn net.Conn)) *service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{Listener: l}
	s.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n := int(s.opened.Add(1))
			s.wg.Go(func() {
				defer conn.Close()
				answer(n, bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)), conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); s.wg.Wait() })
	return s
}

// pool returns a pool of connections to s. Each that it opens is given to seen, which
// can put another in its place; nil leaves them.
func pool(t *testing.T, s *service, seen func(*net.TCPConn) net.Conn) *http1.Pool {
	t.Helper()
	p := &http1.Pool{
		Dial: func(ctx context.Context) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr().String())
			if err == nil && seen != nil {
				return seen(c.(*net.TCPConn)), nil
			}
			return c, err
		},
		MaxConnections: 4,
		MaxHeader:      64 << 10,
		Idle:           time.Minute,
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

func request(t *testing.T, method, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://service.example/path?q=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// ask sends req and reads all of the answer.
func ask(p http.RoundTripper, req *http.Request) (status int, body string, err error) {
	resp, err := p.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(all), err
}

// take returns the body of the next request, and reports whether there was one.
func take(c *bufio.ReadWriter) ([]byte, bool) {
	req, err := http.ReadRequest(c.Reader)
	if err != nil {
		return nil, false
	}
	body, err := io.ReadAll(req.Body)
	return body, err == nil
}

// echo answers the next request by its body, and reports whether there was one.
func echo(c *bufio.ReadWriter) bool {
	body, ok := take(c)
	return ok && answer(c, body)
}

// answer answers with body, and reports whether it could.
func answer(c *bufio.ReadWriter, body []byte) bool {
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return c.Flush() == nil
}

func echoAll(_ int, c *bufio.ReadWriter, _ net.Conn) {
	for echo(c) {
	}
}

// become waits until something has come on c, which nobody reads: bytes, or its end.
func become(t *testing.T, c *net.TCPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return !errors.Is(err, syscall.EAGAIN)
	}); err != nil {
		t.Fatal(err)
	}
}

func TestKept(t *testing.T) {
	s := serve(t, echoAll)
	p := pool(t, s, nil)
	for i := range 20 {
		want := strings.Repeat("x", i*2000) // some are sent while the answer is awaited
		if status, got, err := ask(p, request(t, "POST", want)); err != nil || status != 200 || got != want {
			t.Fatalf("%d bytes: HTTP %d, %d bytes, %v", len(want), status, len(got), err)
		}
	}
	if n := s.opened.Load(); n != 1 {
		t.Errorf("%d connections for one request at a time", n)
	}
}

// What a service leaves behind an answer, or says while nobody asks, is never an answer,
// and what it has closed is not asked again.
func TestNotKept(t *testing.T) {
	const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
	for _, tt := range []struct {
		name   string
		answer string // to the first request
		later  string // after that was read
		closes bool
	}{
		{name: "more than the answer", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + forged},
		{name: "more than the last chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + forged},
		{name: "a body where none is", answer: "HTTP/1.1 204 No Content\r\n\r\n" + forged},
		{name: "an answer nobody asked for", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", later: forged},
		{name: "closed", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", closes: true},
		{name: "timed out", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", later: "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", closes: true},
		{name: "to be closed", answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
		{name: "HTTP/1.0", answer: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{name: "upgraded", answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := make(chan struct{})
			s := serve(t, func(n int, c *bufio.ReadWriter, conn net.Conn) {
				if n > 1 {
					echo(c)
					return
				}
				if _, err := http.ReadRequest(c.Reader); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(conn, tt.answer)
				<-read
				_, _ = io.WriteString(conn, tt.later) // fails where the pool has closed it
				if !tt.closes {
					_, _ = io.Copy(io.Discard, conn) // until it does
				}
			})
			var first *net.TCPConn
			p := pool(t, s, func(c *net.TCPConn) net.Conn {
				if first == nil {
					first = c
				}
				return c
			})
			if _, body, err := ask(p, request(t, "GET", "")); err != nil || body != "" {
				t.Fatalf("first: %q, %v", body, err)
			}
			close(read)
			if tt.later != "" || tt.closes {
				become(t, first)
			}
			// Nothing lets this be sent a second time.
			if status, body, err := ask(p, request(t, "POST", "real")); err != nil || status != 200 || body != "real" {
				t.Errorf("second: HTTP %d %q, %v", status, body, err)
			}
			if n := s.opened.Load(); n != 2 {
				t.Errorf("%d connections, want 2", n)
			}
		})
	}
}

// faulty is a connection that breaks after some bytes of a write, once it is told to.
type faulty struct {
	*net.TCPConn
	fails  *atomic.Bool
	passes int
}

func (f faulty) Write(b []byte) (int, error) {
	if !f.fails.Swap(false) {
		return f.TCPConn.Write(b)
	}
	n, _ := f.TCPConn.Write(b[:min(f.passes, len(b))])
	f.Close()
	return n, syscall.EPIPE
}

// What may be sent again is sent once more, on a new connection.
func TestSentAgain(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		key          string // of a header, or ""
		size, passes int
		fresh        bool // the connection is new
		want         int  // arrivals of a whole request; 0: the request fails
	}{
		{name: "nothing written", method: "POST", size: 10, want: 1},
		{name: "nothing written of a long one", method: "POST", size: 1 << 20, want: 1},
		{name: "something written", method: "POST", size: 10, passes: 7},
		{name: "something of a long one", method: "POST", size: 1 << 20, passes: 1000},
		{name: "something of a GET", method: "GET", passes: 7, want: 1},
		{name: "something, with a key", method: "POST", key: "Idempotency-Key", size: 10, passes: 7, want: 1},
		{name: "something of a long one, with a key", method: "POST", key: "X-Idempotency-Key", size: 1 << 20, passes: 1000, want: 1},
		{name: "nothing, on a new connection", method: "POST", size: 10, fresh: true},
		{name: "a GET on a new connection", method: "GET", fresh: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var arrived atomic.Int32
			s := serve(t, func(_ int, c *bufio.ReadWriter, _ net.Conn) {
				for body, ok := take(c); ok; body, ok = take(c) {
					arrived.Add(1) // before anyone can see that it did
					answer(c, body)
				}
			})
			fails := new(atomic.Bool)
			p := pool(t, s, func(c *net.TCPConn) net.Conn { return faulty{c, fails, tt.passes} })
			if !tt.fresh {
				if _, _, err := ask(p, request(t, "GET", "")); err != nil {
					t.Fatal(err)
				}
				arrived.Store(0)
			}
			fails.Store(true)
			req := request(t, tt.method, strings.Repeat("x", tt.size))
			if tt.key != "" {
				req.Header.Set(tt.key, "k-1")
			}
			_, body, err := ask(p, req)
			if (err == nil) != (tt.want > 0) || err == nil && len(body) != tt.size {
				t.Errorf("got %d bytes, %v", len(body), err)
			}
			if n := int(arrived.Load()); n != tt.want {
				t.Errorf("it arrived %d times, want %d", n, tt.want)
			}
		})
	}
}

// A kept connection that ends before a byte of the answer makes a request go out again
// that may, but not a second time.
func TestSentAgainOnce(t *testing.T) {
	var asked atomic.Int32
	s := serve(t, func(n int, c *bufio.ReadWriter, _ net.Conn) {
		if n == 1 && !echo(c) {
			return
		}
		if _, err := http.ReadRequest(c.Reader); err == nil {
			asked.Add(1)
		}
	})
	p := pool(t, s, nil)
	if _, _, err := ask(p, request(t, "GET", "")); err != nil {
		t.Fatal(err)
	}
	if status, _, err := ask(p, request(t, "GET", "")); err == nil {
		t.Errorf("HTTP %d from a service that answers nothing", status)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("it was asked %d times, want 2", n)
	}
}

// An answer that does not wait for the body is one, and the connection is not used again,
// on which the rest of the body would be a request.
func TestEarlyAnswer(t *testing.T) {
	for _, answer := range []string{
		"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig",
		"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n\r\nbig",
	} {
		gone := make(chan struct{})
		s := serve(t, func(n int, c *bufio.ReadWriter, conn net.Conn) {
			if n > 1 {
				echo(c)
				return
			}
			if _, err := http.ReadRequest(c.Reader); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(conn, answer)
			if strings.Contains(answer, "close") {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			<-gone
		})
		p := pool(t, s, nil)
		status, body, err := ask(p, request(t, "POST", strings.Repeat("x", 32<<20)))
		if err != nil || status != 413 || body != "big" {
			t.Errorf("HTTP %d %q, %v", status, body, err)
		}
		if _, body, err := ask(p, request(t, "POST", "next")); err != nil || body != "next" {
			t.Errorf("next: %q, %v", body, err)
		}
		close(gone)
	}
}

// There are only so many connections, and who waits for one can stop waiting.
func TestMaxConnections(t *testing.T) {
	release, waiting := make(chan struct{}), make(chan struct{}, 4)
	s := serve(t, func(_ int, c *bufio.ReadWriter, _ net.Conn) {
		for {
			if _, err := c.Peek(1); err != nil {
				return
			}
			waiting <- struct{}{}
			<-release
			if !echo(c) {
				return
			}
		}
	})
	p := pool(t, s, nil)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			want := strconv.Itoa(i)
			if _, got, err := ask(p, request(t, "POST", want)); err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
	for range 4 {
		<-waiting
	}
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(cancel)
	if _, _, err := ask(p, request(t, "GET", "").WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("while all are in use: %v", err)
	}
	go func() {
		for range waiting { // what comes after the first four
		}
	}()
	close(release)
	wg.Wait()
	if n := s.opened.Load(); n > 4 {
		t.Errorf("%d connections, at most 4 are allowed", n)
	}
	p.CloseIdleConnections()
	s.Close()
	s.wg.Wait()
	close(waiting)
}

// A request can be given up wherever it is, and leaves nothing behind: the next one has
// the only slot, and within a bubble no goroutine stays.
func TestGivenUp(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string // what the service writes before it hangs
		size   int    // of the request's body, of which it reads the header only
		dials  bool   // it does not even take the connection
	}{
		{name: "while dialing", dials: true},
		{name: "before the header", answer: ""},
		{name: "in the header", answer: "HTTP/1.1 200 OK\r\nContent-"},
		{name: "between answers", answer: "HTTP/1.1 103 Early Hints\r\n\r\n"},
		{name: "in the body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"},
		{name: "in a chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"},
		{name: "while sending", size: 100},
		{name: "while sending a long body", size: 1 << 20},
		{name: "in the body, while sending", answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{", size: 1 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hangs, done := true, make(chan struct{})
				defer close(done)
				p := &http1.Pool{MaxConnections: 1, MaxHeader: 1 << 10, Idle: time.Minute}
				p.Dial = func(ctx context.Context) (net.Conn, error) {
					if hangs && tt.dials {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					client, server := net.Pipe() // a write waits for its reader
					if !hangs {
						go echoAll(0, bufio.NewReadWriter(bufio.NewReader(server), bufio.NewWriter(server)), server)
						return client, nil
					}
					go func() {
						defer server.Close()
						head := bufio.NewReaderSize(server, 16)
						if _, err := http.ReadRequest(head); err != nil {
							t.Error(err)
						}
						_, _ = io.WriteString(server, tt.answer)
						<-done
					}()
					return client, nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				if _, _, err := ask(p, request(t, "POST", strings.Repeat("x", tt.size)).WithContext(ctx)); err == nil {
					t.Error("there is an answer")
				}
				if took := time.Since(began); took != time.Minute {
					t.Errorf("it took %v, want a minute", took)
				}
				hangs = false
				if _, body, err := ask(p, request(t, "POST", "next")); err != nil || body != "next" {
					t.Errorf("next: %q, %v", body, err)
				}
				p.CloseIdleConnections()
			})
		})
	}
}

// Connections that no request uses are closed after a while, and when the pool is told
// to; one in use when its answer was read.
func TestClosed(t *testing.T) {
	var ended atomic.Int32
	all := make(chan struct{}, 8)
	s := serve(t, func(_ int, c *bufio.ReadWriter, _ net.Conn) {
		for echo(c) {
		}
		ended.Add(1)
		all <- struct{}{}
	})
	p := pool(t, s, nil)
	p.Idle = 10 * time.Millisecond
	if _, _, err := ask(p, request(t, "GET", "")); err != nil {
		t.Fatal(err)
	}
	<-all // idle for long
	p = pool(t, s, nil)
	if _, _, err := ask(p, request(t, "GET", "")); err != nil {
		t.Fatal(err)
	}
	resp, err := p.RoundTrip(request(t, "POST", "under way"))
	if err != nil {
		t.Fatal(err)
	}
	p.CloseIdleConnections()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "under way" {
		t.Errorf("under way: %q, %v", body, err)
	}
	resp.Body.Close()
	<-all
	if _, body, err := ask(p, request(t, "POST", "after")); err != nil || body != "after" {
		t.Errorf("after: %q, %v", body, err)
	}
	<-all
	if n := ended.Load(); n != 3 {
		t.Errorf("%d connections ended, want 3", n)
	}
}

// What is no HTTP is not sent.
func TestSendable(t *testing.T) {
	p := &http1.Pool{
		Dial: func(context.Context) (net.Conn, error) {
			t.Error("a connection is opened")
			return nil, errors.New("opened")
		},
		MaxConnections: 1, MaxHeader: 1 << 10, Idle: time.Minute,
	}
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Method = "GET /other HTTP/1.1\r\nX: y\r\n\r\nGET" },
		func(r *http.Request) { r.Header["X y"] = []string{"z"} },
		func(r *http.Request) { r.Header["X: y\r\nZ"] = []string{"z"} },
		func(r *http.Request) { r.Header["X"] = []string{"y\r\nZ: z"} },
		func(r *http.Request) { r.Header["X"] = []string{"y", "\x00"} },
	} {
		req := request(t, "GET", "")
		change(req)
		if _, _, err := ask(p, req); err == nil || strings.Contains(err.Error(), "z") {
			t.Errorf("%q %v: %v", req.Method, req.Header, err)
		}
	}
}

// Many at a time, over connections that end whenever the service likes: each gets its
// own answer or none, and arrives at most once unless it has a key.
func TestOwnAnswers(t *testing.T) {
	var mu sync.Mutex
	arrived := map[string]int{}
	s := serve(t, func(n int, c *bufio.ReadWriter, conn net.Conn) {
		for i := 0; ; i++ {
			req, err := http.ReadRequest(c.Reader)
			if err != nil {
				return
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return
			}
			mu.Lock()
			arrived[string(body)]++
			mu.Unlock()
			switch (n + i) % 9 {
			case 0: // an end without an answer
				return
			case 1: // an end within the answer
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
				return
			case 2: // an end after it
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				return
			default:
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
			}
		}
	})
	p := pool(t, s, nil)
	var answered atomic.Int32
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				want := fmt.Sprintf("call %d of %d", i, g)
				ctx, cancel := context.WithCancel(t.Context())
				if i%7 == 0 {
					go cancel()
				}
				_, got, err := ask(p, request(t, "POST", want).WithContext(ctx))
				cancel()
				if err == nil && got != want {
					t.Errorf("%q got the answer %q", want, got)
				}
				if err == nil {
					answered.Add(1)
				}
			}
		})
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	for body, n := range arrived {
		if n > 1 {
			t.Errorf("%q arrived %d times", body, n)
		}
	}
	if n := answered.Load(); n < 300 {
		t.Errorf("only %d of 800 got their answer", n)
	}
}

// An answer is what net/http's transport takes it for.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n\r\nto the end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}", "HTTP/1.0 200 OK\r\n\r\nold",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2;x=y\r\n{}\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "HTTP/1.1 200 OK\nX: y\n z\n\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<10) + "\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		dial := func(context.Context) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
					_, _ = server.Write(answer)
				}
			}()
			return client, nil
		}
		p := &http1.Pool{Dial: dial, MaxConnections: 1, MaxHeader: 512, Idle: time.Minute}
		theirs := &http.Transport{
			DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			MaxResponseHeaderBytes: 512, DisableCompression: true,
		}
		defer theirs.CloseIdleConnections()
		got, want := told(t, p), told(t, theirs)
		if got != want {
			t.Errorf("%q is taken for\n%s\nby net/http's transport for\n%s", answer, got, want)
		}
	})
}

// told returns what transport makes of an answer, in words.
func told(t *testing.T, transport http.RoundTripper) string {
	resp, err := transport.RoundTrip(request(t, "POST", "{}"))
	if err != nil {
		return "no answer"
	}
	defer resp.Body.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %q %d\n", resp.Proto, resp.StatusCode, resp.Status, resp.ContentLength)
	_ = resp.Header.Write(&b) // to memory
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return b.String()
	}
	body, err := io.ReadAll(resp.Body)
	fmt.Fprintf(&b, "%q %v %v", body, err != nil, resp.Trailer)
	return b.String()
}
