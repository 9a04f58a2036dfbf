// Package rollout decides what each node of a group is to be sent: what happens
// to streams goes in, what to send or end comes out.
//
// It is pure: it has no clock, no lock and no socket, and does nothing by itself.
// Three rules carry it. A stream has at most one offer that is not answered, and
// what is offered next is always the newest. A node is offered only what comes
// after what it runs. What a node refused for good is not offered to it again
// until it restarts.
package rollout

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// State is where a node is relative to its group.
type State int

// The states of a node.
const (
	Pending      State = iota + 1 // was sent the wanted generation and has not answered, or none is wanted
	Synced                        // runs what is wanted
	Rejected                      // refused it
	Incompatible                  // was not sent it: lacks an IR level or a feature
	Drifted                       // runs what no offer leads on from; is sent nothing
	Disconnected
)

// A Stream tells one connection of a node from its others. It is chosen by the
// caller, once for every stream.
type Stream uint64

// Wanted is what a group should run.
type Wanted struct {
	Generation *discoveryv1.Generation
	Level      uint32   // the IR level it needs
	Features   []string // what else a node needs to know
}

// Action is what the caller does about one stream. Exactly one of Offer and End is
// meant: Offer when it is not nil.
type Action struct {
	Stream Stream
	Offer  *discoveryv1.Generation // send this generation
	Held   *discoveryv1.Generation // with Offer: what the node holds the blobs of; nil: nothing
	End    bool                    // end the stream: a newer one of the same node took its place
}

// Node is what is known of a node. It is a copy; the messages it points to are
// never changed.
type Node struct {
	Hello    *discoveryv1.Hello // the last one
	State    State
	Since    time.Time               // when it came into the state
	Running  *discoveryv1.Generation // nil: nothing
	Wanted   *discoveryv1.Generation // nil: its group has no revision
	Took     time.Duration           // of the Ack of Running; 0 when there was none
	Causes   []*discoveryv1.Reason   // why it is rejected, incompatible or drifted
	Refused  *discoveryv1.Generation // what Causes are about when rejected
	Retrying bool                    // rejected, and tries again by itself
}

// ID returns the node's name.
func (n *Node) ID() string { return n.Hello.GetNode() }

// Group is the state of one group. The zero value is a group without a revision
// and without nodes. It is not safe for concurrent use.
type Group struct {
	wanted  Wanted
	nodes   []*node // sorted by name
	pending int     // of them
	streams map[Stream]*node
	ran     map[place]bool // what some node ran
	strays  int            // of them, those that were not wanted when a node said so
}

// maxStrays bounds what nodes can have a group remember of what it did not want.
const maxStrays = 1_000

// A place is a generation as the key of a map.
type place struct {
	epoch, number uint64
	digest        irv1.Digest
}

func placeOf(g *discoveryv1.Generation) place {
	return place{g.GetEpoch(), g.GetNumber(), digest(g)}
}

// node is a Node with what decides about it.
type node struct {
	Node
	stream  Stream                  // 0 when disconnected
	offered *discoveryv1.Generation // sent and not answered; nil: none
	waiting *refusal                // refused for now: the node keeps it and tries again
	refused []refusal               // for good, by this boot, of one bundle each; the last one last
}

// maxRefused is how many bundles that it refused are remembered of a boot. One that is
// not is offered again when it is wanted again, and refused again.
const maxRefused = 8

type refusal struct {
	generation *discoveryv1.Generation
	reasons    []*discoveryv1.Reason
}

// of reports whether the bundle of gen is the one that was refused.
func (r refusal) of(gen *discoveryv1.Generation) bool {
	return bytes.Equal(r.generation.GetDigest(), gen.GetDigest())
}

// Commit makes w what the group should run. It does nothing unless w comes after
// what was wanted before.
func (g *Group) Commit(at time.Time, w Wanted) []Action {
	if w.Generation.Compare(g.wanted.Generation) <= 0 {
		return nil
	}
	g.wanted = w
	var actions []Action
	for _, n := range g.nodes {
		actions = append(actions, g.settle(at, n)...)
	}
	return actions
}

// Connect begins a stream with the node's first message. An older stream of the
// same node is ended.
func (g *Group) Connect(at time.Time, s Stream, hello *discoveryv1.Hello) []Action {
	var actions []Action
	n := g.node(hello)
	if n.stream != 0 {
		actions = append(actions, Action{Stream: n.stream, End: true})
		delete(g.streams, n.stream)
	}
	if n.Hello.GetBoot() != hello.GetBoot() {
		n.waiting, n.refused = nil, nil
	}
	if !n.Running.Same(hello.GetHeld()) {
		n.Took = 0
	}
	n.Hello, n.stream, n.offered = hello, s, nil
	g.streams[s] = n
	g.run(n, hello.GetHeld())
	return append(actions, g.settle(at, n)...)
}

// Disconnect ends a stream and reports whether its node is disconnected by that. It does
// nothing to a node that has a newer one.
func (g *Group) Disconnect(at time.Time, s Stream) bool {
	n := g.streams[s]
	if n == nil {
		return false
	}
	delete(g.streams, s)
	n.stream, n.offered = 0, nil
	g.settle(at, n)
	return true
}

