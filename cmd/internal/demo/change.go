package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cue/source"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

const (
	agents = 8                      // that call at once
	around = 250 * time.Millisecond // of load before and after the change
)

// An edit replaces one line of a file.
type edit struct{ file, from, to string }

const (
	secondGateway     = "bindery-2"
	secondDescription = "Read where a checkout session stands: items, totals, messages and order."
)

var edits = []edit{
	{"platform.cue", `"X-Gateway": "` + firstGateway + `"`, `"X-Gateway": "` + secondGateway + `"`},
	{"checkout/checkout.cue", `"Read the latest authoritative state of a checkout session."`, `"` + secondDescription + `"`},
}

func (d *demo) applyFirst(ctx context.Context) error {
	r, err := d.apply(ctx, "first version")
	if err != nil {
		return err
	}
	for _, b := range r.GetBindings() {
		d.line("  %s  %s: %s", d.url(b.GetEndpoint()), b.GetName(), term.Count(len(b.GetTools()), "tool"))
	}
	return nil
}

// apply does what `bindery apply` does, and wants the node to run the result.
func (d *demo) apply(ctx context.Context, message string) (*adminv1.Revision, error) {
	s, err := source.Read(d.dir)
	if err != nil {
		return nil, err
	}
	s.Tags = []string{"merchant_url=" + d.shop.merchant.url, "psp_url=" + d.shop.psp.url}
	o, err := d.client.Apply(ctx, &adminv1.ApplyStart{Group: group, Tags: s.Tags, Author: "demo", Message: message}, s, operator.Progress{
		Compiled: func(c *adminv1.Compiled) {
			d.line("compiled %s in %s, digest %x", term.Count(len(c.GetBindings()), "binding"), term.Took(c.GetTook().AsDuration()), c.GetDigest()[:6])
		},
	})
	if err != nil {
		return nil, err
	}
	if o.GetResult() != adminv1.Result_RESULT_SYNCED || len(o.GetNodes()) != 1 {
		return nil, fmt.Errorf("the outcome is %v: %v %v", o.GetResult(), o.GetDiagnostics(), o.GetNodes())
	}
	n := o.GetNodes()[0]
	d.line("node %s acked revision %d, %s after it had received it", n.GetId(), o.GetRevision().GetGeneration().GetNumber(), term.Took(n.GetTook().AsDuration()))
	return o.GetRevision(), nil
}

// change edits the module and applies it while agents call, one of whose calls is
// under way during all of the change.
func (d *demo) change(ctx context.Context) error {
	if err := d.edit(); err != nil {
		return err
	}
	d.line("")
	load := d.startLoad(ctx)
	pause(ctx, around)
	r, err := d.apply(ctx, "second version")
	pause(ctx, around)
	counts, loadErr := load.stop()
	if err := errors.Join(err, loadErr); err != nil {
		return err
	}
	if err := d.after(ctx, r.GetGeneration().GetNumber()); err != nil {
		return err
	}
	return d.showCounts(counts, r.GetGeneration().GetNumber())
}

func (d *demo) edit() error {
	for _, e := range edits {
		path := filepath.Join(d.dir, filepath.FromSlash(e.file))
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		before, _, found := bytes.Cut(data, []byte(e.from))
		if !found {
			return fmt.Errorf("%s has no %s", e.file, e.from)
		}
		n := bytes.Count(before, []byte("\n"))
		from := strings.Split(string(data), "\n")[n]
		changed := bytes.Replace(data, []byte(e.from), []byte(e.to), 1)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			return err
		}
		d.diff(e.file, n+1, from, strings.Replace(from, e.from, e.to, 1))
	}
	return nil
}

