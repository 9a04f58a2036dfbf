package worker

import (
	"context"
	"sync"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Standby compiles as [Compile] does, in children that are started before there is
// anything to compile: the start of a process takes longer than compiling a small
// module. It is for who compiles again and again while somebody waits. It may be used
// concurrently.
type Standby struct {
	child  child
	mu     sync.Mutex
	next   *process // waits for sources; nil: none
	closed bool
}

// NewStandby returns a Standby whose first child is on its way.
func NewStandby() *Standby { return newStandby(child{args: []string{Arg}, deadline: deadline}) }

func newStandby(c child) *Standby {
	s := &Standby{child: c}
	s.refill()
	return s
}

// Compile is [Compile]. Each child compiles once.
func (s *Standby) Compile(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
	defer s.refill() // not at once: it would take the processor from this one
	return compileIn(s.run, ctx, sources)
}

func (s *Standby) run(ctx context.Context, in []byte) ([]byte, error) {
	s.mu.Lock()
	p := s.next
	s.next = nil
	s.mu.Unlock()
	if p == nil || !p.waits() {
		return s.child.run(ctx, in)
	}
	return p.run(ctx, in)
}

// refill starts the next child if none waits. One that cannot be started is nobody's
// concern before it is needed.
func (s *Standby) refill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil && !s.closed {
		s.next, _ = s.child.start()
	}
}

// Close ends the child that waits. Sources that are being compiled are not affected.
func (s *Standby) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed = true; s.next != nil {
		s.next.stop()
		s.next = nil
	}
}
