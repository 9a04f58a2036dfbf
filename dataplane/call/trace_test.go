package call_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	other  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// TestTrace has calls that belong to a trace, by their header or by "_meta".
func TestTrace(t *testing.T) {
	header := func(parent string, states ...string) http.Header {
		h := http.Header{"Traceparent": {parent}}
		if states != nil {
			h["Tracestate"] = states
		}
		return h
	}
	tests := []struct {
		name          string
		request       call.Request
		parent, state string // that arrive
	}{
		{"none", call.Request{}, "", ""},
		{"header", call.Request{Header: header(parent)}, parent, ""},
		{"header with state", call.Request{Header: header(parent, "a=1,b@c=x/y", "d= 2")}, parent, "a=1,b@c=x/y,d= 2"},
		{"_meta", call.Request{Traceparent: parent, Tracestate: "a=1"}, parent, "a=1"},
		{"both", call.Request{Header: header(parent), Traceparent: other, Tracestate: "a=1"}, parent, ""},
		{"a bad header and _meta", call.Request{Header: header("00-1"), Traceparent: other}, other, ""},
		{"two headers", call.Request{Header: http.Header{"Traceparent": {parent, other}}}, "", ""},
		{"state alone", call.Request{Header: http.Header{"Tracestate": {"a=1"}}, Tracestate: "a=1"}, "", ""},
		{"capitals", call.Request{Traceparent: strings.ToUpper(parent)}, "", ""},
		{"another version", call.Request{Traceparent: "01" + parent[2:]}, "", ""},
		{"more than it", call.Request{Traceparent: parent + "-00"}, "", ""},
		{"no trace", call.Request{Traceparent: "00-00000000000000000000000000000000-b7ad6b7169203331-01"}, "", ""},
		{"no parent", call.Request{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"}, "", ""},
		{"a header in it", call.Request{Traceparent: parent[:53] + "\r\n"}, "", ""},
		{"a bad state", call.Request{Traceparent: parent, Tracestate: "a=1\r\nX: y"}, parent, ""},
		{"a state without a value", call.Request{Traceparent: parent, Tracestate: "a"}, parent, ""},
		{"a state too long", call.Request{Traceparent: parent, Tracestate: "a=" + strings.Repeat("x", 511)}, parent, ""},
		{"too many states", call.Request{Traceparent: parent, Tracestate: strings.Repeat("a=1,", 32) + "a=1"}, parent, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			tt.request.Arguments = []byte(getBook)
			call.Do(t.Context(), s.tools(t).Tool("get_book"), tt.request)
			got := s.last(t, 1).Header
			if got.Get("Traceparent") != tt.parent || got.Get("Tracestate") != tt.state || len(got["Traceparent"]) > 1 {
				t.Errorf("arrived with %q, %q; want %q, %q", got["Traceparent"], got["Tracestate"], tt.parent, tt.state)
			}
		})
	}
}

// TestOwnTrace has a binding that sends a header of its own there.
func TestOwnTrace(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL + "/v1")
	b.Upstream.Headers = append(b.Upstream.Headers, &irv1.Header{Name: "Traceparent", Value: other})
	call.Do(t.Context(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book"),
		call.Request{Arguments: []byte(getBook), Header: http.Header{"Traceparent": {parent}, "Tracestate": {"a=1"}}})
	if got := s.last(t, 1).Header; got.Get("Traceparent") != other || got.Get("Tracestate") != "" {
		t.Errorf("arrived with %q, %q", got["Traceparent"], got["Tracestate"])
	}
}
