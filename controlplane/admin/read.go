package admin

import (
	"context"
	"slices"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc"
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
		if r, err = s.whole(ctx, r); err != nil {
			return nil, err
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
	number := req.GetNumber()
	if number == 0 {
		head, err := s.head(ctx, req.GetGroup())
		if head == nil && err == nil {
			err = errNoRevision(req.GetGroup())
		}
		return head, err
	}
	r, err := s.cfg.Store.Revision(ctx, req.GetGroup(), number)
	if err != nil {
		return nil, errRead(err)
	}
	return s.whole(ctx, r)
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
		head, err := s.head(ctx, name)
		if err != nil {
			return nil, err
		}
		g := &adminv1.GroupStatus{Name: name, Revision: head, Counts: counts(s.cfg.Nodes.Nodes(name))}
		g.Source, g.SourceError = s.sourceStatus(name)
		answer.Groups = append(answer.Groups, g)
	}
	return answer, nil
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
