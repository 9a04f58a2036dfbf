package controlplane

import (
	"fmt"
	"math"
	"testing"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// claim opens the stream of a node that says it runs a generation of a bundle that
// nobody else has. It lasts until the test ends.
func (p *plane) claim(id string, epoch, number uint64) {
	p.t.Helper()
	conn, err := grpc.NewClient(p.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	s, err := discoveryv1.NewDiscoveryServiceClient(conn).Sync(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	digest := irv1.DigestOf([]byte(p.t.Name()))
	err = s.Send(&discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Hello{Hello: &discoveryv1.Hello{
		Node: id, Boot: "1", Group: "default", IrLevels: []uint32{irv1.Level},
		Held: &discoveryv1.Generation{Epoch: epoch, Number: number, Digest: digest[:]},
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.node(id, func(n *adminv1.Node) bool { return n.GetRunning().GetNumber() == number })
}

// TestImpossibleNumber has a node say that it runs the last number there is: the group
// has numbers left.
func TestImpossibleNumber(t *testing.T) {
	for _, number := range []uint64{math.MaxUint64 - 1, math.MaxUint64} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			p := start(t, t.TempDir(), "")
			o := p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "one"))
			p.claim("x", o.GetRevision().GetGeneration().GetEpoch(), number)
			p.node("x", in(drifted))
			o = p.want(adminv1.Result_RESULT_STORED, sources("loans.cue", "two"), noWait)
			if got := o.GetRevision().GetGeneration().GetNumber(); got != 2 {
				t.Errorf("the next revision is %d", got)
			}
		})
	}
}

// TestRollbackAfterRestore has a node run a revision 2 that the store lost: a rollback
// does not go to the one that took its number, which nobody ran.
func TestRollbackAfterRestore(t *testing.T) {
	p := start(t, t.TempDir(), "")
	a := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	o := p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "good"))
	a.stop()
	p.node("a", in(disconnected))
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "charges twice"))
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "charges thrice"))
	p.claim("x", o.GetRevision().GetGeneration().GetEpoch(), 2)
	stream, err := p.admin.Rollback(t.Context(), &adminv1.RollbackRequest{Group: "default", NoWait: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.Recv()
	if of := m.GetOutcome().GetRevision().GetRollbackOf(); err != nil || of != 1 {
		t.Errorf("the rollback is of revision %d, %v", of, err)
	}
}
