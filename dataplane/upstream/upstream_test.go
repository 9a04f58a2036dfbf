package upstream_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/upstream"
)

func clientOf(t *testing.T, base string, transport http.RoundTripper) *upstream.Client {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	origin := upstream.Origin{Scheme: u.Scheme, Authority: u.Host}
	if transport == nil {
		transport = upstream.Transport(origin, nil)
	}
	c := upstream.New(origin, transport)
	t.Cleanup(c.Close)
	return c
}

func request() *upstream.Request {
	return &upstream.Request{Method: "GET", Target: "/", Header: http.Header{}, Timeout: 10 * time.Second, MaxBody: 1 << 20}
}

func TestRequestArrivesAsItIs(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	tests := []struct {
		name   string
		target string
		body   []byte
	}{
		{name: "plain", target: "/a/b"},
		{name: "escaped", target: "/a%2Fb/%2E%2E/%25?q=%26&r=a+b"},
		{name: "characters that need no escape", target: "/!$&'()*+,;=:@-._~"},
		{name: "body", target: "/", body: []byte(" {\"n\" : 1.0}\n")},
		{name: "empty body", target: "/", body: []byte{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request()
			r.Method, r.Target, r.Body = "POST", tt.target, tt.body
			if _, err := clientOf(t, srv.URL, nil).Do(context.Background(), r); err != nil {
				t.Fatal(err)
			}
			if got.RequestURI != tt.target || string(body) != string(tt.body) || got.ContentLength != int64(len(tt.body)) {
				t.Errorf("arrived as %s, body %q (%d bytes)", got.RequestURI, body, got.ContentLength)
			}
			if enc := got.Header.Get("Accept-Encoding"); enc != "identity" {
				t.Errorf("Accept-Encoding is %q", enc)
			}
		})
	}
}

// A target is all that a caller has influence on, and it cannot name a host.
func TestTargetCannotNameAHost(t *testing.T) {
	none := roundTripper(func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent to %s", r.URL)
		return nil, errors.New("sent")
	})
	for _, target := range []string{"", "a", "//evil.example/", "http://evil.example/", "@evil.example/", "/\r\nX: y", "/%zz", "*"} {
		r := request()
		r.Target = target
		if resp, err := clientOf(t, "http://good.example", none).Do(context.Background(), r); err == nil {
			t.Errorf("target %q: %v", target, resp)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRedirectIsAResponse(t *testing.T) {
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	resp, err := clientOf(t, srv.URL, nil).Do(context.Background(), request())
	if err != nil || resp.Status != 307 || calls.Load() != 1 {
		t.Errorf("got %v, %v after %d requests", resp, err, calls.Load())
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	if upstream.Secured(upstream.Origin{Scheme: "https"}, nil).Proxy != nil {
		t.Error("a proxy can be set from outside of the bundle")
	}
}

func TestBodyLimit(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		if r.URL.Query().Has("chunked") {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write([]byte(strings.Repeat("x", size)))
	}))
	defer srv.Close()
	for _, tt := range []struct {
		target string
		want   error
	}{
		{"/?size=0", nil}, {"/?size=100", nil}, {"/?size=101", upstream.ErrTooLarge},
		{"/?chunked&size=100", nil}, {"/?chunked&size=101", upstream.ErrTooLarge},
	} {
		r := request()
		r.Target, r.MaxBody = tt.target, 100
		resp, err := clientOf(t, srv.URL, nil).Do(context.Background(), r)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.target, err, tt.want)
		}
		if resp == nil || resp.Status != 200 {
			t.Errorf("%s: response is %v", tt.target, resp)
		}
	}
}

// A compressed body that nobody asked for is not unpacked, so that the limit means
// what it says.
func TestNoDecompression(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(strings.Repeat(" ", 1<<20)))
		z.Close()
	}))
	defer srv.Close()
	r := request()
	r.MaxBody = 8 << 10
	resp, err := clientOf(t, srv.URL, nil).Do(context.Background(), r)
	if err != nil || len(resp.Body) == 0 || resp.Body[0] != 0x1f {
		t.Errorf("got %v, %v", resp, err)
	}
}

