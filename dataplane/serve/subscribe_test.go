package serve

import (
	"context"
	"fmt"
	"io"
	"maps"
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

// A listener is a client that hears of changes of resources.
type listener struct {
	*mcp.ClientSession
	heard chan string
}

// newListener connects a listener by transport.
func newListener(t *testing.T, transport mcp.Transport, version string) listener {
	t.Helper()
	r := listener{heard: make(chan string, 10)}
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { r.heard <- "tools" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { r.heard <- "resources" },
		ResourceUpdatedHandler:     func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { r.heard <- req.Params.URI },
	})
	var err error
	r.ClientSession, err = client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// hears waits for a notice, and fails when another comes.
func (r listener) hears(t *testing.T, want string) {
	t.Helper()
	if got := soon(t, want+" changed", r.heard); got != want {
		t.Errorf("the client heard that %s changed, not %s", got, want)
	}
}

// hearsAfter makes a change and waits for the notice of it. A client cannot know from when
// on it is heard: where nothing comes, the change is made again.
func (r listener) hearsAfter(t *testing.T, want string, change func()) {
	t.Helper()
	for range 5 {
		change()
		select {
		case got := <-r.heard:
			if got != want {
				t.Errorf("the client heard that %s changed, not %s", got, want)
			}
			return
		case <-time.After(patience / 5):
		}
	}
	t.Fatalf("waited in vain: %s changed", want)
}

// silent fails when a notice comes.
func (r listener) silent(t *testing.T) {
	t.Helper()
	select {
	case what := <-r.heard:
		t.Errorf("the client was told that %s changed", what)
	case <-time.After(100 * time.Millisecond): // silence cannot be awaited; the SDK is to speak after 10 ms
	}
}

// TestResourcesChanged swaps tables in front of a client that listens, beginning with one
// that has no resources: it hears of the first, and of what is visible of them.
func TestResourcesChanged(t *testing.T) {
	proof.Ran(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			b := librarytest.Shelving("127.0.0.1:9")
			resources, templates := b.Resources, b.Templates
			b.Resources, b.Templates = nil, nil
			s, url := serving(t, Config{}, b)
			r := newListener(t, &mcp.StreamableClientTransport{Endpoint: url + "/library"}, era)
			until(t, func() bool { return listening(t, s) == 1 })
			revision := uint64(1)
			swap := func() {
				revision++
				s.Swap(build(t, revision, s.Table(), b))
			}

			b.Templates = templates[:1]
			swap()
			r.hears(t, "resources")
			b.Resources = resources[:3]
			swap()
			r.hears(t, "resources")
			b.Tools[2].Timeout.Seconds, b.Templates[0].GetUse().Arguments = 3, nil // no list has this
			swap()
			r.silent(t)
			b.Resources[2].Description = "New rules."
			swap()
			r.hears(t, "resources")
			b.Templates[0].Title = "A good book"
			swap()
			r.hears(t, "resources")
			b.Tools[0].Description = "Adds a book at the end."
			swap()
			r.hears(t, "tools")
			list, err := r.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 3 || list.Resources[2].Description != "New rules." {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// TestSubscribe has clients subscribe wherever they can: they hear of a resource when a
// reload has it read otherwise, and of no other.
func TestSubscribe(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Shelving("127.0.0.1:9")
	b.Resources[2].Size = nil // else the list changes with the page
	change := func(s *Server) (swap func(what func(b *irv1.Binding))) {
		revision := uint64(1)
		return func(what func(b *irv1.Binding)) {
			revision++
			what(b)
			s.Swap(build(t, revision, s.Table(), b))
		}
	}
	setups := map[string]func(t *testing.T) (*Server, listener){
		"over HTTP, 2026-07-28": func(t *testing.T) (*Server, listener) {
			s, url := serving(t, Config{}, b)
			return s, newListener(t, &mcp.StreamableClientTransport{Endpoint: url + "/library"}, message.Modern)
		},
		"in a session": func(t *testing.T) (*Server, listener) {
			s, url := serving(t, Config{Stateful: true}, b)
			r := newListener(t, &mcp.StreamableClientTransport{Endpoint: url + "/library"}, "2025-11-25")
			until(t, func() bool { return listening(t, s) == 1 })
			return s, r
		},
		"over stdio, 2025-11-25": func(t *testing.T) (*Server, listener) {
			s, _ := serving(t, Config{}, b)
			p := serveStdio(t, s, "")
			return s, newListener(t, &mcp.IOTransport{Reader: p.out, Writer: p.in}, "2025-11-25")
		},
		"over stdio, 2026-07-28": func(t *testing.T) (*Server, listener) {
			s, _ := serving(t, Config{}, b)
			p := serveStdio(t, s, "")
			return s, newListener(t, &mcp.IOTransport{Reader: p.out, Writer: p.in}, message.Modern)
		},
	}
	for name, setup := range setups {
		t.Run(name, func(t *testing.T) {
			s, r := setup(t)
			if !r.InitializeResult().Capabilities.Resources.Subscribe {
				t.Error("the capabilities do not say so")
			}
			for _, uri := range []string{"library://page", "library://best"} {
				if err := r.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			}
			modernClient := r.InitializeResult().ProtocolVersion >= message.Modern
			if modernClient { // it asks with streams, and awaits nothing
				until(t, func() bool { return listening(t, s) == 3 })
			}
			swap := change(s)
			page, picture := librarytest.Shelving("").Resources[2].GetFile(), b.Resources[3].GetFile()
			turn := func(b *irv1.Binding) { // the page over
				f := b.Resources[2].GetFile()
				if f.Binary = !f.GetBinary(); f.GetBinary() {
					f.Sha256 = picture.GetSha256()
				} else {
					f.Sha256 = page.GetSha256()
				}
			}
			r.hearsAfter(t, "library://page", func() { swap(turn) })
			r.hearsAfter(t, "library://best", func() { swap(func(b *irv1.Binding) { b.Tools[1].Timeout.Seconds++ }) }) // get_book
			swap(func(b *irv1.Binding) { b.Tools[2].Timeout.Seconds++ })                                               // get_media, and so library://cover
			r.silent(t)
			if err := r.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "library://best"}); err != nil {
				t.Fatal(err)
			}
			if modernClient {
				until(t, func() bool { return listening(t, s) == 2 })
			}
			swap(func(b *irv1.Binding) {
				b.Tools[1].Timeout.Seconds++
				turn(b)
			})
			r.hears(t, "library://page")
			r.silent(t)
		})
	}
}

// TestSubscribeErrors subscribes to what cannot be subscribed to.
func TestSubscribeErrors(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{Stateful: true}, librarytest.Shelving("127.0.0.1:9"))
	url += "/library"
	session, hello := met(t, url, "2025-11-25")
	if !strings.Contains(hello, `"resources":{"listChanged":true,"subscribe":true}`) {
		t.Errorf("the capabilities of a session are in %s", hello)
	}
	for uri, want := range map[string]string{"library://page": `"result":{}`, "library://none": `"code":-32002`, "books://1": `"code":-32002`} {
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
			if method == "resources/unsubscribe" {
				want = `"result":{}`
			}
			if _, body := send(t, within(posted(t, url, "2025-11-25", method, `{"uri":"`+uri+`"}`), session)); !strings.Contains(body, want) {
				t.Errorf("%s %s: answer is %s", method, uri, body)
			}
		}
	}
	if status, body := post(t, url, "2025-11-25", "resources/subscribe", `{"uri":"library://page"}`); status != http.StatusOK || !strings.Contains(body, `"code":-32601`) {
		t.Errorf("without a session: %d %s", status, body)
	}
	if status, body := post(t, url, message.Modern, "resources/subscribe", `{"uri":"library://page"}`); status != http.StatusNotFound || !strings.Contains(body, `"code":-32601`) {
		t.Errorf("by a modern client: %d %s", status, body)
	}
	_, stateless := serving(t, Config{}, librarytest.Shelving("127.0.0.1:9"))
	_, body := post(t, stateless+"/library", "2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if !strings.Contains(body, `"resources":{"listChanged":true}`) {
		t.Errorf("the capabilities without sessions are in %s", body)
	}
}

