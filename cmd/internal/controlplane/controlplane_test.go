package controlplane

import (
	"testing"

	"github.com/bindery-dev/bindery/dataplane/feed"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

func TestPushAndAck(t *testing.T) {
	p := start(t, t.TempDir(), "")
	n := join(t, "a", nil, p.addr)
	n.await(t, feed.StepConnected)
	p.node("a", in(adminv1.NodeState_NODE_STATE_PENDING))
	o := p.want(adminv1.Result_RESULT_SYNCED, sources("loans.binding", "one"))
	if got := n.titles(); got != "one" {
		t.Errorf("node runs %q", got)
	}
	if len(o.GetNodes()) != 1 || o.GetNodes()[0].GetState() != adminv1.NodeState_NODE_STATE_SYNCED {
		t.Errorf("nodes of the outcome: %v", o.GetNodes())
	}
}