// serve answers every connection with what answer writes.
func serve(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					answer(conn)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return "http://" + l.Addr().String()
}

func TestBrokenResponses(t *testing.T) {
	const marker = "s3cr3t-marker"
	tests := []struct {
		name   string
		answer string
		status int // 0: no response
	}{
		{name: "nothing"},
		{name: "half a status line", answer: "HTTP/1.1 2"},
		{name: "no HTTP", answer: marker + "\r\n\r\n"},
		{name: "half a header", answer: "HTTP/1.1 200 OK\r\nX: " + marker},
		{name: "bad header", answer: "HTTP/1.1 200 OK\r\n" + marker + "\r\n\r\n"},
		{name: "header too large", answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n"},
		{name: "truncated body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\":", status: 200},
		{name: "truncated chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n" + marker, status: 200},
		{name: "bad chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + marker + "\r\n", status: 200},
		{name: "no last chunk", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", status: 200},
		{name: "only 1xx", answer: "HTTP/1.1 103 Early Hints\r\n\r\n"},
		{name: "1xx without end", answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.answer) })
			resp, err := clientOf(t, base, nil).Do(context.Background(), request())
			if !errors.Is(err, upstream.ErrUnreachable) {
				t.Fatalf("got %v, %v; want unreachable", resp, err)
			}
			if (resp != nil) != (tt.status != 0) || resp != nil && resp.Status != tt.status {
				t.Errorf("response is %v, want status %d", resp, tt.status)
			}
			if strings.Contains(err.Error(), marker) {
				t.Errorf("the error quotes the upstream: %v", err)
			}
		})
	}
}

func TestInformationalResponses(t *testing.T) {
	base := serve(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	})
	resp, err := clientOf(t, base, nil).Do(context.Background(), request())
	if err != nil || resp.Status != 200 || string(resp.Body) != "{}" {
		t.Errorf("got %v, %v", resp, err)
	}
}

// A status that ends no exchange is that of no response; whatever else a server makes up
// is up to the binding.
func TestStatuses(t *testing.T) {
	for status, want := range map[string]int{"200": 200, "599": 599, "600": 600, "999": 999, "000": 0, "042": 0, "101": 0, "+42": 0} {
		base := serve(t, func(c net.Conn) { fmt.Fprintf(c, "HTTP/1.1 %s X\r\nContent-Length: 0\r\n\r\n", status) })
		resp, err := clientOf(t, base, nil).Do(context.Background(), request())
		switch {
		case want == 0 && (resp != nil || !errors.Is(err, upstream.ErrUnreachable)):
			t.Errorf("%s: got %v, %v; want unreachable", status, resp, err)
		case want != 0 && (err != nil || resp.Status != want):
			t.Errorf("%s: got %v, %v", status, resp, err)
		}
	}
}

