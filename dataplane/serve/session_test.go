package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// met begins a session with the endpoint at url, and returns its ID and the answer.
func met(t *testing.T, url, version string) (id, body string) {
	t.Helper()
	r := posted(t, url, version, "initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"a","version":"1"}}`, version))
	resp, body := exchange(t, r)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	return resp.Header.Get(headerSession), body
}

// within returns r as a request of the session id, of a client that does not repeat
// its revision.
func within(r *http.Request, id string) *http.Request {
	r.Header.Set(headerSession, id)
	r.Header.Del("Mcp-Protocol-Version")
	return r
}

// open returns how many sessions s has.
func open(s *Server) int {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	return len(s.sessions.byID)
}

// bare returns a request without a body.
func bare(t *testing.T, method, url, session string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	return r
}

// TestSession follows a session of each older revision from its beginning to its
// end, with and without the fast path.
func TestSession(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		s, url := serving(t, Config{Stateful: true, NoFastPath: noFastPath}, librarytest.Binding(upstream(t, librarytest.Upstream())))
		url += "/library"
		for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
			id, body := met(t, url, version)
			if id == "" || !strings.Contains(body, version) {
				t.Fatalf("%s: session %q: %s", version, id, body)
			}
			status, body := send(t, within(posted(t, url, version, message.MethodCall, `{"name":"get_book","arguments":{"id":"7"}}`), id))
			if structured := strings.Contains(body, "structuredContent"); status != http.StatusOK || structured != (version >= "2025-06-18") {
				t.Errorf("%s: %d %s", version, status, body)
			}
			r := withID(t, within(posted(t, url, version, "tools/list", `{}`), id), "12345678901234567890")
			if status, body := send(t, r); status != http.StatusOK || !strings.Contains(body, `"id":12345678901234567890`) {
				t.Errorf("%s: %d %s", version, status, body)
			}
			note := withBody(t, within(posted(t, url, version, "x", `{}`), id), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			if status, body := send(t, note); status != http.StatusAccepted || body != "" {
				t.Errorf("%s: %d %s", version, status, body)
			}
			if status, body := send(t, within(posted(t, url, version, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`), id)); status != http.StatusBadRequest {
				t.Errorf("%s: initialized twice: %d %s", version, status, body)
			}
			if status, _ := send(t, bare(t, http.MethodDelete, url, id)); status != http.StatusNoContent {
				t.Errorf("%s: DELETE has status %d", version, status)
			}
			for _, r := range []*http.Request{within(posted(t, url, version, "ping", `{}`), id), bare(t, http.MethodGet, url, id), bare(t, http.MethodDelete, url, id)} {
				if status, body := send(t, r); status != http.StatusNotFound || !json.Valid([]byte(body)) {
					t.Errorf("%s: after the end %s has %d %s", version, r.Method, status, body)
				}
			}
		}
		if n := open(s); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	}
}

// TestSessionOfNewer begins a session for a client that wants a revision without: it
// gets the newest with sessions, and can be asked something.
func TestSessionOfNewer(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{Stateful: true}, librarytest.Binding("127.0.0.1:1"))
	for _, wanted := range []string{message.Modern, "2099-01-01"} {
		r := posted(t, url+"/library", "2025-11-25", "initialize", `{"protocolVersion":"`+wanted+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"a","version":"1"}}`)
		resp, body := exchange(t, r)
		session, refused := s.sessions.enter(s.live.Load().endpoints["/library"], http.Header{headerSession: {resp.Header.Get(headerSession)}})
		if refused != nil || !strings.Contains(body, `"protocolVersion":"2025-11-25"`) {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
		if met := session.mcp.InitializeParams(); met.ProtocolVersion != message.LastHandshake || met.Capabilities.Elicitation == nil || met.ClientInfo.Name != "a" {
			t.Errorf("%s: the SDK knows of %+v", wanted, met)
		}
		session.leave()
	}
}

// TestSessionLess sends a server with sessions what belongs to none: it is answered
// as one without sessions does.
func TestSessionLess(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{Stateful: true}, librarytest.Binding(upstream(t, librarytest.Upstream())))
	url += "/library"
	for _, version := range eras {
		r := posted(t, url, version, message.MethodCall, `{"name":"get_book","arguments":{"id":"7"}}`)
		if version >= message.Modern {
			r.Header.Set(headerSession, "of-nobody")
		}
		if status, body := send(t, r); status != http.StatusOK || !strings.Contains(body, `"id":1,"result"`) {
			t.Errorf("%s: %d %s", version, status, body)
		}
	}
	if status, body := send(t, bare(t, http.MethodDelete, url, "")); status != http.StatusBadRequest || !json.Valid([]byte(body)) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := send(t, bare(t, http.MethodPut, url, "")); status != http.StatusMethodNotAllowed {
		t.Errorf("PUT has status %d", status)
	}
}

// TestSessionBounds opens as many sessions as there can be and one more, and takes an
// endpoint away.
func TestSessionBounds(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{Stateful: true, MaxSessions: 2}, librarytest.Binding("127.0.0.1:1"))
	first, _ := met(t, url+"/library", "2025-11-25")
	met(t, url+"/library", "2025-11-25")
	r := posted(t, url+"/library", "2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)
	if status, body := send(t, r); status != http.StatusServiceUnavailable || !strings.Contains(body, "2 sessions") {
		t.Errorf("%d %s", status, body)
	}
	send(t, bare(t, http.MethodDelete, url+"/library", first))
	second, _ := met(t, url+"/library", "2025-11-25") // there is room again

	moved := librarytest.Binding("127.0.0.1:1")
	moved.Endpoint = "/elsewhere"
	s.Swap(build(t, 2, s.Table(), moved))
	if status, body := send(t, within(posted(t, url+"/elsewhere", "2025-11-25", "ping", `{}`), second)); status != http.StatusNotFound {
		t.Errorf("a session of another endpoint: %d %s", status, body)
	}
	until(t, func() bool { return open(s) == 0 })
}

// TestSessionIdle lets time go by: a session that nobody uses ends, one in use does
// not.
func TestSessionIdle(t *testing.T) {
	proof.Ran(t)
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Stateful: true})
		s.Swap(build(t, 1, nil, librarytest.Binding("127.0.0.1:1")))
		defer s.EndStreams()
		e := s.live.Load().endpoints["/library"]
		session, refused := s.sessions.open(e, "2025-11-25")
		if refused != nil {
			t.Fatal(refused.Message)
		}
		time.Sleep(2 * sessionIdle) // it is busy still
		if session.life.Err() != nil {
			t.Fatal("a busy session has ended")
		}
		session.leave()
		time.Sleep(sessionIdle - 1)
		h := http.Header{headerSession: {session.id}}
		if again, _ := s.sessions.enter(e, h); again != session {
			t.Fatal("it has ended early")
		}
		session.leave()
		time.Sleep(sessionIdle)
		synctest.Wait()
		if again, refused := s.sessions.enter(e, h); again != nil || refused == nil {
			t.Error("an idle session has not ended")
		}
	})
}

// TestSessionCancel cancels calls of a session, with a message: one that is safe to
// give up ends, another goes on.
func TestSessionCancel(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		for _, id := range []string{"5", "12345678901234567890"} {
			gone, called := make(chan struct{}), make(chan struct{})
			held := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(called)
				<-r.Context().Done()
				close(gone)
			})
			_, url := serving(t, Config{Stateful: true, NoFastPath: noFastPath}, librarytest.Binding(upstream(t, held)))
			url += "/library"
			session, _ := met(t, url, "2025-11-25")
			call := withID(t, within(posted(t, url, "2025-11-25", message.MethodCall, `{"name":"get_book","arguments":{"id":"7"}}`), session), id)
			answered := make(chan string, 1)
			go func() {
				resp, err := http.DefaultClient.Do(call)
				if err == nil {
					answered <- string(readAll(t, resp))
				}
			}()
			soon(t, "the upstream is called", called)
			note := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
			if status, body := send(t, withBody(t, within(posted(t, url, "2025-11-25", "x", `{}`), session), note)); status != http.StatusAccepted {
				t.Errorf("%d %s", status, body)
			}
			soon(t, "the upstream sees the caller go", gone)
			if body := soon(t, "the call is answered", answered); !strings.Contains(body, `"id":`+id) {
				t.Errorf("the answer is %s", body)
			}
		}
	}
}

