package psp

import (
	"sync"
	"time"
)

// A rate counts what each caller does in the current minute.
type rate struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	start time.Time
	used  map[string]int // by caller
}

func newRate(limit int, now func() time.Time) *rate {
	return &rate{limit: limit, now: now, used: map[string]int{}}
}

// take returns 0 when caller may go on, otherwise how long to wait.
func (r *rate) take(caller string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if now.Sub(r.start) >= time.Minute {
		r.start = now
		clear(r.used)
	}
	if r.used[caller] >= r.limit {
		return r.start.Add(time.Minute).Sub(now)
	}
	r.used[caller]++
	return 0
}
