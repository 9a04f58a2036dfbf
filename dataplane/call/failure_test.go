package call_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	busy     = `-32000 The library is closed. {"kind":"busy","message":"The library is closed."}`
	refused  = `-32000 The library refused. {"kind":"refused","message":"The library refused."}`
	unusable = `-32000 The service sent an answer that cannot be used. {"kind":"strange"}`
	large    = `-32000 The answer of the service is larger than the 65536 bytes that a result of this tool may have. Ask for less at once, for example for a smaller page. {"kind":"strange"}`
)

// raw serves every request with what speak says, then closes the connection.
func raw(t *testing.T, speak func(net.Conn)) string {
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
					speak(conn)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return "http://" + l.Addr().String()
}

func bookOf(t *testing.T, base string, change func(*irv1.Binding)) *table.Tool {
	t.Helper()
	b := library(base)
	if change != nil {
		change(b)
	}
	return build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
}

func TestBrokenExchanges(t *testing.T) {
	say := func(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }
	tests := []struct {
		name   string
		speak  func(net.Conn)
		class  call.Class
		status int
		want   string
	}{
		{"nothing", say(""), call.Unreachable, 0, busy},
		{"no HTTP", say("s3cr3t 10.0.0.1\r\n\r\n"), call.Unreachable, 0, busy},
		{"truncated body", say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"), call.Unreachable, 200, busy},
		{"truncated chunks", say("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), call.Unreachable, 201, busy},
		{"truncated error", say("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n{}"), call.UpstreamError, 404, refused},
		{"reset", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")
			_ = c.(*net.TCPConn).SetLinger(0)
		}, call.Unreachable, 200, busy},
		{"1xx before", say("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), call.UpstreamError, 404, refused},
		{"1xx before a success", say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), call.OK, 200, "no error"},
		{"no content", say("HTTP/1.1 204 No Content\r\n\r\n"), call.Unusable, 204, unusable},
		{"empty error", say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), call.UpstreamError, 404, refused},
		{"HTML error", say("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<h1>s3cr3t</h1>"), call.UpstreamError, 404, refused},
		{"HTML", say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>s3cr3t</h1>"), call.Unusable, 200, unusable},
		{"error too large", say("HTTP/1.1 404 Not Found\r\nContent-Length: 9999999\r\n\r\n"), call.UpstreamError, 404, refused},
		{"redirect", say("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n"), call.UpstreamError, 307,
			`-32000 The service answered with status 307. {"kind":"strange"}`},
		{"only 1xx", say("HTTP/1.1 103 Early Hints\r\n\r\n"), call.Unreachable, 0, busy},
		{"another protocol", say("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"), call.Unreachable, 0, busy},
		{"a status that is none", say("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n"), call.Unreachable, 0, busy},
		{"a status beyond those of HTTP", say("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n"), call.UpstreamError, 999,
			`-32000 The service answered with status 999. {"status":999}`},
		{"too large without an end", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n\""+strings.Repeat("x", 128<<10))
			_, _ = io.Copy(io.Discard, c)
		}, call.TooLarge, 200, large},
	}
	for _, tt := range tests {
		for _, style := range []irv1.ErrorStyle{irv1.ErrorStyle_ERROR_STYLE_JSONRPC, irv1.ErrorStyle_ERROR_STYLE_TOOL} {
			t.Run(tt.name+"/"+style.String(), func(t *testing.T) {
				tool := bookOf(t, raw(t, tt.speak), func(b *irv1.Binding) { b.Errors.Style = style })
				o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(getBook)})
				if o.Class != tt.class || o.Status != tt.status || show(o.Error) != tt.want || o.Attempts != 1 {
					t.Errorf("outcome is %s %d, %s; want %s %d, %s", o.Class, o.Status, show(o.Error), tt.class, tt.status, tt.want)
				}
				if o.Err != nil && strings.Contains(o.Err.Error(), "s3cr3t") {
					t.Errorf("the log's error quotes the upstream: %v", o.Err)
				}
				holdStyle(t, tool, o)
			})
		}
	}
}

// TestErrorWithoutEnd holds that an error whose body never ends is that error when time
// is up.
func TestErrorWithoutEnd(t *testing.T) {
	base := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\n{}")
		_, _ = io.Copy(io.Discard, c)
	})
	tool := bookOf(t, base, func(b *irv1.Binding) {
		for _, tool := range b.Tools {
			tool.Timeout = durationpb.New(500 * time.Millisecond)
		}
	})
	o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)})
	if o.Class != call.UpstreamError || show(o.Error) != refused || o.RetryAfter != 7*time.Second || !errors.Is(o.Err, upstream.ErrTimeout) {
		t.Errorf("outcome is %s, %s, wait %v: %v", o.Class, show(o.Error), o.RetryAfter, o.Err)
	}
}

