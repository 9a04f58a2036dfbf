package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestPrompts has clients of both eras list and get prompts of all kinds.
func TestPrompts(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Prompting(upstream(t, librarytest.Upstream())))
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			session := connect(t, url+"/library", era, nil)
			list, err := session.ListPrompts(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range list.Prompts {
				names = append(names, p.Name)
			}
			if want := []string{"discuss", "recommend", "search"}; !slices.Equal(names, want) {
				t.Errorf("prompts are %q, want %q", names, want)
			}
			recommend := list.Prompts[1]
			if recommend.Title != "Recommend a book" || recommend.Description != "Recommends a book." {
				t.Errorf("prompt is %+v", recommend)
			}
			if a := recommend.Arguments; len(a) != 3 || a[0].Name != "genre" || !a[0].Required || a[0].Title != "Kind of book" || a[1].Name != "author" || a[1].Required {
				t.Errorf("arguments are %+v", a)
			}
			for _, tt := range []struct {
				name      string
				arguments map[string]string
				want      string
			}{
				{"recommend", map[string]string{"genre": "{author}", "other": "x"},
					`user {"text":"A {author} by !","type":"text"}|assistant {"text":"Like {this}?","type":"text"}`},
				{"recommend", map[string]string{"genre": "", "author": "\"Ada\"\n"},
					`user {"text":"A  by \"Ada\"\n!","type":"text"}|assistant {"text":"Like {this}?","type":"text"}`},
				{"discuss", map[string]string{"book": "7"},
					`user {"text":"{\"title\":\"Go \u0026 more\", \"id\":\"7\", \"price\":10.50, \"big\":9007199254740993}","type":"text"}`},
				{"search", map[string]string{"q": "x", "limit": "3"}, `assistant {"text":"At most 3.","type":"text"}`},
				{"search", map[string]string{"q": "x"}, `assistant {"text":"At most .","type":"text"}`},
			} {
				got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: tt.name, Arguments: tt.arguments})
				if err != nil {
					t.Errorf("%s: %v", tt.name, err)
					continue
				}
				if said := conversation(t, got.Messages); said != tt.want {
					t.Errorf("%s says\n%s, want\n%s", tt.name, said, tt.want)
				}
				if got.Meta[metaRevision] != float64(1) {
					t.Errorf("%s is of revision %v", tt.name, got.Meta[metaRevision])
				}
			}
		})
	}
}

// TestPromptContents has a client get messages that are no texts.
func TestPromptContents(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Prompting("127.0.0.1:9")
	text := b.Prompts[1].GetMessages().Messages[0].GetText()
	digest := irv1.DigestOf([]byte(librarytest.Picture))
	file := &irv1.File{Sha256: digest[:], Binary: true}
	b.Prompts[1].GetMessages().Messages = []*irv1.PromptMessage{
		{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Image{Image: &irv1.Medium{File: file, MediaType: "image/png"}}},
		{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Audio{Audio: &irv1.Medium{File: file, MediaType: "audio/wav"}}},
		{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{Uri: text, MediaType: "text/plain", Body: &irv1.PromptResource_Text{Text: text}}}},
	}
	_, url := serving(t, Config{}, b)
	for _, era := range eras {
		session := connect(t, url+"/library", era, nil)
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recommend", Arguments: map[string]string{"genre": "\"x\""}})
		if err != nil {
			t.Fatal(err)
		}
		const want = `user {"data":"iVBORwD/","mimeType":"image/png","type":"image"}|user {"data":"iVBORwD/","mimeType":"audio/wav","type":"audio"}|` +
			`user {"resource":{"mimeType":"text/plain","text":"A \"x\" by !","uri":"A \"x\" by !"},"type":"resource"}`
		if said := conversation(t, got.Messages); said != want {
			t.Errorf("%s: it says\n%s, want\n%s", era, said, want)
		}
	}
}

// conversation returns messages as one text.
func conversation(t *testing.T, messages []*mcp.PromptMessage) string {
	t.Helper()
	var all []string
	for _, m := range messages {
		content, err := json.Marshal(m.Content)
		if err != nil {
			t.Fatal(err)
		}
		var sorted any
		if err := json.Unmarshal(content, &sorted); err != nil {
			t.Fatal(err)
		}
		content, _ = json.Marshal(sorted)
		all = append(all, fmt.Sprintf("%s %s", m.Role, content))
	}
	return strings.Join(all, "|")
}