// Ack says that the node of s runs gen, and how long it took to begin to.
func (g *Group) Ack(at time.Time, s Stream, gen *discoveryv1.Generation, took time.Duration) []Action {
	n := g.streams[s]
	if n == nil {
		return nil
	}
	n.answer(gen)
	n.Took = took
	g.run(n, gen)
	return g.settle(at, n)
}

// Nack says that the node of s refused a generation. When it is retryable the node
// tries again by itself and may send an Ack later. It does nothing unless the generation
// is the one that was offered last, or waits.
func (g *Group) Nack(at time.Time, s Stream, nack *discoveryv1.Nack) []Action {
	n := g.streams[s]
	if n == nil {
		return nil
	}
	gen := nack.GetGeneration()
	if !n.answer(gen) && !n.waits(gen) {
		return nil
	}
	r := refusal{generation: gen, reasons: nack.GetReasons()}
	if nack.GetRetryable() {
		n.waiting = &r
	} else {
		n.refuse(r)
	}
	return g.settle(at, n)
}

// Forget drops the node if it has been disconnected since the given time, or for longer.
func (g *Group) Forget(id string, since time.Time) {
	i, known := g.find(id)
	if known && g.nodes[i].State == Disconnected && !g.nodes[i].Since.After(since) {
		g.nodes = slices.Delete(g.nodes, i, i+1)
	}
}

// Wanted returns what the group should run; its generation is nil when there is
// no revision.
func (g *Group) Wanted() Wanted { return g.wanted }

// Nodes returns the nodes of the group, sorted by name.
func (g *Group) Nodes() []Node {
	nodes := make([]Node, 0, len(g.nodes))
	for _, n := range g.nodes {
		nodes = append(nodes, n.Node)
	}
	return nodes
}

// Empty reports whether the group has no nodes.
func (g *Group) Empty() bool { return len(g.nodes) == 0 }

// Pending returns how many nodes are pending.
func (g *Group) Pending() int { return g.pending }

// Ran reports whether some node acknowledged the generation, or held it when it
// connected.
func (g *Group) Ran(gen *discoveryv1.Generation) bool { return g.ran[placeOf(gen)] }

// Highest returns the highest number of the epoch that any node runs, also one
// that is disconnected; 0 when none does. Numbers that are too high to be true do not
// count, or one node could use up all there are.
func (g *Group) Highest(epoch uint64) uint64 {
	var highest uint64
	for _, n := range g.nodes {
		if n.Running.GetEpoch() == epoch && !impossible(n.Running, g.wanted.Generation) {
			highest = max(highest, n.Running.GetNumber())
		}
	}
	return highest
}

// maxLead is by how much a node's number can be above what is wanted: the revisions that
// a store lost when an older copy of it was restored are fewer.
const maxLead = 1 << 32

// impossible reports whether the number of gen is too high to be that of a revision of
// the store that want, which may be nil, is of.
func impossible(gen, want *discoveryv1.Generation) bool {
	var head uint64
	if want.GetEpoch() == gen.GetEpoch() {
		head = want.GetNumber()
	}
	return gen.GetNumber() > head && gen.GetNumber()-head > maxLead
}

// find returns where in nodes the one with that name is, or would be.
func (g *Group) find(id string) (int, bool) {
	return slices.BinarySearchFunc(g.nodes, id, func(n *node, id string) int { return cmp.Compare(n.ID(), id) })
}

// node returns the node that says hello; it is made when it is not known.
func (g *Group) node(hello *discoveryv1.Hello) *node {
	i, known := g.find(hello.GetNode())
	if !known {
		g.nodes = slices.Insert(g.nodes, i, &node{Node: Node{Hello: hello}})
	}
	if g.streams == nil {
		g.streams, g.ran = map[Stream]*node{}, map[place]bool{}
	}
	return g.nodes[i]
}

// run notes what a node runs. What it refused before it could run it is past.
func (g *Group) run(n *node, gen *discoveryv1.Generation) {
	if gen.Same(g.wanted.Generation) {
		gen = g.wanted.Generation // one message for all nodes
	}
	n.Running = gen
	if gen == nil {
		return
	}
	if n.waiting != nil && n.waiting.generation.Compare(gen) <= 0 {
		n.waiting = nil
	}
	n.refused = slices.DeleteFunc(n.refused, func(r refusal) bool { return r.of(gen) })
	g.remember(gen)
}

// remember notes that some node ran gen.
func (g *Group) remember(gen *discoveryv1.Generation) {
	p := placeOf(gen)
	if g.ran[p] {
		return
	}
	if gen != g.wanted.Generation {
		if g.strays == maxStrays {
			return
		}
		g.strays++
	}
	g.ran[p] = true
}

// answer takes an Ack or Nack of gen for the answer to the open offer, and reports
// whether it is.
func (n *node) answer(gen *discoveryv1.Generation) bool {
	if n.offered == nil || !n.offered.Same(gen) {
		return false
	}
	n.offered = nil
	return true
}

// waits reports whether gen is what the node refused for now.
func (n *node) waits(gen *discoveryv1.Generation) bool {
	return n.waiting != nil && n.waiting.generation.Same(gen)
}

// refuse notes that this boot of the node is not to be offered a bundle again.
func (n *node) refuse(r refusal) {
	if n.waits(r.generation) {
		n.waiting = nil
	}
	if n.refused = append(n.refused, r); len(n.refused) > maxRefused {
		n.refused = slices.Delete(n.refused, 0, 1)
	}
}
