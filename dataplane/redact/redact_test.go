package redact_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/redact"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const request = irv1.Side_SIDE_REQUEST

// rules are those of places such as "a/*/b" in the request; "-a" reveals.
func rules(places ...string) *redact.Rules {
	var hide, reveal []*irv1.Place
	for _, s := range places {
		s, revealed := strings.CutPrefix(s, "-")
		p := &irv1.Place{Side: request}
		for _, token := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' }) {
			step := &irv1.Step{Kind: &irv1.Step_Token{Token: token}}
			if token == "*" {
				step = &irv1.Step{Kind: &irv1.Step_Every{Every: &irv1.Every{}}}
			}
			p.Steps = append(p.Steps, step)
		}
		if revealed {
			reveal = append(reveal, p)
		} else {
			hide = append(hide, p)
		}
	}
	return redact.New(hide, reveal)
}

func parse(t testing.TB, s string) rawjson.Value {
	t.Helper()
	v, err := rawjson.Parse([]byte(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRules(t *testing.T) {
	const card = `{ "card" : {"type": "visa","number":"4242","exp":[12, 30],"ok":true} , "id":7 }`
	tests := []struct {
		name   string
		rules  *redact.Rules
		value  string
		masked string
		hidden []string
	}{
		{"nothing", nil, card, card, nil},
		{"elsewhere", rules("buyer"), card, card, nil},
		{"a member", rules("card/number"), card, `{ "card" : {"type": "visa","number":"[redacted]","exp":[12, 30],"ok":true} , "id":7 }`, []string{`"4242"`}},
		{"an element", rules("card/exp/1"), card, `{ "card" : {"type": "visa","number":"4242","exp":[12, "[redacted]"],"ok":true} , "id":7 }`, []string{`30`}},
		{"an object", rules("card"), card, `{ "card" : "[redacted]" , "id":7 }`, []string{`"visa"`, `"4242"`, `12`, `30`}},
		{"all of it", rules(""), card, `"[redacted]"`, []string{`"visa"`, `"4242"`, `12`, `30`, `7`}},
		{"but for one", rules("card", "-card/type"), card, `{ "card" : {"type": "visa","number":"[redacted]","exp":"[redacted]","ok":"[redacted]"} , "id":7 }`, []string{`"4242"`, `12`, `30`}},
		{"every member", rules("card/*", "-card/type"), card, `{ "card" : {"type": "visa","number":"[redacted]","exp":"[redacted]","ok":"[redacted]"} , "id":7 }`, []string{`"4242"`, `12`, `30`}},
		{"every one shown but one", rules("card", "-card/*", "card/number"), card, `{ "card" : {"type": "visa","number":"[redacted]","exp":[12, 30],"ok":true} , "id":7 }`, []string{`"4242"`}},
		{"every element", rules("*/exp/*"), card, `{ "card" : {"type": "visa","number":"4242","exp":["[redacted]", "[redacted]"],"ok":true} , "id":7 }`, []string{`12`, `30`}},
		{"hidden again below", rules("card", "-card/exp", "card/exp/0"), card, `{ "card" : {"type": "[redacted]","number":"[redacted]","exp":["[redacted]", 30],"ok":"[redacted]"} , "id":7 }`, []string{`"visa"`, `"4242"`, `12`}},
		{"by its escaped name", rules("a"), `{"\u0061":1}`, `{"\u0061":"[redacted]"}`, []string{`1`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := parse(t, tt.value)
			if got := string(tt.rules.Value(request, v)); got != tt.masked {
				t.Errorf("value is %s\nwant %s", got, tt.masked)
			}
			var hidden []string
			for h := range tt.rules.Hidden(request, v) {
				hidden = append(hidden, string(h))
			}
			if !slices.Equal(hidden, tt.hidden) {
				t.Errorf("hidden is %q, want %q", hidden, tt.hidden)
			}
			if got := string(tt.rules.Value(irv1.Side_SIDE_RESPONSE, v)); got != tt.value {
				t.Errorf("as a response it is %s", got)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	r := rules("a/b", "-a/b/c", "a/b/c/d", "x/*/y")
	for path, want := range map[string]int{
		"": -1, "a": -1, "a/b": 2, "a/b/z/0": 2, "a/b/c": -1, "a/b/c/e": -1, "a/b/c/d/e": 4, "x/0/y/z": 3, "x/y": -1,
	} {
		tokens := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
		if got := r.Depth(request, tokens); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := rules("").Depth(request, []string{"a"}); got != 0 {
		t.Errorf("below all: %d", got)
	}
	var none *redact.Rules
	if got := none.Depth(request, []string{"a"}); got != -1 {
		t.Errorf("without rules: %d", got)
	}
}

func TestStrike(t *testing.T) {
	tests := []struct {
		name, hidden, value, want string
	}{
		{"nothing hidden", `[]`, `{"a": "b"}`, `{"a": "b"}`},
		{"in a text", `["4242424242424242"]`, `{"m": "card 4242424242424242 is bad"}`, `{"m": "card [redacted] is bad"}`},
		{"twice", `["917"]`, `["917917, 917"]`, `["[redacted][redacted], [redacted]"]`},
		{"at any depth, in a name, too", `["917"]`, `{"a":[{"cvc917":{"b":"917"}}]}`, `{"a":[{"cvc[redacted]":{"b":"[redacted]"}}]}`},
		{"names stay different", `["91","92"]`, `{"91":1,"92":2,"[redacted]":3,"[redacted] 2":4}`, `{"[redacted]":1,"[redacted] 2":2,"[redacted] 3":3,"[redacted] 2 2":4}`},
		{"overlapping", `["1234411","4111111111111111","11a"]`, `"ref 12344111111111111111a 1234411"`, `"ref [redacted] [redacted]"`},
		{"one within another", `["Ada Lovelace","Lovelace"]`, `"Ada Lovelaces"`, `"[redacted]s"`},
		{"the longest", `["Ada Lovelace","Ada Love"]`, `"by Ada Lovelace"`, `"by [redacted]"`},
		{"short, alone", `["US", 12]`, `["US", "USA", 12, 120, "12", "on 12"]`, `["[redacted]", "USA", "[redacted]", 120, "[redacted]", "on 12"]`},
		{"a word", `["val","Ada"]`, `["val", "invalid", "Ada!", "Adam", "_Ada", "ÄAda", "x-Ada-y"]`, `["[redacted]", "invalid", "[redacted]!", "Adam", "_Ada", "ÄAda", "x-[redacted]-y"]`},
		{"a long word", `["Lovelace"]`, `"myLovelaces"`, `"my[redacted]s"`},
		{"a number as text", `[4242]`, `["n 4242", 4242, 42421, 4.2]`, `["n [redacted]", "[redacted]", "[redacted]", 4.2]`},
		{"text as a number", `["4242"]`, `[4242]`, `["[redacted]"]`},
		{"by escapes", `["\u0034242"]`, `"4\u003242"`, `"[redacted]"`},
		{"JSON within a text", `["a\"b\nc"]`, `"body: {\"x\":\"a\\\"b\\nc\"}"`, `"body: {\"x\":\"[redacted]\"}"`},
		{"as it was written", `["\u0034242\u0041"]`, `"raw: \\u0034242\\u0041"`, `"raw: [redacted]"`},
		{"true is no secret", `[true,null]`, `[true,null,"true"]`, `[true,null,"true"]`},
		{"letters of all scripts", `["李明华"]`, `["李明华", "x 李明华 y", "李明华李"]`, `["[redacted]", "x [redacted] y", "李明华李"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := parse(t, tt.value)
			got, err := echo(t, tt.hidden).Strike(v)
			if err != nil || string(got) != tt.want {
				t.Errorf("struck is %s, %v\nwant %s", got, err, tt.want)
			}
			if tt.value == tt.want && &got[0] != &v[0] {
				t.Error("it is a copy")
			}
		})
	}
}

// echo returns one of the strings and numbers in hidden.
func echo(t testing.TB, hidden string) *redact.Echo {
	e := &redact.Echo{}
	for v := range rules("").Hidden(request, parse(t, hidden)) {
		e.Add(v)
	}
	return e
}

// TestTooMuch has answers that cost more to look through than they are worth.
func TestTooMuch(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	e := &redact.Echo{}
	e.AddText(long + "b")
	if _, err := e.StrikeText(long + long); !errors.Is(err, redact.ErrTooMuch) {
		t.Errorf("long texts: %v", err)
	}
	if _, err := e.Strike(parse(t, `{"a":"`+long+`"}`)); !errors.Is(err, redact.ErrTooMuch) {
		t.Errorf("and then: %v", err)
	}
	same := &redact.Echo{}
	for range 5000 {
		same.AddText("4242")
		same.AddText("12")
	}
	if got, err := same.StrikeText("n 4242"); got != "n [redacted]" || err != nil {
		t.Errorf("one text again and again: %q, %v", got, err)
	}
	many := &redact.Echo{}
	for i := range 5000 {
		many.AddText(strings.Repeat("x", i))
	}
	if _, err := many.StrikeText("y"); !errors.Is(err, redact.ErrTooMuch) {
		t.Errorf("many texts: %v", err)
	}
}

// FuzzStrike holds of everything that is hidden, and that is found wherever it
// occurs, that it does not occur in what is struck; and that what is struck is JSON,
// of the same shape, and the same bytes when nothing was to be struck.
func FuzzStrike(f *testing.F) {
	f.Add([]byte(`{"n":"4242","c":[917,"Ada Lovelace","x\"y"]}`), []byte(`{"m":"4242 of Ada Lovelace","917":[{"x\"y":9170}]}`))
	f.Add([]byte(`["aab","abc","redacted","]["]`), []byte(`["aaabc","[redacted]","x][redacted]y"]`))
	f.Fuzz(func(t *testing.T, hidden, value []byte) {
		h, err := rawjson.Parse(hidden, 64)
		if err != nil {
			return
		}
		v, err := rawjson.Parse(value, 64)
		if err != nil {
			return
		}
		e := &redact.Echo{}
		var texts []string
		for s := range rules("").Hidden(request, h) {
			e.Add(s)
			texts = append(texts, texting(s))
		}
		struck, err := e.Strike(v)
		if err != nil {
			return
		}
		if _, err := rawjson.Parse(struck, 64); err != nil {
			t.Fatalf("%s is no JSON: %v", struck, err)
		}
		if len(texts) == 0 && !bytes.Equal(struck, v) {
			t.Errorf("%s became %s", v, struck)
		}
		holdStruck(t, struck, texts)
		if kinds(struck) != kinds(v) {
			t.Errorf("%s has another shape than %s", struck, v)
		}
	})
}

func texting(v rawjson.Value) string {
	if text, ok := v.Text(); ok {
		return text
	}
	return string(v)
}

// holdStruck looks for texts in what is left between masks.
func holdStruck(t *testing.T, v rawjson.Value, texts []string) {
	t.Helper()
	look := func(s string) {
		for _, left := range strings.Split(s, redact.Mask) {
			for _, text := range texts {
				if foundAnywhere(text) && strings.Contains(left, text) {
					t.Errorf("%q has %q", s, text)
				}
			}
		}
	}
	if v.Kind() == rawjson.String || v.Kind() == rawjson.Number {
		look(texting(v))
	}
	for name, member := range v.Members() {
		look(texting(name))
		holdStruck(t, member, texts)
	}
	for element := range v.Elements() {
		holdStruck(t, element, texts)
	}
}

// foundAnywhere reports whether a text is struck wherever it occurs.
func foundAnywhere(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= 8 || n >= 3 && strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// kinds returns the brackets of v and how many values there are between them.
func kinds(v rawjson.Value) string {
	var b strings.Builder
	for _, member := range v.Members() {
		b.WriteString("{" + kinds(member) + "}")
	}
	for element := range v.Elements() {
		b.WriteString("[" + kinds(element) + "]")
	}
	return b.String()
}

// FuzzValue holds that the mask is all there is at a hidden place, that what is not
// hidden stays, byte for byte, and that masking twice is masking once.
func FuzzValue(f *testing.F) {
	f.Add([]byte(`{ "a" : {"b":[1, {"c":"x"}],"d":null}, "e":2 }`), "a", "a/b/*", "a/d")
	f.Add([]byte(`[[1],[2,[3]]]`), "*", "*/0", "1/1")
	f.Fuzz(func(t *testing.T, value []byte, one, two, three string) {
		v, err := rawjson.Parse(value, 64)
		if err != nil {
			return
		}
		r := rules(one, "-"+strings.TrimLeft(two, "-"), three)
		masked := r.Value(request, v)
		if _, err := rawjson.Parse(masked, 64); err != nil {
			t.Fatalf("%s is no JSON: %v", masked, err)
		}
		for h := range r.Hidden(request, masked) {
			if text, ok := h.Text(); !ok || text != redact.Mask {
				t.Errorf("%s is left in %s", h, masked)
			}
		}
		if again := r.Value(request, masked); !bytes.Equal(again, masked) {
			t.Errorf("%s, then %s", masked, again)
		}
		if v.Kind() == rawjson.Object {
			for name, member := range v.Members() {
				text, _ := name.Text()
				if r.Depth(request, []string{text}) < 0 && member.Kind() != rawjson.Object && member.Kind() != rawjson.Array && !bytes.Equal(masked.Member(text), member) {
					t.Errorf("%s became %s", member, masked.Member(text))
				}
			}
		}
	})
}
