package admin

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	"github.com/bindery-dev/bindery/controlplane/store"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	defaultLimit = 50
	maxLimit     = 1_000
	maxAnswer    = 3 << 20   // bytes of one answer: gRPC clients take 4 MiB unless told
	maxPart      = 512 << 10 // bytes of a part of a file
)

// ListRevisions lists the revisions of a group, newest first.
func (s *Server) ListRevisions(ctx context.Context, req *adminv1.ListRevisionsRequest) (*adminv1.ListRevisionsResponse, error) {
	if err := discoveryv1.CheckName(req.GetGroup()); err != nil {
		return nil, errGroup(err)
	}
	limit := int(min(req.GetLimit(), maxLimit))
	if limit == 0 {
		limit = defaultLimit
	}
	revisions, err := s.cfg.Store.Revisions(ctx, req.GetGroup(), req.GetBefore(), limit)
	if err != nil {
		return nil, errRead(err)
	}
	answer, size := &adminv1.ListRevisionsResponse{}, 0
	for _, r := range revisions {
		if err := s.complete(ctx, r); err != nil && !errors.Is(err, store.ErrDamaged) { // then it is listed without
			return nil, errRead(err)
		}
		if size += proto.Size(r); size > maxAnswer && len(answer.Revisions) > 0 {
			break
		}
		answer.Revisions = append(answer.Revisions, r)
	}
	return answer, nil
}

// GetRevision returns a revision and, when asked, its files.
func (s *Server) GetRevision(req *adminv1.GetRevisionRequest, stream grpc.ServerStreamingServer[adminv1.GetRevisionResponse]) error {
	r, err := s.revision(stream.Context(), req)
	if err != nil {
		return err
	}
	if err := stream.Send(&adminv1.GetRevisionResponse{Kind: &adminv1.GetRevisionResponse_Revision{Revision: r}}); err != nil {
		return err
	}
	if !req.GetSources() {
		return nil
	}
	var sendErr error
	err = s.cfg.Store.Sources(stream.Context(), req.GetGroup(), r.GetGeneration().GetNumber(), func(f *sourcev1.File) error {
		sendErr = sendFile(stream, f)
		return sendErr
	})
	if sendErr != nil {
		return sendErr
	} else if err != nil {
		return errRead(err)
	}
	return nil
}

func (s *Server) revision(ctx context.Context, req *adminv1.GetRevisionRequest) (*adminv1.Revision, error) {
	if err := discoveryv1.CheckName(req.GetGroup()); err != nil {
		return nil, errGroup(err)
	}
	r, err := s.numbered(ctx, req.GetGroup(), req.GetNumber())
	if err != nil {
		return nil, err
	}
	if err := s.complete(ctx, r); err != nil {
		return nil, errRead(err)
	}
	return r, nil
}

// numbered returns the revision of a group with that number, without its bindings; for
// 0 the current one. The error is a status.
func (s *Server) numbered(ctx context.Context, group string, number uint64) (*adminv1.Revision, error) {
	if number == 0 {
		head, err := s.head(ctx, group)
		if head == nil && err == nil {
			err = errNoRevision(group)
		}
		return head, err
	}
	r, err := s.cfg.Store.Revision(ctx, group, number)
	if err != nil {
		return nil, errRead(err)
	}
	return r, nil
}

// sendFile sends a file in parts; an empty one is one empty part.
func sendFile(stream grpc.ServerStreamingServer[adminv1.GetRevisionResponse], f *sourcev1.File) error {
	for data := f.GetData(); ; data = data[maxPart:] {
		part := &sourcev1.File{Path: f.GetPath(), Data: data[:min(len(data), maxPart)]}
		if err := stream.Send(&adminv1.GetRevisionResponse{Kind: &adminv1.GetRevisionResponse_File{File: part}}); err != nil {
			return err
		}
		if len(data) <= maxPart {
			return nil
		}
	}
}

// ListNodes lists the nodes of a group or of all.
func (s *Server) ListNodes(ctx context.Context, req *adminv1.ListNodesRequest) (*adminv1.ListNodesResponse, error) {
	groups := []string{req.GetGroup()}
	if req.GetGroup() == "" {
		groups = s.cfg.Nodes.Groups()
	}
	answer := &adminv1.ListNodesResponse{}
	for _, group := range groups {
		p := s.newPlacer(group)
		for _, n := range s.cfg.Nodes.Nodes(group) {
			answer.Nodes = append(answer.Nodes, p.node(ctx, n))
		}
	}
	answer.Nodes = fit(answer.Nodes)
	return answer, nil
}

// GetStatus says how this control plane and its groups are.
func (s *Server) GetStatus(ctx context.Context, _ *adminv1.GetStatusRequest) (*adminv1.GetStatusResponse, error) {
	stored, err := s.cfg.Store.Groups(ctx)
	if err != nil {
		return nil, errRead(err)
	}
	names := slices.Concat(stored, s.cfg.Nodes.Groups(), s.fed())
	slices.Sort(names)
	answer := &adminv1.GetStatusResponse{Build: s.cfg.Build, Started: timestamppb.New(s.started), Epoch: s.cfg.Store.Epoch()}
	for _, name := range slices.Compact(names) {
		g := &adminv1.GroupStatus{Name: name, Counts: counts(s.cfg.Nodes.Nodes(name))}
		g.Revision, err = s.current(ctx, name)
		if err != nil {
			g.Problem = status.Convert(err).Message()
		}
		g.Source, g.SourceError = s.sourceStatus(name)
		answer.Groups = append(answer.Groups, g)
	}
	return answer, nil
}

// current returns the current revision of a group, nil when it has none. With an error,
// which is a status, it returns what can be read.
func (s *Server) current(ctx context.Context, group string) (*adminv1.Revision, error) {
	r, err := s.head(ctx, group)
	if r == nil {
		return nil, err
	}
	_, err = s.manifest(ctx, r)
	if err := cmp.Or(s.complete(ctx, r), err); err != nil {
		return r, errRead(err)
	}
	return r, nil
}

// counts counts nodes by state, in the order of the states.
func counts(nodes []rollout.Node) []*adminv1.StateCount {
	by := map[adminv1.NodeState]uint32{}
	for _, n := range nodes {
		by[states[n.State]]++
	}
	var list []*adminv1.StateCount
	for state := range adminv1.NodeState(len(adminv1.NodeState_name)) {
		if by[state] > 0 {
			list = append(list, &adminv1.StateCount{State: state, Nodes: by[state]})
		}
	}
	return list
}