// after makes the last call of the purchase again, and looks at the tool's new
// description.
func (d *demo) after(ctx context.Context, revision uint64) error {
	var now session
	err := d.call(ctx, d.checkout, toolCall{
		tool: "get_checkout_session", why: "the same call as before, a new header",
		args: object{"id": d.order.ID}, read: true, gateway: secondGateway,
		want: "GET /checkout_sessions/" + d.order.ID,
	}, &now)
	if err != nil {
		return err
	}
	if now.Meta.Revision != revision || now.Status != "completed" {
		return fmt.Errorf("the result is of revision %d and says %s, want revision %d and completed", now.Meta.Revision, now.Status, revision)
	}
	d.answer("%s, %s; answered by revision %d, as its _meta says", now.Status, money(now.total(), now.Currency), revision)
	fresh, err := agent.Connect(ctx, d.url("/mcp"), nil) // a session may remember a list
	if err != nil {
		return err
	}
	defer fresh.Close()
	tools, err := fresh.Tools(ctx)
	if err != nil {
		return err
	}
	for _, raw := range tools {
		var t struct{ Name, Description string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		if t.Name == "get_checkout_session" && strings.HasPrefix(t.Description, secondDescription) {
			d.line("")
			d.line("tools/list describes it anew: %s", secondDescription)
			return nil
		}
	}
	return errors.New("tools/list still has the old description")
}

// counts are what became of the calls of a load.
type counts struct {
	calls, lost int
	byRevision  map[uint64]int
	held        uint64 // the revision that answered the call that was under way
	firstError  error
}

func (d *demo) showCounts(c counts, revision uint64) error {
	d.line("")
	d.line("%d agents called all the while: %d calls, %d lost; %d answered by revision %d, %d by revision %d",
		agents, c.calls, c.lost, c.byRevision[revision-1], revision-1, c.byRevision[revision], revision)
	d.line("one more call was under way at the shop during the whole change and ended on revision %d, with which it began", c.held)
	switch {
	case c.lost > 0:
		return fmt.Errorf("%d calls were lost, the first because: %w", c.lost, c.firstError)
	case c.byRevision[revision-1] == 0 || c.byRevision[revision] == 0:
		return errors.New("the load did not meet both revisions")
	case c.held != revision-1:
		return fmt.Errorf("the call that was under way was answered by revision %d, want %d", c.held, revision-1)
	}
	return nil
}

// A load is agents that call until they are told to stop.
type load struct {
	d       *demo
	ctx     context.Context
	done    chan struct{}
	workers sync.WaitGroup
	held    chan heldCall

	mu     sync.Mutex
	counts counts
}

type heldCall struct {
	revision uint64
	err      error
}

// startLoad returns when one call is under way at the shop.
func (d *demo) startLoad(ctx context.Context) *load {
	l := &load{d: d, ctx: ctx, done: make(chan struct{}), held: make(chan heldCall, 1), counts: counts{byRevision: map[uint64]int{}}}
	for n := range agents {
		l.workers.Go(func() { l.work(n) })
	}
	go func() {
		revision, err := l.one(heldID)
		l.held <- heldCall{revision, err}
	}()
	select {
	case <-d.shop.holding:
	case <-ctx.Done():
	}
	return l
}

func (l *load) work(n int) {
	for i := 0; ; i++ {
		select {
		case <-l.done:
			return
		case <-l.ctx.Done():
			return
		default:
		}
		revision, err := l.one(fmt.Sprintf("req-load-%d-%d", n, i))
		l.mu.Lock()
		l.counts.calls++
		if err != nil {
			l.counts.lost++
			l.counts.firstError = cmp.Or(l.counts.firstError, err)
		} else {
			l.counts.byRevision[revision]++
		}
		l.mu.Unlock()
	}
}

// one makes a call and returns the revision that answered it, after checking that
// the shop got the request of just this revision.
func (l *load) one(id string) (uint64, error) {
	c := toolCall{tool: "get_checkout_session", args: object{"id": l.d.order.ID}, read: true}
	raw, err := l.d.checkout.Call(l.ctx, c.tool, c.arguments(id))
	if err != nil {
		return 0, err
	}
	var s session
	if err := json.Unmarshal(raw.JSON, &s); err != nil {
		return 0, err
	}
	if s.Meta.Revision != 1 {
		c.gateway = secondGateway
	}
	_, err = l.d.received(id, c)
	return s.Meta.Revision, err
}

// stop ends the load, lets the shop answer the call that it holds, and returns
// what became of all.
func (l *load) stop() (counts, error) {
	close(l.done)
	l.workers.Wait()
	close(l.d.shop.hold)
	held := <-l.held
	l.counts.held = held.revision
	return l.counts, held.err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
