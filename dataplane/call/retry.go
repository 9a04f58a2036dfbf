package call

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxRetryAfter is the longest wait that a Retry-After stands for: what asks for more
// asks for this.
const maxRetryAfter = 365 * 24 * time.Hour

// repeatable reports whether a second request with header does no harm.
func repeatable(t *table.Tool, header http.Header) bool {
	return t.Retry.Idempotent || slices.ContainsFunc(t.Meta, func(r *irv1.MetaRule) bool {
		return r.GetKey() && header.Get(r.GetHeader()) != ""
	})
}

// repeat sends req, and sends it again for as long as the rule that applies says so,
// attempts, time and the upstream's budget last, and the upstream does not ask for a
// longer wait than there can be. All requests are the same, but for a token that was
// rejected; the time for all of them and the waits in between is that for one.
func repeat(ctx context.Context, t *table.Tool, a arguments, req *upstream.Request) Outcome {
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	budget, now := &t.Service.Client.Retries, t.Deps().Now
	budget.Add(t.Retry.Rate, now())
	var retries []string
	for {
		same := *req
		if n := len(retries); n > 0 {
			same.Header = req.Header.Clone() // the one before may still be on its way
			if err := t.Service.Credential.Authorize(ctx, same.Header, req.Timeout); err != nil {
				o := unauthorized(t, err)
				o.Attempts, o.Retries = n, retries[:n-1]
				return o
			}
		}
		o := attempt(ctx, t, a, &same)
		o.Attempts, o.Retries = len(retries)+1, retries
		wait, ok := pause(ctx, t.Retry, o)
		if !ok || !budget.Take(t.Retry.Rate, now()) {
			return o
		}
		if t.Deps().Sleep(ctx, wait) != nil {
			return interrupted(ctx, t, o)
		}
		retries = append(retries, o.Rule)
	}
}

// pause returns how long to wait after the attempt that ended with o, and whether
// there is to be another one.
func pause(ctx context.Context, r *table.Retry, o Outcome) (time.Duration, bool) {
	if !o.again || o.Attempts >= r.Attempts || o.RetryAfter > r.MaxWait {
		return 0, false
	}
	// Who was told to wait for the same time does not come back at the same moment.
	wait := o.RetryAfter + rand.N(r.Backoff<<(o.Attempts-1))
	deadline, _ := ctx.Deadline()
	return wait, wait < time.Until(deadline)
}

// interrupted is the outcome of a wait that ctx ended: after o, when time was up.
func interrupted(ctx context.Context, t *table.Tool, o Outcome) Outcome {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return o
	}
	canceled := broken(t, nil, upstream.ErrCanceled)
	canceled.Attempts, canceled.Retries = o.Attempts, o.Retries
	return canceled
}

// retryAfter returns how long a response asks to wait (RFC 9110, section 10.2.3), by
// the clock that says now; 0 when it does not ask or makes no sense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