func TestReset(t *testing.T) {
	base := serve(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	resp, err := clientOf(t, base, nil).Do(context.Background(), request())
	if !errors.Is(err, upstream.ErrUnreachable) {
		t.Errorf("got %v, %v; want unreachable", resp, err)
	}
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	authority := l.Addr().String()
	l.Close()
	_, err = clientOf(t, "http://"+authority, nil).Do(context.Background(), request())
	if want := "upstream " + authority + ": unreachable: connection refused"; !errors.Is(err, upstream.ErrUnreachable) || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestTLS(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	_, err := clientOf(t, srv.URL, nil).Do(context.Background(), request())
	if !errors.Is(err, upstream.ErrTLS) || !strings.Contains(err.Error(), "its certificate is signed by an unknown authority") {
		t.Errorf("error is %v", err)
	}
	_, err = clientOf(t, strings.Replace(srv.URL, "https", "http", 1), nil).Do(context.Background(), request())
	if err != nil {
		t.Errorf("plain HTTP to a TLS port is an answer of it: %v", err)
	}
	resp, err := trusting(t, srv).Do(context.Background(), request())
	if err != nil || string(resp.Body) != "HTTP/2.0" {
		t.Errorf("got %v, %v; want HTTP/2.0", resp, err)
	}
	plain := httptest.NewServer(nil)
	defer plain.Close()
	_, err = clientOf(t, strings.Replace(plain.URL, "http", "https", 1), nil).Do(context.Background(), request())
	if !errors.Is(err, upstream.ErrTLS) || !strings.Contains(err.Error(), "it does not speak TLS") {
		t.Errorf("error is %v", err)
	}
	// One that refuses us says so by an alert.
	old := upstream.Secured(upstream.Origin{Scheme: "https"}, nil)
	old.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	srv.TLS.MinVersion = tls.VersionTLS12
	_, err = clientOf(t, srv.URL, old).Do(context.Background(), request())
	if !errors.Is(err, upstream.ErrTLS) {
		t.Errorf("error is %v", err)
	}
}

func TestTimeout(t *testing.T) {
	for _, tt := range []struct{ name, before string }{
		{"before the header", ""},
		{"within the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := make(chan struct{})
			base := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.before); <-done })
			defer close(done)
			r := request()
			r.Timeout = 30 * time.Millisecond
			if resp, err := clientOf(t, base, nil).Do(context.Background(), r); !errors.Is(err, upstream.ErrTimeout) {
				t.Errorf("got %v, %v; want a timeout", resp, err)
			}
		})
	}
}

// A transport that keeps time itself says so.
func TestTimeoutOfTheTransport(t *testing.T) {
	slow := roundTripper(func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("played: %w", upstream.ErrTimeout) })
	if _, err := clientOf(t, "http://service.example", slow).Do(context.Background(), request()); !errors.Is(err, upstream.ErrTimeout) {
		t.Errorf("got %v, want a timeout", err)
	}
}

func TestCancel(t *testing.T) {
	reached, done := make(chan struct{}), make(chan struct{})
	base := serve(t, func(net.Conn) { close(reached); <-done })
	defer close(done)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-reached; cancel() }()
	if resp, err := clientOf(t, base, nil).Do(ctx, request()); !errors.Is(err, upstream.ErrCanceled) {
		t.Errorf("got %v, %v; want canceled", resp, err)
	}
	if resp, err := clientOf(t, base, nil).Do(ctx, request()); !errors.Is(err, upstream.ErrCanceled) {
		t.Errorf("canceled before: got %v, %v", resp, err)
	}
}

// ways are the two kinds of transport: each starts a service and returns a client of it.
var ways = map[string]func(*testing.T, *httptest.Server) *upstream.Client{
	"plain": func(t *testing.T, srv *httptest.Server) *upstream.Client {
		srv.Start()
		t.Cleanup(srv.Close)
		return clientOf(t, srv.URL, nil)
	},
	"secured": func(t *testing.T, srv *httptest.Server) *upstream.Client {
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return trusting(t, srv)
	},
}

// trusting returns a client of srv, which has been started with TLS.
func trusting(t *testing.T, srv *httptest.Server) *upstream.Client {
	t.Helper()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	return secured(t, srv.Listener.Addr().String(), upstream.TLS{CA: "ca"}, variables(map[string]string{"ca": ca}))
}

// Connections are kept: once 20 requests were under way at a time, 180 more, 20 at a time,
// need no others.
func TestConnectionsAreKept(t *testing.T) {
	for name, start := range ways {
		t.Run(name, func(t *testing.T) { testConnectionsAreKept(t, start) })
	}
}

