package admin

import (
	"context"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Between two looks at a group is some time, for its nodes answer by the thousand: as many
// times what the last look took, within bounds. Only when the last node has answered is
// there nothing to wait for.
const (
	perLook = 9
	minPace = 20 * time.Millisecond
	maxPace = time.Second // an operator who reads slowly makes a look long
)

// outcome waits for the group's nodes when there is something to wait for, and
// returns how it ended. send is given the state of the rollout whenever it changed.
func (s *Server) outcome(ctx context.Context, result adminv1.Result, r *adminv1.Revision, noWait bool, timeout *durationpb.Duration, send func(*adminv1.Rollout) error) (*adminv1.Outcome, error) {
	o := &adminv1.Outcome{Result: result, Revision: r}
	if result == adminv1.Result_RESULT_STORED && !noWait {
		wait := defaultTimeout
		if timeout != nil && timeout.AsDuration() > 0 {
			wait = timeout.AsDuration()
		}
		return s.follow(ctx, r, wait, send)
	}
	if r != nil {
		o.Nodes = s.newWatch(r).look(ctx).rollout.GetNodes()
	}
	return o, nil
}

// follow reports how a revision spreads until every node that was connected at the
// start has answered.
func (s *Server) follow(ctx context.Context, r *adminv1.Revision, wait time.Duration, send func(*adminv1.Rollout) error) (*adminv1.Outcome, error) {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	w := s.newWatch(r)
	var last *adminv1.Rollout
	for {
		changed, settled := s.cfg.Nodes.Changed(r.GetGroup())
		began := time.Now()
		v := w.look(ctx)
		if v.superseded != 0 {
			return nil, errSuperseded(r, v.superseded)
		}
		if !proto.Equal(last, v.rollout) {
			if err := send(v.rollout); err != nil {
				return nil, err
			}
			last = v.rollout
		}
		o := &adminv1.Outcome{Result: v.result, Revision: r, Nodes: v.rollout.GetNodes()}
		if v.result != adminv1.Result_RESULT_UNSPECIFIED {
			return o, nil
		}
		pace := time.After(min(maxPace, max(minPace, perLook*time.Since(began))))
		select {
		case <-changed:
		case <-timeout.C:
			o.Result = adminv1.Result_RESULT_TIMEOUT
			return o, nil
		case <-s.stopping:
			return nil, errStopping(r)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-settled:
		case <-pace:
		}
	}
}

// A watch looks at the nodes that were connected when it began.
type watch struct {
	s         *Server
	revision  *adminv1.Revision
	connected map[string]bool
	placer    *placer
}

func (s *Server) newWatch(r *adminv1.Revision) *watch {
	w := &watch{s: s, revision: r, connected: map[string]bool{}, placer: s.newPlacer(r.GetGroup())}
	for _, n := range s.cfg.Nodes.Nodes(r.GetGroup()) {
		if n.State != rollout.Disconnected {
			w.connected[n.ID()] = true
		}
	}
	return w
}

// A view is what a watch saw at one time.
type view struct {
	rollout    *adminv1.Rollout
	result     adminv1.Result // unspecified: not every node has answered
	superseded uint64         // the number of a later revision that the group should run; 0: none
}

func (w *watch) look(ctx context.Context) view {
	v := view{rollout: &adminv1.Rollout{Revision: w.revision}}
	var t tally
	for _, n := range w.s.cfg.Nodes.Nodes(w.revision.GetGroup()) {
		if n.Wanted.Compare(w.revision.GetGeneration()) > 0 {
			v.superseded = n.Wanted.GetNumber()
		}
		if w.connected[n.ID()] {
			t.add(n)
		}
		if w.connected[n.ID()] || n.State == rollout.Disconnected {
			v.rollout.Nodes = append(v.rollout.Nodes, w.placer.node(ctx, n))
		}
	}
	v.rollout.Nodes = fit(v.rollout.Nodes)
	v.result = t.result()
	return v
}

// A tally counts nodes by whether they have answered.
type tally struct{ synced, refused, pending, away int }

func (t *tally) add(n rollout.Node) {
	switch n.State {
	case rollout.Synced:
		t.synced++
	case rollout.Rejected, rollout.Incompatible, rollout.Drifted:
		t.refused++
	case rollout.Disconnected:
		t.away++
	default:
		t.pending++
	}
}

// result waits for a node that went away, since it comes back by itself; but not
// when another refused.
func (t tally) result() adminv1.Result {
	switch {
	case t == tally{}:
		return adminv1.Result_RESULT_NO_NODES
	case t.pending > 0:
		return adminv1.Result_RESULT_UNSPECIFIED
	case t.refused > 0:
		return adminv1.Result_RESULT_REJECTED
	case t.away > 0:
		return adminv1.Result_RESULT_UNSPECIFIED
	}
	return adminv1.Result_RESULT_SYNCED
}
