package main

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/dataplane/serve"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// flags are the command line as it was given.
type flags struct {
	daemon.Flags
	controlPlane []string
	group, id    string
	labels       map[string]string
	bundle       string

	listen, admin  string
	stdio          bool
	stateful       bool
	endpoint       string
	given          func(flag string) bool
	secretsDir     string
	publicURL      string
	allowedHosts   []string
	allowedOrigins []string

	drainDelay, drainTimeout time.Duration

	maxRequest int64 // in bytes
	fastPath   string
}

// mostRequest is what --max-request-bytes may be, in bytes: as much as a binding may let
// through to its upstream.
const mostRequest = 64 << 20

const (
	defaultGroup = "default"
	defaultAdmin = "127.0.0.1:8081"
	anyPort      = "127.0.0.1:0"
)

func (f *flags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.given = fs.Changed
	fs.SortFlags = false
	fs.StringSliceVar(&f.controlPlane, "control-plane", nil, "take the configuration from the control plane at `ADDR` (host:port, several for replicas)")
	fs.StringVar(&f.group, "group", defaultGroup, "`NAME` of the group whose configuration to run")
	fs.StringVar(&f.id, "id", "", "`NAME` of this node (default: host name and port)")
	fs.StringToStringVar(&f.labels, "label", nil, "`KEY=VALUE` that describes this node to operators")
	fs.Lookup("label").DefValue = "" // help would show "[]"
	fs.StringVar(&f.bundle, "bundle", "", "serve the bundle in `FILE`, and whatever replaces it, without a control plane")
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8080", "serve MCP at `ADDR`")
	fs.StringVar(&f.admin, "admin", defaultAdmin, "serve /healthz, /readyz and /metrics at `ADDR`; with --stdio, a free port unless given")
	fs.BoolVar(&f.stdio, "stdio", false, "serve MCP on stdin and stdout instead, to one client; end when it goes away")
	fs.StringVar(&f.endpoint, "endpoint", "", "the `PATH` of the endpoint that the client of --stdio gets (default: the only one)")
	fs.BoolVar(&f.stateful, "stateful", false, "give clients of MCP before 2026-07-28 sessions: they can be asked for something then, and must come back to this node")
	fs.StringVar(&f.secretsDir, "secrets-dir", "", "look for secrets in the files of `DIR`")
	fs.StringVar(&f.publicURL, "public-url", "", "`URL` at which clients reach this node; its host and origin are allowed")
	fs.StringArrayVar(&f.allowedHosts, "allowed-host", nil, "answer requests whose Host is `NAME`")
	fs.StringArrayVar(&f.allowedOrigins, "allowed-origin", nil, "answer browsers on pages of `ORIGIN` (scheme://host[:port])")
	fs.DurationVar(&f.drainDelay, "drain-delay", 5*time.Second, "on SIGTERM, go on for `D` while readiness fails")
	fs.DurationVar(&f.drainTimeout, "drain-timeout", node.DefaultDrainTimeout, "after that, wait up to `D` for calls in flight")
	fs.Int64Var(&f.maxRequest, "max-request-bytes", serve.DefaultMaxBody, "refuse a request, or a line of --stdio, that is longer than `N` bytes")
	fs.StringVar(&f.fastPath, "fast-path", "on", "answer plain calls without the MCP library, which costs more: `on` or off; the answers are the same")
	f.Register(cmd, "allow connections to other machines without TLS")
}

// config checks what was given and returns all of it but listeners and log. An
// error is a [daemon.UsageError].
func (f *flags) config() (node.Config, error) {
	for _, check := range []func() error{f.checkSource, f.checkControlPlane, f.checkHosts, f.checkOrigins, f.checkTimes, f.checkMaxRequest, f.checkFastPath, f.checkStdio} {
		if err := check(); err != nil {
			return node.Config{}, err
		}
	}
	public, err := f.parsePublicURL()
	if err != nil {
		return node.Config{}, err
	}
	return node.Config{
		ControlPlane:   f.controlPlane,
		Group:          f.group,
		ID:             f.id,
		Labels:         f.labels,
		Bundle:         f.bundle,
		Secrets:        f.secretsDir,
		PublicURL:      public,
		AllowedHosts:   f.allowedHosts,
		AllowedOrigins: f.allowedOrigins,
		DrainDelay:     f.drainDelay,
		DrainTimeout:   f.drainTimeout,
		Stateful:       f.stateful,
		MaxBody:        f.maxRequest,
		NoFastPath:     f.fastPath == "off",
	}, nil
}

