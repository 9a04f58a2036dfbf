package discovery

import (
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// helloWait is how long a stream may be open without a Hello.
const helloWait = 10 * time.Second

// Limits of what a node may say.
const (
	maxHello   = 64 << 10 // bytes
	maxReasons = 32       // of one Nack
	maxText    = 2 << 10  // bytes of one text of a reason
)

type syncServer = grpc.BidiStreamingServer[discoveryv1.SyncRequest, discoveryv1.SyncResponse]

// Sync serves one node until either side ends the stream. This goroutine sends; what
// the node says is taken where it is received, so that an answer waits for nobody.
func (s *Server) Sync(srv syncServer) error {
	hello, err := s.hello(srv)
	if errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	log := s.cfg.Log.With("node", hello.GetNode(), "group", hello.GetGroup())
	g := s.group(hello.GetGroup())
	st := newStream(rollout.Stream(s.last.Add(1)), hello)
	g.connect(st)
	s.Counts.Streams.Add(1)
	log.Info("node connected", "boot", hello.GetBoot(), "build", hello.GetBuild(), "held", hello.GetHeld().GetNumber())
	answered := make(chan error, 1)
	go func() { answered <- s.answers(srv, g, st) }()
	err = s.serve(srv, st, answered)
	s.Counts.Streams.Add(-1)
	g.disconnect(st)
	log.Info("node disconnected", "cause", err)
	s.forgetLater(hello.GetGroup(), hello.GetNode())
	return err
}

// hello waits for the first message. The error is io.EOF when the node ends the
// stream instead.
func (s *Server) hello(srv syncServer) (*discoveryv1.Hello, error) {
	type received struct {
		message *discoveryv1.SyncRequest
		err     error
	}
	first := make(chan received, 1)
	go func() {
		m, err := srv.Recv()
		first <- received{m, err}
	}()
	select {
	case r := <-first:
		if r.err != nil {
			return nil, r.err
		}
		return checkHello(r.message)
	case <-time.After(helloWait):
		return nil, status.Errorf(codes.DeadlineExceeded, "no Hello within %s", helloWait)
	case <-s.stopping:
		return nil, errStopping()
	}
}

func errStopping() error {
	return status.Error(codes.Unavailable, "the control plane is stopping")
}

func checkHello(m *discoveryv1.SyncRequest) (*discoveryv1.Hello, error) {
	hello := m.GetHello()
	if hello == nil {
		return nil, status.Error(codes.InvalidArgument, "the first message of a stream must be a Hello")
	}
	if proto.Size(hello) > maxHello {
		return nil, status.Errorf(codes.InvalidArgument, "Hello has more than %d bytes", maxHello)
	}
	if err := discoveryv1.CheckName(hello.GetNode()); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "node id %v", err)
	}
	if err := discoveryv1.CheckName(hello.GetGroup()); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "group %v", err)
	}
	if hello.GetHeld() != nil {
		return hello, checkGeneration(hello.GetHeld())
	}
	return hello, nil
}

func checkGeneration(g *discoveryv1.Generation) error {
	if _, err := irv1.ParseDigest(g.GetDigest()); err != nil {
		return status.Errorf(codes.InvalidArgument, "generation %d: %v", g.GetNumber(), err)
	}
	return nil
}

// serve sends what is offered until the stream is to end.
func (s *Server) serve(srv syncServer, st *stream, answered <-chan error) error {
	for {
		select {
		case o := <-st.offer:
			if err := s.push(srv, o); err != nil {
				return err
			}
		case err := <-answered:
			return err
		case <-st.ended:
			return status.Errorf(codes.Aborted, "another stream of node %q began: do two nodes have one id?", st.hello.GetNode())
		case <-s.stopping:
			return errStopping()
		}
	}
}

