package rawjson_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// FuzzParse holds that what Parse accepts encoding/json accepts too, and that both
// read the same out of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, ` {"a":[1,2.50,-3e+4,true,{"b":null}],"c":"\u00e9\ud83d\ude00"} `,
		`{"a":1,"\u0061":2}`, `{"\ud800":1}`, "\"\xff\"", `"\ud800\udc00x"`, `{"":{"":{"":0}}}`, `12345678901234567890`, `{"a":1}{"b":2}`,
		"[1,\n2\r\n]", `{"a":"}","b":"\\"}`, `"\\\""`, "\"\u2028\"", `-0.0E-0`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := rawjson.Parse(data, 64)
		if err != nil {
			return
		}
		want, err := oracle(data)
		if err != nil {
			t.Fatalf("encoding/json refuses %q: %v", data, err)
		}
		if got := v.Decode(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q decodes to %#v, with encoding/json to %#v", data, got, want)
		}
		sameParts(t, v, want)
		sameNames(t, data, v)
		line := v.OneLine()
		if bytes.ContainsAny(line, "\r\n") {
			t.Errorf("%q has a newline left", line)
		}
		if again, err := oracle(line); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("without newlines %q became %q", data, line)
		}
	})
}

func oracle(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if !json.Valid(data) { // more than one value
		return nil, json.Unmarshal(data, new(any))
	}
	return v, nil
}

// sameNames holds that ParseNames says of data what Parse does, and of v, its value,
// the names that its members have.
func sameNames(t *testing.T, data []byte, v rawjson.Value) {
	t.Helper()
	want := [][]byte{[]byte("kept")}
	for name := range v.Members() {
		text, _ := name.Text()
		want = append(want, []byte(text))
	}
	again, names, err := rawjson.ParseNames(data, 64, want[:1:1])
	if err != nil || !bytes.Equal(again, v) || !slices.EqualFunc(names, want, bytes.Equal) {
		t.Errorf("ParseNames(%q) = %q, %q, %v, want %q, %q", data, again, names, err, v, want)
	}
}

// sameParts holds the accessors of v to want, and every part to being a value.
func sameParts(t *testing.T, v rawjson.Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		n := 0
		for name, value := range v.Members() {
			key, _ := name.Text()
			sameParts(t, value, want[key])
			if got := v.Member(key); !bytes.Equal(got, value) {
				t.Errorf("member %q is %q, %q when asked for", key, value, got)
			}
			rest, err := rawjson.Parse(v.Without([]string{key}), 64)
			left := maps.Clone(want)
			delete(left, key)
			if err != nil || !reflect.DeepEqual(rest.Decode(), any(left)) {
				t.Errorf("%q without %q is %q: %v", v, key, rest, err)
			}
			changed, err := rawjson.Parse(v.With(key, rawjson.Value(`[{}]`)), 64)
			left[key] = []any{map[string]any{}}
			if err != nil || !reflect.DeepEqual(changed.Decode(), any(left)) {
				t.Errorf("%q with another %q is %q: %v", v, key, changed, err)
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%q has %d members, want %d", v, n, len(want))
		}
	case []any:
		n := 0
		for e := range v.Elements() {
			sameParts(t, e, want[n])
			n++
		}
		if n != len(want) {
			t.Errorf("%q has %d elements, want %d", v, n, len(want))
		}
	}
	if _, err := rawjson.Parse(v, 64); err != nil {
		t.Errorf("part %q is no value: %v", v, err)
	}
	clone := func(name, value rawjson.Value) (rawjson.Value, rawjson.Value) {
		return slices.Clone(name), slices.Clone(value)
	}
	if got := v.Map(clone); !bytes.Equal(got, v) {
		t.Errorf("%q is mapped to %q by what changes nothing", v, got)
	}
}

// FuzzQuote holds that Quote says what it is given, and Parse takes it.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c\n", "\x00\x1f\u007f\u2028<&>", "\xff", "\U0001F600"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := rawjson.Parse(rawjson.Quote(s), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := v.Text(); got != string([]rune(s)) {
			t.Errorf("Quote(%q) says %q", s, got)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := session()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rawjson.Parse(data, 64); err != nil {
			b.Fatal(err)
		}
	}
}

// A session is about what services answer: many short strings, some long ones.
func session() rawjson.Value {
	return rawjson.Value(`{"id":"cs_1","items":[` + string(bytes.Repeat([]byte(`{"id":"item_1","quantity":2,"name":"A long name of a thing","totals":[{"type":"subtotal","amount":1000}]},`), 16)) +
		`{}],"notes":"` + string(bytes.Repeat([]byte("leave it at the door "), 30)) + `","status":"ready"}`)
}

func BenchmarkMember(b *testing.B) {
	v := session()
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		if v.Member("status") == nil {
			b.Fatal("there is no status")
		}
	}
}

func BenchmarkAppendQuote(b *testing.B) {
	v, buf := session(), []byte(nil)
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		buf = rawjson.AppendQuote(buf[:0], []byte(v))
	}
}
