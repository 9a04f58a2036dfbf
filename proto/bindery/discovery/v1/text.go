package discoveryv1

import (
	"fmt"
	"strings"
	"unicode"
)

// Limits of what a node says in words. A node keeps to them, and a control plane
// holds it to them.
const (
	MaxReasons = 32      // of one Nack
	MaxText    = 2 << 10 // bytes of one text of a reason
	MaxLabels  = 4 << 10 // bytes of all labels, names and values
)

// Bounded returns reasons as they are sent and kept: the first [MaxReasons], with
// texts of at most [MaxText] bytes that are [Plain]. It changes no reason that it is
// given.
func Bounded(reasons []*Reason) []*Reason {
	reasons = reasons[:min(len(reasons), MaxReasons)]
	bounded := make([]*Reason, 0, len(reasons))
	for _, r := range reasons {
		bounded = append(bounded, &Reason{
			Code: cut(r.GetCode()), Binding: cut(r.GetBinding()), Tool: cut(r.GetTool()), Field: cut(r.GetField()),
			Message: cut(r.GetMessage()), Hint: cut(r.GetHint()),
		})
	}
	return bounded
}

func cut(text string) string {
	if len(text) > MaxText {
		text = strings.Clone(text[:MaxText]) // the rest is not kept
	}
	return Plain(text)
}

// CheckLabels returns an error unless a node can have these labels: at most
// [MaxLabels] bytes, since the control plane keeps them for every node.
func CheckLabels(labels map[string]string) error {
	size := 0
	for name, value := range labels {
		size += len(name) + len(value)
	}
	if size > MaxLabels {
		return fmt.Errorf("have %d bytes together, more than %d: use fewer or shorter ones", size, MaxLabels)
	}
	return nil
}

// Plain returns text as it can be shown on a terminal, on one line. White space
// becomes spaces, and what a terminal would obey rather than show becomes "?". What is
// no UTF-8 is left out. The result is never longer than text.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}
