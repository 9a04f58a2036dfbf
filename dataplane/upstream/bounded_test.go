package upstream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/bindery-dev/bindery/dataplane/upstream"
	"github.com/bindery-dev/bindery/internal/testcert"
)

// raw starts a service that hands each connection, secured and with protocol, to answer
// and closes it after that. It returns a client of it.
func raw(t *testing.T, protocol string, answer func(*tls.Conn)) *upstream.Client {
	t.Helper()
	authority := testcert.New(t)
	config := authority.Demand(t, loopback)
	config.ClientAuth, config.NextProtos = tls.NoClientCert, []string{protocol}
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	accept(t, l, func(c net.Conn) { answer(c.(*tls.Conn)) })
	return secured(t, l.Addr().String(), upstream.TLS{CA: "ca"}, variables(map[string]string{"ca": authority.PEM()}))
}

// accept hands each connection at l to answer, and closes it after that or at the end of
// the test.
func accept(t *testing.T, l net.Listener, answer func(net.Conn)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(t.Context(), func() { c.Close() })
			wg.Go(func() {
				defer stop()
				defer c.Close()
				answer(c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
}

// requests calls answer for each request that comes whole on c, which speaks HTTP/2.
func requests(c net.Conn, answer func(f *http2.Framer, stream uint32) error) error {
	r := bufio.NewReader(c)
	if _, err := r.Discard(len(http2.ClientPreface)); err != nil {
		return err
	}
	f := http2.NewFramer(c, r)
	if err := f.WriteSettings(); err != nil {
		return err
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if frame.StreamEnded() {
				err = answer(f, frame.StreamID)
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				err = answer(f, frame.StreamID)
			}
		}
		if err != nil {
			return err
		}
	}
}

// Over HTTP/2 a request goes out again where the service says that it did not look at it,
// and nowhere else.
func TestResetStreams(t *testing.T) {
	reset := func(code http2.ErrCode) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, code) }
	}
	away := func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) }
	for _, tt := range []struct {
		name              string
		answer            func(*http2.Framer, uint32) error
		times             int32 // that it answers so
		method, key, body string
		want              int32 // how often it arrives
		wantErr           error
	}{
		{"refused", reset(http2.ErrCodeRefusedStream), 1, "GET", "", "", 2, nil},
		{"refused with a body", reset(http2.ErrCodeRefusedStream), 1, "POST", "", "{}", 2, nil},
		{"refused twice", reset(http2.ErrCodeRefusedStream), 2, "POST", "", "{}", 3, nil},
		{"a service that goes away", away, 1, "POST", "", "{}", 2, nil},
		{"an error of protocol", reset(http2.ErrCodeProtocol), 9, "GET", "", "", 1, upstream.ErrUnreachable},
		{"an error of protocol with a key", reset(http2.ErrCodeProtocol), 9, "POST", "k-1", "{}", 1, upstream.ErrUnreachable},
		{"an error of protocol with a body", reset(http2.ErrCodeProtocol), 9, "POST", "", "{}", 1, upstream.ErrUnreachable},
		{"an error of protocol without a body", reset(http2.ErrCodeProtocol), 9, "POST", "", "", 1, upstream.ErrUnreachable},
		{"an error of its own", reset(http2.ErrCodeInternal), 9, "GET", "", "", 1, upstream.ErrUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // there is a wait before the second repetition
			var arrived atomic.Int32
			client := raw(t, "h2", func(c *tls.Conn) {
				_ = requests(c, func(f *http2.Framer, stream uint32) error {
					if arrived.Add(1) <= tt.times {
						return tt.answer(f, stream)
					}
					status200 := []byte{0x88} // RFC 7541, appendix A
					return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: status200, EndHeaders: true, EndStream: true})
				})
			})
			r := request()
			r.Method, r.Body = tt.method, []byte(tt.body)
			if tt.key != "" {
				r.Header.Set("Idempotency-Key", tt.key)
			}
			_, err := client.Do(context.Background(), r)
			if !errors.Is(err, tt.wantErr) || arrived.Load() != tt.want {
				t.Errorf("it arrived %d times, want %d; %v", arrived.Load(), tt.want, err)
			}
		})
	}
}

// More requests than a service takes at a time are all answered.
func TestManyStreams(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	srv.EnableHTTP2 = true
	srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 5}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	client := trusting(t, srv)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			r := request()
			r.Method, r.Body = "POST", []byte("{}")
			if _, err := client.Do(context.Background(), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// What breaks when a request is under way is not the handshake, whatever it looks like:
// the request may have been carried out.
func TestBrokenRecord(t *testing.T) {
	for _, tt := range []struct {
		name, secured string // what is answered
		plain         string // what comes behind it, unsecured
		want          string
	}{
		{"in place of a response", "", "HTTP/1.1 502 Bad Gateway\r\n\r\n", "unreachable: the exchange failed"},
		{"within the header", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 502 Bad Gateway\r\n\r\n", "unreachable: the exchange failed"},
		{"within the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{", "HTTP/1.1 502 Bad Gateway\r\n\r\n", "unreachable: the exchange failed"},
		{"an alert within the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{", "\x15\x03\x03\x00\x02\x02\x28", "unreachable: the exchange failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := raw(t, "http/1.1", func(c *tls.Conn) {
				r := bufio.NewReader(c)
				for line, err := r.ReadString('\n'); line != "\r\n" && err == nil; {
					line, err = r.ReadString('\n')
				}
				_, _ = r.Discard(len("{}"))
				_, _ = io.WriteString(c, tt.secured)
				_, _ = io.WriteString(c.NetConn(), tt.plain)
				_ = c.NetConn().Close()
			})
			r := request()
			r.Method, r.Body = "POST", []byte("{}")
			_, err := client.Do(context.Background(), r)
			want := "upstream " + client.Origin().Authority + ": " + tt.want
			if !errors.Is(err, upstream.ErrUnreachable) || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
}

// With TLS 1.3 a service refuses the node's certificate when the node has begun to send.
func TestRefusedCertificate(t *testing.T) {
	ours := testcert.New(t)
	config := ours.Demand(t, loopback)
	config.NextProtos = []string{"http/1.1"}
	r := request()
	r.Method, r.Body = "POST", []byte("{}")
	if _, err := refusing(t, config, ours).Do(context.Background(), r); !errors.Is(err, upstream.ErrTLS) {
		t.Errorf("error is %v, want that of TLS", err)
	}
}

// refusing starts a service whose handshake, by config, fails for want of a certificate,
// and which then reads on, so that its alert arrives. It returns a client of it.
func refusing(t *testing.T, config *tls.Config, authority *testcert.Authority) *upstream.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accept(t, l, func(c net.Conn) {
		if tls.Server(c, config).Handshake() == nil {
			t.Error("a node without a certificate is let in")
		}
		_, _ = io.Copy(io.Discard, c)
	})
	return secured(t, l.Addr().String(), upstream.TLS{CA: "ca"}, variables(map[string]string{"ca": authority.PEM()}))
}
