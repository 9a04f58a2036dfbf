package discovery_test

import (
	"sync"
	"testing"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/rollout"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestPanicEndsOneStream panics within a push, in place of a mistake of ours: the
// stream ends, and the next node is served.
func TestPanicEndsOneStream(t *testing.T) {
	var once sync.Once
	s := serve(t, func(c *discovery.Config) { c.OnStep = func(string) { once.Do(func() { panic("a mistake") }) } })
	gen := s.offer(t, 1, "one")
	bad := s.open(t, hello("bad"))
	if _, err := bad.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err := bad.Recv(); status.Code(err) != codes.Internal {
		t.Errorf("Recv = %v", err)
	}
	s.open(t, hello("good"), ack(gen))
	s.node(t, "good", in(rollout.Synced))
	s.node(t, "bad", in(rollout.Disconnected))
}
