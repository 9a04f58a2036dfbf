package upstream

import (
	"sync"
	"time"
)

// A Rate says how a store of a [Budget] fills. That holds what 100 calls and 10 seconds
// add.
type Rate struct {
	PerCall   float64 // retries that a call adds
	PerSecond float64 // retries that a second adds
}

func (r Rate) capacity() float64 { return 100*r.PerCall + 10*r.PerSecond }

// A Budget is a store of retries for each rate, so that a service that fails gets little
// more requests than one that does not. Each begins full, and stays as it is while nobody
// uses its rate. Nobody fills or empties that of another rate. It is safe for concurrent
// use; the zero Budget is ready.
type Budget struct {
	mu     sync.Mutex
	stores map[Rate]*store
}

// A store has the retries of a rate.
type store struct {
	balance float64
	at      time.Time // when the balance was right
}

// Add adds what a call adds that began now.
func (b *Budget) Add(r Rate, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.filled(r, now, r.PerCall)
}

// Take takes a retry, and reports whether there was one to take.
func (b *Budget) Take(r Rate, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.filled(r, now, 0)
	if s.balance < 1 {
		return false
	}
	s.balance--
	return true
}

// filled returns the store of r with what time has added, and more.
func (b *Budget) filled(r Rate, now time.Time, more float64) *store {
	if b.stores == nil {
		b.stores = map[Rate]*store{}
	}
	s := b.stores[r]
	if s == nil {
		s = &store{balance: r.capacity(), at: now}
		b.stores[r] = s
	}
	if passed := now.Sub(s.at); passed > 0 { // a clock may be set back
		more += passed.Seconds() * r.PerSecond
	}
	s.balance, s.at = min(s.balance+more, r.capacity()), now
	return s
}
