package discovery_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// TestCanceledStreamEnds cancels streams, as nodes that go away do: each of them is
// seen to end. One whose end got lost would be called synced for ever, and would
// hold up a control plane that stops.
func TestCanceledStreamEnds(t *testing.T) {
	s := serve(t)
	for i := range 64 { // a lost end was a matter of chance
		ctx, cancel := context.WithCancel(t.Context())
		c, err := discoveryv1.NewDiscoveryServiceClient(s.dial).Sync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		node := fmt.Sprint("n", i)
		if err := c.Send(hello(node)); err != nil {
			t.Fatal(err)
		}
		s.node(t, node, in(rollout.Pending))
		cancel()
		s.node(t, node, in(rollout.Disconnected))
	}
}
