package diag_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func at(file string, line, column uint32) *sourcev1.Position {
	return &sourcev1.Position{File: file, Line: line, Column: column}
}

func TestPrint(t *testing.T) {
	list := &diag.List{}
	list.Errorf(diag.Problem{Pos: at("b.cue", 2, 3), Code: "z", Path: "bindings.b", Hint: "do this"}, "is %s", "wrong")
	list.Errorf(diag.Problem{Pos: at("a.cue", 10, 1), Code: "y"}, "two\nlines")
	list.Errorf(diag.Problem{Pos: at("a.cue", 9, 1), Code: "x", Path: "second"}, "the same")
	list.Errorf(diag.Problem{Pos: at("a.cue", 9, 1), Code: "x", Path: "first"}, "the same")
	list.Warnf(diag.Problem{Pos: &sourcev1.Position{File: "c.cue"}, Code: "w"}, "odd")
	list.Errorf(diag.Problem{Code: "v"}, "nowhere")
	list.Errorf(diag.Problem{Code: "v"}, "nowhere")
	const want = `-: nowhere
a.cue:9:1: first: the same
a.cue:10:1: two lines
b.cue:2:3: bindings.b: is wrong
	hint: do this
c.cue: warning: odd
`
	var b strings.Builder
	if err := diag.Print(&b, list.Sorted()); err != nil || b.String() != want {
		t.Errorf("printed %v\n%swant\n%s", err, b.String(), want)
	}
}

func TestFailed(t *testing.T) {
	list := &diag.List{}
	if list.Failed() || list.Sorted() != nil {
		t.Error("an empty list has failed, or something in it")
	}
	list.Warnf(diag.Problem{Pos: at("a.cue", 1, 1)}, "odd")
	if list.Failed() || list.Has(at("a.cue", 1, 1)) {
		t.Error("a warning is a failure")
	}
	other := &diag.List{}
	other.Errorf(diag.Problem{Pos: at("a.cue", 1, 1)}, "wrong")
	list.Append(other)
	if !list.Failed() || !list.Has(at("a.cue", 1, 1)) || list.Has(at("a.cue", 1, 2)) || list.Has(nil) {
		t.Error("an appended error is not there, or another one is")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"title", "tools", "upstream", "url"}
	tests := []struct{ name, want string }{
		{"titel", `did you mean "title"?`},
		{"Title", `did you mean "title"?`},
		{"tool", `did you mean "tools"?`},
		{"upstraem", `did you mean "upstream"?`},
		{"uri", `did you mean "url"?`},
		{"scopes", "one of title, tools, upstream, url"},
		{"", "one of title, tools, upstream, url"},
	}
	for _, tt := range tests {
		if got := diag.Nearest(tt.name, names); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
		if best, found := diag.Closest(tt.name, names); found != strings.Contains(tt.want, strconv.Quote(best)) {
			t.Errorf("Closest(%q) = %q, %t, and the hint is %q", tt.name, best, found, tt.want)
		}
	}
	if got := diag.Nearest("x", nil); got != "" {
		t.Errorf("with no names the hint is %q", got)
	}
	if got := diag.Nearest("nothing like it", strings.Split(strings.Repeat("abc ", 30), " ")); got != "" {
		t.Errorf("with too many names the hint is %q", got)
	}
}
