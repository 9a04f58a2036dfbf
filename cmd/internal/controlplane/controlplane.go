// Package controlplane runs a control plane: open listeners, a data directory and a
// compiler go in, nodes and operators are served until the context is done.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/bindery-dev/bindery/cmd/internal/build"
	"github.com/bindery-dev/bindery/cmd/internal/watch"
	"github.com/bindery-dev/bindery/controlplane/admin"
	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/store"
	"github.com/bindery-dev/bindery/cue/source"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// The steps that [Config].OnStep is told.
const (
	StepStored     = admin.StepStored         // a revision is durable, and offered to nobody
	StepHalfPushed = discovery.StepHalfPushed // some but not all messages of a generation are written to a stream
)

// stopWait is how long operators' requests may go on after the context is done.
const stopWait = 5 * time.Second

// Config is what a control plane needs. Run closes the listeners.
type Config struct {
	GRPC net.Listener // for nodes and operators
	HTTP net.Listener // for /healthz, /readyz and /metrics; nil: not served

	// Data is the directory of the store, made if it has to be. Only one process
	// can use it.
	Data string

	// Compile makes bundles of sources. It should not let them take the process
	// down.
	Compile admin.Compile

	// Sources are directories that feed groups, each group one at most.
	Sources []Source
	Retry   time.Duration // as in [admin.Config]

	Log    *slog.Logger      // nil: none
	OnStep func(step string) // called concurrently; nil: nothing
}

// Source is a directory that feeds a group: each good change becomes a revision.
type Source struct {
	Group string
	Tags  []string
	Dir   string
}

// Run serves until ctx is done, and then ends streams, lets operators' requests
// finish for a short time and returns nil. It returns an error early when the store
// cannot be opened or a listener fails. Store errors later on are answers to who
// caused them: the process lives on.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnStep == nil {
		cfg.OnStep = func(string) {}
	}
	defer cfg.close()
	if err := cfg.check(); err != nil {
		return err
	}
	kv, err := store.Bolt(cfg.Data)
	if err != nil {
		return err
	}
	st, err := store.Open(context.WithoutCancel(ctx), kv, time.Now()) // being told to stop is no error
	if err != nil {
		return err
	}
	defer st.Close()
	return newServer(cfg, st).run(ctx)
}

func (cfg Config) check() error {
	fed := map[string]bool{}
	for _, src := range cfg.Sources {
		if err := discoveryv1.CheckName(src.Group); err != nil {
			return fmt.Errorf("source %s: group %w", src.Dir, err)
		}
		if fed[src.Group] {
			return fmt.Errorf("source %s: group %q has another directory already", src.Dir, src.Group)
		}
		fed[src.Group] = true
	}
	return nil
}

func (cfg Config) close() {
	for _, l := range []net.Listener{cfg.GRPC, cfg.HTTP} {
		if l != nil {
			l.Close()
		}
	}
}

// A server holds the parts of one control plane.
type server struct {
	cfg     Config
	nodes   *discovery.Server
	admin   *admin.Server
	health  *health.Server
	metrics *metrics
}

func newServer(cfg Config, st *store.Store) *server {
	nodes := discovery.New(discovery.Config{Blob: st.Blob, Log: cfg.Log, OnStep: cfg.OnStep})
	m := newMetrics(nodes)
	return &server{
		cfg: cfg, nodes: nodes, metrics: m, health: health.NewServer(),
		admin: admin.New(admin.Config{
			Store: st, Nodes: nodes, Compile: m.timed(cfg.Compile), Retry: cfg.Retry,
			Build: build.Version(), Log: cfg.Log, OnStep: m.stored(cfg.OnStep),
		}),
	}
}

func (s *server) run(ctx context.Context) error {
	if err := s.admin.Start(context.WithoutCancel(ctx)); err != nil {
		// The other groups are served, and this one's nodes keep what they run.
		s.cfg.Log.Error("a group's revision cannot be offered", "error", err)
	}
	g := grpc.NewServer(append(discovery.ServerOptions(), recovering(s.cfg.Log)...)...)
	discoveryv1.RegisterDiscoveryServiceServer(g, s.nodes)
	adminv1.RegisterAdminServiceServer(g, s.admin)
	grpc_health_v1.RegisterHealthServer(g, s.health)
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn)}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var background sync.WaitGroup
	defer background.Wait()
	s.follow(ctx, &background)

	failed := make(chan error, 2)
	background.Go(func() { failed <- serve(g.Serve, s.cfg.GRPC, "nodes and operators") })
	if s.cfg.HTTP != nil {
		background.Go(func() { failed <- serve(h.Serve, s.cfg.HTTP, "health and metrics") })
	}
	s.cfg.Log.Info("serving", "listen", address(s.cfg.GRPC), "http", address(s.cfg.HTTP), "data", s.cfg.Data, "build", build.Version())
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	cancel()
	s.stop(g)
	h.Close()
	return err
}

// address returns "" for no listener.
func address(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

func serve(serve func(net.Listener) error, l net.Listener, what string) error {
	err := serve(l)
	if err == nil || errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", what, err)
}

// follow turns changes of the source directories into revisions.
func (s *server) follow(ctx context.Context, background *sync.WaitGroup) {
	for _, src := range s.cfg.Sources {
		dir := src.Dir
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		followed := admin.Source{
			Group: src.Group, Tags: src.Tags, Dir: dir,
			Read:    func() (*sourcev1.Sources, error) { return source.Read(dir) },
			Changed: watch.Path(ctx, dir, s.cfg.Log),
		}
		s.admin.Declare(followed)
		background.Go(func() { s.admin.Follow(ctx, followed) })
	}
}

// stop ends the nodes' streams, which never end by themselves, and gives operators'
// requests a short time.
func (s *server) stop(g *grpc.Server) {
	s.health.Shutdown()
	s.nodes.Close()
	s.admin.Close()
	force := time.AfterFunc(stopWait, g.Stop)
	defer force.Stop()
	g.GracefulStop()
}
