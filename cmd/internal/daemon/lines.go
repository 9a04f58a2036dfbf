package daemon

import (
	"io"
	"sync"
	"time"
)

// Lines collects what is written to it, and writes it on in one go: when it has been
// kept for 50 ms, or is more than 32 KiB. A log that has a line for every call would
// otherwise be a system call for every call. A process that is killed takes the lines
// of the last 50 ms with it.
//
// Its methods may be called concurrently. What cannot be written is lost, as a log is
// whose reader is gone.
type Lines struct {
	out io.Writer

	mu    sync.Mutex
	kept  []byte
	later *time.Timer // runs when something is kept
}

const (
	keepFor   = 50 * time.Millisecond
	keepBytes = 32 << 10
)

// NewLines returns Lines that end up in out.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Write keeps p, which should be whole lines. It never fails.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	switch {
	case len(l.kept) > keepBytes:
		l.flush()
	case l.later == nil:
		l.later = time.AfterFunc(keepFor, l.Flush)
	}
	return len(p), nil
}

// Flush writes on what is kept.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
}

func (l *Lines) flush() {
	if l.later != nil {
		l.later.Stop()
		l.later = nil
	}
	if len(l.kept) > 0 {
		_, _ = l.out.Write(l.kept)
		l.kept = l.kept[:0]
	}
}
