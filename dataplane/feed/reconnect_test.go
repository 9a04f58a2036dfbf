package feed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWindow(t *testing.T) {
	want := []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000}
	for failures, w := range want {
		if got := window(failures); got != w*time.Millisecond {
			t.Errorf("window(%d) = %s, want %s", failures, got, w*time.Millisecond)
		}
	}
	if got := window(1_000_000); got != maxWindow {
		t.Errorf("window of a day of failures is %s", got)
	}
}

// TestReconnect holds that the wait between two attempts is random within a window
// that grows with failures, and that a good session starts over.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var waits []time.Duration
		ended := time.Now()
		reconnect(ctx, func(attempt int) {
			if attempt != len(waits) {
				t.Errorf("attempt %d after %d others", attempt, len(waits))
			}
			waits = append(waits, time.Since(ended))
			if attempt == 50 {
				time.Sleep(steady) // connected for long enough
			}
			if attempt == 51 {
				cancel()
			}
			ended = time.Now()
		})
		if waits[0] != 0 {
			t.Errorf("the first attempt waits %s", waits[0])
		}
		distinct := map[time.Duration]bool{}
		for i, w := range waits[1:51] {
			distinct[w] = true
			if w < 0 || w >= window(i) {
				t.Errorf("wait %d is %s, not within %s", i, w, window(i))
			}
		}
		if len(distinct) < 40 {
			t.Errorf("of 50 waits only %d differ", len(distinct))
		}
		if waits[51] >= minWindow {
			t.Errorf("after a good session the wait is %s", waits[51])
		}
	})
}

// TestReconnectStops holds that a feed that is told to stop does not wait first.
func TestReconnectStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		reconnect(ctx, func(int) {})
		if d := time.Since(start); d != time.Hour {
			t.Errorf("reconnect returned after %s", d)
		}
	})
}

// TestRetryLoop holds the rhythm in which a bundle that waits is tried.
func TestRetryLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Duration
		start := time.Now()
		b := newBundle(t, "one")
		retry := make(chan struct{})
		a := newActivator(quiet(Config{Retry: retry, Prepare: func(_ context.Context, gen *generation, _ *content) (func(), error) {
			tries = append(tries, time.Since(start).Round(time.Second))
			if len(tries) == 9 {
				return func() {}, nil
			}
			return nil, missing
		}}))
		ctx, cancel := context.WithCancel(t.Context())
		go a.retryLoop(ctx)
		if err := a.take(ctx, b.delivery(1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Second)
		retry <- struct{}{} // somebody says that the cause may be gone
		synctest.Wait()
		time.Sleep(10 * time.Minute)
		cancel()
		synctest.Wait()
		want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91, 100}
		if len(tries) != len(want) {
			t.Fatalf("tries at %v", tries)
		}
		for i, w := range want {
			if tries[i] != w*time.Second {
				t.Errorf("try %d at %s, want %s", i, tries[i], w*time.Second)
			}
		}
		if !a.running.Same(b.generation(1)) {
			t.Errorf("runs %v", a.running)
		}
	})
}
