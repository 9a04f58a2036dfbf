package upstream

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/bindery-dev/bindery/dataplane/http1"
	"github.com/bindery-dev/bindery/dataplane/secret"
)

// Limits of the connections to an origin.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	keptFor          = 30 * time.Second // without a request
	maxHeader        = 64 << 10         // bytes of a response's header

	// maxConnections is how many connections there can be to one origin: so many calls
	// of a service that hangs do not take the files of those to another one. What is more
	// waits, within its own time. All of them are kept for a while.
	maxConnections = 1024
)

// Transport returns a transport that is made for many concurrent requests to origin,
// and for no other. Each of its connections uses the secrets that TLS names as they are
// when it is opened.
func Transport(origin Origin, secrets *secret.Store) http.RoundTripper {
	if origin.Scheme == "http" && http1.Looks {
		return plain(origin)
	}
	return secured(origin, secrets)
}

func dialer() *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
}

// plain returns a transport for connections without TLS.
func plain(origin Origin) *http1.Pool {
	u, dialer := url.URL{Host: origin.Authority}, dialer()
	port := u.Port()
	if port == "" {
		port = "80"
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	return &http1.Pool{
		Dial:           func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) },
		MaxConnections: maxConnections,
		MaxHeader:      maxHeader,
		Idle:           keptFor,
	}
}

// secured returns a transport of net/http's, which speaks HTTP/2 where the service
// does.
func secured(origin Origin, secrets *secret.Store) bounded {
	dialer := dialer()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    handshakeTimeout,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        keptFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
	if origin.TLS != (TLS{}) {
		t.DialTLSContext = origin.TLS.dial(dialer, secrets)
	}
	return newBounded(t)
}
