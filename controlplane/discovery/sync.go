package discovery

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
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

// Limits of what a node may say, beside those of package discoveryv1, in bytes. What it
// says is kept for as long as the node is known.
const (
	maxHello      = 16 << 10
	maxGeneration = 256
)

type syncServer = grpc.BidiStreamingServer[discoveryv1.SyncRequest, discoveryv1.SyncResponse]

// Sync serves one node until either side ends the stream. What the node says is taken
// here; what it is sent is sent by goroutines that live for one push, since most streams
// are idle most of the time.
func (s *Server) Sync(srv syncServer) error {
	st := &stream{id: rollout.Stream(s.last.Add(1)), srv: srv}
	defer context.AfterFunc(s.life, func() { st.end(errStopping()) })()
	err := st.close(s.sync(st))
	if st.hello != nil {
		s.cfg.Log.Info("node disconnected", "node", st.hello.GetNode(), "group", st.hello.GetGroup(), "cause", err)
	}
	return err
}

// sync returns why the node is heard no more, nil when it ended the stream.
func (s *Server) sync(st *stream) error {
	hello, err := receiveHello(st)
	if errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	st.hello = hello
	s.cfg.Log.Info("node connected", "node", hello.GetNode(), "group", hello.GetGroup(),
		"boot", hello.GetBoot(), "build", hello.GetBuild(), "held", hello.GetHeld().GetNumber())
	s.Counts.Streams.Add(1)
	g := s.join(st)
	defer func() {
		s.Counts.Streams.Add(-1)
		s.leave(g, st)
	}()
	for {
		m, err := st.srv.Recv()
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

// receiveHello waits for the first message. The error is io.EOF when the node ends the
// stream instead.
func receiveHello(st *stream) (*discoveryv1.Hello, error) {
	late := time.AfterFunc(helloWait, func() { st.end(status.Errorf(codes.DeadlineExceeded, "no Hello within %s", helloWait)) })
	defer late.Stop()
	m, err := st.srv.Recv()
	if err != nil {
		return nil, err
	}
	return checkHello(m)
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
	if err := discoveryv1.CheckLabels(hello.GetLabels()); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "labels %v", err)
	}
	if hello.GetHeld() != nil {
		if err := checkGeneration(hello.GetHeld()); err != nil {
			return nil, err
		}
	}
	return plainHello(hello), nil
}

// plainHello makes what a node says of itself fit for the terminals and logs of
// operators.
func plainHello(hello *discoveryv1.Hello) *discoveryv1.Hello {
	hello.Boot, hello.Build = discoveryv1.Plain(hello.GetBoot()), discoveryv1.Plain(hello.GetBuild())
	said := hello.GetLabels()
	hello.Labels = nil
	for name, value := range said {
		if hello.Labels == nil {
			hello.Labels = make(map[string]string, len(said))
		}
		hello.Labels[discoveryv1.Plain(name)] = discoveryv1.Plain(value)
	}
	return hello
}

func checkGeneration(g *discoveryv1.Generation) error {
	if size := proto.Size(g); size > maxGeneration {
		return status.Errorf(codes.InvalidArgument, "generation %d has %d bytes, more than %d", g.GetNumber(), size, maxGeneration)
	}
	if _, err := irv1.ParseDigest(g.GetDigest()); err != nil {
		return status.Errorf(codes.InvalidArgument, "generation %d: %v", g.GetNumber(), err)
	}
	return nil
}

// push sends the stream's next generation, the Push and then its blobs, and ends the
// stream when it cannot. Nobody else would catch a panic here.
func (s *Server) push(st *stream) {
	st.sending.Lock()
	defer st.sending.Unlock()
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Log.Error("a push panicked", "node", st.hello.GetNode(), "panic", r, "stack", string(debug.Stack()))
			st.end(status.Error(codes.Internal, "the control plane made a mistake: look at its log and report it"))
		}
	}()
	next := st.next.Swap(nil)
	if st.closed {
		return
	}
	if err := s.send(st.srv, *next); err != nil {
		st.end(err)
	}
}

func (s *Server) send(srv syncServer, o offer) error {
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
	return discoveryv1.Bounded(reasons)
}
