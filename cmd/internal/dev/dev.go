// Package dev is the author's loop: a directory of sources comes in, and its tools
// are served over MCP, anew after every save that compiles.
package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/local"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	group  = "dev"            // the only one, of one node
	settle = 10 * time.Second // for the node to answer
)

// Config says what to serve and where.
type Config struct {
	Dir       string   // the module's root
	Tags      []string // to compile with
	Upstreams []Upstream
	Secrets   string       // the directory of secrets; "" for none
	MCP       net.Listener // open; Run closes it
	Report    func(Event)  // is told what became of each save; calls do not overlap
	Log       *slog.Logger // of what keeps saves from being seen
	Daemons   *slog.Logger // of control plane and node; nil drops it
}

// An Event is what became of a save, or of the sources as they were at the start.
type Event struct {
	// Err is why the sources could not be read or applied; the rest is empty then.
	Err error
	// Outcome is what the control plane and the node say.
	Outcome *adminv1.Outcome
	// Changed are the paths of the files that differ from the save before, sorted;
	// nil at the start.
	Changed []string
	// Took is from the save to the moment it was served.
	Took time.Duration
	// Serving is the revision that is served now; nil when none is yet.
	Serving *adminv1.Revision
}

// Run serves until ctx is done. The error is nil then, an *[UnknownBinding] when
// the sources as they are at the start have no binding for an upstream, or says
// what could not be started.
func Run(ctx context.Context, cfg Config) error {
	s := &session{cfg: cfg}
	err := local.Run(ctx, local.Config{
		Name: group, MCP: cfg.MCP, Compile: s.compile, Secrets: cfg.Secrets, Log: cfg.Daemons,
	}, s.follow)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// compile compiles s and sends its upstreams elsewhere.
func (s *session) compile(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
	compiled, err := worker.Compile(ctx, sources)
	if err != nil || compiled.GetBundle() == nil {
		return compiled, err
	}
	compiled.Bundle, err = redirect(compiled.GetBundle(), s.cfg.Upstreams)
	if unknown := (*UnknownBinding)(nil); errors.As(err, &unknown) {
		s.unknown.Store(unknown)
		compiled.Diagnostics = append(compiled.Diagnostics, &sourcev1.Diagnostic{
			Severity: sourcev1.Severity_SEVERITY_ERROR,
			Code:     "unknown-upstream",
			Message:  unknown.Error(),
			Hint:     fmt.Sprintf("start again without --upstream %s=...", unknown.Name),
		})
		return compiled, nil
	}
	return compiled, err
}
