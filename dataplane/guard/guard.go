// Package guard decides which requests of HTTP a listener takes, by their Host and
// Origin. It exists because a browser is inside the network that a node trusts: a page
// can make it send requests to any address (Origin) and, by rebinding its own name, even
// to one that the browser takes for the page's (Host).
package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Guard stands in front of one listener. It never changes; the zero Guard takes what
// names the address of the connection itself, and no page of another host.
type Guard struct {
	hosts   []string // lower case, without port
	origins []string // lower case, scheme://host[:port]
}

// New returns a guard that also takes requests for hosts, names without port, and those
// of pages of origins, each as scheme://host[:port]. Where public, which may be nil, is
// not nil, its host and its origin are among them.
func New(hosts, origins []string, public *url.URL) Guard {
	var g Guard
	for _, h := range hosts {
		g.hosts = append(g.hosts, hostname(h))
	}
	for _, o := range origins {
		g.origins = append(g.origins, strings.ToLower(o))
	}
	if public != nil {
		g.hosts = append(g.hosts, hostname(public.Host))
		g.origins = append(g.origins, strings.ToLower(public.Scheme+"://"+public.Host))
	}
	return g
}

// Check returns why r must not be answered, or "". The reason is for the
// operator too, who sees it in the client: it names the flag that admits r.
func (g Guard) Check(r *http.Request) string {
	if reason := g.CheckHost(r); reason != "" {
		return reason
	}
	origin, ok := origin(r)
	if ok && !g.allowsOrigin(origin) && !sameHost(origin, r.Host) {
		return fmt.Sprintf("origin %q may not call this server: start the node with --allowed-origin %s if it may", origin, origin)
	}
	return ""
}

// CheckHost is Check without regard to the Origin of r.
func (g Guard) CheckHost(r *http.Request) string {
	host := hostname(r.Host)
	if g.admits(host, localAddr(r)) {
		return ""
	}
	return fmt.Sprintf("host %q is not served here: start the node with --allowed-host %s if it is its name", host, host)
}

// admits reports whether a request for host that came in at the address local
// can be meant for this node. The address of the connection itself is admitted:
// no name was resolved to reach it, so none was rebound.
func (g Guard) admits(host string, local netip.Addr) bool {
	if slices.Contains(g.hosts, host) {
		return host != ""
	}
	addr, err := netip.ParseAddr(host)
	if err == nil && addr.Unmap() == local {
		return true
	}
	return local.IsLoopback() && (host == "localhost" || err == nil && addr.Unmap().IsLoopback())
}

func (g Guard) allowsOrigin(origin string) bool {
	return slices.Contains(g.origins, strings.ToLower(origin))
}

// CORS lets the pages of an allowed origin read the answer. It reports whether r
// was a browser's preflight request and is answered by that.
func (g Guard) CORS(w http.ResponseWriter, r *http.Request) bool {
	origin, ok := origin(r)
	if !ok || !g.allowsOrigin(origin) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After")
	h.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "DELETE, GET, POST")
	h.Set("Access-Control-Allow-Headers", strings.Join(append(askedParams(r), "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate"), ", "))
	h.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// askedParams returns the headers for arguments that the preflight request r asks for.
func askedParams(r *http.Request) []string {
	var all []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); strings.HasPrefix(name, irv1.ClientHeaderPrefix) && irv1.ValidHeaderName(name) {
			all = append(all, name)
		}
	}
	return all
}

func origin(r *http.Request) (value string, present bool) {
	values := r.Header.Values("Origin")
	return strings.Join(values, " "), len(values) > 0
}

// sameHost reports whether origin is a page that host itself served, whatever
// the scheme: TLS may end before the node.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, host)
}

// hostname returns the host of an authority in lower case, without port, brackets
// and the dot that ends an absolute name.
func hostname(authority string) string {
	host := authority
	if h, _, err := net.SplitHostPort(authority); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// localAddr returns the address at which the connection of r came in; the zero
// Addr when there is none.
func localAddr(r *http.Request) netip.Addr {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return addr.AddrPort().Addr().Unmap().WithZone("")
}
