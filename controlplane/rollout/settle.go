package rollout

import (
	"fmt"
	"slices"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// verdict is what follows from all that is known of a node.
type verdict struct {
	state    State
	causes   []*discoveryv1.Reason
	refused  *discoveryv1.Generation
	retrying bool
	offer    bool
}

// settle brings a node into the state that follows from what is known of it, and
// offers it what it lacks. It can be called at any time: called twice it does
// nothing the second time.
func (g *Group) settle(at time.Time, n *node) []Action {
	v := g.judge(n)
	if v.state != n.State {
		switch Pending {
		case v.state:
			g.pending++
		case n.State:
			g.pending--
		}
		n.State, n.Since = v.state, at
	}
	n.Wanted = g.wanted.Generation
	n.Causes, n.Refused, n.Retrying = v.causes, v.refused, v.retrying
	if !v.offer {
		return nil
	}
	n.offered, n.waiting = g.wanted.Generation, nil
	return []Action{{Stream: n.stream, Offer: g.wanted.Generation, Held: n.Running}}
}

// judge looks at a node and changes nothing.
func (g *Group) judge(n *node) verdict {
	want := g.wanted.Generation
	switch {
	case n.stream == 0:
		return verdict{state: Disconnected}
	case want == nil && n.Running == nil:
		return verdict{state: Pending}
	case want == nil:
		return verdict{state: Drifted, causes: noRevision(n.Running)}
	case n.Running.Same(want):
		return verdict{state: Synced}
	case n.Running.Compare(want) >= 0:
		return verdict{state: Drifted, causes: outranked(n.Running, want)}
	}
	if causes := g.lacks(n); causes != nil {
		return verdict{state: Incompatible, causes: causes}
	}
	if i := slices.IndexFunc(n.refused, func(r refusal) bool { return r.of(want) }); i >= 0 {
		return verdict{state: Rejected, causes: n.refused[i].reasons, refused: want} // by whatever number it had then
	}
	if n.waits(want) {
		return verdict{state: Rejected, causes: n.waiting.reasons, refused: want, retrying: true}
	}
	return verdict{state: Pending, offer: n.offered == nil}
}

// lacks returns what the node would have to know to run what is wanted.
func (g *Group) lacks(n *node) []*discoveryv1.Reason {
	var causes []*discoveryv1.Reason
	if !slices.Contains(n.Hello.GetIrLevels(), g.wanted.Level) {
		causes = append(causes, &discoveryv1.Reason{
			Code:    "ir-level",
			Message: fmt.Sprintf("the bundle needs IR level %d, the node runs %v", g.wanted.Level, n.Hello.GetIrLevels()),
			Hint:    "update the node",
		})
	}
	for _, f := range g.wanted.Features {
		if !slices.Contains(n.Hello.GetFeatures(), f) {
			causes = append(causes, &discoveryv1.Reason{
				Code:    "feature",
				Message: fmt.Sprintf("the bundle needs the feature %q, which the node does not know", f),
				Hint:    "update the node",
			})
		}
	}
	return causes
}

func noRevision(running *discoveryv1.Generation) []*discoveryv1.Reason {
	return []*discoveryv1.Reason{{
		Code:    "no-revision",
		Message: fmt.Sprintf("runs %s, and this control plane has no revision of its group", name(running)),
		Hint:    "apply the group's module, or connect the node to the control plane it came from",
	}}
}

func outranked(running, want *discoveryv1.Generation) []*discoveryv1.Reason {
	r := &discoveryv1.Reason{
		Code:    "newer-generation",
		Message: fmt.Sprintf("runs %s, which comes after %s of this control plane", name(running), name(want)),
		Hint:    "was an older store restored? apply again: the next revision is numbered above what the nodes run",
	}
	switch {
	case running.Compare(want) == 0:
		r.Code, r.Message = "unknown-generation", fmt.Sprintf("runs another bundle as %s than this control plane has", name(want))
	case running.GetEpoch() > want.GetEpoch():
		r.Hint = "this node last followed a newer store: connect it to that control plane, or begin with an empty data directory and apply again"
	case impossible(running, want):
		r.Hint = "no store has so many revisions, so the next is not numbered above it: start the node again, and it follows"
	}
	return []*discoveryv1.Reason{r}
}

func name(g *discoveryv1.Generation) string {
	return fmt.Sprintf("generation %d of epoch %d", g.GetNumber(), g.GetEpoch())
}

// digest returns the zero digest for bytes that are none.
func digest(g *discoveryv1.Generation) irv1.Digest {
	d, _ := irv1.ParseDigest(g.GetDigest())
	return d
}