// TestSessionListChanged swaps tables under clients with sessions.
func TestSessionListChanged(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding("127.0.0.1:1")
	s, url := serving(t, Config{Stateful: true}, book)
	changed := make(chan struct{}, 10)
	session := connect(t, url+"/library", "2025-11-25", func() { changed <- struct{}{} })
	if session.ID() == "" {
		t.Fatal("there is no session")
	}
	until(t, func() bool { return listening(t, s) == 1 })
	other := librarytest.Binding("127.0.0.1:1")
	other.Tools[0].Description = "Adds another book."
	s.Swap(build(t, 2, s.Table(), other))
	soon(t, "the client hears of it", changed)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || list.Tools[0].Description != "Adds another book." {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestSessionsAtDrain ends sessions and lets a call of one finish.
func TestSessionsAtDrain(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		held, release := make(chan struct{}, 1), make(chan struct{})
		s, url := serving(t, Config{Stateful: true, NoFastPath: noFastPath}, librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			held <- struct{}{}
			<-release
			librarytest.Upstream().ServeHTTP(w, r)
		}))))
		session := connect(t, url+"/library", "2025-11-25", nil)
		result := make(chan error, 1)
		go func() {
			_, err := session.CallTool(context.Background(), getBook())
			result <- err
		}()
		soon(t, "the upstream is called", held)
		s.EndStreams()
		until(t, func() bool {
			status, _ := send(t, within(posted(t, url+"/library", "2025-11-25", "ping", `{}`), session.ID()))
			return status == http.StatusServiceUnavailable && gauge(t, s.metrics.sessions) == 0
		})
		close(release)
		if err := soon(t, "the call is answered", result); err != nil {
			t.Error(err)
		}
		if status, _ := send(t, posted(t, url+"/library", "2025-11-25", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)); status != http.StatusServiceUnavailable {
			t.Errorf("a new session has status %d", status)
		}
	}
}

