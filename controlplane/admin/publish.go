package admin

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	"github.com/bindery-dev/bindery/controlplane/store"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// A change is what a group should run next, and what may be overridden for it.
type change struct {
	group, author, message string
	source                 string // the directory it was read from; "": an operator sent it
	sources                *sourcev1.Sources
	expected               *uint64
	dryRun                 bool
	replaceModule          bool
	changeTags             bool
	force                  bool
}

// A publication is what became of a change.
type publication struct {
	result   adminv1.Result // STORED, UNCHANGED, DRY_RUN or INVALID
	revision *adminv1.Revision
	compiled *sourcev1.Compiled
}

// publish compiles a change, stores it and offers it to the group's nodes. told is
// called once when the sources compile. The error is a status.
//
// Changes of a group are stored in the order in which they came; a dry run waits for
// none. A rollback waits only while one is stored, and what an operator applied before
// it is refused then: a rollback is not undone by who did not know of it.
func (s *Server) publish(ctx context.Context, c change, told func(*adminv1.Compiled) error) (publication, error) {
	if !c.dryRun {
		done, err := s.publishing.lock(ctx, c.group)
		if err != nil {
			return publication{}, err
		}
		defer done()
	}
	head, err := s.head(ctx, c.group)
	if err != nil {
		return publication{}, err
	}
	if err := s.admit(c, head); err != nil {
		return publication{}, err
	}
	if stands, err := s.stands(ctx, c); err != nil || stands {
		return publication{result: adminv1.Result_RESULT_UNCHANGED, revision: head}, err
	}
	p, summary, err := s.compile(ctx, c, head, told)
	if err != nil || p.result == adminv1.Result_RESULT_INVALID {
		return p, err
	}
	return s.store(ctx, c, head, p, summary)
}

// compile compiles a change to a group that is at head. The bindings are what the
// bundle has.
func (s *Server) compile(ctx context.Context, c change, head *adminv1.Revision, told func(*adminv1.Compiled) error) (p publication, bindings []*adminv1.BindingSummary, err error) {
	start := time.Now()
	if p.compiled, err = s.cfg.Compile(ctx, c.sources); err != nil {
		return p, nil, errCompiler(err)
	}
	if broken(p.compiled) {
		p.result = adminv1.Result_RESULT_INVALID
		return p, nil, nil
	}
	if bindings, err = summarise(p.compiled.GetBundle()); err != nil {
		return p, nil, errCompiler(err)
	}
	if head != nil && head.GetModule() != p.compiled.GetModule() && !c.replaceModule {
		return p, nil, errModule(c.group, head.GetModule(), p.compiled.GetModule())
	}
	digest := irv1.DigestOf(p.compiled.GetBundle().GetManifest())
	return p, bindings, told(&adminv1.Compiled{
		Digest: digest[:], Bindings: bindings, Diagnostics: p.compiled.GetDiagnostics(), Took: durationpb.New(time.Since(start)),
	})
}

// store turns a change that compiled into a revision, unless that would change
// nothing. was is the revision that it is a change to.
func (s *Server) store(ctx context.Context, c change, was *adminv1.Revision, p publication, bindings []*adminv1.BindingSummary) (publication, error) {
	unlock, err := s.changing.lock(ctx, c.group)
	if err != nil {
		return p, err
	}
	defer unlock()
	head, err := s.head(ctx, c.group)
	if err != nil {
		return p, err
	}
	at, from := head.GetGeneration().GetNumber(), was.GetGeneration().GetNumber()
	if at != from && c.source == "" && !c.dryRun {
		return p, errMoved(c.group, at, from)
	}
	d, err := s.draft(&adminv1.Revision{
		Group: c.group, Author: c.author, Created: timestamppb.Now(), Message: c.message,
		Module: p.compiled.GetModule(), Tags: c.sources.GetTags(), Bindings: bindings, Source: c.source,
	}, head)
	if err != nil {
		return p, err
	}
	d.Sources, d.Compiled = c.sources.GetFiles(), p.compiled
	switch {
	case c.source == "" && identify(d).is(head) && !s.outrun(head):
		p.result, p.revision = adminv1.Result_RESULT_UNCHANGED, head
		head.Bindings = bindings
		return p, s.mend(ctx, c, d, head)
	case c.dryRun:
		p.result = adminv1.Result_RESULT_DRY_RUN
		return p, nil
	}
	p.result = adminv1.Result_RESULT_STORED
	p.revision, err = s.commit(ctx, c.group, func(ctx context.Context) (*adminv1.Revision, error) {
		return s.cfg.Store.Commit(ctx, d)
	})
	return p, err
}

// mend has what is damaged of the current revision written anew and offered, by who
// applied it again.
func (s *Server) mend(ctx context.Context, c change, d store.Draft, head *adminv1.Revision) error {
	if c.dryRun {
		return nil
	}
	if err := s.cfg.Store.Mend(context.WithoutCancel(ctx), d); err != nil {
		return errWrite(c.group, err)
	}
	if err := s.offer(ctx, head); err != nil {
		return errRead(err)
	}
	return nil
}

// draft numbers a revision above everything that nodes of the group run: when an
// older store was restored, the next revision outranks what it does not know of.
func (s *Server) draft(r, head *adminv1.Revision) (store.Draft, error) {
	base := head.GetGeneration().GetNumber()
	last := max(base, s.cfg.Nodes.Highest(r.GetGroup(), s.cfg.Store.Epoch()))
	if last == math.MaxUint64 {
		return store.Draft{}, errLastNumber(r.GetGroup())
	}
	return store.Draft{Revision: r, Base: base, Number: last + 1}, nil
}

