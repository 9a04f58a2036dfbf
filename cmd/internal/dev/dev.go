// Package dev is the author's loop: a directory of sources comes in, and its tools
// are served over MCP, anew after every save that compiles. For who has no sources, so
// is a bundle file.
package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/local"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/dataplane/serve"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	group  = "dev"            // the only one, of one node
	settle = 10 * time.Second // for the node to answer
	drain  = 2 * time.Second  // for calls in flight when told to stop
)

// Config says what to serve and where.
type Config struct {
	Dir       string   // the module's root, or the file of [RunFile]
	Tags      []string // to compile with
	Upstreams []Upstream
	Secrets   string       // the directory of secrets; "" for none
	Stateful  bool         // as in [node.Config]
	MCP       net.Listener // open; Run closes it; nil with Stdio
	Stdio     *node.Stdio  // the only client, whose going ends Run; nil for those of MCP
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

// Run serves until ctx is done or the client of Stdio has gone. The error is nil then,
// an *[UnknownBinding] or a [*serve.EndpointError] when the sources as they are at the
// start have no binding for an upstream or not the endpoint of Stdio, or says what
// could not be started.
func Run(ctx context.Context, cfg Config) error {
	s := &session{cfg: cfg, compiler: worker.NewStandby()}
	defer s.compiler.Close()
	err := local.Run(ctx, local.Config{
		Name: group, MCP: cfg.MCP, Stdio: cfg.Stdio, Compile: s.compile, Secrets: cfg.Secrets, Stateful: cfg.Stateful, Log: cfg.Daemons,
	}, s.follow)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// compile compiles s and sends its upstreams elsewhere.
func (s *session) compile(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
	compiled, err := s.compiler.Compile(ctx, sources)
	if err != nil || compiled.GetBundle() == nil {
		return compiled, err
	}
	compiled.Bundle, err = fit(s.cfg, compiled.GetBundle())
	if d := misfit(err); d != nil {
		s.misfit.Store(&err)
		compiled.Diagnostics = append(compiled.Diagnostics, d)
		return compiled, nil
	}
	return compiled, err
}

// fit returns b as cfg wants it. The error is an *[UnknownBinding] or a
// [*serve.EndpointError] when it cannot be so, or says that b is damaged.
func fit(cfg Config, b *irv1.Bundle) (*irv1.Bundle, error) {
	b, err := redirect(b, cfg.Upstreams)
	if err != nil || cfg.Stdio == nil {
		return b, err
	}
	content, err := irv1.Open(b)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, binding := range content.Bindings {
		paths = append(paths, binding.GetEndpoint())
	}
	slices.Sort(paths)
	return b, serve.CheckEndpoint(cfg.Stdio.Endpoint, slices.Compact(paths))
}

// misfit returns what to say to the author of sources that are not as the command line
// wants them; nil for an err that says something else.
func misfit(err error) *sourcev1.Diagnostic {
	d := &sourcev1.Diagnostic{Severity: sourcev1.Severity_SEVERITY_ERROR}
	binding, endpoint := (*UnknownBinding)(nil), (*serve.EndpointError)(nil)
	switch {
	case errors.As(err, &binding):
		d.Code, d.Message = "unknown-upstream", binding.Error()
		d.Hint = fmt.Sprintf("start again without --upstream %s=...", binding.Name)
	case errors.As(err, &endpoint):
		d.Code, d.Message = "endpoint", endpoint.Error()
		d.Hint = "start again with another --endpoint"
	default:
		return nil
	}
	return d
}
