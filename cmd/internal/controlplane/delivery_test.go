package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/feed"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc/codes"
)

const (
	synced       = adminv1.NodeState_NODE_STATE_SYNCED
	pending      = adminv1.NodeState_NODE_STATE_PENDING
	rejected     = adminv1.NodeState_NODE_STATE_REJECTED
	disconnected = adminv1.NodeState_NODE_STATE_DISCONNECTED
	drifted      = adminv1.NodeState_NODE_STATE_DRIFTED
)

// syncedAt accepts a node that runs a revision and is to.
func syncedAt(number uint64) func(*adminv1.Node) bool {
	return func(n *adminv1.Node) bool { return n.GetState() == synced && n.GetRunning().GetNumber() == number }
}

func TestPushAndAck(t *testing.T) {
	p := start(t, t.TempDir(), "")
	n := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	o := p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"))
	if n.titles() != "one" {
		t.Errorf("the node runs %q", n.titles())
	}
	if len(o.GetNodes()) != 1 || o.GetNodes()[0].GetState() != synced || o.GetNodes()[0].GetTook().AsDuration() <= 0 {
		t.Errorf("nodes of the outcome: %v", o.GetNodes())
	}
}

// TestNack has one node refuse: the other is served all the same, the operator gets
// the reason with its place, and the next revision reaches both.
func TestNack(t *testing.T) {
	p := start(t, t.TempDir(), "")
	a := join(t, "a", refuseTitle("bad"), p.addr)
	b := join(t, "b", nil, p.addr)
	p.node("a", in(pending))
	p.node("b", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "good"))

	o := p.want(adminv1.Result_RESULT_REJECTED, sources("loans.cue", "bad"))
	if a.titles() != "good" || b.titles() != "bad" {
		t.Errorf("the nodes run %q and %q", a.titles(), b.titles())
	}
	cause := o.GetNodes()[0].GetCauses()[0]
	if cause.GetPosition().GetFile() != "loans.cue" || cause.GetPosition().GetLine() != 1 || cause.GetPath() != "bindings.loans" || cause.GetCode() != "unknown-field" {
		t.Errorf("cause: %v", cause)
	}
	if o.GetNodes()[0].GetRetrying() || o.GetNodes()[0].GetRunning().GetNumber() != 1 {
		t.Errorf("refusing node: %v", o.GetNodes()[0])
	}
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "better"))
	if a.titles() != "better" || b.titles() != "better" {
		t.Errorf("the nodes run %q and %q", a.titles(), b.titles())
	}
}

// TestRefusedIsNotSentAgain cuts the stream of a node that refused: what comes back
// is sent nothing until there is something else to run.
func TestRefusedIsNotSentAgain(t *testing.T) {
	p := start(t, t.TempDir(), "")
	a := join(t, "a", refuseTitle("bad"), p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_REJECTED, sources("loans.cue", "bad"))
	for range 3 {
		a.await(t, feed.StepConnected)
		a.cut(t)
	}
	a.await(t, feed.StepConnected)
	p.node("a", in(rejected))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "good"))
	if pushes, _, _ := a.wire.received(); pushes != 2 {
		t.Errorf("%d pushes came, want the refused one and the good one", pushes)
	}
}

func refuseTitle(title string) func(*discoveryv1.Generation, *irv1.Content) error {
	return func(_ *discoveryv1.Generation, c *irv1.Content) error {
		if c.Bindings[0].GetTitle() == title {
			return wrong(c.Bindings[0].GetName())
		}
		return nil
	}
}

