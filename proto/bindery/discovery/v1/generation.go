package discoveryv1

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// Compare orders generations: by epoch, then number. It is negative when g comes
// before h. A nil generation comes before every other.
func (g *Generation) Compare(h *Generation) int {
	return cmp.Or(cmp.Compare(g.GetEpoch(), h.GetEpoch()), cmp.Compare(g.GetNumber(), h.GetNumber()))
}

// Same reports whether g and h are one generation: equal place in the order and
// equal bundle.
func (g *Generation) Same(h *Generation) bool {
	return g.Compare(h) == 0 && bytes.Equal(g.GetDigest(), h.GetDigest())
}

// Refused is the error of a node that cannot run a bundle and keeps what it has.
type Refused struct {
	Reasons   []*Reason // at least one
	Retryable bool      // the cause is outside the bundle and may change
}

// Error names every reason, separated by semicolons.
func (r *Refused) Error() string {
	var reasons []string
	for _, reason := range r.Reasons {
		reasons = append(reasons, reason.Text())
	}
	return strings.Join(reasons, "; ")
}

// Text returns the reason as one line: where, as far as known, and what.
func (r *Reason) Text() string {
	var where []string
	if r.GetBinding() != "" {
		where = append(where, fmt.Sprintf("binding %q", r.GetBinding()))
	}
	if r.GetTool() != "" {
		where = append(where, fmt.Sprintf("tool %q", r.GetTool()))
	}
	if r.GetField() != "" {
		where = append(where, r.GetField())
	}
	return strings.Join(append(where, r.GetMessage()), ": ")
}
