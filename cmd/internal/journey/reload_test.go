package journey

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

// TestReloadLosesNoCall applies 50 revisions, each changing schema, path, header
// and error rule together, while callers call and the upstream holds at least one
// call across every swap. No call fails, and each is of one revision from the
// validation of its arguments to its result: the one in the result's _meta.
func TestReloadLosesNoCall(t *testing.T) {
	const revisions, callers = 50, 6
	up := newLibrary(t)
	op, addr := startControlPlane(t, t.TempDir())
	url := startNode(t, "n1", addr)
	awaitNodes(t, op, 1)
	if out := apply(t, op, variant(1, up.URL)); out.GetResult() != adminv1.Result_RESULT_SYNCED {
		t.Fatalf("first revision: %v", out)
	}

	load := &load{up: up, url: url, stop: make(chan struct{})}
	load.current.Store(1)
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() { load.run(t, i) })
	}
	held := connect(t, url)
	for n := 1; n < revisions; n++ {
		crossing(t, up, held, n, func() {
			out := apply(t, op, variant(n+1, up.URL))
			if got := out.GetRevision().GetGeneration().GetNumber(); out.GetResult() != adminv1.Result_RESULT_SYNCED || got != uint64(n+1) {
				t.Fatalf("revision %d: %v", n+1, out)
			}
			load.current.Store(uint64(n + 1))
		})
	}
	close(load.stop)
	done.Wait()
	crossed := load.crossed.Load() + revisions - 1
	t.Logf("%d revisions, %d calls (%d refused by schema, %d by the upstream, as they should be), 0 failed; %d crossed a swap, %d of them held by the upstream",
		revisions, load.calls.Load()+revisions-1, load.invalid.Load(), load.conflicts.Load(), crossed, revisions-1)
	if load.calls.Load() == 0 || load.invalid.Load() == 0 || load.conflicts.Load() == 0 {
		t.Error("some kind of call was never made: the test shows nothing")
	}
}

// crossing has the upstream hold a call of revision n while swap happens, and
// checks that the call is of revision n all the same.
func crossing(t *testing.T, up *library, s *agent.Session, n int, swap func()) {
	id := fmt.Sprintf("hold-%d", n)
	arrived, release := up.hold(id)
	type answer struct {
		res agent.Result
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		res, err := s.Call(t.Context(), "lend", lendArgs(id, 1))
		answered <- answer{res, err}
	}()
	<-arrived
	swap()
	release()
	a := <-answered
	if a.err != nil {
		t.Fatalf("the call that crossed from revision %d failed: %v", n, a.err)
	}
	res, err := parse(a.res)
	if err != nil {
		t.Fatal(err)
	}
	if req, _ := up.request(id); res.Meta.Revision != uint64(n) || mixture(id, res, req) != "" {
		t.Errorf("the call that crossed from revision %d: revision %d; %s", n, res.Meta.Revision, mixture(id, res, req))
	}
}

// A load is callers that check every answer.
type load struct {
	up                                 *library
	url                                string
	stop                               chan struct{}
	current                            atomic.Uint64 // the newest revision that is known to be served
	calls, crossed, invalid, conflicts atomic.Int64
}

func connect(t *testing.T, url string) *agent.Session {
	t.Helper()
	s, err := agent.Connect(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (l *load) run(t *testing.T, caller int) {
	s, err := agent.Connect(t.Context(), l.url, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	kinds := []func(*testing.T, *agent.Session, string){l.succeed, l.conflict, l.refused}
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			return
		default:
		}
		before := l.current.Load()
		kinds[i%len(kinds)](t, s, fmt.Sprintf("%d-%d", caller, i))
		l.calls.Add(1)
		if l.current.Load() != before {
			l.crossed.Add(1)
		}
	}
}

// succeed makes a call that every form accepts.
func (l *load) succeed(t *testing.T, s *agent.Session, id string) {
	answer, err := s.Call(t.Context(), "lend", lendArgs(id, 1))
	if err != nil {
		t.Errorf("call %s failed: %v", id, err)
		return
	}
	res, err := parse(answer)
	req, ok := l.up.request(id)
	if err != nil || !ok {
		t.Errorf("call %s: %v, reached the upstream: %t", id, err, ok)
	} else if m := mixture(id, res, req); m != "" {
		t.Error(m)
	}
}

// conflict makes a call that the upstream answers with 409: the rule that made the
// error and the request are of one form.
func (l *load) conflict(t *testing.T, s *agent.Session, id string) {
	id = "conflict-" + id
	_, err := s.Call(t.Context(), "lend", lendArgs(id, 1))
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) {
		t.Errorf("call %s: %v, want the conflict", id, err)
		return
	}
	l.conflicts.Add(1)
	req, _ := l.up.request(id)
	form, _ := strconv.Atoi(req.form)
	want := fmt.Sprintf(`"rule":"%s"`, req.form)
	if refusal.Code != int64(-32100-form) || !strings.Contains(string(refusal.Data), want) || req.path != "/form"+req.form+"/loans/"+id || req.branch != req.form {
		t.Errorf("call %s: error %d %s of request %+v: more than one form", id, refusal.Code, refusal.Data, req)
	}
}

var bound = regexp.MustCompile(`\b1\d{3}\b`)

// refused makes a call that no form accepts: the schema that refused and the error
// are of one form, and nothing reached the upstream.
func (l *load) refused(t *testing.T, s *agent.Session, id string) {
	_, err := s.Call(t.Context(), "lend", lendArgs(id, tooManyCopies))
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) {
		t.Errorf("call %s: %v, want a refusal", id, err)
		return
	}
	l.invalid.Add(1)
	n, _ := strconv.Atoi(bound.FindString(refusal.Message))
	if form := strconv.Itoa(n - maxCopies(0)); !strings.Contains(string(refusal.Data), fmt.Sprintf(`"form":"%s"`, form)) {
		t.Errorf("call %s: %q with %s: the schema is of form %s", id, refusal.Message, refusal.Data, form)
	}
	if _, ok := l.up.request(id); ok {
		t.Errorf("call %s reached the upstream", id)
	}
}
