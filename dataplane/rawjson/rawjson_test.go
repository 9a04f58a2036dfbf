package rawjson_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name    string
		in      string
		want    string // the value, when there is one
		wantErr string
	}{
		{name: "object", in: `{"a":1,"b":[true,false,null]}`, want: `{"a":1,"b":[true,false,null]}`},
		{name: "space around", in: " \t\r\n [1 , 2]\n ", want: `[1 , 2]`},
		{name: "numbers stay as written", in: `[12345678901234567890,1.0,-0,1E+2,0.5e-7]`, want: `[12345678901234567890,1.0,-0,1E+2,0.5e-7]`},
		{name: "escapes stay as written", in: `"\u0041\/\ud83d\ude00\n"`, want: `"\u0041\/\ud83d\ude00\n"`},
		{name: "same name in another object", in: `{"a":{"a":1},"b":{"a":1}}`, want: `{"a":{"a":1},"b":{"a":1}}`},
		{name: "same name after an inner object", in: `{"a":{"b":1},"b":2}`, want: `{"a":{"b":1},"b":2}`},
		{name: "empty", in: ``, wantErr: "unexpected end at byte 0"},
		{name: "only space", in: ` `, wantErr: "unexpected end at byte 1"},
		{name: "two values", in: `{} {}`, wantErr: "unexpected data after the value at byte 3"},
		{name: "trailing byte", in: "{}\x00", wantErr: "unexpected data after the value at byte 2"},
		{name: "byte order mark", in: "\ufeff{}", wantErr: "unexpected character at byte 0"},
		{name: "duplicate", in: `{"a":1,"a":2}`, wantErr: "duplicate member name at byte 7"},
		{name: "duplicate by escape", in: `{"a":1,"\u0061":2}`, wantErr: "duplicate member name at byte 7"},
		{name: "duplicate by escaped slash", in: `{"\/":1,"/":2}`, wantErr: "duplicate member name at byte 8"},
		{name: "duplicate deep inside", in: `[{"x":{"a":1,"b":2,"a":3}}]`, wantErr: "duplicate member name at byte 19"},
		{name: "duplicate after an inner object", in: `{"a":{"b":1},"a":2}`, wantErr: "duplicate member name at byte 13"},
		{name: "duplicate of empty names", in: `{"":1,"":2}`, wantErr: "duplicate member name at byte 6"},
		{name: "invalid UTF-8", in: "\"\xff\"", wantErr: "invalid UTF-8 at byte 1"},
		{name: "invalid UTF-8 in a name", in: "{\"\xc3\x28\":1}", wantErr: "invalid UTF-8 at byte 2"},
		{name: "encoded surrogate", in: "\"\xed\xa0\x80\"", wantErr: "invalid UTF-8 at byte 1"},
		{name: "lone high surrogate", in: `"\ud800"`, wantErr: "bad escape at byte 1"},
		{name: "lone low surrogate", in: `"\udc00"`, wantErr: "bad escape at byte 1"},
		{name: "two high surrogates", in: `"\ud800\ud800"`, wantErr: "bad escape at byte 1"},
		{name: "escape cut off", in: `"\u00"`, wantErr: "bad escape at byte 1"},
		{name: "unknown escape", in: `"\x"`, wantErr: "bad escape at byte 1"},
		{name: "newline in a string", in: "\"a\nb\"", wantErr: "control character in a string at byte 2"},
		{name: "string without end", in: `"abc`, wantErr: "unexpected end of a string at byte 4"},
		{name: "string that ends in a backslash", in: `"abc\`, wantErr: "bad escape at byte 4"},
		{name: "leading zero", in: `01`, wantErr: "unexpected data after the value at byte 1"},
		{name: "plus", in: `+1`, wantErr: "unexpected character at byte 0"},
		{name: "bare minus", in: `-`, wantErr: "expected a digit at byte 1"},
		{name: "bare point", in: `1.`, wantErr: "expected a digit at byte 2"},
		{name: "bare exponent", in: `1e`, wantErr: "expected a digit at byte 2"},
		{name: "NaN", in: `NaN`, wantErr: "unexpected character at byte 0"},
		{name: "word cut off", in: `nul`, wantErr: "unexpected character at byte 0"},
		{name: "word too long", in: `nulll`, wantErr: "unexpected data after the value at byte 4"},
		{name: "trailing comma", in: `[1,]`, wantErr: "unexpected character at byte 3"},
		{name: "trailing comma in an object", in: `{"a":1,}`, wantErr: "expected a member name at byte 7"},
		{name: "no colon", in: `{"a" 1}`, wantErr: "expected a colon at byte 5"},
		{name: "no comma", in: `[1 2]`, wantErr: "expected a comma or a closing bracket at byte 3"},
		{name: "no comma in an object", in: `{"a":1 "b":2}`, wantErr: "expected a comma or a closing brace at byte 7"},
		{name: "not closed", in: `{"a":[1`, wantErr: "expected a comma or a closing bracket at byte 7"},
		{name: "comment", in: `{} // x`, wantErr: "unexpected data after the value at byte 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rawjson.Parse([]byte(tt.in), 64)
			if string(got) != tt.want || text(err) != tt.wantErr {
				t.Errorf("Parse(%q) = %q, %q; want %q, %q", tt.in, got, text(err), tt.want, tt.wantErr)
			}
			if syntax := (*rawjson.SyntaxError)(nil); err != nil && !errors.As(err, &syntax) {
				t.Errorf("error is a %T", err)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := rawjson.Parse(nested(64), 64); err != nil {
		t.Errorf("64 arrays: %v", err)
	}
	if _, err := rawjson.Parse(nested(65), 64); err == nil {
		t.Error("65 arrays pass a limit of 64")
	}
	if _, err := rawjson.Parse([]byte(`1`), 0); err != nil {
		t.Errorf("a scalar at depth 0: %v", err)
	}
}

// An object with many members goes another way than one with few.
func TestParseManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(`"` + strings.Repeat("n", i) + `":0,`)
	}
	for i := range 100 {
		last := `"` + strings.Repeat("n", i) + `":1`
		if _, err := rawjson.Parse([]byte("{"+b.String()+last+"}"), 1); err == nil {
			t.Fatalf("a second name of %d letters passes", i)
		}
	}
	if _, err := rawjson.Parse([]byte("{"+b.String()+`"other":{"n":1}}`), 2); err != nil {
		t.Error(err)
	}
}

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		json string
		want []string
	}{
		{`7`, []string{"7"}}, {`"7"`, nil}, {` -1.5e+3 `, []string{"-1.5e+3"}}, {`true`, nil},
		{`{"1":[0 ,"a\"2",{"b":-0.0}],"3":null,"c":4E5}`, []string{"0", "-0.0", "4E5"}},
	} {
		v, err := rawjson.Parse([]byte(tt.json), 9)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for n := range v.Numbers() {
			got = append(got, string(n))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s has the numbers %q, want %q", tt.json, got, tt.want)
		}
		for n := range v.Numbers() {
			if string(n) != tt.want[0] {
				t.Errorf("the first number of %s is %s", tt.json, n)
			}
			break
		}
	}
}

