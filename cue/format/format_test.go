package format_test

import (
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/format"
)

func TestSource(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want string
	}{
		{"spaces", "a:   1\nb:{c :2}\n", "a: 1\nb: {c: 2}\n"},
		{"aligns values", "a: 1\nlonger: 2\n", "a:      1\nlonger: 2\n"},
		{"keeps comments", "// Of a.\na:1 // one\n", "// Of a.\na: 1 // one\n"},
		{"only a comment", "// Nothing yet.\n", "// Nothing yet.\n"},
		{"nothing", "", ""},
		{"blank lines only", "\n\n", ""},
		{"no newline at the end", "a: 1", "a: 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := format.Source("a.cue", []byte(tt.in))
			if string(got) != tt.want || problems != nil {
				t.Errorf("formatted %q, %v; want %q", got, problems, tt.want)
			}
			again, _ := format.Source("a.cue", got)
			if string(again) != tt.want {
				t.Errorf("formatted again %q; want %q", again, tt.want)
			}
		})
	}
}

func TestSourceDoesNotParse(t *testing.T) {
	got, problems := format.Source("dir/a.cue", []byte("a: 1\nb: {\nc: ]\n"))
	var b strings.Builder
	if err := diag.Print(&b, problems); err != nil {
		t.Fatal(err)
	}
	if got != nil || !strings.HasPrefix(b.String(), "dir/a.cue:3:4: ") {
		t.Errorf("got %q and %s", got, b.String())
	}
}

// FuzzSource holds that a file is either formatted, and then parses, or has
// diagnostics.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"", "a: 1", "a: [1,2]\n// x\nb: {c: a}", "package p\nimport \"strings\"\nx: strings.ToUpper(\"a\")", "a: {"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		once, problems := format.Source("a.cue", data)
		if len(problems) > 0 {
			if once != nil {
				t.Errorf("both %q and %v", once, problems)
			}
			return
		}
		if _, problems := format.Source("a.cue", once); len(problems) > 0 {
			t.Errorf("%q formats to %q, which does not parse: %v", data, once, problems)
		}
	})
}