// commit stores a revision and offers it. It is not interrupted by a client that
// goes away: what was asked for is stored whole or not at all.
func (s *Server) commit(ctx context.Context, group string, write func(context.Context) (*adminv1.Revision, error)) (*adminv1.Revision, error) {
	ctx = context.WithoutCancel(ctx)
	r, err := write(ctx)
	if err != nil {
		s.cfg.Log.Error("no revision stored", "group", group, "error", err)
		return nil, errWrite(group, err)
	}
	s.cfg.OnStep(StepStored)
	s.cfg.Log.Info("revision stored", "group", group, "revision", r.GetGeneration().GetNumber(),
		"digest", irv1.Digest(r.GetGeneration().GetDigest()).Short(), "author", r.GetAuthor())
	if err := s.offer(ctx, r); err != nil {
		return r, errRead(err)
	}
	return r, nil
}

// head returns the current revision of a group without its bindings, nil when it has
// none. The error is a status.
func (s *Server) head(ctx context.Context, group string) (*adminv1.Revision, error) {
	r, err := s.cfg.Store.Head(ctx, group)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, errRead(err)
	}
	return r, nil
}

// complete adds its bindings to a revision. The error is the store's.
func (s *Server) complete(ctx context.Context, r *adminv1.Revision) (err error) {
	r.Bindings, err = s.cfg.Store.Bindings(ctx, r.GetGroup(), r.GetGeneration().GetNumber())
	return err
}

// outrun reports whether a node of the group runs what comes after the revision, or
// another bundle under its number: that happens when an older store was restored. No
// offer leads such a node on, but one that is numbered above.
func (s *Server) outrun(r *adminv1.Revision) bool {
	at := r.GetGeneration()
	return s.cfg.Nodes.Highest(r.GetGroup(), at.GetEpoch()) > at.GetNumber() ||
		slices.ContainsFunc(s.cfg.Nodes.Nodes(r.GetGroup()), func(n rollout.Node) bool {
			return n.Running.Compare(at) == 0 && !n.Running.Same(at)
		})
}

// admit refuses what can be refused without compiling.
func (s *Server) admit(c change, head *adminv1.Revision) error {
	if at := head.GetGeneration().GetNumber(); c.expected != nil && *c.expected != at {
		return errMoved(c.group, at, *c.expected)
	}
	if dir := s.sourceOf(c.group); dir != "" && c.source == "" && !c.force {
		return errFed(c.group, dir)
	}
	if head != nil && !c.changeTags && !sameTags(head.GetTags(), c.sources.GetTags()) {
		return errTags(c.group, head.GetTags(), c.sources.GetTags())
	}
	return nil
}

// An identity tells whether two revisions would be the same to everyone.
type identity struct {
	digest irv1.Digest
	module string
	tags   []string
}

func identify(d store.Draft) identity {
	return identity{irv1.DigestOf(d.Compiled.GetBundle().GetManifest()), d.Revision.GetModule(), d.Revision.GetTags()}
}

func (i identity) is(r *adminv1.Revision) bool {
	return r != nil && string(i.digest[:]) == string(r.GetGeneration().GetDigest()) &&
		i.module == r.GetModule() && sameTags(i.tags, r.GetTags())
}

// sameTags reports whether a and b are the same tags, in any order.
func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// stands reports whether a change was read from the directory that fed the group last, and
// that is as it was then. Then it has nothing to say: a rollback or a forced apply on top
// of its last revision stays, also over a restart and under a compiler that makes other
// bytes of the same sources. Every other change of a directory makes a revision, whatever
// it compiles to, for the next one is held against it.
func (s *Server) stands(ctx context.Context, c change) (bool, error) {
	if c.source == "" {
		return false, nil
	}
	last, err := s.lastFed(ctx, c.group)
	if err != nil || last.GetSource() != c.source || !sameTags(last.GetTags(), c.sources.GetTags()) {
		return false, err
	}
	same, err := s.cfg.Store.MadeOf(ctx, c.group, last.GetGeneration().GetNumber(), c.sources.GetFiles())
	if err != nil {
		return false, errRead(err)
	}
	return same, nil
}

// lastFed returns the newest revision of a group that a directory made, nil when none
// did.
func (s *Server) lastFed(ctx context.Context, group string) (*adminv1.Revision, error) {
	for before := uint64(0); ; {
		page, err := s.cfg.Store.Revisions(ctx, group, before, 100)
		if err != nil {
			return nil, errRead(err)
		}
		for _, r := range page {
			if r.GetSource() != "" {
				return r, nil
			}
			before = r.GetGeneration().GetNumber()
		}
		if len(page) < 100 {
			return nil, nil
		}
	}
}

// broken reports whether the sources do not compile.
func broken(c *sourcev1.Compiled) bool {
	return c.GetBundle() == nil || slices.ContainsFunc(c.GetDiagnostics(), func(d *sourcev1.Diagnostic) bool {
		return d.GetSeverity() == sourcev1.Severity_SEVERITY_ERROR
	})
}

// summarise verifies a bundle and says what is in it.
func summarise(b *irv1.Bundle) ([]*adminv1.BindingSummary, error) {
	content, err := irv1.Open(b)
	if err != nil {
		return nil, err
	}
	var list []*adminv1.BindingSummary
	for _, binding := range content.Bindings {
		summary := &adminv1.BindingSummary{Name: binding.GetName(), Endpoint: binding.GetEndpoint()}
		for _, t := range binding.GetTools() {
			if !t.GetHidden() {
				summary.Tools = append(summary.Tools, t.GetName())
			}
		}
		list = append(list, summary)
	}
	return list, nil
}