// TestPromptErrors has requests for prompts that cannot be met.
func TestPromptErrors(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Prompting(upstream(t, librarytest.Upstream())))
	tests := []struct {
		name, params string
		status       int // for a modern client
		want         string
	}{
		{"unknown", `{"name":"recommends"}`, 400, `"error":{"code":-32602,"message":"unknown prompt \"recommends\""}`},
		{"a missing argument", `{"name":"recommend","arguments":{"author":"Ada"}}`, 400, `"error":{"code":-32602,"message":"argument \"genre\" is missing"}`},
		{"no arguments", `{"name":"discuss"}`, 400, `"error":{"code":-32602,"message":"argument \"book\" is missing"}`},
		{"an argument that is no text", `{"name":"recommend","arguments":{"genre":7}}`, 400, `"error":{"code":-32602,"message":"params are not those that prompts/get takes"}`},
		{"an argument twice", `{"name":"recommend","arguments":{"genre":"a","genre":"b"}}`, 400, `"error":{"code":-32602,"message":"a member of params is not valid JSON: duplicate member name`},
		{"an argument that the tool does not take", `{"name":"search","arguments":{"q":"x","limit":"many"}}`, 400,
			`"error":{"code":-32602,"message":"argument \"limit\" must be an integer without fraction and exponent"}`},
		{"an upstream that fails", `{"name":"discuss","arguments":{"book":"missing"}}`, 200,
			`"error":{"code":-32000,"message":"There is no such book.","data":{"code":"no_book","message":"There is no such book."}}`},
		{"an upstream that sends no messages", `{"name":"search","arguments":{"q":"nonsense"}}`, 200,
			`"error":{"code":-32000,"message":"The library cannot answer.","data":{"code":"unavailable","message":"The library cannot answer."}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, era := range eras {
				status, body := post(t, url+"/library", era, "prompts/get", tt.params)
				if want := map[bool]int{true: tt.status, false: 200}[era >= message.Modern]; status != want || !strings.Contains(body, tt.want) {
					t.Errorf("%s: answer is %d %s", era, status, body)
				}
			}
		})
	}
	r := posted(t, url+"/library", message.Modern, "prompts/get", `{"name":"recommend"}`)
	r.Header.Set("Mcp-Name", "discuss")
	if status, body := send(t, r); status != 400 || !strings.Contains(body, `"code":-32020`) {
		t.Errorf("another name in the header is answered with %d %s", status, body)
	}
}

// TestPromptRevisions holds that each revision of the protocol gets the fields of
// prompts that it has.
func TestPromptRevisions(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Prompting(upstream(t, librarytest.Upstream())))
	for _, version := range mcp.SupportedProtocolVersions() {
		_, list := post(t, url+"/library", version, "prompts/list", `{}`)
		_, got := post(t, url+"/library", version, "prompts/get", `{"name":"recommend","arguments":{"genre":"x"}}`)
		said := list + got
		for field, since := range map[string]string{
			`{"name":"recommend",`: "", `"description":"Recommends a book.","messages":[`: "", `{"name":"genre",`: "",
			`"title":"Recommend a book"`: "2025-06-18", `"title":"Kind of book"`: "2025-06-18",
			`"ttlMs":0`: message.Modern, `"resultType":"complete"`: message.Modern,
		} {
			if strings.Contains(said, field) != (version >= since) {
				t.Errorf("%s: %t that there is %s in\n%s", version, version < since, field, said)
			}
		}
	}
}

// TestCapabilities holds that a client hears of what the endpoint has.
func TestCapabilities(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Prompting("127.0.0.1:9")
	s, url := serving(t, Config{}, b)
	says := func(version, want string) {
		t.Helper()
		method, params := "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`
		if version >= message.Modern {
			method, params = "server/discover", `{}`
		}
		_, body := post(t, url+"/library", version, method, params)
		resources := `"resources":{"listChanged":true}`
		if version >= message.Modern {
			resources = `"resources":{"listChanged":true,"subscribe":true}`
		}
		want = strings.Replace(want, `"tools":`, resources+`,"tools":`, 1)
		if !strings.Contains(body, `"capabilities":`+want) {
			t.Errorf("%s: answer is %s, want capabilities %s", version, body, want)
		}
	}
	const all = `{"completions":{},"prompts":{"listChanged":true},"tools":{"listChanged":true}}`
	for _, version := range []string{message.Modern, "2025-11-25", "2025-03-26"} {
		says(version, all)
	}
	says("2024-11-05", `{"prompts":{"listChanged":true},"tools":{"listChanged":true}}`)

	b.Prompts = b.Prompts[:1]
	s.Swap(build(t, 2, s.Table(), b))
	for _, version := range mcp.SupportedProtocolVersions() {
		says(version, `{"prompts":{"listChanged":true},"tools":{"listChanged":true}}`)
	}
	b.Prompts = nil
	s.Swap(build(t, 3, s.Table(), b))
	for _, version := range mcp.SupportedProtocolVersions() {
		says(version, `{"prompts":{"listChanged":true},"tools":{"listChanged":true}}`)
	}
	for _, era := range eras {
		if _, body := post(t, url+"/library", era, "prompts/list", `{}`); !strings.Contains(body, `"prompts":[]`) {
			t.Errorf("%s: answer is %s", era, body)
		}
	}
}

// TestPromptsChanged swaps tables in front of a client that listens: it hears of
// prompts when they look different, and of tools when those do.
func TestPromptsChanged(t *testing.T) {
	proof.Ran(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			b := librarytest.Prompting(upstream(t, librarytest.Upstream()))
			s, url := serving(t, Config{}, b)
			changed := make(chan string, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler:   func(context.Context, *mcp.ToolListChangedRequest) { changed <- "tools" },
				PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { changed <- "prompts" },
			})
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + "/library"}, &mcp.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			until(t, func() bool { return listening(t, s) == 1 })

			b.Prompts[1].GetMessages().Messages[0].GetText().Parts[0] = b.Prompts[1].GetMessages().Messages[1].GetText().Parts[0]
			s.Swap(build(t, 2, s.Table(), b)) // no list has this
			select {
			case what := <-changed:
				t.Errorf("the client was told that %s changed", what)
			case <-time.After(100 * time.Millisecond): // silence cannot be awaited; the SDK is to speak after 10 ms
			}
			b.Prompts[1].Description = "Recommends a book or two."
			s.Swap(build(t, 3, s.Table(), b))
			if what := soon(t, "the prompts changed", changed); what != "prompts" {
				t.Errorf("%s changed", what)
			}
			b.Tools[0].Description = "Adds a book at the end."
			s.Swap(build(t, 4, s.Table(), b))
			if what := soon(t, "the tools changed", changed); what != "tools" {
				t.Errorf("%s changed", what)
			}
		})
	}
}

