// Package operator is what an operator does with a control plane: its address and
// sources come in, how far a revision got on each node goes out.
package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	chunk     = 256 << 10       // bytes of a file in one message
	patience  = 3 * time.Second // for a connection
	maxAnswer = 64 << 20        // bytes of one message that is accepted

	// For how long a control plane may wait for nodes when it is told nothing, as package
	// admin has it, and how much later than that it has answered.
	defaultTimeout = time.Minute
	margin         = 30 * time.Second
)

// alive finds out within 15 s that the other end has gone without a word, as with a
// machine that lost its power. gRPC asks no more often, and a control plane allows it.
var alive = keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}

// errLate is the cause of the end of a request that is not answered when it should be.
var errLate = errors.New("it has not answered in time, and may have done what it was asked for: see bindery nodes")

// A Client talks to one control plane. It is safe for concurrent use.
//
// Its errors are an [*Unreachable], a [*Refused], or those of the context.
type Client struct {
	addr  string
	conn  *grpc.ClientConn
	admin adminv1.AdminServiceClient

	margin time.Duration // the constant of that name, but in tests
}

// Unreachable says that no control plane answered at Addr, or that it could not do
// its work.
type Unreachable struct {
	Addr string
	Down bool // nobody answered at all
	Lost bool // it answered, and then the connection broke
	Err  error
}

func (e *Unreachable) Error() string {
	if e.Down {
		return fmt.Sprintf("no control plane answers at %s (%v): start one with bindery-controlplane, or name another with --control-plane", e.Addr, e.Err)
	}
	return fmt.Sprintf("control plane at %s: %v", e.Addr, e.Err)
}

func (e *Unreachable) Unwrap() error { return e.Err }

// Refused says that what was asked is wrong, in the control plane's words.
type Refused struct{ Message string }

func (e *Refused) Error() string { return e.Message }

// Dial returns a client for the control plane at addr, a host and a port. It does
// not connect: the first request does.
func Dial(addr string) (*Client, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: patience}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)),
		grpc.WithKeepaliveParams(alive),
	)
	if err != nil {
		return nil, err
	}
	return &Client{addr: addr, conn: conn, admin: adminv1.NewAdminServiceClient(conn), margin: margin}, nil
}

// Addr is the address of the control plane.
func (c *Client) Addr() string { return c.addr }

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Progress is told how an apply or a rollback goes on. Either function may be nil.
type Progress struct {
	Compiled func(*adminv1.Compiled)
	Rollout  func(*adminv1.Rollout) // whenever a node's state changes
}

func (p Progress) compiled(c *adminv1.Compiled) {
	if c != nil && p.Compiled != nil {
		p.Compiled(c)
	}
}

func (p Progress) rollout(r *adminv1.Rollout) {
	if r != nil && p.Rollout != nil {
		p.Rollout(r)
	}
}

// Apply sends sources, to be compiled with the tags of start, and waits for the
// outcome; once they are compiled, not much longer than the control plane is told to wait
// for nodes.
func (c *Client) Apply(ctx context.Context, start *adminv1.ApplyStart, s *sourcev1.Sources, p Progress) (*adminv1.Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := c.admin.Apply(ctx)
	if err != nil {
		return nil, c.failure(err)
	}
	// When the control plane has ended the stream early, receiving says why.
	if err := send(stream, start, s); err != nil && !errors.Is(err, io.EOF) {
		return nil, c.failure(err)
	}
	for {
		res, err := stream.Recv()
		if err != nil {
			return nil, c.failure(unfinished(late(ctx, err)))
		}
		if res.GetCompiled() != nil {
			defer c.until(start.GetTimeout(), cancel)()
		}
		p.compiled(res.GetCompiled())
		p.rollout(res.GetRollout())
		if o := res.GetOutcome(); o != nil {
			return o, nil
		}
	}
}

func send(stream grpc.BidiStreamingClient[adminv1.ApplyRequest, adminv1.ApplyResponse], start *adminv1.ApplyStart, s *sourcev1.Sources) error {
	if err := stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_Start{Start: start}}); err != nil {
		return err
	}
	for _, f := range s.GetFiles() {
		for part := range parts(f) {
			if err := stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_File{File: part}}); err != nil {
				return err
			}
		}
	}
	return stream.CloseSend()
}

// parts yields f in pieces that fit a message; at least one.
func parts(f *sourcev1.File) func(yield func(*sourcev1.File) bool) {
	return func(yield func(*sourcev1.File) bool) {
		data := f.GetData()
		for {
			n := min(chunk, len(data))
			if !yield(&sourcev1.File{Path: f.GetPath(), Data: data[:n]}) || n == len(data) {
				return
			}
			data = data[n:]
		}
	}
}

