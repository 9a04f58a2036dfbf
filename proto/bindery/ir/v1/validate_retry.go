package irv1

import "google.golang.org/protobuf/types/known/durationpb"

// maxAttempts is the most often that one call sends its request.
const maxAttempts = 5

func (p *problems) retry(r *Retry, b *Binding) {
	if r == nil {
		return
	}
	p.check(r.GetAttempts() >= 2 && r.GetAttempts() <= maxAttempts, "retry.attempts", "it must be from 2 to %d", maxAttempts)
	p.check(validWait(r.GetMaxWait()), "retry.maxWait", "it must be more than 0 and at most %s", maxTimeout)
	p.check(validWait(r.GetBackoff()), "retry.backoff", "it must be more than 0 and at most %s", maxTimeout)
	p.check(b.GetUpstream().GetRetryBudget() != nil, "retry", "the upstream has no budget for it")
}

func validWait(d *durationpb.Duration) bool {
	return d.IsValid() && d.AsDuration() > 0 && d.AsDuration() <= maxTimeout
}
