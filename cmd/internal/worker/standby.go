package worker

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

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
	ahead  *attempt // what Ahead has begun; nil: nothing
	closed bool
}

// An attempt compiles what may be wanted.
type attempt struct {
	sources  *sourcev1.Sources
	end      context.CancelFunc
	done     chan struct{} // closed when compiled and err are there
	compiled *sourcev1.Compiled
	err      error
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
	s.mu.Lock()
	a := s.ahead
	s.ahead = nil
	s.mu.Unlock()
	if a == nil {
		return s.compile(ctx, sources)
	}
	defer a.end()
	if !proto.Equal(a.sources, sources) {
		return s.compile(ctx, sources)
	}
	select {
	case <-a.done:
		return a.compiled, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("compile: %w", ctx.Err())
	}
}

// Ahead begins to compile sources that are likely to be those of the next Compile, which
// then only waits for the rest. What was begun before is given up.
func (s *Standby) Ahead(sources *sourcev1.Sources) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.ahead != nil {
		s.ahead.end()
	}
	ctx, end := context.WithCancel(context.Background())
	a := &attempt{sources: sources, end: end, done: make(chan struct{})}
	s.ahead = a
	go func() {
		defer close(a.done)
		a.compiled, a.err = s.compile(ctx, sources)
	}()
}

func (s *Standby) compile(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
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

// Close ends the child that waits, and what Ahead has begun. Sources that are being
// compiled are not affected.
func (s *Standby) Close() {
	s.mu.Lock()
	next, ahead := s.next, s.ahead
	s.closed, s.next, s.ahead = true, nil, nil
	s.mu.Unlock()
	if next != nil {
		next.stop()
	}
	if ahead != nil {
		ahead.end()
		<-ahead.done
	}
}
