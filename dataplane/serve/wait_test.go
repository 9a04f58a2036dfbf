package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A client is told over HTTP how long the upstream asks to wait, in both eras, by
// the SDK and without it, whether errors are results or not; and is told nothing
// when the upstream does not ask.
func TestRetryAfter(t *testing.T) {
	authority := upstream(t, librarytest.Upstream())
	for _, style := range []irv1.ErrorStyle{irv1.ErrorStyle_ERROR_STYLE_JSONRPC, irv1.ErrorStyle_ERROR_STYLE_TOOL} {
		for _, noFastPath := range []bool{false, true} {
			book := librarytest.Binding(authority)
			book.Errors.Style = style
			_, url := serving(t, Config{NoFastPath: noFastPath}, book)
			for _, era := range eras {
				for id, want := range map[string]string{"busy": "7", "missing": "", "1": ""} {
					resp, _ := exchange(t, posted(t, url+"/library", era, "tools/call", `{"name":"get_book","arguments":{"id":"`+id+`"}}`))
					if got := resp.Header.Get("Retry-After"); got != want {
						t.Errorf("%s, %s, without the fast path %t: Retry-After for %s is %q, want %q", era, style, noFastPath, id, got, want)
					}
				}
			}
		}
	}
}

// In a session the client is told, too, also by the answer of a tool that could have asked.
func TestRetryAfterInSession(t *testing.T) {
	busy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	for _, noFastPath := range []bool{false, true} {
		_, url := serving(t, Config{Stateful: true, NoFastPath: noFastPath}, lender(upstream(t, busy)))
		id, _ := met(t, url+"/library", "2025-11-25")
		for _, params := range []string{`{"name":"get_book","arguments":{"id":"1"}}`, `{"name":"lend_book","arguments":{"book":"plain"}}`} {
			resp, body := exchange(t, within(posted(t, url+"/library", "2025-11-25", "tools/call", params), id))
			if got := resp.Header.Get("Retry-After"); got != "7" {
				t.Errorf("%s, without the fast path %t: Retry-After is %q: %s", params, noFastPath, got, body)
			}
		}
	}
}

// Of several waits the longest counts, in whole seconds that are never too few; when
// the response is over nothing is touched any more.
func TestLongestWait(t *testing.T) {
	w := httptest.NewRecorder()
	r, end := withWait(w, httptest.NewRequest(http.MethodPost, "/", nil))
	for _, d := range []time.Duration{0, 1500 * time.Millisecond, time.Second} {
		askToWait(r.Context(), d)
	}
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After is %q", got)
	}
	end()
	askToWait(r.Context(), time.Minute)
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After is %q after the end", got)
	}
	askToWait(context.Background(), time.Minute) // a call that came otherwise
}
