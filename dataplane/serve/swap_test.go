package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestHeldCall holds a call at the upstream while the table is replaced by one
// with another path and another upstream: the call ends as it began.
func TestHeldCall(t *testing.T) {
	held, release := make(chan string, 1), make(chan struct{})
	before := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		held <- r.URL.Path
		<-release
		librarytest.Upstream().ServeHTTP(w, r)
	}))
	book := librarytest.Binding(before)
	s, url := serving(t, Config{}, book)
	for i, era := range eras {
		s.Swap(build(t, uint64(10*i+1), s.Table(), book))
		session := connect(t, url+"/library", era, nil)
		result := make(chan *mcp.CallToolResult, 1)
		go func() {
			res, err := session.CallTool(context.Background(), getBook())
			if err != nil {
				t.Error(err)
			}
			result <- res
		}()
		if path := soon(t, "the upstream is called", held); path != "/books/1" {
			t.Errorf("path is %s", path)
		}

		after := librarytest.Binding(upstream(t, librarytest.Upstream()))
		after.Tools[0].Description = "Adds a book, really."
		s.Swap(build(t, uint64(10*i+2), s.Table(), after))
		next, err := session.CallTool(t.Context(), getBook())
		if err != nil {
			t.Fatal(err)
		}
		release <- struct{}{}
		last := soon(t, "the held call is answered", result)
		if last == nil || last.Meta[metaRevision] != float64(10*i+1) || next.Meta[metaRevision] != float64(10*i+2) {
			t.Errorf("%s: revisions are %v and %v", era, last.Meta[metaRevision], next.Meta[metaRevision])
		}
	}
}

// getBook returns the parameters of a call. They are not to be shared: the client of
// the later revisions writes its version into them.
func getBook() *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "1"}}
}

// TestListChanged swaps tables in front of a client that listens: it hears of what
// it can see, and of nothing else.
func TestListChanged(t *testing.T) {
	proof.Ran(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			book := librarytest.Binding(upstream(t, librarytest.Upstream()))
			s, url := serving(t, Config{}, book)
			changed := make(chan string, 10)
			session := connect(t, url+"/library", era, func() { changed <- "" })
			until(t, func() bool { return listening(t, s) == 1 })

			other := librarytest.Binding(upstream(t, librarytest.Upstream()))
			other.Errors.Code = -32001 // a client cannot see this
			s.Swap(build(t, 2, s.Table(), other))
			select {
			case <-changed:
				t.Error("the client was told of what it cannot see")
			case <-time.After(100 * time.Millisecond): // silence cannot be awaited; the SDK is to speak after 10 ms
			}
			other.Tools[0].Description = "Adds a book at the end."
			s.Swap(build(t, 3, s.Table(), other))
			soon(t, "the tools changed", changed)

			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Tools[0].Description; got != "Adds a book at the end." {
				t.Errorf("description is %q", got)
			}
		})
	}
}

// TestEndpointGone takes an endpoint away from clients that listen: their streams
// end, and the path answers 404 until it is back.
func TestEndpointGone(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			book, moved := librarytest.Binding("127.0.0.1:9"), librarytest.Binding("127.0.0.1:9")
			moved.Endpoint = "/moved"
			s, url := serving(t, Config{}, book)
			connect(t, url+"/library", era, func() {})
			until(t, func() bool { return listening(t, s) == 1 })

			s.Swap(build(t, 2, s.Table(), moved))
			until(t, func() bool { return listening(t, s) == 0 })
			if status, _ := post(t, url+"/library", era, "tools/list", `{}`); status != http.StatusNotFound {
				t.Errorf("status is %d", status)
			}
			if status, _ := post(t, url+"/moved", era, "tools/list", `{}`); status != http.StatusOK {
				t.Errorf("status at the new path is %d", status)
			}

			s.Swap(build(t, 3, s.Table(), book))
			if status, _ := post(t, url+"/library", era, "tools/list", `{}`); status != http.StatusOK {
				t.Errorf("status is %d after the endpoint came back", status)
			}
		})
	}
}

