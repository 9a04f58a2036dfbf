package serve

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A wait tells the client of an HTTP request how long an upstream asks to wait. The
// SDK writes the response, and answers calls on goroutines that may outlive it: a
// wait comes with their context, and is over when the response is.
type wait struct {
	mu      sync.Mutex
	header  http.Header // of the response; nil when it is over
	longest time.Duration
}

type waitKey struct{}

// withWait returns r with a wait for the response that w writes, and what ends it.
func withWait(w http.ResponseWriter, r *http.Request) (*http.Request, func()) {
	wt := &wait{header: w.Header()}
	return r.WithContext(context.WithValue(r.Context(), waitKey{}, wt)), wt.end
}

func (w *wait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.header = nil
}

// askToWait sets Retry-After in the response that ctx belongs to, if it can still be
// set and d is more than 0. Of several calls in one request the longest wait counts.
func askToWait(ctx context.Context, d time.Duration) {
	w, _ := ctx.Value(waitKey{}).(*wait)
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.header != nil && d > w.longest {
		w.longest = d
		setRetryAfter(w.header, d)
	}
}

// setRetryAfter sets the header of that name to d in whole seconds, unless d is 0.
func setRetryAfter(h http.Header, d time.Duration) {
	if d > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10))
	}
}
