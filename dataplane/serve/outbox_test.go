package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// A stuck response is that of a client that does not read: a write waits for its deadline.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan struct{} // gets one when a write begins
	late    chan struct{} // closed when a deadline is set
	once    sync.Once
}

func newStuck() *stuck {
	return &stuck{ResponseRecorder: httptest.NewRecorder(), writing: make(chan struct{}, 1), late: make(chan struct{})}
}

func (w *stuck) Write([]byte) (int, error) {
	select {
	case w.writing <- struct{}{}:
	default:
	}
	<-w.late
	return 0, os.ErrDeadlineExceeded
}

func (w *stuck) SetWriteDeadline(time.Time) error {
	w.once.Do(func() { close(w.late) })
	return nil
}

// TestStuckListener has one client that listens and does not read, in each way of
// listening, and another that hears of every change all the same.
func TestStuckListener(t *testing.T) {
	proof.Ran(t)
	tests := []struct {
		name, era string
		stateful  bool
		request   func(t *testing.T, url string) *http.Request
	}{
		{"subscriptions/listen", eras[0], false, func(t *testing.T, url string) *http.Request {
			return posted(t, url, eras[0], message.MethodListen, `{"notifications":{"toolsListChanged":true}}`)
		}},
		{"GET", eras[1], false, func(t *testing.T, url string) *http.Request { return bare(t, http.MethodGet, url, "") }},
		{"GET in a session", eras[1], true, func(t *testing.T, url string) *http.Request {
			id, _ := met(t, url, eras[1])
			send(t, within(posted(t, url, eras[1], "notifications/initialized", `{}`), id))
			return bare(t, http.MethodGet, url, id)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, url := serving(t, Config{Stateful: tt.stateful, AllowedHosts: []string{"127.0.0.1"}}, librarytest.Binding("127.0.0.1:9"))
			r := tt.request(t, url+"/library")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Host = r.URL.Host
			ctx, goAway := context.WithCancel(r.Context())
			w := newStuck()
			var over sync.WaitGroup
			over.Go(func() { s.ServeHTTP(w, r.WithContext(ctx)) })
			soon(t, "the stream is written to", w.writing)
			changed := make(chan struct{}, 1)
			connect(t, url+"/library", tt.era, func() { changed <- struct{}{} })
			until(t, func() bool { return listening(t, s) == 2 })
			for i := range 3 {
				other := librarytest.Binding("127.0.0.1:9")
				other.Tools[0].Description = fmt.Sprintf("Adds book %d.", i)
				s.Swap(build(t, uint64(2+i), s.Table(), other))
				soon(t, "the other client hears of a change", changed)
			}
			goAway()
			over.Wait()
		})
	}
}

// TestOutbox holds what becomes of a client that does not read, and of one that does.
func TestOutbox(t *testing.T) {
	t.Run("too far behind", func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		w := newStuck()
		o := newOutbox(w, end)
		piece, err := make([]byte, maxUnsent/4), error(nil)
		for n := 0; err == nil; n++ {
			if n > 8 {
				t.Fatal("it takes any number of bytes")
			}
			_, err = o.Write(piece)
		}
		if !errors.Is(err, errBehind) || !errors.Is(o.FlushError(), errBehind) || ctx.Err() == nil {
			t.Errorf("error is %v, the stream has ended: %v", err, ctx.Err())
		}
		o.close()
	})
	t.Run("gone", func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		w := newStuck()
		_ = w.SetWriteDeadline(time.Time{}) // it never fails
		o := newOutbox(w, end)
		_, _ = o.Write([]byte("x")) // the error comes later
		soon(t, "the stream ends", ctx.Done())
		if _, err := o.Write([]byte("x")); !errors.Is(err, errBehind) {
			t.Errorf("error is %v", err)
		}
		o.close()
	})
	t.Run("all is sent", func(t *testing.T) {
		want := strings.Repeat("event", 100)
		url := upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			o := newOutbox(w, func() {})
			defer o.close()
			for i := 0; i < len(want); i += 5 {
				if _, err := io.WriteString(o, want[i:i+5]); err != nil {
					t.Error(err)
				}
			}
		}))
		resp, err := http.Get("http://" + url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	})
}