// answers takes what the node says until the stream ends, and returns nil when the
// node ended it. Nobody else would catch a panic here, and it must end this stream only.
func (s *Server) answers(srv syncServer, g *group, st *stream) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Log.Error("an answer panicked", "node", st.hello.GetNode(), "panic", r, "stack", string(debug.Stack()))
			err = status.Error(codes.Internal, "the control plane made a mistake: look at its log and report it")
		}
	}()
	for {
		m, err := srv.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.answer(g, st, m); err != nil {
			return err
		}
	}
}

// push sends a generation: the Push, then its blobs.
func (s *Server) push(srv syncServer, o offer) error {
	messages, err := o.messages(srv.Context(), o.held)
	if err != nil {
		s.cfg.Log.Error("a generation cannot be sent", "generation", o.generation.GetNumber(), "error", err)
		return status.Errorf(codes.Unavailable, "generation %d cannot be read from the store", o.generation.GetNumber())
	}
	for i, m := range messages {
		if i == (len(messages)+1)/2 {
			s.cfg.OnStep(StepHalfPushed)
		}
		if err := srv.SendMsg(m); err != nil {
			return err
		}
		s.Counts.Bytes.Add(int64(len(m)))
	}
	s.Counts.Pushes.Add(1)
	s.Counts.Blobs.Add(int64(len(messages) - 1))
	return nil
}

// answer takes an Ack or a Nack.
func (s *Server) answer(g *group, st *stream, m *discoveryv1.SyncRequest) error {
	switch {
	case m.GetAck() != nil:
		return s.ack(g, st, m.GetAck())
	case m.GetNack() != nil:
		return s.nack(g, st, m.GetNack())
	}
	return status.Error(codes.InvalidArgument, "after the Hello a node sends an Ack or a Nack and nothing else")
}

func (s *Server) ack(g *group, st *stream, ack *discoveryv1.Ack) error {
	if err := checkGeneration(ack.GetGeneration()); err != nil {
		return err
	}
	s.Counts.Acks.Add(1)
	took := ack.GetTook().AsDuration()
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		return m.Ack(now, st.id, ack.GetGeneration(), took)
	})
	s.cfg.Log.Debug("ack", "node", st.hello.GetNode(), "group", st.hello.GetGroup(), "generation", ack.GetGeneration().GetNumber(), "took", took)
	return nil
}

func (s *Server) nack(g *group, st *stream, nack *discoveryv1.Nack) error {
	if err := checkGeneration(nack.GetGeneration()); err != nil {
		return err
	}
	s.Counts.Nacks.Add(1)
	nack.Reasons = bounded(nack.GetReasons())
	g.do(func(m *rollout.Group, now time.Time) []rollout.Action {
		return m.Nack(now, st.id, nack)
	})
	s.cfg.Log.Warn("nack", "node", st.hello.GetNode(), "group", st.hello.GetGroup(), "generation", nack.GetGeneration().GetNumber(),
		"retryable", nack.GetRetryable(), "reason", nack.GetReasons()[0].Text(), "reasons", len(nack.GetReasons()))
	return nil
}

// bounded returns reasons, at least one, within what the control plane keeps.
func bounded(reasons []*discoveryv1.Reason) []*discoveryv1.Reason {
	if len(reasons) == 0 {
		return []*discoveryv1.Reason{{Code: "unknown", Message: "the node gave no reason"}}
	}
	reasons = reasons[:min(len(reasons), maxReasons)]
	for _, r := range reasons {
		for _, text := range []*string{&r.Code, &r.Binding, &r.Tool, &r.Field, &r.Message, &r.Hint} {
			*text = strings.ToValidUTF8((*text)[:min(len(*text), maxText)], "")
		}
	}
	return reasons
}

// forgetLater drops the node when it stays away.
func (s *Server) forgetLater(groupName, node string) {
	time.AfterFunc(s.cfg.Forget+time.Second, func() {
		s.group(groupName).forget(node, time.Now().Add(-s.cfg.Forget))
	})
}
