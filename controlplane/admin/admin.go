// Package admin serves operators: sources come in, are compiled by what the caller
// injects, become revisions in the store and are offered to nodes; what nodes answer
// goes out, with the author's position.
//
// A group changes one revision at a time. Waiting for nodes does not hold the next
// revision back, and compiling does not hold a rollback back.
package admin

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/store"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// StepStored is the step at which a revision is durable and offered to nobody.
const StepStored = "stored"

// Compile makes a bundle of sources. What is wrong with them is in the result; the
// error is for what is not their fault.
type Compile func(context.Context, *sourcev1.Sources) (*sourcev1.Compiled, error)

// Config is what a [Server] needs.
type Config struct {
	Store   *store.Store
	Nodes   *discovery.Server
	Compile Compile

	// Retry is how long after a failure that is not the sources' fault, such as a full
	// disk, a directory is read again, and how often a group that a directory feeds is
	// looked at for nodes that have to be led on; default 10 s.
	Retry time.Duration

	Build  string            // the version to report
	Log    *slog.Logger      // nil: none
	OnStep func(step string) // called concurrently for different groups; nil: nothing
}

// Server is the admin service.
type Server struct {
	adminv1.UnimplementedAdminServiceServer

	cfg      Config
	started  time.Time
	stopping chan struct{}
	stop     sync.Once

	publishing locks // held from when a change is looked at until it is stored
	changing   locks // held while a revision is stored and offered

	mu      sync.Mutex
	sources map[string]*sourceState // by group
}

// New returns a server over what the store has. Call [Server.Start] before nodes
// may connect.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnStep == nil {
		cfg.OnStep = func(string) {}
	}
	if cfg.Retry == 0 {
		cfg.Retry = 10 * time.Second
	}
	return &Server{
		cfg: cfg, started: time.Now(), stopping: make(chan struct{}),
		sources: map[string]*sourceState{},
	}
}

// Close ends requests that wait for nodes. What they asked for is stored.
func (s *Server) Close() { s.stop.Do(func() { close(s.stopping) }) }

// Start offers the current revision of every group. It goes on after a group whose
// revision cannot be read, and returns what went wrong.
func (s *Server) Start(ctx context.Context) error {
	groups, err := s.cfg.Store.Groups(ctx)
	for _, group := range groups {
		head, groupErr := s.cfg.Store.Head(ctx, group)
		if groupErr == nil {
			groupErr = s.offer(ctx, head)
		}
		err = errors.Join(err, groupErr)
	}
	return err
}

// offer makes a stored revision what its group should run.
func (s *Server) offer(ctx context.Context, r *adminv1.Revision) error {
	manifest, err := s.manifest(ctx, r)
	if err != nil {
		return err
	}
	return s.cfg.Nodes.Offer(r.GetGroup(), r.GetGeneration(), manifest)
}

// manifest returns the manifest of a revision's bundle. The error is the store's.
func (s *Server) manifest(ctx context.Context, r *adminv1.Revision) ([]byte, error) {
	digest, err := irv1.ParseDigest(r.GetGeneration().GetDigest())
	if err != nil {
		return nil, err
	}
	return s.cfg.Store.Blob(ctx, digest)
}

// locks are one lock for each group. The zero value is ready for use.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by group: holds one while somebody has the lock
}

// lock waits for a group's lock, which goes to who came first. The error is that of ctx.
func (l *locks) lock(ctx context.Context, group string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	held := l.held[group]
	if held == nil {
		held = make(chan struct{}, 1)
		l.held[group] = held
	}
	l.mu.Unlock()
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
