package locale

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestOf(t *testing.T) {
	set := New(&irv1.Locales{Supported: []string{"de", "en", "en-GB", "zh-Hant"}, Fallback: "en"})
	tests := []struct{ name, meta, want string }{
		{"exact", `{"openai/locale":"de"}`, "de"},
		{"in another case", `{"openai/locale":"EN-gb"}`, "en-GB"},
		{"cut off once", `{"openai/locale":"de-CH"}`, "de"},
		{"cut off twice", `{"openai/locale":"zh-Hant-TW-x"}`, "zh-Hant"},
		{"a single letter goes with what is behind it", `{"openai/locale":"zh-Hant-CN-x-private1-private2"}`, "zh-Hant"},
		{"not what is beside it", `{"openai/locale":"zh-Hans"}`, "en"},
		{"not what is below it", `{"openai/locale":"zh"}`, "en"},
		{"unknown", `{"openai/locale":"fr-FR"}`, "en"},
		{"any", `{"openai/locale":"*"}`, "en"},
		{"no tag", `{"openai/locale":"---"}`, "en"},
		{"long", `{"openai/locale":"de` + strings.Repeat("-a", 1000) + `"}`, "en"},
		{"the older name", `{"webplus/i18n":"de-AT"}`, "de"},
		{"both names", `{"webplus/i18n":"de","openai/locale":"en-GB"}`, "en-GB"},
		{"no text", `{"openai/locale":7}`, ""},
		{"no text, but in the older name", `{"openai/locale":7,"webplus/i18n":"de"}`, "de"},
		{"empty", `{"openai/locale":""}`, ""},
		{"none", `{}`, ""},
		{"no _meta", ``, ""},
	}
	for _, tt := range tests {
		if got := set.Of(rawjson.Value(tt.meta)); got != tt.want {
			t.Errorf("%s: Of(%.60s) = %q, want %q", tt.name, tt.meta, got, tt.want)
		}
	}
	if got := New(nil).Of(rawjson.Value(`{"openai/locale":"de"}`)); got != "" {
		t.Errorf("without locales, Of() = %q", got)
	}
}

// FuzzOf states the law of negotiation: what comes out is supported, is a beginning of
// what was wanted or else the default, and no longer beginning is supported.
func FuzzOf(f *testing.F) {
	supported := []string{"de", "en", "en-GB", "zh-Hant"}
	set := New(&irv1.Locales{Supported: supported, Fallback: "en"})
	for _, tag := range []string{"de", "en-gb-x", "zh-hant-a-b", "-", "--de", "d", "de-"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		quoted, err := json.Marshal(map[string]string{Key: tag})
		if err != nil || tag == "" {
			return
		}
		got := set.Of(quoted)
		if !slices.Contains(supported, got) {
			t.Fatalf("%q gives %q", tag, got)
		}
		for _, s := range supported {
			fits := len(tag) <= maxTag && (strings.EqualFold(tag, s) || strings.HasPrefix(strings.ToLower(tag), strings.ToLower(s)+"-"))
			if fits && len(s) > len(got) || fits && !strings.HasPrefix(strings.ToLower(tag), strings.ToLower(got)) {
				t.Errorf("%q gives %q, not %q", tag, got, s)
			}
		}
	})
}
