package guard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	public, err := url.Parse("https://tools.example.com")
	if err != nil {
		t.Fatal(err)
	}
	const host, origin = "host ", "origin " // what a refusal begins with
	tests := []struct {
		name    string
		local   string // where the connection came in
		host    string
		origins []string
		want    string
	}{
		{name: "loopback name", local: "127.0.0.1:8080", host: "localhost:8080"},
		{name: "loopback name in capitals and with the final dot", local: "127.0.0.1:8080", host: "LOCALHOST.:8080"},
		{name: "loopback address", local: "127.0.0.1:8080", host: "127.0.0.1:8080"},
		{name: "another loopback address", local: "127.0.0.1:8080", host: "127.0.0.2"},
		{name: "IPv6 loopback", local: "[::1]:8080", host: "[::1]:8080"},
		{name: "IPv4 within IPv6", local: "[::ffff:127.0.0.1]:8080", host: "127.0.0.1:8080"},
		{name: "rebound name", local: "127.0.0.1:8080", host: "evil.example:8080", want: host},
		{name: "rebound name with its own origin", local: "127.0.0.1:8080", host: "evil.example:8080", origins: []string{"http://evil.example:8080"}, want: host},
		{name: "rebound name that looks local", local: "127.0.0.1:8080", host: "localhost.evil.example", want: host},
		{name: "no host", local: "127.0.0.1:8080", host: "", want: host},
		{name: "another machine's address", local: "127.0.0.1:8080", host: "192.0.2.9:8080", want: host},

		{name: "own address off loopback", local: "192.0.2.7:8080", host: "192.0.2.7:8080"},
		{name: "rebound name off loopback", local: "192.0.2.7:8080", host: "evil.example:8080", want: host},
		{name: "loopback name off loopback", local: "192.0.2.7:8080", host: "localhost:8080", want: host},
		{name: "unknown address", local: "", host: "localhost", want: host},
		{name: "allowed host", local: "192.0.2.7:8080", host: "tools.internal:8080"},
		{name: "allowed host in capitals", local: "192.0.2.7:8080", host: "Tools.Internal"},
		{name: "host of the public URL", local: "192.0.2.7:8080", host: "tools.example.com"},

		{name: "same host as origin", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"http://localhost:8080"}},
		{name: "same host behind TLS", local: "192.0.2.7:8080", host: "tools.internal", origins: []string{"https://tools.internal"}},
		{name: "another port of the same host", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"http://localhost:3000"}, want: origin},
		{name: "another origin", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"https://evil.example"}, want: origin},
		{name: "opaque origin", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"null"}, want: origin},
		{name: "empty origin", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{""}, want: origin},
		{name: "two origins", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"http://localhost:8080", "https://evil.example"}, want: origin},
		{name: "extension", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"chrome-extension://localhost:8080"}, want: origin},
		{name: "allowed origin", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"https://console.example"}},
		{name: "allowed origin with another scheme", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"http://console.example"}, want: origin},
		{name: "origin of the public URL", local: "127.0.0.1:8080", host: "localhost:8080", origins: []string{"https://tools.example.com"}},
	}
	g := New([]string{"tools.internal"}, []string{"https://console.example"}, public)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := g.Check(request(t, http.MethodPost, tt.local, tt.host, tt.origins...))
			if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
				t.Errorf("Check() = %q; want it to begin with %q", got, tt.want)
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	g := New(nil, []string{"https://console.example"}, nil)
	tests := []struct {
		name, origin string
		want         bool
	}{
		{"allowed", "https://console.example", true},
		{"same host needs none", "http://localhost:8080", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(t, http.MethodOptions, "127.0.0.1:8080", "localhost:8080", tt.origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "mcp-param-region, x-other,mcp-param-\xff, mcp-method")
			w := httptest.NewRecorder()
			if got := g.CORS(w, r); got != tt.want {
				t.Errorf("CORS() = %v, want %v", got, tt.want)
			}
			if got := strings.HasPrefix(w.Header().Get("Access-Control-Allow-Headers"), "Mcp-Param-Region, Accept, "); got != tt.want {
				t.Errorf("Access-Control-Allow-Headers = %q", w.Header().Get("Access-Control-Allow-Headers"))
			}
			if got := w.Header().Get("Access-Control-Allow-Origin") == tt.origin; got != tt.want {
				t.Errorf("Access-Control-Allow-Origin = %q", w.Header().Get("Access-Control-Allow-Origin"))
			}
		})
	}
}

func request(t *testing.T, method, local, host string, origins ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(method, "/library", nil)
	r.Host = host
	for _, o := range origins {
		r.Header.Add("Origin", o)
	}
	if local == "" {
		return r
	}
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		t.Fatal(err)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
}
