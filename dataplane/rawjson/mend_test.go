package rawjson_test

import (
	"reflect"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

func TestMend(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"Party \ud83d"}`:             `{"a":"Party \ufffd"}`,
		`["\uDE00x","\ud83d\ud83d\ude00"]`: `["\ufffdx","\ufffd\ud83d\ude00"]`,
		`"\\ud83d"`:                        `"\\ud83d"`,
		`"\\\ud83d"`:                       `"\\\ufffd"`,
		"\ufeff{}":                         `{}`,
		"\ufeff\ufeff{}":                   "\ufeff{}",
		`"\ud83`:                           `"\ud83`,
		`\`:                                `\`,
		"":                                 "",
	} {
		if got := string(rawjson.Mend([]byte(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// FuzzMend holds that what is mended reads as encoding/json reads it, which puts U+FFFD
// where a surrogate is alone, and that what Parse accepts stays as it is.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{`{"a":"\ud83d\ud83d\ude00\\\ude00"}`, "\ufeff[1]", `"\u00e9\b\"\\"`, `{"\ud800":1,"\ud800\udc00":2}`, "\\", `"\ud83d\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		mended := rawjson.Mend(data)
		if _, err := rawjson.Parse(data, 64); err == nil && (len(data) != len(mended) || &mended[0] != &data[0]) {
			t.Fatalf("%q needs no mending and became %q", data, mended)
		}
		v, err := rawjson.Parse(mended, 64)
		if err != nil {
			return
		}
		want, err := oracle(trimmed(data))
		if err != nil || !reflect.DeepEqual(v.Decode(), want) {
			t.Errorf("%q is mended to %q: %#v, with encoding/json %#v, %v", data, mended, v.Decode(), want, err)
		}
	})
}

func trimmed(data []byte) []byte {
	if len(data) >= 3 && string(data[:3]) == "\ufeff" {
		return data[3:]
	}
	return data
}
