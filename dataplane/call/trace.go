package call

import (
	"net/http"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Limits of a tracestate (W3C Trace Context, section 3.3.1).
const (
	maxStates = 32
	maxState  = 512 // bytes
)

// A trace says which trace a request belongs to, in the words of W3C Trace Context.
// The zero trace says nothing.
type trace struct{ parent, state string }

// traceOf returns the trace that r belongs to: that of its header, or else that of its
// "_meta". What is not as the W3C has it is none.
func traceOf(r Request) trace {
	if parents := r.Header["Traceparent"]; len(parents) == 1 && validParent(parents[0]) {
		return newTrace(parents[0], strings.Join(r.Header["Tracestate"], ","))
	}
	if validParent(r.Traceparent) {
		return newTrace(r.Traceparent, r.Tracestate)
	}
	return trace{}
}

// newTrace returns the trace of a valid parent.
func newTrace(parent, state string) trace {
	if !validState(state) {
		state = ""
	}
	return trace{parent, state}
}

// set adds the trace to the header of a request, unless the binding has set one there.
func (t trace) set(header http.Header) {
	if t.parent == "" || header["Traceparent"] != nil || header["Tracestate"] != nil {
		return
	}
	header.Set("Traceparent", t.parent)
	if t.state != "" {
		header.Set("Tracestate", t.state)
	}
}

// validParent reports whether s is a traceparent of version 00, the one there is.
func validParent(s string) bool {
	parts := strings.Split(s, "-")
	return len(s) == 55 && len(parts) == 4 && parts[0] == "00" &&
		validHex(parts[1], 32) && strings.Trim(parts[1], "0") != "" &&
		validHex(parts[2], 16) && strings.Trim(parts[2], "0") != "" &&
		validHex(parts[3], 2)
}

func validHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// validState reports whether s is a tracestate that can be sent on.
func validState(s string) bool {
	if len(s) > maxState || !irv1.ValidHeaderValue(s) || strings.Count(s, ",") >= maxStates {
		return false
	}
	for member := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(member), "=")
		if !ok || key == "" || value == "" || strings.Contains(value, "=") ||
			strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-*/@") != "" {
			return false
		}
	}
	return true
}