// TestEndStreams ends what a node that stops need not wait for; calls go on.
func TestEndStreams(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, url := serving(t, Config{}, book)
	var sessions []*mcp.ClientSession
	for _, era := range eras {
		sessions = append(sessions, connect(t, url+"/library", era, func() {}))
	}
	until(t, func() bool { return listening(t, s) == len(eras) })
	s.EndStreams()
	until(t, func() bool { return listening(t, s) == 0 })
	if _, err := sessions[0].CallTool(t.Context(), getBook()); err != nil {
		t.Error(err)
	}
	r, err := http.NewRequest(http.MethodGet, url+"/library", nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := send(t, r); status != http.StatusServiceUnavailable {
		t.Errorf("a late stream: %d %s", status, body)
	}
}

// TestRequestsDuringSwaps calls while tables come and go that differ in how a body
// becomes a result: every result looks as the revision in it wants.
func TestRequestsDuringSwaps(t *testing.T) {
	authority := upstream(t, librarytest.Upstream())
	revision := func(n uint64, prev *table.Table) *table.Table {
		book := librarytest.Binding(authority)
		book.Tools[1].Result = modeOf(n)
		return build(t, n, prev, book)
	}
	s, url := serving(t, Config{})
	s.Swap(revision(1, nil))
	var stop atomic.Bool
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for n := uint64(2); !stop.Load(); n++ {
			s.Swap(revision(n, s.Table()))
		}
	}()
	defer func() {
		stop.Store(true)
		<-swapped
	}()
	seen := map[uint64]bool{}
	for i := range 300 {
		_, body := post(t, url+"/library", eras[i%2], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
		var answer struct {
			Result struct {
				Title string
				Meta  struct {
					Revision uint64 `json:"bindery.dev/revision"`
				} `json:"_meta"`
			}
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		n := answer.Result.Meta.Revision
		if isDual := answer.Result.Title != ""; n == 0 || isDual != (modeOf(n) == irv1.ResultMode_RESULT_MODE_DUAL) {
			t.Fatalf("answer is a mixture: %s", body)
		}
		seen[n] = true
	}
	if len(seen) < 2 {
		t.Errorf("all calls saw revisions %v", seen)
	}
}

// modeOf has dual and plain results take turns.
func modeOf(revision uint64) irv1.ResultMode {
	if revision%2 == 0 {
		return irv1.ResultMode_RESULT_MODE_DUAL
	}
	return irv1.ResultMode_RESULT_MODE_MCP
}

// TestDisconnect has clients that go away in the middle of a call. For a modern one
// that cancels it, if that is safe: a book that is being added is added. An older
// client may not have meant to cancel anything.
func TestDisconnect(t *testing.T) {
	proof.Ran(t)
	add := &mcp.CallToolParams{Name: "add_book", Arguments: map[string]any{"payload": map[string]any{"title": "x"}}}
	tests := []struct {
		name, era string
		params    *mcp.CallToolParams
		canceled  bool
	}{
		{"modern, safe", eras[0], getBook(), true},
		{"modern, not safe", eras[0], add, false},
		{"older, safe", eras[1], getBook(), false},
		{"older, not safe", eras[1], add, false},
	}
	for _, tt := range tests {
		for _, noFastPath := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without the fast path %t", tt.name, noFastPath), func(t *testing.T) {
				asked, gone, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
				book := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					close(asked)
					select {
					case <-r.Context().Done():
						close(gone)
					case <-answered:
						librarytest.Upstream().ServeHTTP(w, r)
					}
				})))
				log := &lines{}
				_, url := serving(t, Config{NoFastPath: noFastPath, Log: slog.New(slog.NewJSONHandler(log, nil))}, book)
				ctx, goAway := context.WithCancel(t.Context())
				session := connect(t, url+"/library", tt.era, nil)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					params := *tt.params
					_, _ = session.CallTool(ctx, &params) // fails: the client went away
				}()
				soon(t, "the upstream is called", asked)
				goAway()
				soon(t, "the client gives up", ended)
				if tt.canceled {
					soon(t, "the upstream's request is canceled", gone)
				} else {
					select {
					case <-gone:
						t.Error("the upstream's request is canceled")
					case <-time.After(50 * time.Millisecond): // silence cannot be awaited
					}
					close(answered)
				}
				want := `"class":"ok"`
				if tt.canceled {
					want = `"class":"canceled"`
				}
				until(t, func() bool { return strings.Contains(strings.Join(log.all(), ""), want) })
			})
		}
	}
}

// TestWaitCalls has a call that is not safe to give up, whose client goes away: it is under
// way until the upstream has answered, also where no request waits for it.
func TestWaitCalls(t *testing.T) {
	tests := []struct {
		name, era string
		stateful  bool
	}{
		{"modern", eras[0], false},
		{"older", eras[1], false},
		{"in a session", eras[1], true},
	}
	for _, tt := range tests {
		for _, noFastPath := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without the fast path %t", tt.name, noFastPath), func(t *testing.T) {
				asked, answer := make(chan struct{}), make(chan struct{})
				s, url := serving(t, Config{Stateful: tt.stateful, NoFastPath: noFastPath}, librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					close(asked)
					<-answer
					librarytest.Upstream().ServeHTTP(w, r)
				}))))
				r := posted(t, url+"/library", tt.era, message.MethodCall, `{"name":"add_book","arguments":{"payload":{"title":"x"}}}`)
				if tt.stateful {
					id, _ := met(t, url+"/library", tt.era)
					r = within(r, id)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				ctx, goAway := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = http.DefaultClient.Do(r.WithContext(ctx)) // fails: the client went away
				}()
				soon(t, "the upstream is called", asked)
				goAway()
				soon(t, "the client is gone", gone)
				s.EndStreams()
				if err := s.WaitCalls(ctx); err == nil {
					t.Error("no call is under way")
				}
				ended := make(chan error, 1)
				go func() { ended <- s.WaitCalls(t.Context()) }()
				close(answer)
				if err := soon(t, "no call is under way", ended); err != nil || gauge(t, s.metrics.inFlight) != 0 {
					t.Errorf("%v, %d in flight", err, gauge(t, s.metrics.inFlight))
				}
			})
		}
	}
}

// TestTrace has a call that belongs to a trace, as either way of saying so and either
// way of answering has it.
func TestTrace(t *testing.T) {
	proof.Ran(t)
	const inHeader, inMeta = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	var got http.Header
	pair := twinsOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		librarytest.Upstream().ServeHTTP(w, r)
	}), librarytest.Binding("library.example"))
	for _, version := range eras {
		for _, s := range []*Server{pair.fast, pair.slow} {
			in := callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
			in.body = strings.Replace(in.body, `"_meta":{`, `"_meta":{"traceparent":"`+inMeta+`","tracestate":"a=1",`, 1)
			if version < message.Modern {
				in.body = strings.Replace(in.body, `"name"`, `"_meta":{"traceparent":"`+inMeta+`","tracestate":"a=1"},"name"`, 1)
			}
			in.to(s)
			if got.Get("Traceparent") != inMeta || got.Get("Tracestate") != "a=1" {
				t.Errorf("%s: arrived with %q, %q", version, got["Traceparent"], got["Tracestate"])
			}
			in.header.Set("Traceparent", inHeader)
			in.to(s)
			if got.Get("Traceparent") != inHeader || got["Tracestate"] != nil {
				t.Errorf("%s: arrived with %q, %q", version, got["Traceparent"], got["Tracestate"])
			}
		}
	}
}
