package check_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/check"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// at returns a place as an author writes it; its tokens need no escapes.
func at(s string) *irv1.Place {
	tokens := strings.Split(s, "/")
	p := &irv1.Place{Side: irv1.Side_SIDE_REQUEST}
	if tokens[0] == "response" {
		p.Side = irv1.Side_SIDE_RESPONSE
	}
	for _, token := range tokens[1:] {
		step := &irv1.Step{Kind: &irv1.Step_Token{Token: token}}
		if token == "*" {
			step = &irv1.Step{Kind: &irv1.Step_Every{Every: &irv1.Every{}}}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

func has(p string) *irv1.CallCheck { return &irv1.CallCheck{Kind: &irv1.CallCheck_Has{Has: at(p)}} }

func subset(these, of string) *irv1.CallCheck {
	return &irv1.CallCheck{Kind: &irv1.CallCheck_Subset{Subset: &irv1.Subset{These: at(these), Of: at(of)}}}
}

func or(c *irv1.CallCheck, p, equals string) *irv1.CallCheck {
	c.Or = &irv1.Alternative{At: at(p), Equals: &irv1.Scalar{Kind: &irv1.Scalar_Text{Text: equals}}}
	return c
}

func parse(t testing.TB, s string) rawjson.Value {
	t.Helper()
	if s == "" {
		return nil
	}
	v, err := rawjson.Parse([]byte(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFailed(t *testing.T) {
	within := func() *irv1.CallCheck { return subset("response/can", "request/can") }
	tests := []struct {
		name              string
		check             *irv1.CallCheck
		request, response string
		holds             bool
	}{
		{"has", has("request/a/0/b"), `{"a":[{"b":false}]}`, ``, true},
		{"has none", has("request/a/0/b"), `{"a":[{"c":1}]}`, ``, false},
		{"has null", has("request/a"), `{"a":null}`, ``, false},
		{"has one of several", has("request/a/*/b"), `{"a":[{"b":null},{},{"b":0}]}`, ``, true},
		{"has, in an object", has("request/a/*/b"), `{"a":{"x":{},"y":{"b":1}}}`, ``, true},
		{"has, of no response", has("response/a"), `{"a":1}`, ``, false},
		{"has a whole response", has("response"), `{}`, `[]`, true},

		{"subset", within(), `{"can":["a","b"]}`, `{"can":["b"]}`, true},
		{"no subset", within(), `{"can":["a","b"]}`, `{"can":["b","c"]}`, false},
		{"nothing looked for", within(), `{"can":[]}`, `{"can":null}`, true},
		{"nothing there", within(), `{}`, `{"can":["a"]}`, false},
		{"neither", within(), `{}`, `{}`, true},
		{"escapes", within(), `{"can":["\u0061/"]}`, `{"can":["a\/"]}`, true},
		{"a string is no number", within(), `{"can":["1"]}`, `{"can":[1]}`, false},
		{"scalars are values", within(), `{"can":"a"}`, `{"can":"a"}`, true},
		{"objects", within(), `{"can":[{"a":1,"b":[2]}]}`, `{"can":[{ "b":[2], "a":1 }]}`, true},
		{"other objects", within(), `{"can":[{"a":1}]}`, `{"can":[{"a":2}]}`, false},
		{"lists of lists", subset("response/x/*/can", "request/can/*"), `{"can":["a",["b"]]}`, `{"x":[{"can":["a"]},{"can":["b"]}]}`, true},

		{"or", or(within(), "response/messages/*/code", "sorry"), `{}`, `{"can":["a"],"messages":[{"code":"x"},{"code":"\u0073orry"}]}`, true},
		{"or neither", or(within(), "response/messages/*/code", "sorry"), `{}`, `{"can":["a"],"messages":[{"code":"x"},{}]}`, false},
		{"or of another type", or(has("request/a"), "request/b", "1"), `{"b":1}`, ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failed := check.Failed([]*check.Check{check.New(tt.check)}, parse(t, tt.request), parse(t, tt.response))
			if holds := len(failed) == 0; holds != tt.holds {
				t.Errorf("it holds: %t, want %t", holds, tt.holds)
			}
		})
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		check    *irv1.CallCheck
		response bool
		path     string
	}{
		{has("request/payload/a b/0/*"), false, "$.payload['a b'][0][*]"},
		{has("request"), false, "$"},
		{subset("request/a", "request/b"), false, "$.a"},
		{subset("request/a", "response/b"), true, ""},
		{subset("response/a", "request/b"), true, ""},
		{or(has("request/a"), "response/b", "1"), true, ""},
	}
	for _, tt := range tests {
		if c := check.New(tt.check); c.Response != tt.response || c.Path != tt.path {
			t.Errorf("%v: looks at the response: %t, path %q", tt.check, c.Response, c.Path)
		}
	}
}

// TestNoChecksCostNothing holds that a tool without checks pays for none.
func TestNoChecksCostNothing(t *testing.T) {
	v := parse(t, `{"a":1}`)
	if n := testing.AllocsPerRun(100, func() { check.Failed(nil, v, v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzFailed holds that a check of raw bytes says what the same check of decoded
// values says.
func FuzzFailed(f *testing.F) {
	f.Add([]byte(`{"can":["a","b"]}`), []byte(`{"can":["b"],"m":[{"c":"x"}]}`), "response/can", "request/can", "response/m/*/c")
	f.Add([]byte(`{"a":{"*":[1,1.0,null,{"b":[]}]}}`), []byte(`[[1],{"b":[]}]`), "response/*", "request/a/*/*", "request/0")
	f.Fuzz(func(t *testing.T, request, response []byte, one, two, three string) {
		req, err := rawjson.Parse(request, 64)
		if err != nil {
			return
		}
		resp, err := rawjson.Parse(response, 64)
		if err != nil {
			return
		}
		for _, c := range []*irv1.CallCheck{has(one), subset(one, two), or(subset(one, two), three, "x")} {
			got := len(check.Failed([]*check.Check{check.New(c)}, req, resp)) == 0
			if want := slowly(c, req.Decode(), resp.Decode()); got != want {
				t.Errorf("%v holds: %t, want %t", c, got, want)
			}
		}
	})
}

// slowly is a check done on decoded values.
func slowly(c *irv1.CallCheck, request, response any) bool {
	values := func(p *irv1.Place) []any {
		if p.GetSide() == irv1.Side_SIDE_RESPONSE {
			return walk(response, p.GetSteps())
		}
		return walk(request, p.GetSteps())
	}
	holds := true
	if c.GetHas() != nil {
		holds = slices.ContainsFunc(values(c.GetHas()), func(v any) bool { return v != nil })
	} else {
		known := texts(values(c.GetSubset().GetOf()))
		for text := range texts(values(c.GetSubset().GetThese())) {
			holds = holds && known[text]
		}
	}
	return holds || c.GetOr() != nil && slices.ContainsFunc(values(c.GetOr().GetAt()), func(v any) bool { return v == "x" })
}

func walk(v any, steps []*irv1.Step) []any {
	if len(steps) == 0 {
		return []any{v}
	}
	token, every := steps[0].GetToken(), steps[0].GetEvery() != nil
	var all []any
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if every || name == token {
				all = append(all, walk(v[name], steps[1:])...)
			}
		}
	case []any:
		for i := range v {
			if every || strconv.Itoa(i) == token {
				all = append(all, walk(v[i], steps[1:])...)
			}
		}
	}
	return all
}

// texts returns the values of a place, elements of lists apart, as text.
func texts(all []any) map[string]bool {
	set := map[string]bool{}
	for _, v := range all {
		list, ok := v.([]any)
		if !ok && v != nil {
			list = []any{v}
		}
		for _, e := range list {
			data, err := json.Marshal(e)
			set[fmt.Sprint(string(data), err)] = true
		}
	}
	return set
}
