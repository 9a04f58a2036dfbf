package admin

import (
	"bytes"
	"context"
	"strings"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// A placer turns what is known of the nodes of a group into messages, and gives
// their reasons the author's position. It reads each source map once.
type placer struct {
	s     *Server
	group string
	maps  map[uint64]*sourcev1.SourceMap // by revision; nil: there is none
}

func (s *Server) newPlacer(group string) *placer {
	return &placer{s: s, group: group, maps: map[uint64]*sourcev1.SourceMap{}}
}

var states = map[rollout.State]adminv1.NodeState{
	rollout.Pending:      adminv1.NodeState_NODE_STATE_PENDING,
	rollout.Synced:       adminv1.NodeState_NODE_STATE_SYNCED,
	rollout.Rejected:     adminv1.NodeState_NODE_STATE_REJECTED,
	rollout.Incompatible: adminv1.NodeState_NODE_STATE_INCOMPATIBLE,
	rollout.Drifted:      adminv1.NodeState_NODE_STATE_DRIFTED,
	rollout.Disconnected: adminv1.NodeState_NODE_STATE_DISCONNECTED,
}

func (p *placer) node(ctx context.Context, n rollout.Node) *adminv1.Node {
	m := &adminv1.Node{
		Id: n.ID(), Group: p.group, Labels: n.Hello.GetLabels(), Build: n.Hello.GetBuild(),
		State: states[n.State], Since: timestamppb.New(n.Since),
		Running: n.Running, Wanted: n.Wanted, Retrying: n.Retrying,
	}
	if n.Took > 0 {
		m.Took = durationpb.New(n.Took)
	}
	for _, r := range n.Causes {
		m.Causes = append(m.Causes, diagnostic(r, p.sourceMap(ctx, n.Refused)))
	}
	return m
}

// sourceMap returns the source map of the revision that gen is; nil when gen is
// nil or not of this store.
func (p *placer) sourceMap(ctx context.Context, gen *discoveryv1.Generation) *sourcev1.SourceMap {
	if gen.GetEpoch() != p.s.cfg.Store.Epoch() {
		return nil
	}
	number := gen.GetNumber()
	if m, ok := p.maps[number]; ok {
		return m
	}
	r, err := p.s.cfg.Store.Revision(ctx, p.group, number)
	var m *sourcev1.SourceMap
	if err == nil && bytes.Equal(r.GetGeneration().GetDigest(), gen.GetDigest()) {
		m, err = p.s.cfg.Store.SourceMap(ctx, p.group, number)
	}
	if err != nil {
		p.s.cfg.Log.Warn("no source map", "group", p.group, "revision", number, "error", err)
	}
	p.maps[number] = m
	return m
}

// diagnostic returns a node's reason as the author is told it.
func diagnostic(r *discoveryv1.Reason, m *sourcev1.SourceMap) *sourcev1.Diagnostic {
	return &sourcev1.Diagnostic{
		Position: place(m, r), Severity: sourcev1.Severity_SEVERITY_ERROR,
		Code: r.GetCode(), Path: path(r), Message: r.GetMessage(), Hint: r.GetHint(),
	}
}

// place returns where the author wrote what r is about: the entry for the longest
// part of r's field, else the tool, else the binding; nil when none is known.
func place(m *sourcev1.SourceMap, r *discoveryv1.Reason) *sourcev1.Position {
	var best *sourcev1.SourceMapEntry
	for _, e := range m.GetEntries() {
		if covers(e, r) && (best == nil || depth(e) > depth(best)) {
			best = e
		}
	}
	return best.GetPosition()
}

// covers reports whether e is about r or about something that r is within.
func covers(e *sourcev1.SourceMapEntry, r *discoveryv1.Reason) bool {
	if r.GetBinding() == "" || e.GetBinding() != r.GetBinding() {
		return false
	}
	if e.GetTool() != r.GetTool() {
		return e.GetTool() == "" && e.GetField() == "" // the binding itself
	}
	return e.GetField() == "" || e.GetField() == r.GetField() || strings.HasPrefix(r.GetField(), e.GetField()+".")
}

// depth orders entries that cover the same reason: a tool lies within its binding,
// a field within either.
func depth(e *sourcev1.SourceMapEntry) int {
	depth := len(e.GetField()) // of two prefixes of one field, the longer is the deeper
	if e.GetTool() != "" {
		depth++
	}
	return depth
}

// path returns where in the module's value r is.
func path(r *discoveryv1.Reason) string {
	var parts []string
	if r.GetBinding() != "" {
		parts = append(parts, "bindings", r.GetBinding())
	}
	if r.GetTool() != "" {
		parts = append(parts, "tools", r.GetTool())
	}
	if r.GetField() != "" {
		parts = append(parts, r.GetField())
	}
	return strings.Join(parts, ".")
}