// holdStyle holds that a failure is a JSON-RPC error, or a result with isError, as
// the binding says, with the same data.
func holdStyle(t *testing.T, tool *table.Tool, o call.Outcome) {
	t.Helper()
	members, refusal := result.Of(tool, o, result.Form{Structured: true})
	switch {
	case o.Error == nil:
		if refusal != nil {
			t.Errorf("a success is refused: %s", show(refusal))
		}
	case o.Error.Style == irv1.ErrorStyle_ERROR_STYLE_JSONRPC:
		if refusal != o.Error || members != nil {
			t.Errorf("a JSON-RPC error is %s, %s", members, show(refusal))
		}
	case refusal != nil || !strings.Contains(string(members), `"isError":true`) || !strings.Contains(string(members), string(o.Error.Data)):
		t.Errorf("a result with isError is %s, %s", members, show(refusal))
	}
}

// A certificate that nobody vouches for gets neither a request nor a credential.
func TestUntrusted(t *testing.T) {
	called := false
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	for rule, f := range map[string]irv1.Failure{"insecure": irv1.Failure_FAILURE_TLS, "away": irv1.Failure_FAILURE_UNREACHABLE} {
		tool := bookOf(t, srv.URL, func(b *irv1.Binding) {
			b.Upstream.Scheme = irv1.Scheme_SCHEME_HTTPS
			b.Errors.Rules = []*irv1.ErrorRule{{Name: rule, Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Failure{Failure: f}}}}}
		})
		o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(getBook)})
		if o.Class != call.Unreachable || o.Rule != rule || !errors.Is(o.Err, upstream.ErrTLS) || called {
			t.Errorf("outcome is %s by rule %q, %v", o.Class, o.Rule, o.Err)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	authority := l.Addr().String()
	l.Close()
	o := call.Do(context.Background(), bookOf(t, "http://"+authority, nil), call.Request{Arguments: []byte(getBook)})
	if o.Class != call.Unreachable || show(o.Error) != busy || strings.Contains(show(o.Error), authority) {
		t.Errorf("outcome is %s, %s", o.Class, show(o.Error))
	}
	// A failure that no rule is for says no more than what it is.
	o = call.Do(context.Background(), bookOf(t, "http://"+authority, func(b *irv1.Binding) { b.Errors.Rules = nil }), call.Request{Arguments: []byte(getBook)})
	if show(o.Error) != "-32000 The service could not be reached. " || o.Error.Data != nil {
		t.Errorf("outcome is %s, %s", o.Class, show(o.Error))
	}
}

func TestTimeout(t *testing.T) {
	done := make(chan struct{})
	base := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
		<-done
	})
	defer close(done)
	tool := bookOf(t, base, func(b *irv1.Binding) {
		for _, t := range b.Tools {
			t.Timeout = durationpb.New(30 * time.Millisecond)
		}
	})
	o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(getBook)})
	if o.Class != call.Timeout || show(o.Error) != busy || !errors.Is(o.Err, upstream.ErrTimeout) {
		t.Errorf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
	}
}

func TestCanceled(t *testing.T) {
	reached, done := make(chan struct{}), make(chan struct{})
	base := raw(t, func(net.Conn) { close(reached); <-done })
	defer close(done)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-reached; cancel() }()
	o := call.Do(ctx, bookOf(t, base, nil), call.Request{Arguments: []byte(getBook)})
	if o.Class != call.Canceled || o.Error == nil || !errors.Is(o.Err, upstream.ErrCanceled) {
		t.Errorf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// transport has f carry every request.
func transport(f roundTripper) table.Deps {
	return table.Deps{Transport: func(upstream.Origin) http.RoundTripper { return f }}
}

// A bug ends one call, not the node; what a panic says is not for callers, and what
// it holds not for logs.
func TestPanic(t *testing.T) {
	for _, p := range []any{"s3cr3t", errors.New("s3cr3t"), error(nil)} {
		deps := transport(func(*http.Request) (*http.Response, error) {
			if p == nil {
				var headers []string
				return nil, errors.New(headers[3])
			}
			panic(p)
		})
		o := call.Do(context.Background(), build(t, library("http://library.example"), deps).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
		if o.Class != call.Internal || show(o.Error) != "-32603 Internal error " || o.Err == nil {
			t.Fatalf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
		}
		if text := o.Err.Error(); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "call_test.TestPanic") {
			t.Errorf("the log gets %s", text)
		}
	}
}

func TestClasses(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range call.Classes() {
		if name := c.String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("class %d is called %q", c, name)
		}
		seen[c.String()] = true
	}
	if call.Class(0).String() != "unknown" || call.Class(99).String() != "unknown" {
		t.Error("no class has a name")
	}
}
