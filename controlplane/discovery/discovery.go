// Package discovery serves nodes: the generation that each group should run goes
// in, one gRPC stream per node goes out, and answers become the state of nodes.
//
// What is sent when is decided by package rollout; this package adds locks, clocks
// and streams. A generation is encoded once for all streams that need the same
// bytes.
package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// StepHalfPushed is the step at which some but not all messages of a generation
// are written to a stream.
const StepHalfPushed = "half-pushed"

// Config is what a [Server] needs.
type Config struct {
	// Blob returns the bytes with a digest: manifests and blobs of everything that
	// was offered, and of what nodes may still hold.
	Blob func(context.Context, irv1.Digest) ([]byte, error)

	Forget   time.Duration     // drop a node after it was disconnected so long; default 1 h
	Remember int               // nodes that are disconnected, of all groups; of more, the first to go are dropped; default 5,000
	Log      *slog.Logger      // nil: none
	OnStep   func(step string) // called from streams, concurrently; nil: nothing
}

// Counts count since the server was made. They may be read at any time.
type Counts struct {
	Streams atomic.Int64 // open now
	Pushes  atomic.Int64 // whole generations sent
	Blobs   atomic.Int64 // sent
	Bytes   atomic.Int64 // of messages sent, without framing
	Acks    atomic.Int64
	Nacks   atomic.Int64
}

// Server is the discovery service. Register it with a grpc.Server made with
// [ServerOptions].
type Server struct {
	discoveryv1.UnimplementedDiscoveryServiceServer
	Counts Counts

	cfg  Config
	life context.Context // done when streams are to end
	stop context.CancelFunc
	last atomic.Uint64 // the last stream's id

	mu         sync.Mutex // taken before that of a group
	groups     map[string]*group
	away       departed
	forgetting bool // a timer runs, for the first of away or one before it
}

// New returns a server without groups.
func New(cfg Config) *Server {
	if cfg.Forget == 0 {
		cfg.Forget = time.Hour
	}
	if cfg.Remember == 0 {
		cfg.Remember = 5_000
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnStep == nil {
		cfg.OnStep = func(string) {}
	}
	s := &Server{cfg: cfg, groups: map[string]*group{}}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// ahead is how many bytes a client may send ahead of what is read.
const ahead = 1 << 20

// ServerOptions returns the options that a gRPC server of the discovery service
// needs: the codec that shares encoded bytes, keepalive of 10 s + 5 s in place of
// gRPC's two hours, windows that stay as they are, and limits of what one client may
// do.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.MaxConcurrentStreams(256),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.ReadBufferSize(4 << 10),
		grpc.StaticStreamWindowSize(ahead),
		grpc.StaticConnWindowSize(ahead),
	}
}

// Offer makes gen, whose bundle has that manifest, what the group should run. It
// does nothing when the group should run a later one already.
func (s *Server) Offer(groupName string, gen *discoveryv1.Generation, manifest []byte) error {
	d, err := newDelivery(gen, manifest, s.cfg.Blob)
	if err != nil {
		return fmt.Errorf("group %q: generation %d: %w", groupName, gen.GetNumber(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.group(groupName).commit(d)
	return nil
}

// Close ends every stream and refuses new ones. Nodes reconnect by themselves.
func (s *Server) Close() { s.stop() }

// Groups returns the names of all groups that have nodes or something to run,
// sorted.
func (s *Server) Groups() []string {
	s.mu.Lock()
	groups := maps.Clone(s.groups)
	s.mu.Unlock()
	maps.DeleteFunc(groups, func(_ string, g *group) bool { return g.empty() })
	return slices.Sorted(maps.Keys(groups))
}

// Nodes returns the nodes of a group, sorted by name.
func (s *Server) Nodes(groupName string) (nodes []rollout.Node) {
	s.look(groupName, func(g *group) { nodes = g.machine.Nodes() })
	return nodes
}

// Changed returns a channel that is closed when anything about a group changes, and
// one that is closed when the last of its pending nodes is pending no more. To miss
// nothing, take them before looking at the nodes.
func (s *Server) Changed(groupName string) (changed, settled <-chan struct{}) {
	s.mu.Lock()
	g := s.group(groupName)
	s.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	return wait(&g.changed), wait(&g.settled)
}

// Ran reports whether some node of the group ran the generation since the server was
// made.
func (s *Server) Ran(groupName string, gen *discoveryv1.Generation) (ran bool) {
	s.look(groupName, func(g *group) { ran = g.machine.Ran(gen) })
	return ran
}

// Highest returns the highest number of the epoch that any known node of the group
// runs, of those that can be true; 0 when none does.
func (s *Server) Highest(groupName string, epoch uint64) (number uint64) {
	s.look(groupName, func(g *group) { number = g.machine.Highest(epoch) })
	return number
}

// look calls f with a group under its lock, unless there is no such group.
func (s *Server) look(name string, f func(*group)) {
	s.mu.Lock()
	g := s.groups[name]
	s.mu.Unlock()
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g)
}

// group returns the group with that name, which it makes if it has to. The caller holds
// the lock, and until it lets go the group is not dropped for having nothing.
func (s *Server) group(name string) *group {
	g := s.groups[name]
	if g == nil {
		g = newGroup(s.push)
		s.groups[name] = g
	}
	return g
}
