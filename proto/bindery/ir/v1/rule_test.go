package irv1_test

import (
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// narrowed returns a rule for status 404 and class 5 that asks for a media type and
// for values at /code and at /kind; nil values ask for nothing.
func narrowed(mediaType string, code, kind []*irv1.Scalar) *irv1.ErrorRule {
	r := &irv1.ErrorRule{MediaType: mediaType, Conditions: []*irv1.Condition{
		{Kind: &irv1.Condition_Status{Status: 404}}, {Kind: &irv1.Condition_Class{Class: 5}},
	}}
	for at, values := range map[string][]*irv1.Scalar{"code": code, "kind": kind} {
		if values != nil {
			r.Body = append(r.Body, &irv1.BodyCondition{At: &irv1.Pointer{Tokens: []string{at}}, Values: values})
		}
	}
	return r
}

func TestTie(t *testing.T) {
	number := func(n float64) *irv1.Scalar { return &irv1.Scalar{Kind: &irv1.Scalar_Number{Number: n}} }
	truth := func(b bool) *irv1.Scalar { return &irv1.Scalar{Kind: &irv1.Scalar_Truth{Truth: b}} }
	of := func(values ...*irv1.Scalar) []*irv1.Scalar { return values }
	tests := []struct {
		name string
		a, b *irv1.ErrorRule
		want bool
	}{
		{"equal", narrowed("", nil, nil), narrowed("", nil, nil), true},
		{"media type", narrowed("text/html", nil, nil), narrowed("", nil, nil), false},
		{"no media type", narrowed("", nil, nil), narrowed("text/html", nil, nil), false},
		{"two media types", narrowed("text/html", nil, nil), narrowed("text/css", nil, nil), false},
		{"equal values", narrowed("", of(text("a")), nil), narrowed("", of(text("a")), nil), true},
		{"values in common", narrowed("", of(text("a"), text("b")), nil), narrowed("", of(text("b"), text("c")), nil), true},
		{"fewer values", narrowed("", of(text("a"), text("b")), nil), narrowed("", of(text("b")), nil), true},
		{"other values", narrowed("", of(text("a")), nil), narrowed("", of(text("b")), nil), false},
		{"values of other kinds", narrowed("", of(text("1")), nil), narrowed("", of(number(1)), nil), false},
		{"no and yes", narrowed("", of(truth(false)), nil), narrowed("", of(truth(true)), nil), false},
		{"zero and no", narrowed("", of(number(0)), nil), narrowed("", of(truth(false)), nil), false},
		{"other places", narrowed("", of(text("a")), nil), narrowed("", nil, of(text("a"))), true},
		{"one apart of two", narrowed("", of(text("a")), of(text("x"))), narrowed("", of(text("a")), of(text("y"))), false},
		{"more places", narrowed("", of(text("a")), of(text("x"))), narrowed("", of(text("a")), nil), false},
		{"fewer places", narrowed("", of(text("a")), nil), narrowed("", of(text("a")), of(text("x"))), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if one, two := irv1.Tie(tt.a, tt.b), irv1.Tie(tt.b, tt.a); (one != nil) != tt.want || (two != nil) != tt.want {
				t.Errorf("tie is %v and %v, want %t", one, two, tt.want)
			}
		})
	}
	other := narrowed("", nil, nil)
	other.Conditions = []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 405}}, {Kind: &irv1.Condition_Class{Class: 4}}}
	if c := irv1.Tie(narrowed("", nil, nil), other); c != nil {
		t.Errorf("rules for other statuses tie at %s", c.Words())
	}
}