func TestMembers(t *testing.T) {
	v := parse(t, `{ "a" : {"x": ["]", "}"]} , "b\"" :"}" ,"c":1, "d" : [ ] }`)
	var got []string
	for name, value := range v.Members() {
		got = append(got, string(name)+"="+string(value))
	}
	want := `"a"={"x": ["]", "}"]}|"b\""="}"|"c"=1|"d"=[ ]`
	if strings.Join(got, "|") != want {
		t.Errorf("members are %s, want %s", strings.Join(got, "|"), want)
	}
	for range parse(t, `[1]`).Members() {
		t.Error("an array has members")
	}
}

func TestElements(t *testing.T) {
	v := parse(t, ` [ 1 ,"a,b", [2, 3] ,{ } ,null] `)
	var got []string
	for e := range v.Elements() {
		got = append(got, string(e))
	}
	if want := `1|"a,b"|[2, 3]|{ }|null`; strings.Join(got, "|") != want {
		t.Errorf("elements are %s, want %s", strings.Join(got, "|"), want)
	}
	for range parse(t, `{"a":1}`).Elements() {
		t.Error("an object has elements")
	}
}

func TestLookup(t *testing.T) {
	v := parse(t, `{"a":{"b":[10,{"c":"x"}]},"\u00e9":1,"":2,"01":3}`)
	tests := []struct {
		tokens []string
		want   string
	}{
		{nil, string(v)},
		{[]string{"a", "b", "0"}, `10`},
		{[]string{"a", "b", "1", "c"}, `"x"`},
		{[]string{"a", "b", "01"}, ``},
		{[]string{"a", "b", "-1"}, ``},
		{[]string{"a", "b", "-"}, ``},
		{[]string{"a", "b", "2"}, ``},
		{[]string{"a", "x", "y"}, ``},
		{[]string{"é"}, `1`},
		{[]string{""}, `2`},
		{[]string{"01"}, `3`},
	}
	for _, tt := range tests {
		if got := v.Lookup(tt.tokens); string(got) != tt.want {
			t.Errorf("Lookup(%q) = %s, want %s", tt.tokens, got, tt.want)
		}
	}
}

// What is forwarded is the caller's bytes and no copy of them, and appending to it
// cannot write over what follows.
func TestValuesShareBytes(t *testing.T) {
	in := []byte(`{"payload": { "n" : 1.0 } ,"next":1}`)
	v, err := rawjson.Parse(in, 8)
	if err != nil {
		t.Fatal(err)
	}
	payload := v.Member("payload")
	if &payload[0] != &in[12] {
		t.Error("the payload is a copy")
	}
	if cap(payload) != len(payload) {
		t.Error("the payload has room that belongs to its neighbour")
	}
}

