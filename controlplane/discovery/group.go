package discovery

import (
	"sync"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// A group ties the state machine of a group to its streams.
type group struct {
	mu       sync.Mutex
	machine  rollout.Group
	streams  map[rollout.Stream]*stream
	delivery *delivery     // of the wanted generation; nil: none
	changed  chan struct{} // closed when anything changes; nil: nobody waits for that
	settled  chan struct{} // closed when the last pending node is no more; nil likewise
}

// A stream is the mailbox of one connected node.
type stream struct {
	id    rollout.Stream
	hello *discoveryv1.Hello
	offer chan offer    // holds one: a newer offer replaces it
	ended chan struct{} // closed when a newer stream of the node began
}

type offer struct {
	*delivery
	held *discoveryv1.Generation
}

func newGroup() *group {
	return &group{streams: map[rollout.Stream]*stream{}}
}

func newStream(id rollout.Stream, hello *discoveryv1.Hello) *stream {
	return &stream{id: id, hello: hello, offer: make(chan offer, 1), ended: make(chan struct{})}
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
			close(st.ended)
			continue
		}
		st.put(offer{g.delivery, a.Held})
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

// put leaves o in the mailbox, in place of what is there. Its callers hold the
// lock of the group, so nothing else puts at the same time.
func (st *stream) put(o offer) {
	select {
	case <-st.offer:
	default:
	}
	st.offer <- o
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

func (g *group) disconnect(st *stream) {
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		delete(g.streams, st.id)
		m.Disconnect(now, st.id)
		return nil
	})
}

// forget drops a node if it has been disconnected since before the given time.
func (g *group) forget(node string, before time.Time) {
	g.do(func(m *rollout.Group, _ time.Time) []rollout.Action {
		m.Forget(node, before)
		return nil
	})
}

// empty reports whether the group has neither nodes nor anything to run.
func (g *group) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.delivery == nil && len(g.machine.Nodes()) == 0
}
