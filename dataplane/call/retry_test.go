package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	keyed   = `{"meta":{"version":"v1","key":"k-1"},"payload":{"title":"x","copies":1}}`
	unkeyed = `{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`
)

// A shelf is an upstream in memory whose answers come one after the other, the last
// of them for good.
type shelf struct {
	answers []reply
	got     []recorded
	at      []time.Duration // since the first request
	began   time.Time
}

// A reply is what a shelf answers: a response, an error, or nothing until the caller
// gives up.
type reply struct {
	status int
	after  string // Retry-After
	err    error
	hangs  bool
}

func (s *shelf) roundTrip(r *http.Request) (*http.Response, error) {
	if s.got == nil {
		s.began = time.Now()
	}
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	a := s.answers[min(len(s.got), len(s.answers)-1)]
	s.got = append(s.got, recorded{r, string(body)})
	s.at = append(s.at, time.Since(s.began))
	switch {
	case a.hangs:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case a.err != nil:
		return nil, a.err
	}
	h := http.Header{}
	if a.after != "" {
		h.Set("Retry-After", a.after)
	}
	return &http.Response{StatusCode: a.status, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(`{}`))}, nil
}

// lending returns the library with attempts for every tool.
func lending(change func(*irv1.Binding)) *irv1.Binding {
	b := library("http://library.example/v1")
	lend(b)
	if change != nil {
		change(b)
	}
	return b
}

// lend gives every tool of the library attempts: at most 3, for 429, 503, what is
// unreachable and timeouts, but not for 403.
func lend(b *irv1.Binding) {
	b.Errors.Rules[0].Retry = true
	b.Meta[1].Key = true
	b.Upstream.RetryBudget = &irv1.RetryBudget{Percent: 20, PerSecond: 1}
	for _, t := range b.Tools {
		t.Annotations = &irv1.Annotations{Idempotent: t.GetMethod() == irv1.Method_METHOD_GET}
		t.Retry = &irv1.Retry{Attempts: 3, MaxWait: durationpb.New(2 * time.Second), Backoff: durationpb.New(100 * time.Millisecond)}
	}
}

// borrow returns a tool of a lending library whose upstream is s. Every UUID is
// another one.
func borrow(t *testing.T, s *shelf, tool string, change func(*irv1.Binding)) *table.Tool {
	t.Helper()
	deps := transport(s.roundTrip)
	deps.Now = time.Now
	n := 0
	deps.UUID = func() string { n++; return fmt.Sprintf("123e4567-e89b-42d3-a456-%012d", n) }
	return build(t, lending(change), deps).Endpoint("/mcp").Tool(tool)
}

func TestRetry(t *testing.T) {
	busy, denied, ok := reply{status: 503}, reply{status: 403}, reply{status: 200}
	tests := []struct {
		name    string
		tool    string
		args    string
		answers []reply
		class   call.Class
		retries []string
	}{
		{"no failure", "get_book", getBook, []reply{ok}, call.OK, nil},
		{"once", "get_book", getBook, []reply{busy, ok}, call.OK, []string{"busy"}},
		{"twice", "get_book", getBook, []reply{busy, busy, ok}, call.OK, []string{"busy", "busy"}},
		{"as often as can be", "get_book", getBook, []reply{busy}, call.UpstreamError, []string{"busy", "busy"}},
		{"never", "get_book", getBook, []reply{denied}, call.UpstreamError, nil},
		{"never after another failure", "get_book", getBook, []reply{busy, denied}, call.UpstreamError, []string{"busy"}},
		{"no connection", "get_book", getBook, []reply{{err: errors.New("x")}, ok}, call.OK, []string{"busy"}},
		{"with a key", "add_book", keyed, []reply{busy, {err: io.ErrUnexpectedEOF}, ok}, call.OK, []string{"busy", "busy"}},
		{"without a key", "add_book", unkeyed, []reply{busy}, call.UpstreamError, nil},
		{"no connection, without a key", "add_book", unkeyed, []reply{{err: errors.New("x")}}, call.Unreachable, nil},
		{"a tool without a key", "close_book", `{"id":"1","meta":{"version":"v1","key":"k-1"}}`, []reply{busy}, call.UpstreamError, nil},
		{"no request", "get_book", `{}`, []reply{busy}, call.InvalidParams, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{answers: tt.answers}
				o := call.Do(t.Context(), borrow(t, s, tt.tool, nil), call.Request{Arguments: []byte(tt.args)})
				if o.Class != tt.class || !slices.Equal(o.Retries, tt.retries) || o.Attempts != len(s.got) {
					t.Errorf("outcome is %s after %d attempts for %q, want %s for %q", o.Class, o.Attempts, o.Retries, tt.class, tt.retries)
				}
				if tt.class != call.InvalidParams && len(s.got) != len(tt.retries)+1 {
					t.Errorf("%d requests, want %d", len(s.got), len(tt.retries)+1)
				}
				for _, again := range s.got {
					if again.body != s.got[0].body || !reflect.DeepEqual(again.Header, s.got[0].Header) {
						t.Errorf("the request %v %q is not the first, %v %q", again.Header, again.body, s.got[0].Header, s.got[0].body)
					}
				}
			})
		})
	}
}