// TestPromptGone has a client that is gone while a prompt waits for its upstream.
func TestPromptGone(t *testing.T) {
	called, gone := make(chan bool, 1), make(chan bool, 1)
	authority := upstream(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- true
		<-r.Context().Done()
		gone <- true
	}))
	_, url := serving(t, Config{}, librarytest.Prompting(authority))
	ctx, cancel := context.WithCancel(t.Context())
	r := posted(t, url+"/library", message.Modern, "prompts/get", `{"name":"discuss","arguments":{"book":"1"}}`).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	go func() {
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	soon(t, "the upstream is called", called)
	cancel()
	soon(t, "the call is given up", gone)
}

// FuzzPrompts holds that what a person fills in stands in the messages as it is, that
// what is offered begins with what is typed, and that every answer is one of JSON-RPC.
func FuzzPrompts(f *testing.F) {
	proof.Ran(f)
	f.Add("recommend", "novel", "x")
	f.Add("recommend", "{author}", "\u2028\"}\\")
	f.Add("discuss", "1", "")
	f.Add("search", "nonsense", "7")
	f.Add("", "trouble", "\x00")
	pair := twinsOf(f, librarytest.Upstream(), librarytest.Prompting("library.example"))
	f.Fuzz(func(t *testing.T, name, first, second string) {
		first, second = strings.ToValidUTF8(first, ""), strings.ToValidUTF8(second, "")
		given, _ := json.Marshal(map[string]any{"name": name, "arguments": map[string]string{"genre": first, "author": second, "book": first, "q": first, "limit": second}})
		typed, _ := json.Marshal(map[string]any{"ref": map[string]string{"type": "ref/prompt", "name": name}, "argument": map[string]string{"name": "genre", "value": first}})
		for method, params := range map[string][]byte{"prompts/get": given, "completion/complete": typed} {
			in := askOf("2025-11-25", method, name, string(params[1:len(params)-1]))
			pair.hold(t, in)
			var got struct {
				Result struct {
					Messages   []struct{ Content struct{ Text string } }
					Completion struct{ Values []string }
				}
			}
			if err := json.Unmarshal(readAll(t, in.to(pair.fast)), &got); err != nil {
				t.Fatal(err)
			}
			if name == "recommend" && method == "prompts/get" && (len(got.Result.Messages) != 2 || got.Result.Messages[0].Content.Text != "A "+first+" by "+second+"!") {
				t.Errorf("%q and %q became %+v", first, second, got.Result.Messages)
			}
			for _, v := range got.Result.Completion.Values {
				if !strings.HasPrefix(strings.ToLower(v), strings.ToLower(first)) {
					t.Errorf("%q is offered for %q", v, first)
				}
			}
		}
	})
}
