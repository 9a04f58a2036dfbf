package upstream

import (
	"sync"
	"time"
)

// A Rate says how a [Budget] fills. It holds what 100 calls and 10 seconds add.
type Rate struct {
	PerCall   float64 // retries that a call adds
	PerSecond float64 // retries that a second adds
}

func (r Rate) capacity() float64 { return 100*r.PerCall + 10*r.PerSecond }

// A Budget is a store of retries, so that a service that fails gets little more
// requests than one that does not. It begins full. Who share one and fill it at
// different rates have one balance. It is safe for concurrent use; the zero Budget
// is ready.
type Budget struct {
	mu      sync.Mutex
	balance float64
	at      time.Time // when the balance was right; zero before the first call
}

// Add adds what a call adds that began now.
func (b *Budget) Add(r Rate, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(r, now, r.PerCall)
}

// Take takes a retry, and reports whether there was one to take.
func (b *Budget) Take(r Rate, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(r, now, 0)
	if b.balance < 1 {
		return false
	}
	b.balance--
	return true
}

func (b *Budget) fill(r Rate, now time.Time, more float64) {
	if b.at.IsZero() {
		b.balance, b.at = r.capacity(), now
	}
	if passed := now.Sub(b.at); passed > 0 { // a clock may be set back
		more += passed.Seconds() * r.PerSecond
	}
	b.balance, b.at = min(b.balance+more, r.capacity()), now
}