// TestListenResources listens for some that can be listened to and some that cannot: the
// answer says which.
func TestListenResources(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{}, librarytest.Shelving("127.0.0.1:9"))
	r := posted(t, url+"/library", message.Modern, "subscriptions/listen",
		`{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["library://none","library://page","books://1"]}}`)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 4096)
	n, err := resp.Body.Read(first)
	if err != nil || !strings.Contains(string(first[:n]), `"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["library://page"]}`) {
		t.Errorf("the answer begins with %s, %v", first[:n], err)
	}
	s.EndStreams()
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
}

// TestStdioListens has a client at streams listen more than once, as it does that
// subscribes to resources one by one: each hears what it asked for, with its own ID, and
// the end of one ends no other.
func TestStdioListens(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Shelving("127.0.0.1:9")
	s, _ := serving(t, Config{}, b)
	p := serveStdio(t, s, "")
	listen := func(id, notifications string) {
		p.send(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"subscriptions/listen","params":{"notifications":{`+notifications+`},`+modernMeta+`}}`)
		if got := p.next(t); !strings.Contains(got, `"notifications/subscriptions/acknowledged"`) || !strings.Contains(got, `subscriptionId":`+id) {
			t.Fatalf("listening begins with %s", got)
		}
	}
	cancel := func(id string) {
		p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
		p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`) // once is enough
		if got := p.next(t); !strings.Contains(got, `"id":`+id+`,`) {
			t.Fatalf("listening ends with %s", got)
		}
	}
	listen(`1`, `"toolsListChanged":true`)
	listen(`"one"`, `"resourceSubscriptions":["library://page"]`)
	listen(`3`, `"toolsListChanged":true,"promptsListChanged":true`)
	change := func(revision uint64) {
		b.Tools[0].Description = fmt.Sprintf("Adds a book, revision %d.", revision)
		s.Swap(build(t, revision, s.Table(), b))
	}
	hears := func(ids ...string) {
		t.Helper()
		for range len(ids) {
			got := p.next(t)
			at := slices.IndexFunc(ids, func(id string) bool { return strings.Contains(got, `subscriptionId":`+id) })
			if !strings.Contains(got, `"notifications/tools/list_changed"`) || at < 0 {
				t.Fatalf("the client hears %s, want %v", got, ids)
			}
			ids = slices.Delete(ids, at, at+1)
		}
	}
	change(2)
	hears(`1`, `3`)
	cancel(`"one"`)
	change(3)
	hears(`1`, `3`)
	cancel(`1`)
	change(4)
	hears(`3`)
	listen(`1`, `"toolsListChanged":true`) // the ID is free again
	change(5)
	hears(`1`, `3`)
	if n := listening(t, s); n != 2 {
		t.Errorf("%d listen, want 2", n)
	}
	s.swapping.Lock()
	endpoints := slices.Collect(maps.Keys(s.stdio))
	s.swapping.Unlock()
	until(t, func() bool { return len(slices.Collect(endpoints[0].mcp.Sessions())) == 1+2 }) // those that are over are gone
	p.in.Close()
	var last []string
	for range 2 {
		last = append(last, p.next(t))
	}
	if all := strings.Join(last, ""); !strings.Contains(all, `"id":1,"result"`) || !strings.Contains(all, `"id":3,"result"`) {
		t.Errorf("the end is %s", all)
	}
	soon(t, "the server ends", p.ended)
	p.said.check(t)
	until(t, func() bool { return listening(t, s) == 0 })
}
