package fill_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/fill"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// text returns a text of parts; one that begins with "$" is a variable.
func text(parts ...string) *irv1.Text {
	t := &irv1.Text{}
	for _, p := range parts {
		if name, ok := strings.CutPrefix(p, "$"); ok {
			t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name}})
		} else {
			t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: p}})
		}
	}
	return t
}

func TestText(t *testing.T) {
	tests := []struct {
		name string
		text *irv1.Text
		want string
	}{
		{"nothing", nil, ""},
		{"a literal", text("Hello {a}."), "Hello {a}."},
		{"variables", text("$a", " and ", "$b", "$a"), "{b} and Bea{b}"},
		{"one without a value", text("<", "$c", ">"), "<>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fill.Text(tt.text, fill.Values{"a": "{b}", "b": "Bea"}); got != tt.want {
				t.Errorf("Text() = %q, want %q", got, tt.want)
			}
		})
	}
}

func asText(name string, parts ...string) *irv1.UseArgument {
	return &irv1.UseArgument{Name: name, Value: &irv1.UseArgument_Text{Text: text(parts...)}}
}

func asScalar(name, variable string) *irv1.UseArgument {
	return &irv1.UseArgument{Name: name, Value: &irv1.UseArgument_Scalar{Scalar: variable}}
}

func asJSON(name, value string) *irv1.UseArgument {
	return &irv1.UseArgument{Name: name, Value: &irv1.UseArgument_Json{Json: []byte(value)}}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name string
		args []*irv1.UseArgument
		want string
	}{
		{"none", nil, `{}`},
		{"texts", []*irv1.UseArgument{asText("x", "$quote"), asText("y", "a-", "$n")}, `{"x":"say \"hi\"","y":"a-7"}`},
		{"a text without its value", []*irv1.UseArgument{asText("x", "a-", "$none"), asText("y", "b")}, `{"y":"b"}`},
		{"an empty value", []*irv1.UseArgument{asText("x", "$empty")}, `{"x":""}`},
		{"numbers", []*irv1.UseArgument{asScalar("x", "n"), asScalar("y", "yes"), asScalar("z", "none")}, `{"x":7,"y":true}`},
		{"no numbers", []*irv1.UseArgument{asScalar("x", "quote"), asScalar("y", "list"), asScalar("z", "null"), asScalar("e", "empty")},
			`{"x":"say \"hi\"","y":"[1]","z":"null","e":""}`},
		{"constants", []*irv1.UseArgument{asJSON("x", `{"a":[1]}`), asJSON(`"`, `null`)}, `{"x":{"a":[1]},"\"":null}`},
	}
	values := fill.Values{"quote": `say "hi"`, "n": "7", "yes": "true", "list": "[1]", "null": "null", "empty": ""}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(fill.Arguments(tt.args, values)); got != tt.want {
				t.Errorf("Arguments() = %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzArguments holds that whatever a value is, it is one string of the arguments, or
// one number, true or false: it adds no argument and changes no other.
func FuzzArguments(f *testing.F) {
	for _, v := range []string{"", "7", "true", "-0.5e3", `","x":"`, `\`, "{a}", "null", "\x00ü\u2028"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		data := fill.Arguments([]*irv1.UseArgument{asText("text", "<", "$v", ">"), asScalar("scalar", "v"), asJSON("json", `[1]`)}, fill.Values{"v": value})
		var got struct {
			Text   string
			Scalar any
			JSON   []int
		}
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.DisallowUnknownFields()
		d.UseNumber()
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		clean := strings.ToValidUTF8(value, "\ufffd")
		if strings.ToValidUTF8(got.Text, "\ufffd") != got.Text || len(got.JSON) != 1 {
			t.Errorf("%q became %s", value, data)
		}
		if clean == value && got.Text != "<"+value+">" {
			t.Errorf("%q became %s", value, data)
		}
		switch s := got.Scalar.(type) {
		case string:
			if clean == value && s != value {
				t.Errorf("%q became %s", value, data)
			}
		case json.Number:
			if string(s) != strings.TrimSpace(value) {
				t.Errorf("%q became %s", value, data)
			}
		case bool:
			if s != (strings.TrimSpace(value) == "true") {
				t.Errorf("%q became %s", value, data)
			}
		default:
			t.Errorf("%q became %s", value, data)
		}
	})
}

// FuzzJSON states the law of texts that are JSON: whatever the values are, they are the
// strings in which they stand.
func FuzzJSON(f *testing.F) {
	f.Add("", "")
	f.Add(`"`, `\`)
	f.Add("{a}\n\u2028", "<&>")
	f.Fuzz(func(t *testing.T, a, b string) {
		got := fill.JSON(text(`{"a":"`, "$a", `","both":["<`, "$a", "$b", `>"],"c":"`, "$c", `"}`), fill.Values{"a": a, "b": b})
		var read struct {
			A, C string
			Both []string
		}
		if err := json.Unmarshal([]byte(got), &read); err != nil {
			t.Fatalf("%q and %q make %s: %v", a, b, got, err)
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && (read.A != a || read.C != "" || len(read.Both) != 1 || read.Both[0] != "<"+a+b+">") {
			t.Errorf("%q and %q make %s", a, b, got)
		}
	})
}
