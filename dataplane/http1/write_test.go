package http1_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/http1"
)

// A tape is a connection to a service that keeps what it is sent, and answers by nothing
// but 200 once that are as many bytes as it wants.
type tape struct {
	net.Conn // none
	wants    int

	mu     sync.Mutex
	moved  *sync.Cond
	sent   bytes.Buffer
	writes int
	over   bool // nothing waits any more
	answer io.Reader
}

func newTape(wants int) *tape {
	t := &tape{wants: wants, answer: strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")}
	t.moved = sync.NewCond(&t.mu)
	return t
}

func (t *tape) pool() *http1.Pool {
	return &http1.Pool{Dial: func(context.Context) (net.Conn, error) { return t, nil }, MaxConnections: 1, MaxHeader: 512, Idle: time.Minute}
}

func (t *tape) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes++
	t.moved.Broadcast()
	return t.sent.Write(b)
}

func (t *tape) Read(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.sent.Len() < t.wants && !t.over {
		t.moved.Wait()
	}
	if t.over {
		return 0, os.ErrDeadlineExceeded
	}
	return t.answer.Read(b)
}

// SetDeadline is given one that is over.
func (t *tape) SetDeadline(time.Time) error { return t.Close() }

func (t *tape) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.moved.Broadcast()
	return nil
}

// A closing body tells whether it was closed.
type closing struct {
	io.Reader
	closed int
	fails  error
}

func (c *closing) Close() error { c.closed++; return c.fails }

// A form is a request without its body.
type form struct {
	method, host, path, query string
	header                    http.Header
	length                    int64
	close                     bool
}