func testConnectionsAreKept(t *testing.T, start func(*testing.T, *httptest.Server) *upstream.Client) {
	const callers = 20
	var opened, arrived atomic.Int32
	all := make(chan struct{}) // closed when as many have arrived as there are callers
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if arrived.Add(1) == callers {
			close(all)
		}
		<-all
		_, _ = io.WriteString(w, "{}")
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	client := start(t, srv)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range 10 {
				if _, err := client.Do(context.Background(), request()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := opened.Load(); n > callers {
		t.Errorf("%d connections for %d concurrent callers", n, callers)
	}
}

// What a transport sends again by itself: a GET, or what has an Idempotency-Key, and only
// for a kept connection that was closed before a byte of the response.
func TestTransportRepeats(t *testing.T) {
	for name, start := range ways {
		t.Run(name, func(t *testing.T) { testTransportRepeats(t, start) })
	}
}

func testTransportRepeats(t *testing.T, start func(*testing.T, *httptest.Server) *upstream.Client) {
	for _, tt := range []struct {
		name, method, key string
		kept              bool
	}{
		{"GET on a kept connection", "GET", "", true},
		{"key on a kept connection", "POST", "k-1", true},
		{"GET on a new connection", "GET", "", false},
		{"key on a new connection", "POST", "k-1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var broken atomic.Int32
			breaks := atomic.Bool{}
			client := start(t, httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if breaks.CompareAndSwap(true, false) {
					broken.Add(1)
					conn, _, _ := http.NewResponseController(w).Hijack()
					conn.Close()
					return
				}
				_, _ = io.WriteString(w, "{}")
			})))
			if tt.kept {
				if _, err := client.Do(context.Background(), request()); err != nil {
					t.Fatal(err)
				}
			}
			breaks.Store(true)
			r := request()
			r.Method, r.Body = tt.method, []byte("{}")
			if tt.method == "GET" {
				r.Body = nil
			}
			if tt.key != "" {
				r.Header.Set("Idempotency-Key", tt.key)
			}
			_, err := client.Do(context.Background(), r)
			if again := err == nil; again != tt.kept || broken.Load() != 1 {
				t.Errorf("it was sent again: %t, want %t; %v", again, tt.kept, err)
			}
		})
	}
}

// It is sent again once, however many connections are kept that could break as well.
func TestTransportRepeatsOnce(t *testing.T) {
	for name, start := range ways {
		t.Run(name, func(t *testing.T) { testTransportRepeatsOnce(t, start) })
	}
}

func testTransportRepeatsOnce(t *testing.T, start func(*testing.T, *httptest.Server) *upstream.Client) {
	const kept = 10
	var arrived, broken atomic.Int32
	all := make(chan struct{}) // closed when there is a connection for each
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/broken" {
			broken.Add(1)
			panic(http.ErrAbortHandler)
		}
		if arrived.Add(1) == 1+kept {
			close(all)
		}
		if r.URL.Path == "/held" {
			<-all
		}
	}))
	client := start(t, srv)
	fill := func() {
		arrived.Store(1)
		all = make(chan struct{})
		var wg sync.WaitGroup
		for range kept {
			wg.Go(func() {
				r := request()
				r.Target = "/held"
				if _, err := client.Do(context.Background(), r); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	for _, tt := range []struct{ name, method, key, body string }{
		{"GET", "GET", "", ""},
		{"POST with a key", "POST", "k-1", "{}"},
		{"POST with a key and no body", "POST", "k-1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fill()
			broken.Store(0)
			r := request()
			r.Method, r.Target, r.Body = tt.method, "/broken", []byte(tt.body)
			if tt.key != "" {
				r.Header.Set("Idempotency-Key", tt.key)
			}
			_, err := client.Do(context.Background(), r)
			if !errors.Is(err, upstream.ErrUnreachable) || broken.Load() != 2 {
				t.Errorf("it arrived %d times, want 2; %v", broken.Load(), err)
			}
		})
	}
}

// A request that may have had an effect is not sent again by the transport.
func TestNoSilentRetry(t *testing.T) {
	for name, start := range ways {
		t.Run(name, func(t *testing.T) { testNoSilentRetry(t, start) })
	}
}

func testNoSilentRetry(t *testing.T, start func(*testing.T, *httptest.Server) *upstream.Client) {
	var calls atomic.Int32
	client := start(t, httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			_, _ = io.WriteString(w, "{}")
			return
		}
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	})))
	for i, want := range []error{nil, upstream.ErrUnreachable} {
		r := request()
		r.Method, r.Body = "POST", []byte("{}")
		if _, err := client.Do(context.Background(), r); !errors.Is(err, want) {
			t.Errorf("request %d: %v, want %v", i, err, want)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("the upstream was called %d times", calls.Load())
	}
}
