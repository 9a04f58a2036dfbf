package compile

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// retry reads how t, which has been read otherwise, is sent again; nil for never.
func (rd *reading) retry(t *irv1.Tool, v value) *irv1.Retry {
	attempts := v.get("attempts").number(defaultAttempts)
	if attempts <= 1 {
		return nil
	}
	rd.checkRetry(t, v.get("attempts"))
	return &irv1.Retry{
		Attempts: uint32(attempts),
		MaxWait:  durationpb.New(time.Duration(v.get("maxWait").number(int64(defaultMaxWait)))),
		Backoff:  durationpb.New(time.Duration(v.get("backoff").number(int64(defaultBackoff)))),
	}
}

// checkRetry reports attempts that nothing asks for, or that could do a tool's work
// twice.
func (rd *reading) checkRetry(t *irv1.Tool, v value) {
	isKey := func(r *irv1.MetaRule) bool { return r.GetKey() && slices.Contains(t.GetMeta(), r.GetField()) }
	switch {
	case !slices.ContainsFunc(rd.out.ir.GetErrors().GetRules(), (*irv1.ErrorRule).GetRetry):
		rd.idleRetry(v)
	case !t.GetAnnotations().GetIdempotent() && !slices.ContainsFunc(rd.out.ir.GetMeta(), isKey):
		rd.unsafeRetry(v)
	}
}

// retryBudget returns the budget of an upstream, nil when none of tools has a retry.
func retryBudget(v value, tools []*irv1.Tool) *irv1.RetryBudget {
	if !slices.ContainsFunc(tools, func(t *irv1.Tool) bool { return t.GetRetry() != nil }) {
		return nil
	}
	v.note()
	return &irv1.RetryBudget{
		Percent:   uint32(v.get("percent").number(defaultPercent)),
		PerSecond: uint32(v.get("perSecond").number(defaultPerSecond)),
	}
}
