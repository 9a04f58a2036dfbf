package merchant

import (
	"sync"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/idempotency"
)

// Probes counts the different declarations of capabilities that each caller made
// in the current minute. An agent platform has a few; who tries many is finding
// out what the seller's payment stack can do (capability negotiation §6.1).
type probes struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	start time.Time
	seen  map[string]map[[32]byte]bool // by caller
}

func newProbes(limit int, now func() time.Time) *probes {
	return &probes{limit: limit, now: now, seen: map[string]map[[32]byte]bool{}}
}

// take returns 0 when caller may be told what this declaration leads to,
// otherwise how long to wait.
func (p *probes) take(caller string, declaration []byte) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Sub(p.start) >= time.Minute {
		p.start = now
		clear(p.seen)
	}
	if p.seen[caller] == nil {
		p.seen[caller] = map[[32]byte]bool{}
	}
	print := idempotency.Fingerprint(declaration)
	if !p.seen[caller][print] && len(p.seen[caller]) >= p.limit {
		return p.start.Add(time.Minute).Sub(now)
	}
	p.seen[caller][print] = true
	return 0
}