// The waits are those that the upstream asks for, and random beyond.
func TestWaits(t *testing.T) {
	const backoff = 100 * time.Millisecond
	tests := []struct {
		name  string
		after string
		waits []time.Duration // at least; each lasts at most backoff longer, then twice that
		asked time.Duration   // in the outcome
	}{
		{"not asked", "", []time.Duration{0, 0}, 0},
		{"seconds", "2", []time.Duration{2 * time.Second, 2 * time.Second}, 2 * time.Second},
		{"at once", "0", []time.Duration{0, 0}, 0},
		{"a date", "Sat, 01 Jan 2000 00:00:02 GMT", []time.Duration{2 * time.Second, 0}, 0},
		{"a date long ago", "Fri, 31 Dec 1999 23:59:59 GMT", []time.Duration{0, 0}, 0},
		{"no sense", "soon", []time.Duration{0, 0}, 0},
		{"less than nothing", "-1", []time.Duration{0, 0}, 0},
		{"longer than the tool waits", "3", nil, 3 * time.Second},
		{"a date beyond", "Sat, 01 Jan 2000 00:00:03 GMT", nil, 3 * time.Second},
		{"more than a number holds", "99999999999999999999", nil, 365 * 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shelf{answers: []reply{{status: 503, after: tt.after}}}
				o := call.Do(t.Context(), borrow(t, s, "get_book", nil), call.Request{Arguments: []byte(getBook)})
				if len(s.got) != len(tt.waits)+1 || o.RetryAfter != tt.asked {
					t.Fatalf("%d requests, and the last asked for %s; want %d and %s", len(s.got), o.RetryAfter, len(tt.waits)+1, tt.asked)
				}
				for i, wait := range tt.waits {
					if got := s.at[i+1] - s.at[i]; got < wait || got > wait+backoff<<i {
						t.Errorf("wait %d is %s, want %s and a bit", i, got, wait)
					}
				}
			})
		})
	}
}

// The time of a tool is for all its attempts and the waits between them.
func TestRetriesEndInTime(t *testing.T) {
	long := func(b *irv1.Binding) {
		for _, tool := range b.Tools { // 5 s each
			tool.Retry.MaxWait, tool.Retry.Attempts = durationpb.New(time.Minute), 5
		}
	}
	tests := []struct {
		name     string
		answers  []reply
		class    call.Class
		attempts int
		took     time.Duration // at most 100 ms more
	}{
		{"no time for the wait", []reply{{status: 503, after: "5"}}, call.UpstreamError, 1, 0},
		{"no time for another wait", []reply{{status: 503, after: "2"}}, call.UpstreamError, 3, 4 * time.Second},
		{"no answer to the second", []reply{{status: 503, after: "2"}, {hangs: true}}, call.Timeout, 2, 5 * time.Second},
		{"no answer to the first", []reply{{hangs: true}}, call.Timeout, 1, 5 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, began := &shelf{answers: tt.answers}, time.Now()
				o := call.Do(t.Context(), borrow(t, s, "get_book", long), call.Request{Arguments: []byte(getBook)})
				took := time.Since(began)
				if o.Class != tt.class || o.Attempts != tt.attempts || took < tt.took || took > tt.took+400*time.Millisecond {
					t.Errorf("%s after %d attempts in %s", o.Class, o.Attempts, took)
				}
			})
		})
	}
}

func TestCanceledWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{answers: []reply{{status: 503, after: "2"}}}
		ctx, cancel := context.WithCancel(t.Context())
		tool := borrow(t, s, "get_book", nil)
		ended := make(chan call.Outcome)
		go func() { ended <- call.Do(ctx, tool, call.Request{Arguments: []byte(getBook)}) }()
		synctest.Wait() // until it waits
		cancel()
		if o := <-ended; o.Class != call.Canceled || o.Attempts != 1 || !errors.Is(o.Err, upstream.ErrCanceled) {
			t.Errorf("outcome is %s, %v after %d attempts", o.Class, o.Err, o.Attempts)
		}
	})
}

// A wait that ends with the time of the call leaves the error as it was.
func TestInterruptedWait(t *testing.T) {
	s := &shelf{answers: []reply{{status: 503}}}
	deps := transport(s.roundTrip)
	deps.Sleep = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	o := call.Do(t.Context(), build(t, lending(nil), deps).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
	if o.Class != call.UpstreamError || o.Status != 503 || o.Attempts != 1 {
		t.Errorf("outcome is %s %d after %d attempts", o.Class, o.Status, o.Attempts)
	}
}

// Keys of different callers, and different keys of one, are different keys at the
// upstream; equal ones are equal.
func TestNamespace(t *testing.T) {
	s := serve(t, nil)
	tool := build(t, lending(func(b *irv1.Binding) {
		b.Upstream.Authority = strings.TrimPrefix(s.URL, "http://")
		b.Meta[1].Namespace = "X-Tenant"
	}), table.Deps{}).Endpoint("/mcp").Tool("add_book")
	send := func(args string, tenants ...string) call.Outcome {
		return call.Do(t.Context(), tool, call.Request{Arguments: []byte(args), Header: http.Header{"X-Tenant": tenants}})
	}
	sent := map[string]int{}
	other := strings.Replace(keyed, "k-1", "k-2", 1)
	for i, c := range []struct{ args, tenant string }{{keyed, "a"}, {keyed, "a"}, {keyed, "b"}, {other, "a"}, {other, "b"}, {strings.Replace(keyed, "k-1", "1", 1), "ak-"}} {
		if o := send(c.args, c.tenant); o.Class != call.OK {
			t.Fatal(show(o.Error))
		}
		sent[s.last(t, i+1).Header.Get("Request-Key")]++
	}
	const first = "fb0909332ca62e4a9e03895fdfe03cf1f3e3a25a4f13adb9e2a16aa2dd6a1251"
	if len(sent) != 5 || sent[first] != 2 {
		t.Errorf("keys are %v", sent)
	}
	if o := send(unkeyed); o.Class != call.OK || s.last(t, 7).Header.Get("Request-Key") != "" {
		t.Errorf("without a key nothing needs to be kept apart: %s", show(o.Error))
	}
	for _, tenants := range [][]string{nil, {""}, {"a", "b"}} {
		const want = "-32602 meta.key needs one header X-Tenant on the request that carries the call "
		if o := send(keyed, tenants...); o.Class != call.InvalidParams || show(o.Error) != want {
			t.Errorf("with %q: %s", tenants, show(o.Error))
		}
	}
	s.last(t, 7)
}

// Calls that fail spend the budget of their upstream.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{answers: []reply{{status: 503}}}
		tool := borrow(t, s, "get_book", func(b *irv1.Binding) {
			b.Upstream.RetryBudget = &irv1.RetryBudget{PerSecond: 1}
			b.Tools[3].Retry.Attempts = 2
		})
		retries := 0
		for range 40 {
			retries += len(call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)}).Retries)
		}
		// What 10 s add is there at first, and the waits last less than 4 s.
		if retries < 10 || retries > 14 || len(s.got) != 40+retries {
			t.Errorf("%d retries, %d requests", retries, len(s.got))
		}
	})
}
