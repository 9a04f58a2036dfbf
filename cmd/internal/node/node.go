// Package node is one data-plane process, less its flags: open listeners and the
// place of a configuration come in, and until it is told to stop, MCP is served on
// one listener, or to the one client at stdin and stdout, and health and metrics on
// the other.
//
// The configuration comes from a control plane or from a watched bundle file. In
// both cases a table is built aside and swapped in whole, and what cannot be built
// changes nothing. Losing the control plane changes nothing either.
package node

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/bindery-dev/bindery/cmd/internal/build"
	"github.com/bindery-dev/bindery/cmd/internal/watch"
	"github.com/bindery-dev/bindery/dataplane/feed"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// DefaultDrainTimeout is how long calls may go on after a node was told to stop,
// unless [Config.DrainTimeout] says otherwise. With the usual delay before it, it
// ends within the 30 seconds that orchestrators give a process.
const DefaultDrainTimeout = 20 * time.Second

// Limits of every connection to a listener.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// Config says what a node serves and where. One of ControlPlane and Bundle is set.
type Config struct {
	// MCP and Admin are open; Run closes them. MCP is nil with Stdio.
	MCP, Admin net.Listener
	// Stdio is the only client, which ends the node by going away; nil for those of MCP.
	Stdio *Stdio

	// ControlPlane are the addresses, host:port, of the control plane's replicas.
	ControlPlane []string
	// Group, ID and Labels are what the node calls itself to a control plane.
	Group, ID string
	Labels    map[string]string

	// Bundle is the path of a bundle file.
	Bundle string
	// Alter returns what to serve in the place of the bundle in the file; nil means the
	// bundle itself.
	Alter func(*irv1.Bundle) (*irv1.Bundle, error)

	// Secrets is the directory of secrets; "" for none.
	Secrets string
	// Env finds environment variables that are secrets; nil means [os.LookupEnv].
	Env func(string) (string, bool)

	// PublicURL, AllowedHosts and AllowedOrigins are as in [serve.Config].
	PublicURL      *url.URL
	AllowedHosts   []string
	AllowedOrigins []string
	// Stateful, NoFastPath and MaxBody are as in [serve.Config].
	Stateful, NoFastPath bool
	MaxBody              int64

	// DrainDelay is how long a node that was told to stop goes on as before, but
	// for its readiness; 0 for not at all, as with Stdio. DrainTimeout is how long calls
	// may go on after that; 0 means [DefaultDrainTimeout].
	DrainDelay, DrainTimeout time.Duration

	// Log gets a line for every call and every change; nil drops them.
	Log *slog.Logger
	// OnStep is told the steps of activating a generation, as in [feed.Config]; it
	// may be nil.
	OnStep func(step string)
}

// A node is what Run keeps between its parts.
type node struct {
	cfg      Config
	log      *slog.Logger
	registry *prometheus.Registry
	metrics  metrics
	serve    *serve.Server
	deps     table.Deps
	draining atomic.Bool
}

// Run serves until ctx is done, the client of Stdio has gone or one of its parts
// fails, and returns when calls in flight are answered or their time is up. The error
// is nil after ctx was done or the client has gone.
// A configuration that cannot be served is an error only if it is the bundle file
// that the node starts with: later ones, and those of a control plane, are refused
// and what was there is served on. It is a [*serve.EndpointError] if the bundle has not
// the endpoint that Stdio wants.
func Run(ctx context.Context, cfg Config) error {
	n := newNode(cfg)
	mcp, admin := n.front(), n.httpServer(n.admin())
	following, stop := context.WithCancel(ctx)
	followed := make(chan error, 1)
	go func() { followed <- n.follow(following) }()
	failed := make(chan error, 2)
	go func() { failed <- mcp.serve() }()
	go func() { failed <- admin.Serve(cfg.Admin) }()
	n.log.Info("serving", "mcp", mcp.address(), "admin", cfg.Admin.Addr().String(), "build", build.Version())

	var err error
	select {
	case <-ctx.Done():
	case err = <-followed:
		followed <- nil // it has ended
	case err = <-failed:
	}
	stop()
	n.drain(ctx.Err() != nil, mcp)
	admin.Close()
	return errors.Join(err, <-followed)
}

