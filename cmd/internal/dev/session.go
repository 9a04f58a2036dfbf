package dev

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cmd/internal/local"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/watch"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/cue/source"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A session follows the sources of one directory.
type session struct {
	cfg      Config
	compiler *worker.Standby
	client   *operator.Client      // set by follow
	misfit   atomic.Pointer[error] // why what compiled last is not as cfg wants it

	last    *sourcev1.Sources // as they were applied last; nil at the start
	serving *adminv1.Revision
	refused *adminv1.Revision // what the node should serve and does not; nil for nothing
}

// follow applies the sources, now and after every save, until ctx is done.
func (s *session) follow(ctx context.Context, client *operator.Client) error {
	s.client = client
	changes, early := watch.Early(ctx, s.cfg.Dir, s.cfg.Log)
	for {
		e := s.save(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case s.last == nil && e.Err != nil:
			return e.Err
		case s.serving == nil && s.misfit.Load() != nil:
			return *s.misfit.Load()
		case e.Err != nil || e.Outcome != nil:
			s.cfg.Report(e)
		}
		if err := s.awaitChange(ctx, changes, early); err != nil {
			return nil
		}
	}
}

// awaitChange returns when there is something new to look at. Until then a node
// that refused and tries again is looked after: the cause may go without a save. What
// may be new is compiled as soon as it is seen.
func (s *session) awaitChange(ctx context.Context, changes, early <-chan struct{}) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	recovered := make(chan *adminv1.Node, 1)
	if s.refused != nil {
		go s.awaitRecovery(waiting, s.refused, recovered)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes:
			return ctx.Err()
		case <-early:
			s.begin()
		case n := <-recovered:
			s.serving, s.refused = s.refused, nil
			o := &adminv1.Outcome{Result: adminv1.Result_RESULT_SYNCED, Revision: s.serving, Nodes: []*adminv1.Node{n}}
			s.cfg.Report(Event{Outcome: o, Took: n.GetTook().AsDuration(), Serving: s.serving})
		}
	}
}

// begin has the sources as they are now compiled, though the save may go on: it seldom
// does, and then they are compiled again.
func (s *session) begin() {
	sources, err := source.Read(s.cfg.Dir)
	if err == nil && len(changedFiles(s.last, sources)) > 0 {
		sources.Tags = s.cfg.Tags
		s.compiler.Ahead(sources)
	}
}

// awaitRecovery sends the node once it runs r after all.
func (s *session) awaitRecovery(ctx context.Context, r *adminv1.Revision, recovered chan<- *adminv1.Node) {
	_ = local.Every(ctx, 100*time.Millisecond, func() bool { // it ends with ctx
		nodes, err := s.client.Nodes(ctx, group)
		if err != nil || len(nodes) == 0 || !nodes[0].GetRunning().Same(r.GetGeneration()) {
			return false
		}
		recovered <- nodes[0]
		return true
	})
}

// save applies the sources as they are now and says what became of them. The event
// is empty when they are those applied before.
func (s *session) save(ctx context.Context) Event {
	began := time.Now()
	sources, err := source.Read(s.cfg.Dir)
	if err != nil {
		return Event{Err: err, Serving: s.serving}
	}
	changed := changedFiles(s.last, sources)
	if s.last != nil && len(changed) == 0 {
		return Event{}
	}
	sources.Tags = s.cfg.Tags
	s.misfit.Store(nil)
	o, err := s.client.Apply(ctx, &adminv1.ApplyStart{
		Group: group, Tags: s.cfg.Tags, Author: "dev", ReplaceModule: true, Timeout: durationpb.New(settle),
	}, sources, operator.Progress{})
	if err != nil {
		return Event{Err: err, Serving: s.serving}
	}
	took := time.Since(s.savedAt(changed, began))
	s.last = sources
	switch o.GetResult() {
	case adminv1.Result_RESULT_SYNCED:
		s.serving, s.refused = o.GetRevision(), nil
	case adminv1.Result_RESULT_REJECTED, adminv1.Result_RESULT_TIMEOUT:
		s.refused = o.GetRevision()
	}
	return Event{Outcome: o, Changed: changed, Took: took, Serving: s.serving}
}

// savedAt returns when the last of the changed files was written, began when that
// cannot be told.
func (s *session) savedAt(changed []string, began time.Time) time.Time {
	var saved time.Time
	for _, name := range changed {
		info, err := os.Stat(filepath.Join(s.cfg.Dir, filepath.FromSlash(name)))
		if err == nil && info.ModTime().After(saved) {
			saved = info.ModTime()
		}
	}
	if saved.Before(began.Add(-settle)) || saved.After(began) {
		return began // moved here with its old time, taken away, or written since
	}
	return saved
}

// changedFiles returns the paths of the files that differ, sorted; none when there
// is nothing to compare with.
func changedFiles(from, to *sourcev1.Sources) []string {
	if from == nil {
		return nil
	}
	old := map[string][]byte{}
	for _, f := range from.GetFiles() {
		old[f.GetPath()] = f.GetData()
	}
	var changed []string
	for _, f := range to.GetFiles() {
		if data, ok := old[f.GetPath()]; !ok || !bytes.Equal(data, f.GetData()) {
			changed = append(changed, f.GetPath())
		}
		delete(old, f.GetPath())
	}
	return slices.Sorted(slices.Values(slices.AppendSeq(changed, maps.Keys(old))))
}
