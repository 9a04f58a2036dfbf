package discovery

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// visit has a node come and go.
func visit(s *Server, id rollout.Stream, group, node string) {
	st := &stream{id: id, hello: &discoveryv1.Hello{Node: node, Boot: "1", Group: group}}
	s.leave(s.join(st), st)
}

func names(s *Server) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for name := range s.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestForgotten holds what is left of nodes that come and go: each is forgotten in its
// time, with its group when that has nothing else, and one timer serves them all.
func TestForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Forget: time.Hour})
		visit(s, 1, "g1", "a")
		time.Sleep(30 * time.Minute)
		visit(s, 2, "g2", "b")
		visit(s, 3, "g3", "c")
		stays := &stream{id: 4, hello: &discoveryv1.Hello{Node: "d", Boot: "1", Group: "g3"}}
		s.join(stays)
		visit(s, 5, "g4", "e")
		back := &stream{id: 6, hello: &discoveryv1.Hello{Node: "e", Boot: "1", Group: "g4"}}
		g4 := s.join(back)
		for _, step := range []struct {
			after time.Duration
			want  []string
		}{
			{30*time.Minute - 1, []string{"g1", "g2", "g3", "g4"}},
			{1, []string{"g2", "g3", "g4"}},
			{30 * time.Minute, []string{"g3", "g4"}},
			{24 * time.Hour, []string{"g3", "g4"}},
		} {
			time.Sleep(step.after)
			synctest.Wait()
			if got := names(s); !slices.Equal(got, step.want) {
				t.Errorf("the groups are %v, want %v", got, step.want)
			}
		}
		if n := s.Nodes("g3"); len(n) != 1 || n[0].ID() != "d" {
			t.Errorf("the nodes of g3 are %v", n)
		}
		s.leave(g4, back)
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := names(s); !slices.Equal(got, []string{"g3"}) || s.forgetting {
			t.Errorf("the groups are %v; a timer runs: %t", got, s.forgetting)
		}
	})
}

// TestRemember holds that of nodes that are gone only so many are known, of one that goes
// again and again only one, and that one which is there takes no other's place.
func TestRemember(t *testing.T) {
	s := New(Config{Remember: 3})
	for i := range 100 {
		visit(s, rollout.Stream(i), fmt.Sprint("g", i), "a")
	}
	if got := names(s); !slices.Equal(got, []string{"g97", "g98", "g99"}) {
		t.Errorf("the groups are %v", got)
	}
	for i := range 100 {
		visit(s, rollout.Stream(100+i), "g98", "a")
	}
	if got := names(s); !slices.Equal(got, []string{"g97", "g98", "g99"}) || s.away.order.Len() != 3 {
		t.Errorf("the groups are %v, and %d nodes are gone", got, s.away.order.Len())
	}
	var older *stream
	for i := range 100 { // whose streams each overtake the one before
		newer := &stream{id: rollout.Stream(300 + i), hello: &discoveryv1.Hello{Node: "b", Boot: "1", Group: "g98"}}
		newer.ending.Do(func() {}) // there is nobody to tell
		g := s.join(newer)
		if older != nil {
			s.leave(g, older)
		}
		older = newer
	}
	if got := names(s); !slices.Equal(got, []string{"g97", "g98", "g99"}) || s.away.order.Len() != 3 {
		t.Errorf("the groups are %v, and %d nodes are gone", got, s.away.order.Len())
	}
	visit(s, 200, "g0", "a")
	if got := names(s); !slices.Equal(got, []string{"g0", "g98", "g99"}) {
		t.Errorf("the groups are %v", got)
	}
}
