package discovery

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A group ties the state machine of a group to its streams.
type group struct {
	push func(*stream) // sends what the stream has next

	mu       sync.Mutex
	machine  rollout.Group
	streams  map[rollout.Stream]*stream
	delivery *delivery     // of the wanted generation; nil: none
	changed  chan struct{} // closed when anything changes; nil: nobody waits for that
	settled  chan struct{} // closed when the last pending node is no more; nil likewise
}

// A stream is one connected node.
type stream struct {
	id    rollout.Stream
	srv   syncServer
	hello *discoveryv1.Hello // nil until it came

	ending sync.Once
	cause  error // why it ended; nil: the node said so

	next    atomic.Pointer[offer] // to be sent when nothing else is; nil: nothing
	sending sync.Mutex            // held while a generation is sent
	closed  bool                  // nothing is to be sent
}

// post has o sent next, in place of what was to be. It reports whether that takes
// another goroutine: a node that answers what it has not read has two at most.
func (st *stream) post(o offer) bool { return st.next.Swap(&o) == nil }

// end ends the stream with the status of err, unless it was ended before. It can be
// called from anywhere: the status wakes the goroutine that waits for the node's next
// message, which nothing in gRPC's interface does.
func (st *stream) end(err error) {
	st.ending.Do(func() {
		st.cause = err
		transport := grpc.ServerTransportStreamFromContext(st.srv.Context())
		_ = transport.(interface{ WriteStatus(*status.Status) error }).WriteStatus(status.Convert(err)) // of a stream that is over
	})
}

// close ends the stream, waits for what is being sent and returns why it ended: for err,
// unless it was ended before.
func (st *stream) close(err error) error {
	st.end(err)
	st.sending.Lock()
	defer st.sending.Unlock()
	st.closed = true
	return st.cause
}

type offer struct {
	*delivery
	held *discoveryv1.Generation
}

func newGroup(push func(*stream)) *group {
	return &group{push: push, streams: map[rollout.Stream]*stream{}}
}

// do runs an event through the machine and delivers what follows. It never blocks
// on a stream.
func (g *group) do(event func(m *rollout.Group, now time.Time) []rollout.Action) {
	g.mu.Lock()
	defer g.mu.Unlock()
	pending := g.machine.Pending()
	for _, a := range event(&g.machine, time.Now()) {
		st := g.streams[a.Stream]
		if a.End {
			delete(g.streams, a.Stream)
			st.end(status.Errorf(codes.Aborted, "another stream of node %q began: do two nodes have one id?", st.hello.GetNode()))
			continue
		}
		if st.post(offer{g.delivery, a.Held}) {
			go g.push(st)
		}
	}
	tell(&g.changed)
	if pending > 0 && g.machine.Pending() == 0 {
		tell(&g.settled)
	}
}

// tell wakes those who wait for c.
func tell(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// wait returns a channel that [tell] closes.
func wait(c *chan struct{}) <-chan struct{} {
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

func (g *group) commit(d *delivery) {
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		actions := m.Commit(now, rollout.Wanted{
			Generation: d.generation, Level: d.manifest.GetLevel(), Features: d.manifest.GetFeatures(),
		})
		if m.Wanted().Generation == d.generation {
			g.delivery = d
		}
		return actions
	})
}

func (g *group) connect(st *stream) {
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		g.streams[st.id] = st
		return m.Connect(now, st.id, st.hello)
	})
}

// disconnect ends a stream and reports whether its node has no other.
func (g *group) disconnect(st *stream) (gone bool) {
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		delete(g.streams, st.id)
		gone = m.Disconnect(now, st.id)
		return nil
	})
	return gone
}

// forget drops a node if it has been disconnected since the given time.
func (g *group) forget(node string, since time.Time) {
	g.do(func(m *rollout.Group, _ time.Time) []rollout.Action {
		m.Forget(node, since)
		return nil
	})
}

// empty reports whether the group has neither nodes nor anything to run.
func (g *group) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.delivery == nil && g.machine.Empty()
}
