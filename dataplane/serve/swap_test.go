package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
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
			res, err := session.CallTool(context.Background(), getBook)
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
		next, err := session.CallTool(t.Context(), getBook)
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

var getBook = &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "1"}}

// TestListChanged swaps tables in front of a client that listens: it hears of what
// it can see, and of nothing else.
func TestListChanged(t *testing.T) {
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
			if len(changed) > 0 {
				t.Error("the client was told twice")
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
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, url := serving(t, Config{}, book)
	var sessions []*mcp.ClientSession
	for _, era := range eras {
		sessions = append(sessions, connect(t, url+"/library", era, func() {}))
	}
	until(t, func() bool { return listening(t, s) == len(eras) })
	s.EndStreams()
	until(t, func() bool { return listening(t, s) == 0 })
	if _, err := sessions[0].CallTool(t.Context(), getBook); err != nil {
		t.Error(err)
	}
}

// TestRequestsDuringSwaps calls and lists while tables come and go: every answer
// is whole, and calls and lists of one revision agree.
func TestRequestsDuringSwaps(t *testing.T) {
	authority := upstream(t, librarytest.Upstream())
	s, url := serving(t, Config{}, librarytest.Binding(authority))
	var stop atomic.Bool
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for n := uint64(2); !stop.Load(); n++ {
			book := librarytest.Binding(authority)
			book.Tools[1].Result = irv1.ResultMode(1 + n%2) // dual and mcp in turns
			s.Swap(build(t, n, s.Table(), book))
		}
	}()
	session := connect(t, url+"/library", eras[0], nil)
	seen := map[any]bool{}
	for range 200 {
		res, err := session.CallTool(t.Context(), getBook)
		if err != nil {
			t.Error(err)
			break
		}
		seen[res.Meta[metaRevision]] = true
	}
	stop.Store(true)
	<-swapped
	if len(seen) < 2 {
		t.Errorf("all calls saw revisions %v", seen)
	}
}