// TestRetryable has a node that lacks a secret: apply says so, the old bundle runs
// on, and when the secret appears the node acks without being sent anything.
func TestRetryable(t *testing.T) {
	p := start(t, t.TempDir(), "")
	var secret sync.Map
	a := join(t, "a", func(_ *discoveryv1.Generation, c *irv1.Content) error {
		if _, ok := secret.Load("is there"); c.Bindings[0].GetTitle() == "secretive" && !ok {
			return missing(c.Bindings[0].GetName())
		}
		return nil
	}, p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "plain"))
	o := p.want(adminv1.Result_RESULT_REJECTED, sources("loans.cue", "secretive"))
	if n := o.GetNodes()[0]; !n.GetRetrying() || n.GetCauses()[0].GetHint() != "create it" || a.titles() != "plain" {
		t.Errorf("the node runs %q: %v", a.titles(), n)
	}
	a.retry <- struct{}{} // still not there
	a.cut(t)              // nor is it sent again on another stream
	a.await(t, feed.StepConnected)
	p.node("a", in(rejected))

	secret.Store("is there", true)
	a.retry <- struct{}{}
	p.node("a", syncedAt(2))
	if pushes, _, _ := a.wire.received(); pushes != 2 || a.titles() != "secretive" {
		t.Errorf("%d pushes came, the node runs %q", pushes, a.titles())
	}
}

// TestRestart takes the control plane away from nodes and brings it back: they keep
// what they run, are sent nothing that they hold, and follow again.
func TestRestart(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, "")
	a := join(t, "a", nil, p.addr)
	b := join(t, "b", refuseTitle("two"), p.addr)
	p.node("a", in(pending))
	p.node("b", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"))
	p.want(adminv1.Result_RESULT_REJECTED, sources("loans.cue", "two"))
	p.stop()
	a.await(t, feed.StepDisconnected)
	if a.titles() != "two" || b.titles() != "one" {
		t.Errorf("without a control plane the nodes run %q and %q", a.titles(), b.titles())
	}
	a.wire.received()

	p = start(t, data, p.addr)
	p.node("a", syncedAt(2))
	p.node("b", in(rejected)) // it is asked once more: what it refused is not stored
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "three"))
	if pushes, blobs, _ := a.wire.received(); pushes != 1 || blobs != 1 {
		t.Errorf("%d pushes and %d blobs came, want those of revision 3", pushes, blobs)
	}
	p.node("a", syncedAt(3))
}

// TestLatestWins commits revisions while a node is busy: of those it is sent only
// the last.
func TestLatestWins(t *testing.T) {
	p := start(t, t.TempDir(), "")
	busy, free := make(chan struct{}), make(chan struct{})
	a := join(t, "a", func(gen *discoveryv1.Generation, _ *irv1.Content) error {
		if gen.GetNumber() == 1 {
			close(busy)
			<-free
		}
		return nil
	}, p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_STORED, sources("loans.cue", "1"), noWait)
	<-busy
	for i := 2; i <= 6; i++ {
		p.want(adminv1.Result_RESULT_STORED, sources("loans.cue", fmt.Sprint(i)), noWait)
	}
	close(free)
	p.node("a", syncedAt(6))
	if a.prepared != 2 || a.titles() != "6" {
		t.Errorf("%d generations were prepared, the node runs %q", a.prepared, a.titles())
	}
}

// TestDelta holds a push to what changed.
func TestDelta(t *testing.T) {
	const bindings, size = 20, 10_000
	module := func(title string) []string {
		var files []string
		for i := range bindings {
			files = append(files, fmt.Sprintf("b%02d.cue", i), strings.Repeat("x", size)+fmt.Sprint(i))
		}
		files[7] = title
		return files
	}
	data := t.TempDir()
	p := start(t, data, "")
	a := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	check := func(what string, wantPushes, wantBlobs, maxBytes int) {
		t.Helper()
		if pushes, blobs, bytes := a.wire.received(); pushes != wantPushes || blobs != wantBlobs || bytes > maxBytes {
			t.Errorf("%s: %d pushes and %d blobs of %d bytes came", what, pushes, blobs, bytes)
		}
	}
	const manifest = bindings * 100
	p.want(adminv1.Result_RESULT_SYNCED, sources(module("one")...))
	check("first", 1, bindings, bindings*size+2*manifest)
	p.want(adminv1.Result_RESULT_SYNCED, sources(module("two")...))
	check("one of many changed", 1, 1, manifest)
	p.want(adminv1.Result_RESULT_SYNCED, sources(module("two")[:6]...))
	check("bindings gone", 1, 0, manifest)
	p.want(adminv1.Result_RESULT_SYNCED, sources(module("two")...))
	check("bindings back", 1, bindings-3, bindings*size+2*manifest)
	again := sources(module("two")...)
	again.Tags = []string{"prod"}
	p.want(adminv1.Result_RESULT_SYNCED, again, func(s *adminv1.ApplyStart) { s.ChangeTags = true })
	check("equal bytes", 1, 0, manifest)

	a.cut(t)
	p.want(adminv1.Result_RESULT_STORED, sources(module("three")...), noWait, func(s *adminv1.ApplyStart) { s.ChangeTags = true })
	p.node("a", syncedAt(6))
	check("came back with the one before", 1, 1, manifest)

	p.stop()
	p = start(t, t.TempDir(), p.addr) // a new store: what the node holds is not known
	p.node("a", in(drifted))
	p.want(adminv1.Result_RESULT_SYNCED, sources(module("four")...))
	check("a new store", 1, bindings, bindings*size+2*manifest)
	if n := p.node("a", syncedAt(1)); n.GetRunning().GetEpoch() == 0 {
		t.Errorf("the node runs %v", n.GetRunning())
	}
}

