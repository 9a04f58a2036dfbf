package prompt

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// says is an upstream that answers everything with a body.
type says struct{ mediaType, body string }

func (s says) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", s.mediaType)
	_, _ = io.WriteString(w, s.body)
	return w.Result(), nil
}

// prompts returns the endpoint of b, whose upstream is played.
func prompts(t testing.TB, b *irv1.Binding, upstreams http.RoundTripper) *table.Endpoint {
	t.Helper()
	tab, err := table.Build(librarytest.Content(t, b), &discoveryv1.Generation{}, nil, table.Deps{
		Secrets:   secret.New("", librarytest.Env),
		Transport: func(upstream.Origin) http.RoundTripper { return upstreams },
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab.Endpoint(librarytest.Endpoint)
}

func TestCheck(t *testing.T) {
	p := prompts(t, librarytest.Prompting("library.example"), says{}).Prompt("recommend")
	if err := Check(p, fill.Values{"author": "x"}); err == nil || err.Code != -32602 || err.Message != `argument "genre" is missing` {
		t.Errorf("error is %+v", err)
	}
	if err := Check(p, fill.Values{"genre": "", "other": "x"}); err != nil {
		t.Errorf("error is %+v", err)
	}
}

// TestReceived has tools give messages of all kinds, and what is none.
func TestReceived(t *testing.T) {
	const said = `[{"role":"assistant", "content":{"type":"text","text":"A\u00e9"}}]`
	jsonType := "application/json"
	tests := []struct {
		name   string
		prompt string // search has a place for messages, discuss has none
		answer says
		want   string
		why    string // there are none
	}{
		{name: "a list", prompt: "search", answer: says{jsonType, `{"messages":` + said + `}`}, want: said},
		{name: "a text", prompt: "search", answer: says{jsonType, `{"messages":"Hello {q}\n"}`}, want: `[{"role":"user","content":{"type":"text","text":"Hello {q}\n"}}]`},
		{name: "content", prompt: "discuss", answer: says{jsonType, `{"a":1}`}, want: `[{"role":"user","content":{"type":"text","text":"{\"a\":1}"}}]`},
		{name: "plain text", prompt: "discuss", answer: says{"text/plain", "Hi\n"}, want: `[{"role":"user","content":{"type":"text","text":"Hi\n"}}]`},
		{name: "an image", prompt: "discuss", answer: says{"image/png", "\x89PNG"}, want: `[{"role":"user","content":{"type":"image","data":"iVBORw==","mimeType":"image/png"}}]`},
		{name: "no body", prompt: "discuss", answer: says{jsonType, ``}, why: "the result has no content to make messages of"},
		{name: "no body for a place", prompt: "search", answer: says{jsonType, ``}, why: "the messages are no list and no text but nothing"},
		{name: "nothing at the place", prompt: "search", answer: says{jsonType, `[]`}, why: "the messages are no list and no text but nothing"},
		{name: "an object at the place", prompt: "search", answer: says{jsonType, `{"messages":{"role":"user"}}`}, why: "the messages are no list and no text but object"},
		{name: "no messages", prompt: "search", answer: says{jsonType, `{"messages":[]}`}, why: "there are 0 messages, from 1 to 100 can be"},
		{name: "too many", prompt: "search", answer: says{jsonType, `{"messages":[` + strings.Repeat(said[1:len(said)-1]+",", 100) + said[1:] + `}`}, why: "there are 101 messages, from 1 to 100 can be"},
		{name: "a bad message", prompt: "search", answer: says{jsonType, `{"messages":[` + said[1:len(said)-1] + `,{"role":"user","content":{"type":"text","secret":"x"}}]}`},
			why: "message 2: the content of the type text is not as MCP has it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := librarytest.Prompting("library.example")
			get := b.Tools[2]
			get.Result, get.Produces = irv1.ResultMode_RESULT_MODE_MCP, []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_TEXT}, {Kind: irv1.PartKind_PART_KIND_IMAGE}}
			p := prompts(t, b, tt.answer).Prompt(tt.prompt)
			got, o := Received(p, p.Use.Tool, call.Do(t.Context(), p.Use.Tool, Request(p, fill.Values{"book": "1", "q": "x"}, call.Request{})), result.Newest())
			why := ""
			if o.Err != nil {
				why = o.Err.Error()
			}
			if string(got) != tt.want || why != tt.why || (o.Error == nil) != (tt.why == "") {
				t.Errorf("Received() = %s, %+v\nwant %s, %s", got, o, tt.want, tt.why)
			}
			if tt.why != "" && (o.Class != call.Unusable || o.Status != 200 || o.Rule != "server" || o.Body != nil) {
				t.Errorf("the outcome is %+v", o)
			}
		})
	}
}

