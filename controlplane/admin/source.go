package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// sourceRetry is how long after a failure that is not the sources' fault, such as a
// full disk, a directory is read again.
const sourceRetry = 10 * time.Second

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

// Follow makes a revision of the directory as it is and then of each good change,
// until ctx is done or Changed is closed. A bad change keeps the current revision,
// is logged, and is visible in GetStatus until the next good one.
func (s *Server) Follow(ctx context.Context, src Source) {
	for {
		var again <-chan time.Time
		problem, lasting := s.read(ctx, src)
		if ctx.Err() != nil {
			return
		}
		s.note(src, problem)
		if problem != "" && !lasting {
			again = time.After(sourceRetry)
		}
		select {
		case _, open := <-src.Changed:
			if !open {
				return
			}
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// read makes a revision of the directory as it is, if it differs. It returns what
// is wrong, "" for nothing, and whether that lasts until the directory changes.
func (s *Server) read(ctx context.Context, src Source) (problem string, lasting bool) {
	sources, err := src.Read()
	if err != nil {
		return err.Error(), false
	}
	sources.Tags = src.Tags
	p, err := s.publish(ctx, change{
		group: src.Group, author: "source", source: src.Dir, sources: sources, replaceModule: true, changeTags: true,
	}, func(*adminv1.Compiled) error { return nil })
	switch {
	case err != nil:
		return err.Error(), false
	case p.result == adminv1.Result_RESULT_INVALID:
		s.logDiagnostics(src, p.compiled.GetDiagnostics())
		return summary(p.compiled.GetDiagnostics()), true
	}
	return "", true
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
