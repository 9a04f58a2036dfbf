package call_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func inMeta(key string, tokens ...string) *irv1.MetaSource {
	return &irv1.MetaSource{Kind: &irv1.MetaSource_RequestMeta{RequestMeta: &irv1.RequestMeta{Key: key, At: pointer(tokens...)}}}
}

func inHeader(name string) *irv1.MetaSource {
	return &irv1.MetaSource{Kind: &irv1.MetaSource_Header{Header: name}}
}

// TestHints has headers whose values come from what a client says beside the arguments.
func TestHints(t *testing.T) {
	location := inMeta("openai/userLocation", "city")
	tests := []struct {
		name    string
		sources []*irv1.MetaSource
		args    string // the argument meta, with version
		meta    string
		header  http.Header
		change  func(*irv1.MetaRule)
		want    string // of the header; "" for none
		err     string // of the call
	}{
		{name: "text", sources: []*irv1.MetaSource{inMeta("openai/userAgent")}, meta: `{"openai/userAgent":"ChatGPT\/1"}`, want: "ChatGPT/1"},
		{name: "place", sources: []*irv1.MetaSource{location}, meta: `{"openai/userLocation":{"city":"Ghent"}}`, want: "Ghent"},
		{name: "number", sources: []*irv1.MetaSource{inMeta("a", "0")}, meta: `{"a":[-122.41940]}`, want: "-122.41940"},
		{name: "large number", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":9007199254740993}`, want: "9007199254740993"},
		{name: "truth", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":true}`, want: "true"},
		{name: "object", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":{}}`},
		{name: "null", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":null}`},
		{name: "no _meta", sources: []*irv1.MetaSource{inMeta("a")}},
		{name: "header", sources: []*irv1.MetaSource{inHeader("X-Region")}, header: http.Header{"X-Region": {"eu"}}, want: "eu"},
		{name: "header twice", sources: []*irv1.MetaSource{inHeader("X-Region")}, header: http.Header{"X-Region": {"eu", "us"}}},
		{name: "locale", sources: []*irv1.MetaSource{{Kind: &irv1.MetaSource_Locale{Locale: &irv1.NegotiatedLocale{}}}}, meta: `{"openai/locale":"de-CH"}`, want: "de"},
		{name: "the argument goes before", sources: []*irv1.MetaSource{location}, args: `,"agent":"said"`, meta: `{"openai/userLocation":{"city":"Ghent"}}`, want: "said"},
		{name: "unless it is not for callers", sources: []*irv1.MetaSource{location}, args: `,"agent":"said"`, meta: `{"openai/userLocation":{"city":"Ghent"}}`,
			change: func(r *irv1.MetaRule) { r.Hidden = true }, want: "Ghent"},
		{name: "the first that passes", sources: []*irv1.MetaSource{inMeta("a"), inHeader("X-Region"), inMeta("b")}, meta: `{"a":"S\u00e3o Paulo","b":"c"}`, header: http.Header{"X-Region": {"far too long a value"}},
			change: func(r *irv1.MetaRule) { r.MaxLength = 10 }, want: "c"},
		{name: "a second line", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":"x\r\nHost: evil"}`},
		{name: "another than those accepted", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":"c"}`, change: func(r *irv1.MetaRule) { r.OneOf = []string{"d"} }},
		{name: "not as its format", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":"c"}`, change: func(r *irv1.MetaRule) { r.Format = irv1.Format_FORMAT_UUID }},
		{name: "required", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":"x\ny"}`, change: func(r *irv1.MetaRule) { r.Required = true }, err: "meta.agent is missing"},
		{name: "required and there", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{"a":"x"}`, change: func(r *irv1.MetaRule) { r.Required = true }, want: "x"},
		{name: "else generated", sources: []*irv1.MetaSource{inMeta("a")}, meta: `{}`, change: func(r *irv1.MetaRule) { r.Generate = irv1.Generate_GENERATE_TIMESTAMP }, want: "20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(200, `{}`))
			b := library(s.URL)
			b.Locales = &irv1.Locales{Supported: []string{"de", "en"}, Fallback: "en"}
			rule := b.Meta[0]
			rule.Field, rule.Header, rule.Generate, rule.Required = "agent", "X-Hint", irv1.Generate_GENERATE_NOTHING, false
			rule.Sources = tt.sources
			if tt.change != nil {
				tt.change(rule)
			}
			tool := b.Tools[0]
			tool.Meta = []string{"agent"}
			args := `{"meta":{"x":1` + tt.args + `},"payload":{"title":"x","copies":1}}`
			o := call.Do(context.Background(), build(t, only(b, tool), table.Deps{}).Endpoint("/mcp").Tool(tool.GetName()),
				call.Request{Arguments: []byte(args), Meta: rawjson.Value(tt.meta), Header: tt.header})
			if tt.err != "" {
				if o.Class != call.InvalidParams || !strings.Contains(o.Error.Message, tt.err) {
					t.Errorf("outcome is %s, %s", o.Class, show(o.Error))
				}
				return
			}
			if o.Class != call.OK {
				t.Fatalf("outcome is %s, %s", o.Class, show(o.Error))
			}
			if got := s.last(t, 1).Header.Get("X-Hint"); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("header is %q, want %q", got, tt.want)
			}
		})
	}
}

// only returns b with one tool.
func only(b *irv1.Binding, tool *irv1.Tool) *irv1.Binding {
	b.Tools = []*irv1.Tool{tool}
	return b
}

// TestLocale has the language that is negotiated in "_meta" of results, where a request
// names one.
func TestLocale(t *testing.T) {
	s := serve(t, answer(200, `{"id":1}`))
	b := library(s.URL)
	b.Locales = &irv1.Locales{Supported: []string{"de", "en"}, Fallback: "en"}
	tools := build(t, b, table.Deps{}).Endpoint("/mcp")
	for meta, want := range map[string]string{`{"openai/locale":"de-CH"}`: `"de"`, `{"openai/locale":"fr"}`: `"en"`, `{}`: ``, ``: ``} {
		o := call.Do(context.Background(), tools.Tool("relay_book"), call.Request{Arguments: []byte(`{"id":"b"}`), Meta: rawjson.Value(meta)})
		if got := string(o.Meta["openai/locale"]); o.Class != call.OK || got != want {
			t.Errorf("%s: _meta is %s, want %s", meta, o.Meta, want)
		}
	}
}