func TestCheckContent(t *testing.T) {
	const ok, none, bad = "", "the content is of no type that a message has", "the content of the type %s is not as MCP has it"
	tests := []struct{ content, want string }{
		{`{"type":"text","text":"a","_meta":{"x":[null]},"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-01-01"}}`, ok},
		{`{"type":"image","data":"aGk=","mimeType":"image/png"}`, ok},
		{`{"type":"audio","data":"","mimeType":"audio/wav"}`, ok},
		{`{"type":"resource","resource":{"uri":"a:b","text":"x","mimeType":"text/plain"}}`, ok},
		{`{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}`, ok},
		{`{"type":"resource_link","uri":"a:b","name":"b","title":"B","size":7,"icons":[{"src":"a:c","sizes":["any"],"theme":"dark"}]}`, ok},
		{`{"type":"text"}`, fmt.Sprintf(bad, "text")},
		{`{"type":"text","text":7}`, fmt.Sprintf(bad, "text")},
		{`{"type":"text","text":"a","data":7}`, fmt.Sprintf(bad, "text")},
		{`{"type":"text","text":"a","annotations":{"priority":2}}`, fmt.Sprintf(bad, "text")},
		{`{"type":"text","text":"a","annotations":{"audience":["system"]}}`, fmt.Sprintf(bad, "text")},
		{`{"type":"text","text":"a","_meta":[]}`, fmt.Sprintf(bad, "text")},
		{`{"type":"image","data":"?","mimeType":"image/png"}`, fmt.Sprintf(bad, "image")},
		{`{"type":"image","data":"aGk="}`, fmt.Sprintf(bad, "image")},
		{`{"type":"resource","resource":{"uri":"a:b"}}`, fmt.Sprintf(bad, "resource")},
		{`{"type":"resource","resource":{"uri":"a:b","text":"a","blob":""}}`, fmt.Sprintf(bad, "resource")},
		{`{"type":"resource"}`, fmt.Sprintf(bad, "resource")},
		{`{"type":"resource_link","uri":"a:b","name":"b","size":1.5}`, fmt.Sprintf(bad, "resource_link")},
		{`{"type":"resource_link","uri":"a:b","name":"b","icons":{}}`, fmt.Sprintf(bad, "resource_link")},
		{`{"type":"tool_use"}`, none},
		{`{"type":null}`, none},
		{`{}`, none},
		{`[]`, none},
	}
	for _, tt := range tests {
		t.Run(tt.content, func(t *testing.T) {
			v, err := rawjson.Parse([]byte(tt.content), maxDepth)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := checkContent(v); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("checkContent() = %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzMessages holds that whatever an upstream sends, what is taken for messages is that
// to a client, too, message by message.
func FuzzMessages(f *testing.F) {
	for _, content := range []string{
		`{"type":"text","text":"a","_meta":{"x":[null]},"annotations":{"audience":["user"],"priority":0.5,"lastModified":"x"}}`,
		`{"type":"image","data":"aGk=","mimeType":"image/png"}`,
		`{"type":"audio","data":"aGk=","mimeType":"audio/wav"}`,
		`{"type":"resource","resource":{"uri":"a:b","text":"x"}}`,
		`{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}`,
		`{"type":"resource_link","uri":"a:b","name":"b","size":7,"icons":[{"src":"a:c"}]}`,
	} {
		f.Add([]byte(`[{"role":"assistant","content":` + content + `},{"content":` + content + `,"role":"user"}]`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := rawjson.Parse(data, maxDepth)
		if err != nil || checkMessages(v) != nil {
			return
		}
		var messages []*mcp.PromptMessage
		if err := json.Unmarshal(v, &messages); err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		i := 0
		for m := range v.Elements() {
			kind, _ := m.Member("content").Member("type").Text()
			again, err := json.Marshal(messages[i].Content)
			if err != nil || !strings.Contains(string(again), `"type":"`+kind+`"`) {
				t.Errorf("%s became %s, %v", m, again, err)
			}
			i++
		}
		if i != len(messages) {
			t.Errorf("%d messages became %d", i, len(messages))
		}
	})
}
