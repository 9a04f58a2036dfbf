package serve

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestParamHeaders holds what a client says in headers of arguments to the arguments,
// on the fast path and on the other.
func TestParamHeaders(t *testing.T) {
	proof.Ran(t)
	binding := librarytest.Binding("library.example")
	get := binding.GetTools()[1]
	for _, a := range []*irv1.Argument{
		{Name: "count", Type: irv1.ArgumentType_ARGUMENT_TYPE_INTEGER, ClientHeader: "Mcp-Param-Count"},
		{Name: "loud", Type: irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN, ClientHeader: "Mcp-Param-Loud"},
		{Name: "region", Type: irv1.ArgumentType_ARGUMENT_TYPE_STRING, ClientHeader: "Mcp-Param-Region"},
	} {
		a.In = irv1.ArgumentIn_ARGUMENT_IN_QUERY
		get.Arguments = append(get.Arguments, a)
	}
	get.Arguments = append(get.Arguments[1:2:2], get.Arguments[0], get.Arguments[2], get.Arguments[3]) // by name
	pair := twinsOf(t, librarytest.Upstream(), binding)
	coded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	const region, count, loud = "Mcp-Param-Region", "Mcp-Param-Count", "Mcp-Param-Loud"
	tests := []struct {
		name, arguments string
		headers         http.Header
		refused         bool
	}{
		{"none of them", `{"id":"1"}`, nil, false},
		{"null is absent", `{"id":"1","region":null}`, nil, false},
		{"as it is", `{"id":"1","region":"eu"}`, http.Header{region: {"eu"}}, false},
		{"in Base64", `{"id":"1","region":"é"}`, http.Header{region: {coded("é")}}, false},
		{"Base64 without its end is a text", `{"id":"1","region":"=?base64?ZXU="}`, http.Header{region: {"=?base64?ZXU="}}, false},
		{"empty", `{"id":"1","region":""}`, http.Header{region: {""}}, false},
		{"an integer", `{"id":"1","count":-5}`, http.Header{count: {"-5"}}, false},
		{"an integer in another form", `{"id":"1","count":50}`, http.Header{count: {"5e1"}}, false},
		{"a boolean", `{"id":"1","loud":true}`, http.Header{loud: {"true"}}, false},
		{"another text", `{"id":"1","region":"eu"}`, http.Header{region: {"us"}}, true},
		{"another case", `{"id":"1","region":"eu"}`, http.Header{region: {"EU"}}, true},
		{"another text in Base64", `{"id":"1","region":"eu"}`, http.Header{region: {coded("us")}}, true},
		{"bad padding", `{"id":"1","region":"eu"}`, http.Header{region: {"=?base64?ZXU?="}}, true},
		{"bad Base64", `{"id":"1","region":"eu"}`, http.Header{region: {"=?base64?Z!U=?="}}, true},
		{"no header", `{"id":"1","region":"eu"}`, nil, true},
		{"no header of an empty text", `{"id":"1","region":""}`, nil, true},
		{"two headers", `{"id":"1","region":"eu"}`, http.Header{region: {"eu", "eu"}}, true},
		{"no argument", `{"id":"1"}`, http.Header{region: {"eu"}}, true},
		{"no argument and an empty header", `{"id":"1"}`, http.Header{region: {""}}, true},
		{"another integer", `{"id":"1","count":5}`, http.Header{count: {"6"}}, true},
		{"no integer in the header", `{"id":"1","count":5}`, http.Header{count: {"five"}}, true},
		{"an integer that is not exact", `{"id":"1","count":9007199254740993}`, http.Header{count: {"9007199254740992"}}, true},
		{"another boolean", `{"id":"1","loud":true}`, http.Header{loud: {"false"}}, true},
		{"a value of another kind", `{"id":"1","region":["eu"]}`, http.Header{region: {"eu"}}, true},
		{"a name that is no text, which the call is refused for", `{"\ud800":1,"id":"1"}`, http.Header{region: {"eu"}}, false},
		{"no text, which the call is refused for", `{"id":"1","region":"\udfff"}`, http.Header{region: {"eu"}}, false},
		{"an argument twice, which the call is refused for", `{"id":"1","region":"us","region":"us"}`, http.Header{region: {"eu"}}, false},
		{"one of two", `{"id":"1","region":"eu","count":5}`, http.Header{region: {"eu"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, h := range []http.Header{headers()[7], headers()[1]} {
				meta := `"_meta":{}`
				modern := h.Get("Mcp-Protocol-Version") >= message.Modern
				if modern {
					meta = modernMeta
				}
				for name, values := range tt.headers {
					h[name] = values
				}
				in := inbound{"/library", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":` + tt.arguments + `,` + meta + `}}`, h}
				pair.hold(t, in)
				answer := in.to(pair.slow)
				got := string(readAll(t, answer))
				if refused := strings.Contains(got, `"code":-32020`) && answer.StatusCode == http.StatusBadRequest; refused != (tt.refused && modern) {
					t.Errorf("%s: %d %s", h.Get("Mcp-Protocol-Version"), answer.StatusCode, got)
				}
			}
		})
	}
}

// FuzzParamHeaders holds that what a client says of one text in a header, as it is where
// a header can hold it or in Base64, is that text and no other.
func FuzzParamHeaders(f *testing.F) {
	proof.Ran(f)
	for _, text := range []string{"", "eu", "é", " a", "=?base64?ZXU=?=", "=?base64?", "?=", "\x00", "\n", `"`} {
		f.Add(text, "eu")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		if !utf8.ValidString(text) || !utf8.ValidString(other) {
			return // no JSON says it
		}
		forms := []string{"=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="}
		if irv1.ValidHeaderValue(text) && !strings.HasPrefix(text, "=?base64?") {
			forms = append(forms, text)
		}
		for _, form := range forms {
			h := http.Header{"Mcp-Param-X": {form}}
			if !saysValue(h, "Mcp-Param-X", rawjson.Quote(text)) {
				t.Errorf("%q is not taken for %q", form, text)
			}
			if got := saysValue(h, "Mcp-Param-X", rawjson.Quote(other)); got != (other == text) {
				t.Errorf("%q for %q: %t", form, other, got)
			}
		}
	})
}