// Rollback makes an older revision's bundle a new revision and waits for the
// outcome, not much longer than the control plane is told to wait for nodes.
func (c *Client) Rollback(ctx context.Context, req *adminv1.RollbackRequest, p Progress) (*adminv1.Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.until(req.GetTimeout(), cancel)()
	stream, err := c.admin.Rollback(ctx, req)
	if err != nil {
		return nil, c.failure(late(ctx, err))
	}
	for {
		res, err := stream.Recv()
		if err != nil {
			return nil, c.failure(unfinished(late(ctx, err)))
		}
		p.rollout(res.GetRollout())
		if o := res.GetOutcome(); o != nil {
			return o, nil
		}
	}
}

// until cancels a request with errLate when a wait for nodes of that length is well over.
func (c *Client) until(timeout *durationpb.Duration, cancel context.CancelCauseFunc) (stop func() bool) {
	wait := timeout.AsDuration()
	if wait <= 0 {
		wait = defaultTimeout
	}
	wait = min(wait, math.MaxInt64-c.margin) // no timeout is too long
	return time.AfterFunc(wait+c.margin, func() { cancel(errLate) }).Stop
}

// late returns errLate, as a status, for the error of a request that was canceled for
// that.
func late(ctx context.Context, err error) error {
	if context.Cause(ctx) == errLate {
		return status.Error(codes.DeadlineExceeded, errLate.Error())
	}
	return err
}

// Revisions returns at most limit revisions of a group, newest first.
func (c *Client) Revisions(ctx context.Context, group string, limit int) ([]*adminv1.Revision, error) {
	var all []*adminv1.Revision
	for before := uint64(0); len(all) < limit; {
		req := &adminv1.ListRevisionsRequest{Group: group, Limit: uint32(limit - len(all)), Before: before}
		res, err := c.admin.ListRevisions(ctx, req)
		if err != nil {
			return nil, c.failure(err)
		}
		page := res.GetRevisions()
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		before = page[len(page)-1].GetGeneration().GetNumber()
	}
	return all, nil
}

// Revision returns a revision of a group, the current one when number is 0, and
// with sources its files too; without, the second result is nil.
func (c *Client) Revision(ctx context.Context, group string, number uint64, sources bool) (*adminv1.Revision, *sourcev1.Sources, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.admin.GetRevision(ctx, &adminv1.GetRevisionRequest{Group: group, Number: number, Sources: sources})
	if err != nil {
		return nil, nil, c.failure(err)
	}
	first, err := stream.Recv()
	if err != nil {
		return nil, nil, c.failure(unfinished(err))
	}
	revision := first.GetRevision()
	if !sources {
		return revision, nil, nil
	}
	s := &sourcev1.Sources{Tags: revision.GetTags()}
	for {
		res, err := stream.Recv()
		if err == io.EOF {
			return revision, s, nil
		} else if err != nil {
			return nil, nil, c.failure(err)
		}
		join(s, res.GetFile())
	}
}

// join adds f, or what it continues, to s.
func join(s *sourcev1.Sources, f *sourcev1.File) {
	if n := len(s.Files); n > 0 && s.Files[n-1].GetPath() == f.GetPath() {
		s.Files[n-1].Data = append(s.Files[n-1].Data, f.GetData()...)
		return
	}
	s.Files = append(s.Files, f)
}

// Nodes returns the nodes of a group, or all for "", sorted by group and id.
func (c *Client) Nodes(ctx context.Context, group string) ([]*adminv1.Node, error) {
	res, err := c.admin.ListNodes(ctx, &adminv1.ListNodesRequest{Group: group})
	if err != nil {
		return nil, c.failure(err)
	}
	return res.GetNodes(), nil
}

// Status returns the state of the control plane and its groups.
func (c *Client) Status(ctx context.Context) (*adminv1.GetStatusResponse, error) {
	res, err := c.admin.GetStatus(ctx, &adminv1.GetStatusRequest{})
	if err != nil {
		return nil, c.failure(err)
	}
	return res, nil
}

// unfinished turns the end of a stream that lacks its last message into an error.
func unfinished(err error) error {
	if err == io.EOF {
		return status.Error(codes.Internal, "it ended the answer before saying how it went: look at its log")
	}
	return err
}

// failure sorts what went wrong by who is to act.
func (c *Client) failure(err error) error {
	s, _ := status.FromError(err)
	switch s.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition, codes.OutOfRange, codes.Aborted:
		return &Refused{s.Message()}
	case codes.Canceled:
		return context.Canceled
	}
	// gRPC tells by the message only whether a connection came about, and whether it broke.
	if _, cause, ok := strings.Cut(s.Message(), "Error while dialing: "); ok {
		return &Unreachable{Addr: c.addr, Down: true, Err: errors.New(strings.TrimSuffix(cause, `"`))}
	}
	lost := strings.Contains(s.Message(), "error reading from server: ") || strings.Contains(s.Message(), "keepalive ping failed ")
	return &Unreachable{Addr: c.addr, Lost: lost, Err: errors.New(s.Message())}
}
