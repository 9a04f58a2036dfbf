package outline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/outline"
)

const parent = `package p

// Of the shared.
#Shared: {
	meta: a: 1
	[=~"^x"]: b: 2
}
all: [Name=_]: {c: 3, name: Name}
all: [!="two"]: d: 4
if true {
	all: one: e: 5
}
#Text: =~"^t"
texts: [#Text]: f: 6
list: [{g: 7}, {g: 8}, ...{h: 9}]
computed: {dev: 1, prod: 2}[env]
odd: "\(env)": i: 10
odd: "t-\(env)-\(env)\n": l: 15
raw: #"a\n\#(env)"#: m: 16
`

const child = `package p

let local = {j: 11}

all: one: #Shared & {
	c: 12
	x1: {}
}
all: two: local & ({k: *13 | 14})
all: "a b": all.one
`

func draw(t *testing.T, files ...string) outline.Cursor {
	t.Helper()
	var trees []*ast.File
	for i := 0; i < len(files); i += 2 {
		f, err := parser.ParseFile(files[i], files[i+1], parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, f)
	}
	return outline.Draw(trees...)
}

func TestPlaces(t *testing.T) {
	c := draw(t, "p.cue", parent, "dir/c.cue", child)
	tests := []struct {
		path string
		want string
	}{
		{"#Shared", "p.cue:4:1 Literal"},
		{"all.one", "dir/c.cue:5:6 Literal, p.cue:8:6 Matched, p.cue:9:6 Matched, p.cue:11:7 Conditional"},
		{"all.one.c", "dir/c.cue:6:2 Literal, p.cue:8:17 Matched"},
		{"all.one.meta.a", "p.cue:5:8 Referenced"},
		{"all.one.x1.b", "p.cue:6:12 Matched"},
		{"all.one.y1.b", ""},
		{"all.one.e", "p.cue:11:12 Conditional"},
		{"all.two.d", ""},
		{"all.two.j", "dir/c.cue:3:14 Referenced"},
		{"all.two.k", "dir/c.cue:9:21 Literal"},
		{"all.a b.c", "dir/c.cue:6:2 Referenced, p.cue:8:17 Matched"},
		{"texts.t1.f", "p.cue:14:17 Matched"},
		{"texts.u1.f", ""},
		{"list.1.g", "p.cue:15:17 Literal"},
		{"list.5.h", "p.cue:15:28 Matched"},
		{"odd.anything.i", "p.cue:17:16 Matched"},
		{"odd.t-1-2\n.l", "p.cue:18:27 Matched"},
		{"odd.u-1-2\n.l", ""},
		{"odd.t-1\n.l", ""},
		{"raw.a\\n5.m", "p.cue:19:22 Matched"},
		{"nothing", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, p := range c.Down(strings.Split(tt.path, ".")...).Places() {
			route := []string{"Literal", "Referenced", "Matched", "Conditional"}[p.Route]
			got = append(got, fmt.Sprintf("%s:%d:%d %s", p.Label.GetFile(), p.Label.GetLine(), p.Label.GetColumn(), route))
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s is at %s; want %s", tt.path, s, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	c := draw(t, "p.cue", parent, "dir/c.cue", child)
	for path, want := range map[string][]string{
		"all":     {"a b", "one", "two"},
		"all.one": {"c", "d", "e", "meta", "name", "x1"},
		"list":    {"0", "1"},
		"no":      nil,
	} {
		if got := c.Down(strings.Split(path, ".")...).Fields(); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
}

func TestOpaque(t *testing.T) {
	c := draw(t, "p.cue", parent)
	if !c.Down("computed").Opaque() || c.Down("list").Opaque() {
		t.Error("what an index selects is followed, or a list is not")
	}
	if c.Down("no").Exists() || !c.Down("texts", "t").Exists() || (outline.Cursor{}).Exists() {
		t.Error("something exists that does not, or the other way around")
	}
}

func TestDoc(t *testing.T) {
	c := draw(t, "p.cue", parent)
	if got := c.Down("#Shared").Places()[0].Doc(); got != "Of the shared." {
		t.Errorf("the comment is %q", got)
	}
}

func TestReferences(t *testing.T) {
	c := draw(t, "p.cue", parent, "dir/c.cue", child, "q.cue", "package p\n\nall: one: lib.#Shared\n")
	var got []string
	for _, r := range c.Down("all", "one").References() {
		got = append(got, fmt.Sprintf("%s %s:%d:%d %t", r.Name, r.Pos.GetFile(), r.Pos.GetLine(), r.Pos.GetColumn(), r.To.Exists()))
	}
	if s, want := strings.Join(got, ", "), "#Shared dir/c.cue:5:11 true, lib.#Shared q.cue:3:11 false"; s != want {
		t.Errorf("all.one refers to %s; want %s", s, want)
	}
	if got := c.Down("all", "one").References()[0].To.Fields(); !slices.Equal(got, []string{"meta"}) {
		t.Errorf("#Shared has %q", got)
	}
}

// TestCycles holds that references in a circle end.
func TestCycles(t *testing.T) {
	c := draw(t, "p.cue", "a: b\nb: a\nc: c & {d: c}\n")
	if got := len(c.Down("a", "b", "c").Places()); got != 0 {
		t.Errorf("a.b.c has %d places", got)
	}
	if got := len(c.Down("c", "d", "d", "d").Places()); got == 0 {
		t.Error("c.d.d.d is nowhere")
	}
	for _, src := range []string{"#A: #B\n#B: #A\nx: [#A]: d: 1\n", "#A: #A\nx: [#A]: d: 1\n", "#A: #B & =~\"a\"\n#B: !=\"c\" | #A\nx: [#A]: d: 1\n"} {
		if c := draw(t, "p.cue", src); !c.Down("x", "a", "d").Exists() {
			t.Errorf("%q: the pattern does not match", src)
		}
	}
}

// FuzzDraw holds that whatever parses can be outlined and walked.
func FuzzDraw(f *testing.F) {
	f.Add(parent, "all.one.c")
	f.Add(child, "all.two.k")
	f.Add("a: [...b]\nb: a.x.y\nlet l = l\nx: l\nfor k, v in a {(k): v}\n", "a.0.b.x")
	f.Add("#A: #B\n#B: #A | #A\nx: [#A]: d: 1\n", "x.a.d")
	f.Fuzz(func(t *testing.T, src, path string) {
		file, err := parser.ParseFile("f.cue", src, parser.ParseComments)
		if err != nil || len(path) > 64 {
			return
		}
		c := outline.Draw(file).Down(strings.Split(path, ".")...)
		c.Places()
		c.Fields()
		c.Patterns()
		c.Opaque()
	})
}
