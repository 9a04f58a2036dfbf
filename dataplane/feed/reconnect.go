package feed

import (
	"context"
	"math/rand/v2"
	"time"
)

// Reconnects wait a random time of at most a window that doubles with every failure:
// nodes that lost their control plane together do not come back together.
const (
	minWindow = 100 * time.Millisecond
	maxWindow = 5 * time.Second

	// steady is how long a session lasts before it counts as good, so that two nodes
	// that end each other's streams slow down too.
	steady = 10 * time.Second
)

// window returns the longest wait after a number of failures in a row.
func window(failures int) time.Duration {
	return min(maxWindow, minWindow<<min(failures, 10))
}

// reconnect calls connect, which returns when its connection ended, again and again
// until ctx is done. attempt counts the calls from 0.
func reconnect(ctx context.Context, connect func(attempt int)) {
	failures := 0
	for attempt := 0; ctx.Err() == nil; attempt++ {
		start := time.Now()
		connect(attempt)
		if time.Since(start) >= steady {
			failures = 0
		}
		sleep(ctx, rand.N(window(failures)))
		failures++
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