func newNode(cfg Config) *node {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Env == nil {
		cfg.Env = os.LookupEnv
	}
	if cfg.DrainTimeout == 0 {
		cfg.DrainTimeout = DefaultDrainTimeout
	}
	registry := prometheus.NewRegistry()
	return &node{
		cfg:      cfg,
		log:      cfg.Log,
		registry: registry,
		metrics:  newMetrics(registry),
		deps:     table.Deps{Secrets: secret.New(cfg.Secrets, cfg.Env), UserAgent: "bindery/" + build.Version()},
		serve: serve.New(serve.Config{
			Version:        build.Version(),
			PublicURL:      cfg.PublicURL,
			AllowedHosts:   cfg.AllowedHosts,
			AllowedOrigins: cfg.AllowedOrigins,
			Stateful:       cfg.Stateful,
			NoFastPath:     cfg.NoFastPath,
			MaxBody:        cfg.MaxBody,
			Metrics:        registry,
			Log:            cfg.Log,
		}),
	}
}

func (n *node) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(n.log.Handler(), slog.LevelWarn),
	}
}

// drain stops mcp without cutting off a call that ends in time. Waiting for the
// world to notice makes sense only for a node that was asked to stop, and whose
// clients come from the world.
func (n *node) drain(asked bool, mcp front) {
	n.draining.Store(true)
	if asked && n.cfg.Stdio == nil {
		n.log.Info("draining", "delay", n.cfg.DrainDelay, "timeout", n.cfg.DrainTimeout)
		time.Sleep(n.cfg.DrainDelay)
	}
	n.serve.EndStreams()
	if !mcp.stop(n.cfg.DrainTimeout) {
		n.log.Warn("calls were cut off: they took longer than the drain timeout", "timeout", n.cfg.DrainTimeout)
	}
}

// follow serves one configuration after the other until ctx is done.
func (n *node) follow(ctx context.Context) error {
	var secrets <-chan struct{} // nil never signals
	if n.cfg.Secrets != "" {
		secrets = watch.Path(ctx, n.cfg.Secrets, n.log)
	}
	if n.cfg.Bundle != "" {
		return n.followBundle(ctx, secrets)
	}
	err := feed.Run(ctx, feed.Config{
		Addrs: n.cfg.ControlPlane,
		Hello: &discoveryv1.Hello{
			Node:     n.cfg.ID,
			Boot:     rand.Text(),
			Group:    n.cfg.Group,
			Labels:   n.cfg.Labels,
			Build:    build.Version(),
			IrLevels: []uint32{irv1.Level},
		},
		DialOptions: []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
		Prepare:     n.prepare,
		Retry:       secrets,
		OnStep:      n.step,
		Log:         n.log,
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// prepare builds a table of c aside; commit makes it the one that is served. The
// error is a [*discoveryv1.Refused].
func (n *node) prepare(_ context.Context, gen *discoveryv1.Generation, c *irv1.Content) (commit func(), err error) {
	next, err := table.Build(c, gen, n.serve.Table(), n.deps)
	if err != nil {
		n.metrics.refused.Inc()
		return nil, err
	}
	if err := n.checkEndpoint(next); err != nil {
		n.metrics.refused.Inc()
		next.Retire(n.serve.Table())
		return nil, err
	}
	return func() {
		n.serve.Swap(next)
		n.metrics.reloads.Inc()
		n.metrics.generation.Set(float64(gen.GetNumber()))
		n.log.Debug("table swapped", "revision", gen.GetNumber(), "endpoints", next.Endpoints())
	}, nil
}

// step notes what is to be seen from outside, and passes step on.
func (n *node) step(step string) {
	switch step {
	case feed.StepConnected:
		n.metrics.connected.Set(1)
	case feed.StepDisconnected:
		n.metrics.connected.Set(0)
	}
	if n.cfg.OnStep != nil {
		n.cfg.OnStep(step)
	}
}
