package irv1_test

import (
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestPlaces(t *testing.T) {
	query := func(name string) *irv1.Argument {
		return &irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, WireName: name}
	}
	header := func(name string) *irv1.Argument {
		return &irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, WireName: name}
	}
	body := func(place ...string) *irv1.Argument {
		return &irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Place: place}
	}
	path := &irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_PATH}
	tests := []struct {
		name string
		a, b *irv1.Argument
		want bool // whether they get in each other's way
	}{
		{"one parameter", query("x"), query("x"), true},
		{"parameters in other cases", query("x"), query("X"), false},
		{"object and its member", query("x"), query("x[a]"), true},
		{"members of an object", query("x[a]"), query("x[b]"), false},
		{"parameter by name", query(""), query("b"), false},
		{"one header", header("X"), header("X"), true},
		{"header and parameter", header("X"), query("X"), false},
		{"one member", body("a"), body("a"), true},
		{"member and what is in it", body("a"), body("a", "b"), true},
		{"members of one", body("a", "b"), body("a", "c"), false},
		{"names that look alike", body("a\"\"b"), body("a", "b"), false},
		{"beginning of a name", body("a"), body("ab"), false},
		{"path", path, path, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pair := range [][2]*irv1.Argument{{tt.a, tt.b}, {tt.b, tt.a}} {
				first, second := pair[0], pair[1]
				first.Name = "first"
				var p irv1.Places
				if other := p.Claim(first); other != "" {
					t.Fatalf("%q has the place of the first", other)
				}
				if other := p.Claim(second); (other == "first") != tt.want {
					t.Errorf("the other one is %q", other)
				}
			}
		})
	}
}