// TestRestoredStore brings back an older copy of the store: nodes that run something
// newer are seen and left alone, and the next revision outranks what they run.
func TestRestoredStore(t *testing.T) {
	data, old := t.TempDir(), t.TempDir()
	p := start(t, data, "")
	a := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "1"))
	p.stop()
	copyFile(t, data, old)
	p = start(t, data, p.addr)
	for i := 2; i <= 4; i++ {
		p.node("a", in(synced))
		p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", fmt.Sprint(i)))
	}
	p.stop()
	a.wire.received()

	p = start(t, old, p.addr)
	n := p.node("a", in(drifted))
	if pushes, _, _ := a.wire.received(); pushes != 0 || a.titles() != "4" || n.GetCauses()[0].GetCode() != "newer-generation" {
		t.Errorf("%d pushes came, the node runs %q: %v", pushes, a.titles(), n)
	}
	o := p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "new"))
	if o.GetRevision().GetGeneration().GetNumber() != 5 || a.titles() != "new" {
		t.Errorf("revision %v, the node runs %q", o.GetRevision(), a.titles())
	}
}

// TestRestoredStoreAppliedAgain does what the hint of a drifted node says: with the very
// sources that the restored store has, and by a rollback to what it has.
func TestRestoredStoreAppliedAgain(t *testing.T) {
	one := sources("loans.cue", "one")
	for name, again := range map[string]func(*plane) (*adminv1.Outcome, error){
		"apply":    func(p *plane) (*adminv1.Outcome, error) { return p.apply(one) },
		"rollback": func(p *plane) (*adminv1.Outcome, error) { return p.rollback(1) },
	} {
		for _, lost := range []int{1, 2} { // revisions; the restored store has one
			t.Run(fmt.Sprint(name, " after ", lost), func(t *testing.T) {
				data, old := t.TempDir(), t.TempDir()
				p := start(t, data, "")
				a := join(t, "a", nil, p.addr)
				p.node("a", in(pending))
				p.want(adminv1.Result_RESULT_SYNCED, one)
				p.stop()
				copyFile(t, data, old)
				p = start(t, data, p.addr)
				for i := range lost {
					p.node("a", in(synced))
					p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", fmt.Sprint(i)))
				}
				p.stop()
				p = start(t, old, p.addr)
				p.node("a", in(drifted))
				o, err := again(p)
				if err != nil || o.GetResult() != adminv1.Result_RESULT_SYNCED || o.GetRevision().GetGeneration().GetNumber() != uint64(lost)+2 || a.titles() != "one" {
					t.Errorf("%v, %v; the node runs %q", o, err, a.titles())
				}
				if o, err := again(p); err != nil || o.GetResult() != adminv1.Result_RESULT_UNCHANGED {
					t.Errorf("once more: %v, %v", o, err)
				}
			})
		}
	}
}

