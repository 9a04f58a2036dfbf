package admin

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// maxRetry is the longest time until sources that went beyond a limit of compiling are
// tried again: a busy machine may be why, and otherwise each try costs all of the limit.
const maxRetry = 10 * time.Minute

// compileLimit is the code of the diagnostic that sources went beyond such a limit.
const compileLimit = "compile-limit"

// Source is a directory whose every good change becomes a revision of a group.
type Source struct {
	Group string
	Tags  []string
	Dir   string // as operators are told it
	// Read reads the directory, without tags.
	Read func() (*sourcev1.Sources, error)
	// Changed receives when the directory may have changed.
	Changed <-chan struct{}
}

// sourceState is what operators can ask about a source.
type sourceState struct {
	dir string
	err string // why the last change made no revision; "": it did
}

// Declare makes the group of src one that operators change by force only. Call it
// for all sources before operators may connect.
func (s *Server) Declare(src Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources[src.Group] = &sourceState{dir: src.Dir}
}

// Follow makes a revision of the directory as it is and then of each change that is good,
// until ctx is done or Changed is closed. A bad change keeps the current revision,
// is logged, and is visible in GetStatus until the next good one.
func (s *Server) Follow(ctx context.Context, src Source) {
	wait := s.cfg.Retry
	look := time.NewTicker(s.cfg.Retry) // one for all reads: directories that fail come round as often
	defer look.Stop()
	for {
		var again <-chan time.Time
		problem, fault := s.read(ctx, src)
		if ctx.Err() != nil {
			return
		}
		s.note(src, problem)
		switch fault {
		case ours:
			again = time.After(s.cfg.Retry)
		case unclear:
			again = time.After(wait)
			wait = min(2*wait, maxRetry)
		}
		changed, on := s.await(ctx, src, again, look.C)
		if !on {
			return
		}
		if changed {
			wait = s.cfg.Retry
		}
	}
}

// await waits until the directory may have changed or again receives, and leads nodes on
// meanwhile, whenever look receives. It returns whether it was a change, and whether to go
// on.
func (s *Server) await(ctx context.Context, src Source, again, look <-chan time.Time) (changed, on bool) {
	for {
		select {
		case _, open := <-src.Changed:
			return true, open
		case <-again:
			return false, true
		case <-look:
			s.lead(ctx, src)
		case <-ctx.Done():
			return false, false
		}
	}
}

// A fault tells whether sources that make no revision may make one later as they are.
type fault int

const (
	authors fault = iota // they have to change, or nothing is wrong
	ours                 // they may, once what is wrong here is mended
	unclear              // compiling them took too much: they, or this machine, do too much
)

// read makes a revision of the directory as it is, if it changed. It returns what
// is wrong, "" for nothing, and whose fault that is.
func (s *Server) read(ctx context.Context, src Source) (problem string, whose fault) {
	defer s.caught(src, func(mistake string) { problem, whose = mistake, ours })
	sources, err := src.Read()
	if err != nil {
		return err.Error(), ours
	}
	sources.Tags = src.Tags
	p, err := s.publish(ctx, change{
		group: src.Group, author: "source", source: src.Dir, sources: sources, replaceModule: true, changeTags: true,
	}, func(*adminv1.Compiled) error { return nil })
	switch {
	case err != nil:
		return err.Error(), ours
	case p.result == adminv1.Result_RESULT_INVALID:
		list := p.compiled.GetDiagnostics()
		s.logDiagnostics(src, list)
		if slices.ContainsFunc(list, func(d *sourcev1.Diagnostic) bool { return d.GetCode() == compileLimit }) {
			return summary(list), unclear
		}
		return summary(list), authors
	case p.revision.GetSource() != src.Dir:
		s.cfg.Log.Info("source did not change: what was put over it stays", "group", src.Group, "dir", src.Dir,
			"revision", p.revision.GetGeneration().GetNumber())
	}
	return "", authors
}

// lead makes a revision of the current one when a node runs what comes after it: nobody
// would apply it again to a group that a directory feeds.
func (s *Server) lead(ctx context.Context, src Source) {
	defer s.caught(src, func(string) {})
	unlock, err := s.changing.lock(ctx, src.Group)
	if err != nil {
		return
	}
	defer unlock()
	head, err := s.head(ctx, src.Group)
	if head == nil || err != nil || !s.outrun(head) {
		return
	}
	_, _ = s.repeat(ctx, &adminv1.Revision{ // logs what is wrong; the next look is soon
		Group: src.Group, Author: "source", Created: timestamppb.Now(), Source: head.GetSource(),
		Message: "again, above what nodes run",
	}, head, head)
}

// caught is deferred where a panic would end the process, and with it all other groups.
func (s *Server) caught(src Source, told func(mistake string)) {
	if r := recover(); r != nil {
		s.cfg.Log.Error("a source panicked", "group", src.Group, "dir", src.Dir, "panic", r, "stack", string(debug.Stack()))
		told("the control plane made a mistake: look at its log and report it")
	}
}

func (s *Server) note(src Source, problem string) {
	s.mu.Lock()
	state := s.sources[src.Group]
	isNew := state.err != problem
	state.err = problem
	s.mu.Unlock()
	if problem != "" && isNew {
		s.cfg.Log.Error("source makes no revision: the current one stays", "group", src.Group, "dir", src.Dir, "error", problem)
	}
}

func (s *Server) logDiagnostics(src Source, list []*sourcev1.Diagnostic) {
	for _, d := range list {
		s.cfg.Log.Error("diagnostic", "group", src.Group, "dir", src.Dir, "code", d.GetCode(), "at", line(d), "hint", d.GetHint())
	}
}

// summary returns the first error of a list and how many follow.
func summary(list []*sourcev1.Diagnostic) string {
	errors := slices.DeleteFunc(slices.Clone(list), func(d *sourcev1.Diagnostic) bool {
		return d.GetSeverity() != sourcev1.Severity_SEVERITY_ERROR
	})
	switch len(errors) {
	case 0:
		return "the sources compile to nothing"
	case 1:
		return line(errors[0])
	}
	return fmt.Sprintf("%s (and %d more)", line(errors[0]), len(errors)-1)
}

func line(d *sourcev1.Diagnostic) string {
	if d.GetPosition().GetFile() == "" {
		return d.GetMessage()
	}
	p := d.GetPosition()
	return fmt.Sprintf("%s:%d:%d: %s", p.GetFile(), p.GetLine(), p.GetColumn(), d.GetMessage())
}

// sourceOf returns the directory that feeds a group, "" for none.
func (s *Server) sourceOf(group string) string {
	dir, _ := s.sourceStatus(group)
	return dir
}

func (s *Server) sourceStatus(group string) (dir, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.sources[group]; state != nil {
		return state.dir, state.err
	}
	return "", ""
}

// fed returns the groups that a directory feeds.
func (s *Server) fed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.sources))
}
