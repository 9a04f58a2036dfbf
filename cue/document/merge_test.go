package document

import (
	"fmt"
	"testing"
)

func TestMerge(t *testing.T) {
	tests := []struct {
		a, b, want, conflicts string
	}{
		{`{"a":1}`, `{"b":{"c":2}}`, `{"a":1,"b":{"c":2}}`, "[]"},
		{`{"b":{"d":1,"c":2}}`, `{"b":{"c":2,"a":3}}`, `{"b":{"d":1,"c":2,"a":3}}`, "[]"},
		{`{"a":[]}`, `{"a":[1]}`, `{"a":[1]}`, "[]"},
		{`{"a":["b","d"]}`, `{"a":["a","d","e"]}`, `{"a":["a","b","d","e"]}`, "[]"},
		{`{"a":["d","b"]}`, `{"a":["a","b"]}`, `{"a":["d","b","a"]}`, "[]"},
		{`{"a":[{"x":1},2]}`, `{"a":[2,{"x":2},{"x":1}]}`, `{"a":[{"x":1},2,{"x":2}]}`, "[]"},
		{`{"a":1,"b":{"c":true},"d":[]}`, `{"a":1.0,"b":{"c":null},"d":{}}`, `{"a":1,"b":{"c":true},"d":[]}`, "[[a] [b c] [d]]"},
	}
	for _, tt := range tests {
		a, b := parsed(t, tt.a), parsed(t, tt.b)
		merged, conflicts := Merge(a, b)
		if got := string(merged.AppendJSON(nil)); got != tt.want || fmt.Sprint(conflicts) != tt.conflicts {
			t.Errorf("%s and %s are %s, %v; want %s, %s", tt.a, tt.b, got, conflicts, tt.want, tt.conflicts)
		}
		if got := string(a.AppendJSON(nil)) + string(b.AppendJSON(nil)); got != tt.a+tt.b {
			t.Errorf("merging changed them to %s", got)
		}
	}
}

func parsed(t *testing.T, s string) *Value {
	t.Helper()
	d, err := Parse("x.json", []byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return d.Root
}
