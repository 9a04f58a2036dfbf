package upstream_test

import (
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/upstream"
)

// drain takes all that is there now.
func drain(b *upstream.Budget, r upstream.Rate, now time.Time) (n int) {
	for b.Take(r, now) {
		n++
	}
	return n
}

func TestBudget(t *testing.T) {
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	rate := upstream.Rate{PerCall: 0.25, PerSecond: 2}
	var b upstream.Budget
	if n := drain(&b, rate, now); n != 45 {
		t.Errorf("it begins with %d, want what 100 calls and 10 s add", n)
	}
	for range 8 {
		b.Add(rate, now)
	}
	if n := drain(&b, rate, now); n != 2 {
		t.Errorf("8 calls added %d", n)
	}
	if n := drain(&b, rate, now.Add(3*time.Second)); n != 6 {
		t.Errorf("3 s added %d", n)
	}
	if n := drain(&b, rate, now.Add(time.Hour)); n != 45 {
		t.Errorf("an hour added %d", n)
	}
	if n := drain(&b, rate, now); n != 0 {
		t.Errorf("a clock that was set back added %d", n)
	}
	if n := drain(&b, rate, now.Add(time.Second)); n != 2 {
		t.Errorf("the second after that added %d", n)
	}
	var none upstream.Budget
	none.Add(upstream.Rate{}, now)
	if none.Take(upstream.Rate{}, now.Add(time.Hour)) {
		t.Error("a budget that nothing fills is not empty")
	}
}

// Who calls the same service at another rate, or with no retries at all, leaves a budget
// as it is.
func TestBudgetsOfRates(t *testing.T) {
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	orders, search := upstream.Rate{PerCall: 0.25, PerSecond: 2}, upstream.Rate{}
	var b upstream.Budget
	b.Add(orders, now)
	b.Add(search, now)
	if b.Take(search, now) {
		t.Error("who has no retries takes those of others")
	}
	if n := drain(&b, orders, now); n != 45 {
		t.Errorf("a call of others leaves %d, want 45", n)
	}
	for range 30 {
		now = now.Add(100 * time.Millisecond)
		b.Add(search, now)
	}
	if n := drain(&b, orders, now); n != 6 {
		t.Errorf("3 s of calls of others added %d, want 6", n)
	}
}