func TestOneLine(t *testing.T) {
	in := "{\r\n  \"a\\n\": [1,\n\t2]\n}"
	if got, want := string(parse(t, in).OneLine()), "{  \"a\\n\": [1,\t2]}"; got != want {
		t.Errorf("OneLine = %q, want %q", got, want)
	}
	same := parse(t, `{"a": 1}`)
	if got := same.OneLine(); &got[0] != &same[0] {
		t.Error("a value without newlines is copied")
	}
}

func TestNoValue(t *testing.T) {
	var v rawjson.Value
	if v.Kind() != rawjson.None || v.Kind().String() != "nothing" {
		t.Errorf("kind is %s", v.Kind())
	}
	if v.Member("a") != nil || v.Lookup([]string{"a", "0"}) != nil || v.OneLine() != nil || v.Decode() != nil {
		t.Error("no value has parts")
	}
	if _, ok := v.Text(); ok {
		t.Error("no value has text")
	}
}

func parse(t *testing.T, s string) rawjson.Value {
	t.Helper()
	v, err := rawjson.Parse([]byte(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMap(t *testing.T) {
	drop := func(name, value rawjson.Value) (rawjson.Value, rawjson.Value) {
		if string(value) == "1" {
			return rawjson.Quote("x"), rawjson.Quote("y")
		}
		return name, value
	}
	for in, want := range map[string]string{
		`{ "a" : 1 , "b":[1] }`: `{ "x" : "y" , "b":[1] }`,
		`[ 1,2 , 1]`:            `[ "y",2 , "y"]`,
		`{"a":2}`:               `{"a":2}`,
		`{}`:                    `{}`,
		`[ ]`:                   `[ ]`,
		`1`:                     `1`,
	} {
		v, err := rawjson.Parse([]byte(in), 9)
		if err != nil {
			t.Fatal(err)
		}
		got := v.Map(drop)
		if string(got) != want || string(v) != in {
			t.Errorf("%s is mapped to %s, want %s; it is %s now", in, got, want, v)
		}
		if in == want && &got[0] != &v[0] {
			t.Errorf("%s is copied", in)
		}
	}
}

func TestWithout(t *testing.T) {
	tests := []struct {
		from   string
		tokens []string
		want   string // "": from
	}{
		{`{"a":1}`, []string{"a"}, `{}`},
		{`{ "a" : 1 , "b" : 2 , "c":3 }`, []string{"a"}, `{ "b" : 2 , "c":3 }`},
		{`{ "a" : 1 , "b" : 2 , "c":3 }`, []string{"b"}, `{ "a" : 1 , "c":3 }`},
		{`{ "a" : 1 , "b" : 2 , "c":3 }`, []string{"c"}, `{ "a" : 1 , "b" : 2  }`},
		{`{"\u0061":{"b":[1,{"c":"},","d":1.0}]}}`, []string{"a", "b", "1", "c"}, `{"\u0061":{"b":[1,{"d":1.0}]}}`},
		{`{"a":{"b":1},"c":{"b":1}}`, []string{"c", "b"}, `{"a":{"b":1},"c":{}}`},
		{`{"a":[1,2]}`, []string{"a", "0"}, ``},
		{`[{"a":1}]`, []string{"0", "a"}, `[{}]`},
		{`{"a":1}`, nil, ``},
		{`{"a":1}`, []string{"b"}, ``},
		{`{"a":1}`, []string{"a", "b"}, ``},
		{`{"a":1}`, []string{"b", "a"}, ``},
		{`"a"`, []string{"a"}, ``},
		{`{}`, []string{"a"}, ``},
	}
	for _, tt := range tests {
		v, err := rawjson.Parse([]byte(tt.from), 8)
		if err != nil {
			t.Fatal(err)
		}
		want := tt.want
		if want == "" {
			want = tt.from
		}
		if got := v.Without(tt.tokens); string(got) != want || tt.want == "" && &got[0] != &v[0] || string(v) != tt.from {
			t.Errorf("%s without %q is %s of %s, want %s", tt.from, tt.tokens, got, v, want)
		}
	}
}

func TestWith(t *testing.T) {
	for _, tt := range []struct{ from, name, want string }{
		{`{}`, "a", `{"a":7.0}`},
		{`{ }`, "a", `{ "a":7.0}`},
		{`{"b" : 1 }`, "a", `{"b" : 1 ,"a":7.0}`},
		{`{ "a" : [1] , "b":2}`, "a", `{ "a" : 7.0 , "b":2}`},
		{`{"\u0061":1}`, "a", `{"\u0061":7.0}`},
		{`{"a":1}`, "<\n\"", `{"a":1,"<\n\"":7.0}`},
	} {
		v, err := rawjson.Parse([]byte(tt.from), 8)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(tt.name)
		if got := v.With(name, rawjson.Value("7.0")); string(got) != tt.want || string(v) != tt.from {
			t.Errorf("%s with %q is %s of %s, want %s", tt.from, name, got, v, tt.want)
		}
	}
}
