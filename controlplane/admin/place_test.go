package admin

import (
	"testing"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestPlace finds the author's line for what a node refuses. Each entry of the map
// is on a line of its own.
func TestPlace(t *testing.T) {
	m := &sourcev1.SourceMap{}
	for i, e := range []*sourcev1.SourceMapEntry{
		{Binding: "loans"}, // line 1
		{Binding: "loans", Field: "upstream"},
		{Binding: "loans", Field: "upstream.auth"},
		{Binding: "loans", Field: "upstream.auth.bearer.secret"},
		{Binding: "loans", Tool: "lend"},
		{Binding: "loans", Tool: "lend", Field: "http"},
		{Binding: "loans", Tool: "lend", Field: "args"},
		{Binding: "loans", Tool: "lend", Field: "args.id"}, // line 8
		{Binding: "rooms", Field: "title"},
		{Field: "stray"},
	} {
		e.Position = &sourcev1.Position{File: "library.cue", Line: uint32(i + 1)}
		m.Entries = append(m.Entries, e)
	}
	tests := []struct {
		binding, tool, field string
		line                 uint32 // 0: none
		path                 string
	}{
		{"loans", "", "upstream.auth.bearer.secret", 4, "bindings.loans.upstream.auth.bearer.secret"},
		{"loans", "", "upstream.auth.bearer", 3, "bindings.loans.upstream.auth.bearer"},
		{"loans", "", "upstream.authority", 2, "bindings.loans.upstream.authority"}, // no half names
		{"loans", "", "errors", 1, "bindings.loans.errors"},
		{"loans", "", "", 1, "bindings.loans"},
		{"loans", "lend", "args.id.description", 8, "bindings.loans.tools.lend.args.id.description"},
		{"loans", "lend", "args.idle", 7, "bindings.loans.tools.lend.args.idle"},
		{"loans", "lend", "", 5, "bindings.loans.tools.lend"},
		{"loans", "lend", "upstream.auth", 5, "bindings.loans.tools.lend.upstream.auth"}, // the tool's, not the binding's
		{"loans", "renew", "http", 1, "bindings.loans.tools.renew.http"},
		{"rooms", "", "upstream", 0, "bindings.rooms.upstream"},
		{"films", "", "", 0, "bindings.films"},
		{"", "", "stray", 0, "stray"},
		{"", "", "", 0, ""},
	}
	for _, tt := range tests {
		r := &discoveryv1.Reason{Binding: tt.binding, Tool: tt.tool, Field: tt.field}
		d := diagnostic(r, m)
		if d.GetPosition().GetLine() != tt.line || d.GetPath() != tt.path {
			t.Errorf("%v is at line %d, path %q; want %d, %q", r, d.GetPosition().GetLine(), d.GetPath(), tt.line, tt.path)
		}
	}
	if d := diagnostic(&discoveryv1.Reason{Binding: "loans"}, nil); d.GetPosition() != nil {
		t.Errorf("without a map the position is %v", d.GetPosition())
	}
}

// TestTally holds when waiting for nodes is over.
func TestTally(t *testing.T) {
	tests := []struct {
		tally tally
		want  string
	}{
		{tally{}, "RESULT_NO_NODES"},
		{tally{synced: 2}, "RESULT_SYNCED"},
		{tally{synced: 2, pending: 1}, "RESULT_UNSPECIFIED"},
		{tally{refused: 1, pending: 1}, "RESULT_UNSPECIFIED"}, // it may refuse too
		{tally{synced: 1, refused: 1}, "RESULT_REJECTED"},
		{tally{synced: 1, away: 1}, "RESULT_UNSPECIFIED"}, // it comes back
		{tally{refused: 1, away: 1}, "RESULT_REJECTED"},
	}
	for _, tt := range tests {
		if got := tt.tally.result().String(); got != tt.want {
			t.Errorf("%+v gives %s, want %s", tt.tally, got, tt.want)
		}
	}
}
