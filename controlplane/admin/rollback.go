package admin

import (
	"bytes"
	"context"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Rollback makes a new revision of an older one's bundle and rolls it out.
func (s *Server) Rollback(req *adminv1.RollbackRequest, stream grpc.ServerStreamingServer[adminv1.RollbackResponse]) error {
	if err := checkWait(req.GetGroup(), req.GetTimeout()); err != nil {
		return err
	}
	if len(req.GetMessage())+len(req.GetAuthor()) > maxText {
		return errRequest("message and author have more than %d bytes", maxText)
	}
	result, r, err := s.restore(stream.Context(), req)
	if err != nil {
		return err
	}
	o, err := s.outcome(stream.Context(), result, r, req.GetNoWait(), req.GetTimeout(), func(r *adminv1.Rollout) error {
		return stream.Send(&adminv1.RollbackResponse{Kind: &adminv1.RollbackResponse_Rollout{Rollout: r}})
	})
	if err != nil {
		return err
	}
	return stream.Send(&adminv1.RollbackResponse{Kind: &adminv1.RollbackResponse_Outcome{Outcome: o}})
}

// restore stores a new revision of an older one's bundle, unless the group is there
// already.
func (s *Server) restore(ctx context.Context, req *adminv1.RollbackRequest) (adminv1.Result, *adminv1.Revision, error) {
	unlock, err := s.changing.lock(ctx, req.GetGroup())
	if err != nil {
		return 0, nil, err
	}
	defer unlock()
	head, err := s.head(ctx, req.GetGroup())
	if err != nil {
		return 0, nil, err
	}
	if head == nil {
		return 0, nil, errNoRevision(req.GetGroup())
	}
	to, err := s.target(ctx, req, head)
	if err != nil {
		return 0, nil, err
	}
	if (identity{[32]byte(to.GetGeneration().GetDigest()), to.GetModule(), to.GetTags()}).is(head) && !s.outrun(head) {
		if err := s.complete(ctx, head); err != nil {
			return 0, nil, errRead(err)
		}
		return adminv1.Result_RESULT_UNCHANGED, head, nil
	}
	r, err := s.repeat(ctx, &adminv1.Revision{
		Group: req.GetGroup(), Author: req.GetAuthor(), Created: timestamppb.Now(), Message: req.GetMessage(),
	}, head, to)
	return adminv1.Result_RESULT_STORED, r, err
}

// repeat stores next, which comes after head and has what old has, and offers it. The
// caller holds the lock of changing.
func (s *Server) repeat(ctx context.Context, next, head, old *adminv1.Revision) (*adminv1.Revision, error) {
	d, err := s.draft(next, head)
	if err != nil {
		return nil, err
	}
	return s.commit(ctx, next.GetGroup(), func(ctx context.Context) (*adminv1.Revision, error) {
		return s.cfg.Store.Repeat(ctx, d, old.GetGeneration().GetNumber())
	})
}

// target returns the revision to go back to.
func (s *Server) target(ctx context.Context, req *adminv1.RollbackRequest, head *adminv1.Revision) (*adminv1.Revision, error) {
	if req.GetRevision() != 0 {
		r, err := s.cfg.Store.Revision(ctx, req.GetGroup(), req.GetRevision())
		if err != nil {
			return nil, errRead(err)
		}
		return r, nil
	}
	var fallback *adminv1.Revision
	for before := head.GetGeneration().GetNumber(); ; {
		page, err := s.cfg.Store.Revisions(ctx, req.GetGroup(), before, 100)
		if err != nil {
			return nil, errRead(err)
		}
		for _, r := range page {
			before = r.GetGeneration().GetNumber()
			if bytes.Equal(r.GetGeneration().GetDigest(), head.GetGeneration().GetDigest()) {
				continue
			}
			if s.cfg.Nodes.Ran(req.GetGroup(), r.GetGeneration()) {
				return r, nil
			}
			if fallback == nil {
				fallback = r
			}
		}
		if len(page) == 100 {
			continue
		}
		if fallback == nil {
			return nil, errNothingEarlier(req.GetGroup(), head.GetGeneration().GetNumber())
		}
		return fallback, nil
	}
}
