package serve

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// hint has the header of b's meta rule take what clients say beside the arguments, and
// results tell what [echoing] says of it.
func hint(b *irv1.Binding) {
	b.Locales = &irv1.Locales{Supported: []string{"de", "en"}, Fallback: "en"}
	b.Meta[0].Sources = []*irv1.MetaSource{
		{Kind: &irv1.MetaSource_RequestMeta{RequestMeta: &irv1.RequestMeta{Key: "openai/userAgent", At: &irv1.Pointer{}}}},
		{Kind: &irv1.MetaSource_Locale{Locale: &irv1.NegotiatedLocale{}}},
	}
	for _, tool := range b.GetTools() {
		tool.Meta = []string{b.Meta[0].GetField()}
		tool.ResultMeta = []*irv1.ResultMeta{{Key: "example.com/hint", Source: &irv1.ResultMeta_Header{Header: b.Meta[0].GetHeader()}}}
	}
}

// echoing answers as handler does, with the header X-Request-Id of the request.
func echoing(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header["X-Request-Id"]; id != nil {
			w.Header()["X-Request-Id"] = id
		}
		handler.ServeHTTP(w, r)
	})
}

// TestLocale has the language that is negotiated in the answer to who meets an endpoint,
// and in results, where a client names one.
func TestLocale(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Binding("library.example")
	hint(b)
	pair := twinsOf(t, echoing(librarytest.Upstream()), b)
	for _, version := range mcp.SupportedProtocolVersions() {
		for want, meta := range map[string]string{`"openai/locale":"de"`: `"openai/locale":"de-CH"`, `"openai/locale":"en"`: `"webplus/i18n":"fr"`, ``: `"x":1`} {
			meta := `"_meta":{` + meta + `}`
			if version >= message.Modern {
				meta = strings.Replace(modernMeta, "{", strings.TrimSuffix(strings.TrimPrefix(meta, `"_meta":`), "}")+",", 1)
			}
			hello, call := metaOf(helloOf(version, `,"x":1`), version, meta), metaOf(callOf(version, `"name":"get_book","arguments":{"id":"1"}`), version, meta)
			for _, in := range []inbound{hello, call} {
				pair.hold(t, in)
				if said := string(readAll(t, in.to(pair.fast))); strings.Contains(said, `"openai/locale"`) != (want != "") || !strings.Contains(said, want) {
					t.Errorf("%s: %s is answered with %s, want %s", version, in.body, said, want)
				}
			}
		}
	}
}

// metaOf returns in, of a client that speaks version, with other "_meta".
func metaOf(in inbound, version, meta string) inbound {
	if version >= message.Modern {
		in.body = strings.Replace(in.body, modernMeta, meta, 1)
	} else {
		in.body = strings.TrimSuffix(in.body, "}}") + "," + meta + "}}"
	}
	return in
}

// TestHints has a header of the request to a service from what a client says of itself.
func TestHints(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Binding("library.example")
	hint(b)
	pair := twinsOf(t, echoing(librarytest.Upstream()), b)
	for _, version := range mcp.SupportedProtocolVersions() {
		for want, hints := range map[string]string{`"example.com/hint":"ChatGPT/1"`: `"openai/userAgent":"ChatGPT/1","openai/locale":"de"`, `"example.com/hint":"de"`: `"openai/userAgent":"\n","openai/locale":"de"`,
			`"example.com/hint":"9007199254740993"`: `"openai/userAgent":9007199254740993`, `"example.com/hint":"-122.4190"`: `"openai/userAgent":-122.4190`} {
			meta := `"_meta":{` + hints + `}`
			if version >= message.Modern {
				meta = strings.Replace(modernMeta, "{", "{"+hints+",", 1)
			}
			in := metaOf(callOf(version, `"name":"get_book","arguments":{"id":"1"}`), version, meta)
			pair.hold(t, in)
			if said := string(readAll(t, in.to(pair.fast))); !strings.Contains(said, want) {
				t.Errorf("%s: answer is %s, want %s", version, said, want)
			}
		}
	}
}