// TestSessionBatch sends a batch in a session: its requests are answered in one list.
func TestSessionBatch(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{Stateful: true}, librarytest.Binding(upstream(t, librarytest.Upstream())))
	url += "/library"
	id, _ := met(t, url, "2025-03-26")
	body := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},
		{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"7"}}},
		{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}]`
	status, got := send(t, withBody(t, within(posted(t, url, "2025-03-26", "x", `{}`), id), body))
	var answers []struct{ ID int }
	if err := json.Unmarshal([]byte(got), &answers); err != nil || status != http.StatusOK || len(answers) != 3 {
		t.Errorf("%d %s", status, got)
	}
	if open(s) != 1 {
		t.Error("a batch began a session")
	}
}

// TestSessionOddAnswers sends what answers nothing: the session goes on.
func TestSessionOddAnswers(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{Stateful: true}, librarytest.Binding(upstream(t, librarytest.Upstream())))
	url += "/library"
	id, _ := met(t, url, "2025-11-25")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":77,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":[]}`,
		`{"jsonrpc":"2.0","id":1,"error":7}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/odd"}`,
	} {
		if status, got := send(t, withBody(t, within(posted(t, url, "2025-11-25", "x", `{}`), id), body)); status != http.StatusAccepted || got != "" {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if status, body := send(t, within(posted(t, url, "2025-11-25", "ping", `{}`), id)); status != http.StatusOK || !strings.Contains(body, `"result":{}`) {
		t.Errorf("%d %s", status, body)
	}
}

// withBody returns r with another body.
func withBody(t *testing.T, r *http.Request, body string) *http.Request {
	t.Helper()
	other, err := http.NewRequestWithContext(t.Context(), r.Method, r.URL.String(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	other.Header = r.Header
	return other
}