func (f *flags) checkSource() error {
	switch {
	case len(f.controlPlane) == 0 && f.bundle == "":
		return daemon.Usagef("nothing to serve: give --control-plane ADDR or --bundle FILE")
	case len(f.controlPlane) > 0 && f.bundle != "":
		return daemon.Usagef("--control-plane and --bundle exclude each other: leave out one")
	case f.bundle != "" && (f.group != defaultGroup || f.id != "" || len(f.labels) > 0):
		return daemon.Usagef("--group, --id and --label are for a control plane: leave them out with --bundle")
	}
	if err := discoveryv1.CheckName(f.group); err != nil {
		return daemon.Usagef("--group %w", err)
	}
	if err := discoveryv1.CheckName(f.id); err != nil && f.id != "" {
		return daemon.Usagef("--id %w", err)
	}
	return nil
}

func (f *flags) checkControlPlane() error {
	for _, addr := range f.controlPlane {
		if err := daemon.CheckAddress(addr); err != nil {
			return daemon.Usagef("--control-plane %w", err)
		}
		host, _, _ := net.SplitHostPort(addr)
		if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) && !f.Insecure {
			return daemon.Usagef("--control-plane %s is another machine and the connection has no TLS: add --insecure where something else encrypts", addr)
		}
	}
	return nil
}

func (f *flags) checkHosts() error {
	for _, host := range f.allowedHosts {
		if _, err := netip.ParseAddr(host); err != nil && (host == "" || strings.ContainsAny(host, ":/*@ ")) {
			return daemon.Usagef("--allowed-host %q is not a host name: give it without scheme, port and wildcard", host)
		}
	}
	return nil
}

func (f *flags) checkOrigins() error {
	for _, origin := range f.allowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || !isHTTP(u) || u.Scheme+"://"+u.Host != origin {
			return daemon.Usagef("--allowed-origin %q is not an origin: give scheme://host[:port]", origin)
		}
	}
	return nil
}

func (f *flags) checkTimes() error {
	if f.drainDelay < 0 || f.drainTimeout <= 0 {
		return daemon.Usagef("--drain-delay cannot be negative, and --drain-timeout has to be more than 0s")
	}
	return nil
}

func (f *flags) checkMaxRequest() error {
	if f.maxRequest < 1 || f.maxRequest > mostRequest {
		return daemon.Usagef("--max-request-bytes %d is not from 1 to %d", f.maxRequest, mostRequest)
	}
	return nil
}

func (f *flags) checkFastPath() error {
	if f.fastPath != "on" && f.fastPath != "off" {
		return daemon.Usagef("--fast-path is on or off, not %q", f.fastPath)
	}
	return nil
}

func (f *flags) checkStdio() error {
	switch {
	case f.stdio && f.given("listen"):
		return daemon.Usagef("--listen and --stdio exclude each other: leave out one")
	case f.stdio && f.stateful:
		return daemon.Usagef("--stateful is for clients over HTTP: leave it out with --stdio")
	case !f.stdio && f.endpoint != "":
		return daemon.Usagef("--endpoint is for --stdio: other clients choose by the path of their URL")
	}
	return nil
}

// adminAddr is where to listen for operators. A desktop starts as many servers as it
// has windows, and they are to leave each other alone.
func (f *flags) adminAddr() string {
	if f.stdio && !f.given("admin") {
		return anyPort
	}
	return f.admin
}

// parsePublicURL returns nil when no URL was given.
func (f *flags) parsePublicURL() (*url.URL, error) {
	if f.publicURL == "" {
		return nil, nil
	}
	u, err := url.Parse(f.publicURL)
	if err != nil || !isHTTP(u) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, daemon.Usagef("--public-url %q is not the URL of a server: give https://host[:port][/path]", f.publicURL)
	}
	return u, nil
}

func isHTTP(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
