package admin

import (
	"context"
	"errors"
	"slices"
	"time"

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
func (s *Server) publish(ctx context.Context, c change, told func(*adminv1.Compiled) error) (publication, error) {
	unlock, err := s.lock(ctx, c.group)
	if err != nil {
		return publication{}, err
	}
	defer unlock()
	head, err := s.head(ctx, c.group)
	if err != nil {
		return publication{}, err
	}
	if err := s.admit(c, head); err != nil {
		return publication{}, err
	}
	p := publication{}
	start := time.Now()
	if p.compiled, err = s.cfg.Compile(ctx, c.sources); err != nil {
		return p, errCompiler(err)
	}
	if broken(p.compiled) {
		p.result = adminv1.Result_RESULT_INVALID
		return p, nil
	}
	summary, err := summarise(p.compiled.GetBundle())
	if err != nil {
		return p, errCompiler(err)
	}
	if head != nil && head.GetModule() != p.compiled.GetModule() && !c.replaceModule {
		return p, errModule(c.group, head.GetModule(), p.compiled.GetModule())
	}
	digest := irv1.DigestOf(p.compiled.GetBundle().GetManifest())
	err = told(&adminv1.Compiled{
		Digest: digest[:], Bindings: summary, Diagnostics: p.compiled.GetDiagnostics(), Took: durationpb.New(time.Since(start)),
	})
	if err != nil {
		return p, err
	}
	return s.store(ctx, c, head, p, summary)
}

// store turns a change that compiled into a revision, unless that would change
// nothing.
func (s *Server) store(ctx context.Context, c change, head *adminv1.Revision, p publication, summary []*adminv1.BindingSummary) (publication, error) {
	next := &adminv1.Revision{
		Group: c.group, Author: c.author, Created: timestamppb.Now(), Message: c.message,
		Module: p.compiled.GetModule(), Tags: c.sources.GetTags(), Bindings: summary, Source: c.source,
	}
	digest := irv1.DigestOf(p.compiled.GetBundle().GetManifest())
	unchanged, err := s.unchanged(ctx, c, head, identity{digest, next.Module, next.Tags})
	if err != nil {
		return p, err
	}
	switch {
	case unchanged:
		p.result, p.revision = adminv1.Result_RESULT_UNCHANGED, head
		return p, nil
	case c.dryRun:
		p.result = adminv1.Result_RESULT_DRY_RUN
		return p, nil
	}
	p.result = adminv1.Result_RESULT_STORED
	d := s.draft(next, head)
	d.Sources, d.Compiled = c.sources.GetFiles(), p.compiled
	p.revision, err = s.commit(ctx, c.group, func(ctx context.Context) (*adminv1.Revision, error) {
		return s.cfg.Store.Commit(ctx, d)
	})
	return p, err
}

// draft numbers a revision above everything that nodes of the group run: when an
// older store was restored, the next revision outranks what it does not know of.
func (s *Server) draft(r, head *adminv1.Revision) store.Draft {
	base := head.GetGeneration().GetNumber()
	highest := s.cfg.Nodes.Highest(r.GetGroup(), s.cfg.Store.Epoch())
	return store.Draft{Revision: r, Base: base, Number: max(base, highest) + 1}
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

// head returns the current revision of a group, nil when it has none.
func (s *Server) head(ctx context.Context, group string) (*adminv1.Revision, error) {
	r, err := s.cfg.Store.Head(ctx, group)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, errRead(err)
	}
	return s.whole(ctx, r)
}

// whole adds its bindings to a revision.
func (s *Server) whole(ctx context.Context, r *adminv1.Revision) (*adminv1.Revision, error) {
	bindings, err := s.cfg.Store.Bindings(ctx, r.GetGroup(), r.GetGeneration().GetNumber())
	if err != nil {
		return nil, errRead(err)
	}
	r.Bindings = bindings
	return r, nil
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

func (i identity) is(r *adminv1.Revision) bool {
	return r != nil && string(i.digest[:]) == string(r.GetGeneration().GetDigest()) &&
		i.module == r.GetModule() && sameTags(i.tags, r.GetTags())
}

// sameTags reports whether a and b are the same tags, in any order.
func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// unchanged reports whether a change would make no difference. For a directory it
// is none either when the directory itself did not change since its last revision:
// a rollback or a forced apply on top of it stays, also over a restart.
func (s *Server) unchanged(ctx context.Context, c change, head *adminv1.Revision, next identity) (bool, error) {
	if next.is(head) || c.source == "" {
		return next.is(head), nil
	}
	for before := uint64(0); ; {
		page, err := s.cfg.Store.Revisions(ctx, c.group, before, 100)
		if err != nil {
			return false, errRead(err)
		}
		for _, r := range page {
			if r.GetSource() == c.source {
				return next.is(r), nil
			}
			before = r.GetGeneration().GetNumber()
		}
		if len(page) < 100 {
			return false, nil
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
