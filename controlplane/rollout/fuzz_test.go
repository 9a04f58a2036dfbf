package rollout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// FuzzGroup plays nodes that answer as they like, and come and go, and holds these
// laws. A stream has one open offer at most. No offer comes before what its node
// runs. No boot is offered what it refused for good. No generation is offered twice
// on one stream. A node that owes no answer is never pending: it runs what is
// wanted, or the reason why not is known. And as many are pending as it says.
func FuzzGroup(f *testing.F) {
	f.Add([]byte("cabnca"))
	f.Add([]byte{0, 0x11, 0x02, 0, 0x13, 0x24, 0x05, 0, 0x12, 0x16, 0x27})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := world{t: t, group: &Group{}, nodes: map[Stream]*player{}, away: map[string]*player{}, refused: map[string]bool{}}
		for _, b := range script {
			w.step(b)
			w.check()
		}
	})
}

// A player is one stream of a node.
type player struct {
	id, boot string
	running  *discoveryv1.Generation
	open     *discoveryv1.Generation // offered and not answered
	waiting  *discoveryv1.Generation // refused for now
	offered  []uint64                // numbers
}

type world struct {
	t       *testing.T
	group   *Group
	nodes   map[Stream]*player
	away    map[string]*player // disconnected, by id
	last    Stream
	number  uint64
	refused map[string]bool // boot and bundle
}

func (w *world) step(b byte) {
	now := time.Unix(int64(w.number), 0)
	who := Stream(b>>4) % (w.last + 1)
	p := w.nodes[who]
	switch op := b % 8; {
	case op == 0: // one of four bundles, so that bundles come again
		w.number++
		w.act(w.group.Commit(now, Wanted{Generation: w.generation(b >> 6)}))
	case op == 1 || p == nil:
		id := string('a' + rune(b>>4)%3)
		before := w.away[id]
		if b>>6 == 0 {
			before = nil // it was started anew
		}
		w.connect(now, id, before)
	case op == 2: // comes back before the end of its stream was noticed
		w.connect(now, p.id, p)
	case op == 3:
		delete(w.nodes, who)
		w.away[p.id] = p
		w.group.Disconnect(now, who)
	case op == 4 && p.waiting != nil: // what waited runs at last
		p.running, p.waiting = p.waiting, nil
		w.act(w.group.Ack(now, who, p.running, 0))
	case p.open == nil:
	case op == 5:
		p.running, p.open, p.waiting = p.open, nil, nil
		w.act(w.group.Ack(now, who, p.running, 0))
	case op == 6:
		gen := p.open
		p.open, p.waiting = nil, gen
		w.act(w.group.Nack(now, who, &discoveryv1.Nack{Generation: gen, Retryable: true}))
	case op == 7:
		gen := p.open
		p.open, p.waiting = nil, nil
		w.refused[p.boot+p.id+short(&discoveryv1.Generation{Epoch: 1, Digest: gen.GetDigest()})] = true
		w.act(w.group.Nack(now, who, &discoveryv1.Nack{Generation: gen}))
	}
}

func (w *world) generation(bundle byte) *discoveryv1.Generation {
	return generation(w.t, fmt.Sprintf("%d/%c", w.number, 'A'+bundle))
}

// connect begins a stream. A node that was there before comes back with what it
// runs and what waits.
func (w *world) connect(now time.Time, id string, before *player) {
	w.last++
	delete(w.away, id)
	p := &player{id: id, boot: fmt.Sprint("boot", w.last)}
	if before != nil {
		p.boot, p.running, p.waiting = before.boot, before.running, before.waiting
	}
	w.nodes[w.last] = p
	w.act(w.group.Connect(now, w.last, &discoveryv1.Hello{Node: id, Boot: p.boot, Held: p.running, IrLevels: []uint32{0}}))
}

// act does what the machine says, as the streams of well-behaved nodes would.
func (w *world) act(actions []Action) {
	for _, a := range actions {
		p := w.nodes[a.Stream]
		if p == nil {
			w.t.Fatalf("action for stream %d, which is gone", a.Stream)
		}
		if a.End {
			delete(w.nodes, a.Stream)
			continue
		}
		gen := a.Offer
		switch {
		case p.open != nil:
			w.t.Fatalf("%s is offered %s before it answered %s", p.id, short(gen), short(p.open))
		case gen.Compare(p.running) <= 0:
			w.t.Fatalf("%s is offered %s and runs %s", p.id, short(gen), short(p.running))
		case w.refused[p.boot+p.id+short(&discoveryv1.Generation{Epoch: 1, Digest: gen.GetDigest()})]:
			w.t.Fatalf("%s is offered %s, which it refused", p.id, short(gen))
		case slices.Contains(p.offered, gen.GetNumber()):
			w.t.Fatalf("%s is offered %s again", p.id, short(gen))
		case !a.Held.Same(p.running):
			w.t.Fatalf("%s is said to hold %s and runs %s", p.id, short(a.Held), short(p.running))
		}
		p.open, p.offered = gen, append(p.offered, gen.GetNumber())
	}
}

func (w *world) check() {
	streams := map[string]*player{}
	for _, p := range w.nodes {
		streams[p.id] = p
	}
	pending := 0
	for _, n := range w.group.Nodes() {
		p := streams[n.ID()]
		if n.State == Pending {
			pending++
		}
		switch {
		case (p == nil) != (n.State == Disconnected):
			w.t.Fatalf("%s: state %d, connected %t", n.ID(), n.State, p != nil)
		case p == nil || n.Wanted == nil:
		case p.open == nil && n.State == Pending:
			w.t.Fatalf("%s owes no answer and is pending", n.ID())
		case n.State == Synced && !p.running.Same(n.Wanted):
			w.t.Fatalf("%s is synced and runs %s, not %s", n.ID(), short(p.running), short(n.Wanted))
		}
	}
	if got := w.group.Pending(); got != pending {
		w.t.Fatalf("%d nodes are said to be pending, and %d are", got, pending)
	}
}
