package place_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/place"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// steps returns those of a, *, b for "a * b"; "”" is the empty token.
func steps(s string) []*irv1.Step {
	var all []*irv1.Step
	for _, token := range strings.Fields(s) {
		switch token {
		case "*":
			all = append(all, &irv1.Step{Kind: &irv1.Step_Every{Every: &irv1.Every{}}})
		case "''":
			all = append(all, &irv1.Step{Kind: &irv1.Step_Token{}})
		default:
			all = append(all, &irv1.Step{Kind: &irv1.Step_Token{Token: token}})
		}
	}
	return all
}

func TestValues(t *testing.T) {
	v, err := rawjson.Parse([]byte(`{"a":[1,{"b":2},[3]],"":{"*":4},"c":null}`), 9)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		steps string
		want  []string
	}{
		{"", []string{string(v)}},
		{"a 0", []string{"1"}},
		{"a *", []string{"1", `{"b":2}`, "[3]"}},
		{"a * *", []string{"2", "3"}},
		{"* *", []string{"1", `{"b":2}`, "[3]", "4"}},
		{"''", []string{`{"*":4}`}},
		{"c", []string{"null"}},
		{"c *", nil},
		{"d", nil},
		{"a 01", nil},
		{"a b", nil},
	}
	for _, tt := range tests {
		var got []string
		for part := range place.Values(v, steps(tt.steps)) {
			got = append(got, string(part))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.steps, got, tt.want)
		}
		for range place.Values(v, steps(tt.steps)) {
			break // it can be left
		}
	}
	for range place.Values(nil, nil) {
		t.Error("nothing has a value")
	}
}

func TestJSONPath(t *testing.T) {
	for in, want := range map[string]string{
		"": "$", "a b_1": "$.a.b_1", "a 0 * c": "$.a[0][*].c", "it's": `$['it\'s']`, "'' a-b": "$['']['a-b']",
	} {
		if got := place.JSONPath(steps(in)); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}