// request returns the request that f is with body; nil is none.
func (f form) request(t *testing.T, body io.ReadCloser) *http.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // should less be sent than is waited for
	t.Cleanup(cancel)
	return (&http.Request{
		Method: f.method, Host: f.host, URL: &url.URL{Scheme: "http", Host: "service.example", Path: f.path, RawQuery: f.query},
		Header: f.header, Body: body, ContentLength: f.length, Close: f.close, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
}

// check holds what goes out for f with body to what [http.Request.Write] writes.
func (f form) check(t *testing.T, body string) {
	t.Helper()
	var want bytes.Buffer
	theirs := &closing{Reader: strings.NewReader(body)}
	wantErr := f.request(t, theirs).Write(&want)
	wants := want.Len()
	if wantErr != nil {
		wants = math.MaxInt
	}
	mine, service := &closing{Reader: strings.NewReader(body)}, newTape(wants)
	_, _, err := ask(service.pool(), f.request(t, mine))
	if (err != nil) != (wantErr != nil) {
		t.Errorf("%+v with %q: error %v, net/http says %v", f, body, err, wantErr)
	}
	if err == nil && service.sent.String() != want.String() {
		t.Errorf("%+v with %q: is sent as\n%q, by net/http as\n%q", f, body, service.sent.String(), want.String())
	}
	if mine.closed == 0 || theirs.closed == 0 {
		t.Errorf("%+v with %q: the body was closed %d times, by net/http %d", f, body, mine.closed, theirs.closed)
	}
}

func TestWritten(t *testing.T) {
	plain := form{method: "POST", host: "service.example:8080", path: "/a b/ü", query: "q=1&q=2", length: 2,
		header: http.Header{"X-B": {"1", " 2 "}, "X-A": {""}, "lower": {"x"}, "Accept": {"a", "b"}}}
	but := func(change func(*form)) form {
		f := plain
		f.header = plain.header.Clone()
		change(&f)
		return f
	}
	for _, f := range []form{
		plain,
		but(func(f *form) { f.header["User-Agent"] = []string{"one ", "two"} }),
		but(func(f *form) { f.header["User-Agent"] = nil }),
		but(func(f *form) { f.header["User-Agent"] = []string{""} }),
		but(func(f *form) { f.header["User-Agent"] = []string{" "} }),
		but(func(f *form) {
			f.header = http.Header{"Host": {"other"}, "Content-Length": {"7"}, "Transfer-Encoding": {"x"}, "Trailer": {"X"}, "host": {"lower"}, "Connection": {"close"}}
		}),
		but(func(f *form) { f.header = nil }),
		but(func(f *form) { f.method = "" }),
		but(func(f *form) { f.method = "GET" }),
		but(func(f *form) { f.method, f.path = "CONNECT", "" }),
		but(func(f *form) { f.method = "odd" }),
		but(func(f *form) { f.host = "" }),
		but(func(f *form) { f.host = "[fe80::1%25eth0]:80" }),
		but(func(f *form) { f.host = "bücher.example" }),
		but(func(f *form) { f.host = "a b" }),
		but(func(f *form) { f.path = "" }),
		but(func(f *form) { f.path = "//x" }),
		but(func(f *form) { f.query = "a\nb" }),
		but(func(f *form) { f.close = true }),
		but(func(f *form) { f.length = 0 }),
		but(func(f *form) { f.length = -1 }),
		but(func(f *form) { f.length = 1 }), // the body is longer
		but(func(f *form) { f.length = 3 }), // or shorter
	} {
		f.check(t, "{}")
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		f := but(func(f *form) { f.method, f.length = method, 0 })
		var want bytes.Buffer
		if err := f.request(t, nil).Write(&want); err != nil {
			t.Fatal(err)
		}
		for _, none := range []io.ReadCloser{nil, http.NoBody} {
			service := newTape(want.Len())
			if _, _, err := ask(service.pool(), f.request(t, none)); err != nil || service.sent.String() != want.String() {
				t.Errorf("%s without a body: %v, %q, want %q", method, err, service.sent.String(), want.String())
			}
		}
	}
}

// A plain request leaves in one piece, so that the service has all of it at once.
func TestOnePiece(t *testing.T) {
	body := strings.Repeat("x", 12<<10)
	service := newTape(len(body))
	if _, _, err := ask(service.pool(), request(t, "POST", body)); err != nil || service.writes != 1 || service.sent.Len() < len(body) {
		t.Errorf("error %v, %d bytes in %d pieces", err, service.sent.Len(), service.writes)
	}
}

// Nothing is sent for a body that cannot be read or closed.
func TestBadBody(t *testing.T) {
	bad := errors.New("bad")
	for name, body := range map[string]*closing{
		"unreadable": {Reader: iotest.ErrReader(bad)},
		"half":       {Reader: io.MultiReader(strings.NewReader("{"), iotest.ErrReader(bad))},
		"not to end": {Reader: io.MultiReader(strings.NewReader("{}"), iotest.ErrReader(bad))},
		"unclosable": {Reader: strings.NewReader("{}"), fails: bad},
	} {
		service := newTape(1)
		req := request(t, "POST", "{}")
		req.Body, req.GetBody = body, nil
		if _, _, err := ask(service.pool(), req); !errors.Is(err, bad) || service.sent.Len() > 0 || body.closed == 0 {
			t.Errorf("%s: error %v, %q sent, closed %d times", name, err, service.sent.String(), body.closed)
		}
	}
}

// Whatever a request has, it goes out as the bytes that net/http writes.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "service.example", "/a", "q=1", "Accept", "text/plain", "X-Y", "1", []byte("{}"), int64(2), false)
	f.Add("GET", "[::1]:80", "/ü?#", "", "User-Agent", " me", "Host", "other", []byte{}, int64(0), true)
	f.Add("PUT", "", "", "a b", "accept", "", "Content-Length", "9", []byte("too long"), int64(3), false)
	f.Fuzz(func(t *testing.T, method, host, path, query, name, value, other, more string, body []byte, length int64, close bool) {
		h := http.Header{}
		h[name] = append(h[name], value)
		h[other] = append(h[other], more, value)
		fm := form{method: method, host: host, path: path, query: query, header: h, length: length, close: close}
		sendable := form{method: method, host: "x", path: "/", header: h}
		if _, _, err := ask(newTape(1).pool(), sendable.request(t, nil)); err != nil {
			t.Skip("not HTTP: TestSendable has those")
		}
		fm.check(t, string(body))
	})
}
