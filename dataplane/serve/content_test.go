package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func inBody(field irv1.PartField, tokens ...string) *irv1.PartMember {
	return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Body{Body: &irv1.Pointer{Tokens: tokens}}}
}

// divide makes two parts of content of a book, and moves a member of it to "_meta".
func divide(t *irv1.Tool) {
	t.Content = []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_TEXT, "id")}},
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_TEXT)}},
	}
	t.ResultMeta = append(t.ResultMeta, &irv1.ResultMeta{Key: "example.com/big", Source: &irv1.ResultMeta_Body{Body: &irv1.Pointer{Tokens: []string{"big"}}}})
	t.Moved = []*irv1.Pointer{{Tokens: []string{"big"}}}
}

// illustrate gives a tool parts of content of every kind, and moves a member of the body
// to "_meta".
func illustrate(t *irv1.Tool) {
	const uri, mimeType = irv1.PartField_PART_FIELD_URI, irv1.PartField_PART_FIELD_MIME_TYPE
	t.Result = irv1.ResultMode_RESULT_MODE_MCP
	t.Content = []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_TEXT, "title")},
			Annotations: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_LAST_MODIFIED, "changed")}},
		{Kind: irv1.PartKind_PART_KIND_AUDIO, Members: []*irv1.PartMember{inBody(irv1.PartField_PART_FIELD_DATA, "audio"), inBody(mimeType, "type")}},
		{Kind: irv1.PartKind_PART_KIND_RESOURCE, Members: []*irv1.PartMember{inBody(uri, "uri"), inBody(irv1.PartField_PART_FIELD_BLOB, "audio")}},
		{Kind: irv1.PartKind_PART_KIND_LINK, Members: []*irv1.PartMember{inBody(uri, "uri"), inBody(irv1.PartField_PART_FIELD_NAME, "title")}},
	}
	t.ResultMeta = []*irv1.ResultMeta{
		{Key: "example.com/id", Source: &irv1.ResultMeta_Header{Header: "Request-Id"}},
		{Key: "example.com/pages", Source: &irv1.ResultMeta_Body{Body: &irv1.Pointer{Tokens: []string{"pages"}}}},
	}
	t.Moved = []*irv1.Pointer{{Tokens: []string{"audio"}}, {Tokens: []string{"pages"}}}
}

const musical = `{"title":"<Emma>","changed":"2026-01-31T09:30:00Z","audio":"AAAA","type":"audio/wav","uri":"book://1","pages":[1.50,{"a":"<b>"}]}`

func answering(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "r-1")
		_, _ = io.WriteString(w, body)
	})
}

// TestContent holds what clients of each revision get of parts of content and of what
// is moved to "_meta", both ways of answering.
func TestContent(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Binding("library.example")
	illustrate(b.Tools[1])
	pair := twinsOf(t, answering(musical), b)
	pieces := map[string][2]string{ // the revisions from which on, and up to which, there is a piece
		`"text":"There is audio here (audio/wav), which`:                  {"", "2025-03-26"},
		`{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`:           {"2025-03-26", ""},
		`{"type":"resource","resource":{"uri":"book://1","blob":"AAAA"}}`: {"", ""},
		`: book://1"}`: {"", "2025-06-18"},
		`{"type":"resource_link","uri":"book://1","name":`:      {"2025-06-18", ""},
		`"annotations":{"lastModified":"2026-01-31T09:30:00Z"}`: {"2025-06-18", ""},
		`"structuredContent":{"title":`:                         {"2025-06-18", ""},
		`"example.com/pages":[1.50,{"a":"`:                      {"", ""}, `"example.com/id":"r-1"`: {"", ""},
		`"pages":[1.50`: {"9", ""}, `"audio":"`: {"9", ""}, // moved
	}
	for _, version := range mcp.SupportedProtocolVersions() {
		in := callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
		pair.hold(t, in)
		said := string(readAll(t, in.to(pair.fast)))
		for piece, of := range pieces {
			if there := version >= of[0] && (of[1] == "" || version < of[1]); strings.Contains(said, piece) != there {
				t.Errorf("%s: %t that there is %s in\n%s", version, !there, piece, said)
			}
		}
	}
}

// TestLargeResults counts results that models do not work well with, until their tool is
// no more, and refuses what is more than a result may have.
func TestLargeResults(t *testing.T) {
	proof.Ran(t)
	registry := prometheus.NewRegistry()
	book := librarytest.Binding(upstream(t, answering(`{"a":"`+strings.Repeat("x", 10<<10)+`"}`)))
	s, url := serving(t, Config{Metrics: registry}, book)
	const counted = `bindery_node_large_results_total{endpoint="/library",tool="get_book"} `
	for i := range 2 {
		post(t, url+"/library", eras[1], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
		if metrics := scrape(t, registry); !strings.Contains(metrics, fmt.Sprintf("%s%d\n", counted, i+1)) {
			t.Errorf("metrics are\n%s", metrics)
		}
	}
	book.Tools[1].MaxResultBytes = 10 << 10
	book.Errors.Rules = nil
	s.Swap(build(t, 2, s.Table(), book))
	if _, answer := post(t, url+"/library", eras[1], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`); !strings.Contains(answer, "larger than the 10240 bytes") {
		t.Errorf("answer is %s", answer)
	}
	if metrics := scrape(t, registry); !strings.Contains(metrics, counted+"2\n") || !strings.Contains(metrics, `class="too_large"`) {
		t.Errorf("metrics are\n%s", metrics)
	}
	book.Tools = book.Tools[:1]
	s.Swap(build(t, 3, s.Table(), book))
	if metrics := scrape(t, registry); strings.Contains(metrics, counted) {
		t.Errorf("without the tool, metrics are\n%s", metrics)
	}
}