// TestRestoredUnderANumber has a restored store give a number to another bundle than the
// one that nodes run under it.
func TestRestoredUnderANumber(t *testing.T) {
	data, old := t.TempDir(), t.TempDir()
	p := start(t, data, "")
	a := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"))
	p.stop()
	copyFile(t, data, old)
	p = start(t, data, p.addr)
	p.node("a", in(synced))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "two"))
	p.stop()
	elsewhere := start(t, old, "") // where the node does not look
	three := sources("loans.cue", "three")
	elsewhere.want(adminv1.Result_RESULT_NO_NODES, three)
	elsewhere.stop()

	p = start(t, old, p.addr)
	if n := p.node("a", in(drifted)); n.GetCauses()[0].GetCode() != "unknown-generation" {
		t.Errorf("causes %v", n.GetCauses())
	}
	o := p.want(adminv1.Result_RESULT_SYNCED, three)
	if o.GetRevision().GetGeneration().GetNumber() != 3 || a.titles() != "three" {
		t.Errorf("revision %v, the node runs %q", o.GetRevision(), a.titles())
	}
}

// copyFile copies the store in one data directory to another.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(from, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "bindery.db"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestManyNodes runs 200 feeds at once.
func TestManyNodes(t *testing.T) {
	p := start(t, t.TempDir(), "")
	nodes := make([]*node, 200)
	for i := range nodes {
		nodes[i] = join(t, fmt.Sprintf("n%03d", i), nil, p.addr)
	}
	for _, n := range nodes {
		n.await(t, feed.StepConnected)
	}
	for i := range nodes {
		p.node(nodes[i].id, in(pending))
	}
	for _, title := range []string{"one", "two", "three"} {
		o := p.want(adminv1.Result_RESULT_SYNCED, sources("catalog.cue", "all", "loans.cue", title))
		if len(o.GetNodes()) != len(nodes) {
			t.Errorf("%d nodes in the outcome", len(o.GetNodes()))
		}
		for _, n := range nodes {
			if n.titles() != "all "+title {
				t.Errorf("node %s runs %q", n.id, n.titles())
			}
		}
	}
}

// TestFailover has two control planes of which one is gone.
func TestFailover(t *testing.T) {
	first, second := start(t, t.TempDir(), ""), start(t, t.TempDir(), "")
	first.stop()
	join(t, "a", nil, first.addr, second.addr)
	second.node("a", in(pending))
	second.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"))
}

// TestStop has a control plane end while nodes are connected and an apply waits for
// one of them.
func TestStop(t *testing.T) {
	p := start(t, t.TempDir(), "")
	busy, free := make(chan struct{}), make(chan struct{})
	join(t, "a", func(*discoveryv1.Generation, *irv1.Content) error {
		close(busy)
		<-free
		return nil
	}, p.addr)
	t.Cleanup(sync.OnceFunc(func() { close(free) })) // before the node is stopped
	p.node("a", in(pending))
	ended := make(chan error, 1)
	go func() {
		_, err := p.apply(sources("loans.cue", "one"))
		ended <- err
	}()
	<-busy
	begin := time.Now()
	p.stop()
	if err := <-ended; err == nil {
		t.Error("an apply outlived the control plane")
	}
	if d := time.Since(begin); d >= stopWait {
		t.Errorf("stopping took %s", d)
	}
}

// TestPanic has a request panic: whoever sent it is told, and the others are served.
func TestPanic(t *testing.T) {
	p := start(t, t.TempDir(), "", func(c *Config) {
		c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
			if len(s.GetFiles()) == 2 {
				panic("a mistake of ours")
			}
			return compile(ctx, s)
		}
	})
	_, err := p.apply(sources("loans.cue", "one", "rooms.cue", "two"))
	refused(t, err, codes.Internal, "made a mistake")
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "one")) // the group is not locked
}

func TestCheck(t *testing.T) {
	for name, sources := range map[string][]Source{
		"is no name":                    {{Group: "a/b", Dir: "x"}},
		"has another directory already": {{Group: "a", Dir: "x"}, {Group: "a", Dir: "y"}},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := Run(t.Context(), Config{GRPC: l, Data: t.TempDir(), Sources: sources}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Run() = %v, want %q", err, name)
		}
	}
}
