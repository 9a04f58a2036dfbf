package discovery

import (
	"container/list"
	"time"
)

// departed are nodes whose streams ended, to be forgotten when they stay away. The zero
// value is none. It is not safe for concurrent use.
type departed struct {
	order list.List // of departure, by the time that it ended
	by    map[member]*list.Element
}

// A member is a node of a group, by their names.
type member struct{ group, node string }

type departure struct {
	member
	at time.Time
}

// add notes that a node has gone at a time, which is not before that of any other.
func (d *departed) add(m member, at time.Time) {
	d.remove(m)
	if d.by == nil {
		d.by = map[member]*list.Element{}
	}
	d.by[m] = d.order.PushBack(departure{m, at})
}

// remove notes that a node is back, or forgotten.
func (d *departed) remove(m member) {
	if e := d.by[m]; e != nil {
		d.order.Remove(e)
		delete(d.by, m)
	}
}

// first returns the node that has been away the longest, and whether there is one.
func (d *departed) first() (departure, bool) {
	e := d.order.Front()
	if e == nil {
		return departure{}, false
	}
	return e.Value.(departure), true
}

// join begins a stream in its group. What forgets groups cannot do so meanwhile.
func (s *Server) join(st *stream) *group {
	m := member{st.hello.GetGroup(), st.hello.GetNode()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away.remove(m)
	g := s.group(m.group)
	g.connect(st)
	return g
}

// leave ends a stream. Its node, if it has no newer one, is forgotten when it stays away,
// or when too many others have gone since.
func (s *Server) leave(g *group, st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !g.disconnect(st) {
		return
	}
	s.away.add(member{st.hello.GetGroup(), st.hello.GetNode()}, time.Now())
	if s.away.order.Len() > s.cfg.Remember {
		longest, _ := s.away.first()
		s.forget(longest)
	}
	s.forgetLater()
}

// forgetLater has those forgotten who stay away. The caller holds the lock.
func (s *Server) forgetLater() {
	longest, ok := s.away.first()
	if s.forgetting || !ok {
		return
	}
	s.forgetting = true
	time.AfterFunc(time.Until(longest.at.Add(s.cfg.Forget)), s.forgetDue)
}

// forgetDue forgets those who have been away for long enough.
func (s *Server) forgetDue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetting = false
	for {
		longest, ok := s.away.first()
		if !ok || time.Since(longest.at) < s.cfg.Forget {
			break
		}
		s.forget(longest)
	}
	s.forgetLater()
}

// forget drops a node that is away, and its group if nothing is left of that. The caller
// holds the lock.
func (s *Server) forget(d departure) {
	s.away.remove(d.member)
	g := s.groups[d.group]
	if g == nil {
		return
	}
	g.forget(d.node, d.at)
	if g.empty() {
		delete(s.groups, d.group)
	}
}
