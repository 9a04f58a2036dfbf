package serve

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A wait tells the client of an HTTP request how long an upstream asks to wait. The
// SDK writes the response, and answers calls on goroutines that may outlive it: a
// wait comes with their context, and is over when the response is. What is written of the
// response before, a question or progress, takes its header with it.
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

// headerWait names the wait of a request in a session: a call there has the context of the
// session, but the header of the request. No client can send what is no name of a header.
const headerWait = "bindery wait"

// keepWait has r, a request of s with a header of its own, bring its wait by name, until the
// function that it returns is called.
func (s *session) keepWait(r *http.Request) (over func()) {
	wt, _ := r.Context().Value(waitKey{}).(*wait)
	name := rand.Text()
	r.Header[headerWait] = []string{name}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[name] = wt
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waits, name)
	}
}

// findWait is the middleware that gives a call in a session the wait of its request.
func findWait(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if s, extra := sessionOf(ctx), req.GetExtra(); s != nil && extra != nil && len(extra.Header[headerWait]) > 0 {
			s.mu.Lock()
			ctx = context.WithValue(ctx, waitKey{}, s.waits[extra.Header[headerWait][0]])
			s.mu.Unlock()
		}
		return next(ctx, method, req)
	}
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
