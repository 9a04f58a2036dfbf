package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// A server is a running discovery service over blobs in memory.
type server struct {
	*discovery.Server
	blobs map[irv1.Digest][]byte // not changed while nodes are connected
	dial  *grpc.ClientConn
}

func serve(t testing.TB, change ...func(*discovery.Config)) *server {
	t.Helper()
	s := &server{blobs: map[irv1.Digest][]byte{}}
	cfg := discovery.Config{Blob: func(_ context.Context, d irv1.Digest) ([]byte, error) {
		if blob, ok := s.blobs[d]; ok {
			return blob, nil
		}
		return nil, errors.New("no such blob")
	}}
	for _, c := range change {
		c(&cfg)
	}
	s.Server = discovery.New(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(discovery.ServerOptions()...)
	discoveryv1.RegisterDiscoveryServiceServer(g, s)
	go g.Serve(l)
	t.Cleanup(g.Stop)
	if s.dial, err = grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.dial.Close() })
	return s
}

// offer seals a bundle of bindings called b0, b1, ... with these titles and offers
// it to the group "default".
func (s *server) offer(t testing.TB, number uint64, titles ...string) *discoveryv1.Generation {
	t.Helper()
	var bindings []*irv1.Binding
	for i, title := range titles {
		bindings = append(bindings, &irv1.Binding{Name: fmt.Sprint("b", i), Title: title})
	}
	b, err := irv1.Seal(bindings, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range append(b.GetBlobs(), b.GetManifest()) {
		s.blobs[irv1.DigestOf(blob)] = blob
	}
	digest := irv1.DigestOf(b.GetManifest())
	gen := &discoveryv1.Generation{Epoch: 1, Number: number, Digest: digest[:]}
	if err := s.Offer("default", gen, b.GetManifest()); err != nil {
		t.Fatal(err)
	}
	return gen
}

type stream = grpc.BidiStreamingClient[discoveryv1.SyncRequest, discoveryv1.SyncResponse]

// open begins a stream and says messages.
func (s *server) open(t testing.TB, messages ...*discoveryv1.SyncRequest) stream {
	t.Helper()
	c, err := discoveryv1.NewDiscoveryServiceClient(s.dial).Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		_ = c.Send(m) // its error comes from Recv
	}
	return c
}

func hello(node string) *discoveryv1.SyncRequest {
	return &discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Hello{Hello: &discoveryv1.Hello{
		Node: node, Boot: "1", Group: "default", IrLevels: []uint32{irv1.Level},
	}}}
}

func ack(gen *discoveryv1.Generation) *discoveryv1.SyncRequest {
	return &discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Ack{Ack: &discoveryv1.Ack{Generation: gen}}}
}

func nack(gen *discoveryv1.Generation, reasons ...*discoveryv1.Reason) *discoveryv1.SyncRequest {
	return &discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Nack{Nack: &discoveryv1.Nack{Generation: gen, Reasons: reasons}}}
}

// node returns the state of a node once ok accepts it.
func (s *server) node(t testing.TB, id string, ok func(rollout.Node) bool) rollout.Node {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		changed, _ := s.Changed("default")
		nodes := s.Nodes("default")
		for _, n := range nodes {
			if n.ID() == id && ok(n) {
				return n
			}
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("node %s is not as awaited: %+v", id, nodes)
		}
	}
}

func in(state rollout.State) func(rollout.Node) bool {
	return func(n rollout.Node) bool { return n.State == state }
}

// TestMessages reads a generation as any protobuf client does.
func TestMessages(t *testing.T) {
	s := serve(t)
	gen := s.offer(t, 1, "one", "two", "one")
	c := s.open(t, hello("a"))
	m, err := c.Recv()
	push := m.GetPush()
	if err != nil || !push.GetGeneration().Same(gen) || push.GetBlobs() != 3 {
		t.Fatalf("Recv = %v, %v", m, err)
	}
	bundle := &irv1.Bundle{Manifest: push.GetManifest()}
	for range push.GetBlobs() {
		if m, err = c.Recv(); err != nil {
			t.Fatal(err)
		}
		bundle.Blobs = append(bundle.Blobs, m.GetBlob().GetData())
	}
	if _, err := irv1.Open(bundle); err != nil {
		t.Error(err)
	}
	if err := c.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	s.node(t, "a", in(rollout.Synced))
	if s.Counts.Pushes.Load() != 1 || s.Counts.Blobs.Load() != 3 || s.Counts.Acks.Load() != 1 || s.Counts.Streams.Load() != 1 || s.Counts.Bytes.Load() == 0 {
		t.Errorf("counts %+v", &s.Counts)
	}
}

// TestBadInput holds what a node is told that does not keep to the protocol.
func TestBadInput(t *testing.T) {
	s := serve(t)
	gen := s.offer(t, 1, "one")
	short := &discoveryv1.Generation{Epoch: 1, Number: 1, Digest: []byte("short")}
	long := hello("a")
	long.GetHello().Features = []string{strings.Repeat("x", 20<<10)}
	labelled := hello("a")
	labelled.GetHello().Labels = map[string]string{"zone": strings.Repeat("x", 5_000)}
	padded := &discoveryv1.Generation{Epoch: 1, Number: 1, Digest: gen.GetDigest()}
	padded.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType), make([]byte, 300)))
	held := hello("a")
	held.GetHello().Held = short
	elsewhere := hello("a")
	elsewhere.GetHello().Group = "a/b"
	tests := []struct {
		name     string
		messages []*discoveryv1.SyncRequest
		want     string
	}{
		{"no hello", []*discoveryv1.SyncRequest{ack(gen)}, "the first message of a stream must be a Hello"},
		{"nothing", []*discoveryv1.SyncRequest{{}}, "the first message of a stream must be a Hello"},
		{"two hellos", []*discoveryv1.SyncRequest{hello("a"), hello("a")}, "after the Hello a node sends an Ack or a Nack"},
		{"no name", []*discoveryv1.SyncRequest{hello("")}, "node id is empty"},
		{"bad name", []*discoveryv1.SyncRequest{hello("a\x1b[31m")}, "node id"},
		{"bad group", []*discoveryv1.SyncRequest{elsewhere}, `group "a/b" is no name`},
		{"long hello", []*discoveryv1.SyncRequest{long}, "Hello has more than 16384 bytes"},
		{"long labels", []*discoveryv1.SyncRequest{labelled}, "labels have 5004 bytes together, more than 4096: use fewer or shorter ones"},
		{"held without digest", []*discoveryv1.SyncRequest{held}, "digest has 5 bytes"},
		{"ack of nothing", []*discoveryv1.SyncRequest{hello("a"), ack(nil)}, "digest has 0 bytes"},
		{"ack without digest", []*discoveryv1.SyncRequest{hello("a"), ack(short)}, "digest has 5 bytes"},
		{"ack with something else in it", []*discoveryv1.SyncRequest{hello("a"), ack(padded)}, "more than 256"},
		{"nack without digest", []*discoveryv1.SyncRequest{hello("a"), nack(short)}, "digest has 5 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.open(t, tt.messages...)
			var err error
			for err == nil {
				_, err = c.Recv()
			}
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(status.Convert(err).Message(), tt.want) {
				t.Errorf("the stream ends with %v, want %q", err, tt.want)
			}
		})
	}
}

// TestReasonsAreBounded has a node say far too much.
func TestReasonsAreBounded(t *testing.T) {
	s := serve(t)
	gen := s.offer(t, 1, "one")
	var reasons []*discoveryv1.Reason
	for range 100 {
		reasons = append(reasons, &discoveryv1.Reason{Code: "x", Message: strings.Repeat("é", 5_000)})
	}
	s.open(t, hello("a"), nack(gen, reasons...))
	n := s.node(t, "a", in(rollout.Rejected))
	if len(n.Causes) != 32 || len(n.Causes[0].GetMessage()) > 2<<10 || !strings.HasSuffix(n.Causes[0].GetMessage(), "é") {
		t.Errorf("%d causes, the first has %d bytes", len(n.Causes), len(n.Causes[0].GetMessage()))
	}
	s.open(t, hello("b"), nack(gen))
	if n := s.node(t, "b", in(rollout.Rejected)); n.Causes[0].GetMessage() != "the node gave no reason" {
		t.Errorf("causes %v", n.Causes)
	}
}

// TestPlainTexts has a node say what a terminal would obey: what operators are shown
// holds none of it.
func TestPlainTexts(t *testing.T) {
	const bad, plain = "\x1b[2J\nprod-1  synced\u009b", "?[2J prod-1  synced?"
	s := serve(t)
	gen := s.offer(t, 1, "one")
	h := hello("a")
	h.GetHello().Build, h.GetHello().Labels = bad, map[string]string{bad: bad}
	s.open(t, h, nack(gen, &discoveryv1.Reason{Code: bad, Binding: bad, Tool: bad, Field: bad, Message: bad, Hint: bad}))
	n := s.node(t, "a", in(rollout.Rejected))
	r := n.Causes[0]
	for _, got := range []string{n.Hello.GetBuild(), n.Hello.GetLabels()[plain], r.GetCode(), r.GetBinding(), r.GetTool(), r.GetField(), r.GetMessage(), r.GetHint()} {
		if got != plain {
			t.Errorf("kept as %q, want %q", got, plain)
		}
	}
}

// TestTwoNodesOfOneName ends the older stream with a word why.
func TestTwoNodesOfOneName(t *testing.T) {
	s := serve(t)
	older := s.open(t, hello("a"))
	s.node(t, "a", in(rollout.Pending))
	newer := s.open(t, hello("a"))
	_, err := older.Recv()
	if status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "do two nodes have one id?") {
		t.Errorf("the older stream ends with %v", err)
	}
	s.offer(t, 1, "one")
	if m, err := newer.Recv(); err != nil || m.GetPush() == nil {
		t.Errorf("the newer stream gets %v, %v", m, err)
	}
}

// TestNoHello ends a stream before it said anything: a prober does.
func TestNoHello(t *testing.T) {
	s := serve(t)
	c := s.open(t)
	if err := c.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

// TestClose ends every stream, and refuses new ones.
func TestClose(t *testing.T) {
	s := serve(t)
	c := s.open(t, hello("a"))
	s.node(t, "a", in(rollout.Pending))
	s.Close()
	s.Close()
	for _, c := range []stream{c, s.open(t), s.open(t, hello("b"))} {
		if _, err := c.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("the stream ends with %v", err)
		}
	}
}

// TestStoreFails has a blob that cannot be read: the node is told to come back, and
// nothing that is not whole is sent.
func TestStoreFails(t *testing.T) {
	s := serve(t)
	s.offer(t, 1, "one")
	whole := s.blobs
	s.blobs = map[irv1.Digest][]byte{}
	c := s.open(t, hello("a"))
	if m, err := c.Recv(); status.Code(err) != codes.Unavailable {
		t.Fatalf("Recv = %v, %v", m, err)
	}
	s.node(t, "a", in(rollout.Disconnected))
	s.blobs = whole
	c = s.open(t, hello("a"))
	if m, err := c.Recv(); err != nil || m.GetPush() == nil {
		t.Errorf("Recv = %v, %v", m, err)
	}
}

// TestSettled holds what those hear who wait for a group: of every change, and when the
// last node has answered.
func TestSettled(t *testing.T) {
	s := serve(t)
	a, b := s.open(t, hello("a")), s.open(t, hello("b"))
	s.node(t, "a", in(rollout.Pending))
	s.node(t, "b", in(rollout.Pending))
	gen := s.offer(t, 1, "one")
	changed, settled := s.Changed("default")
	if err := a.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	s.node(t, "a", in(rollout.Synced))
	<-changed
	select {
	case <-settled:
		t.Error("settled, and a node has not answered")
	default:
	}
	if err := b.Send(nack(gen)); err != nil {
		t.Fatal(err)
	}
	<-settled
	s.node(t, "b", in(rollout.Rejected))
}

// TestCloseGivesUpPush closes while a push waits for a node that does not read.
func TestCloseGivesUpPush(t *testing.T) {
	s := serve(t)
	half := strings.Repeat("x", 1<<19)
	s.offer(t, 1, half+"1", half+"2", half+"3", half+"4")
	c := s.open(t, hello("slow"))
	if _, err := c.Recv(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.node(t, "slow", in(rollout.Disconnected))
	if n := s.Counts.Pushes.Load(); n != 0 {
		t.Errorf("%d pushes are whole", n)
	}
}

// TestAnswersWithoutReading has a node say in turn that it runs what is wanted and that
// it does not, and read nothing: what it is to be sent next waits in one place.
func TestAnswersWithoutReading(t *testing.T) {
	const turns = 2_000
	s := serve(t)
	half := strings.Repeat("x", 1<<19)
	gen := s.offer(t, 2, half+"1", half+"2", half+"3", half+"4")
	c := s.open(t, hello("a"))
	s.node(t, "a", in(rollout.Pending))
	other := irv1.DigestOf([]byte("another"))
	before := runtime.NumGoroutine()
	for range turns {
		for _, g := range []*discoveryv1.Generation{gen, {Epoch: 1, Number: 1, Digest: other[:]}} {
			if err := c.Send(ack(g)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for s.Counts.Acks.Load() < 2*turns {
		changed, _ := s.Changed("default")
		if s.Counts.Acks.Load() < 2*turns {
			<-changed
		}
	}
	if after := runtime.NumGoroutine(); after > before+10 {
		t.Errorf("%d goroutines became %d", before, after)
	}
	s.node(t, "a", in(rollout.Pending))
	for range 2 * (1 + 4) { // what was on its way, and what is wanted
		if _, err := c.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	s.node(t, "a", in(rollout.Synced))
}

// TestHalfPushed holds the step at which a control plane may die: between two
// messages of one generation, and not when there is only one.
func TestHalfPushed(t *testing.T) {
	steps := make(chan string, 10)
	s := serve(t, func(c *discovery.Config) { c.OnStep = func(step string) { steps <- step } })
	gen := s.offer(t, 1, "one")
	c := s.open(t, hello("a"))
	for range 2 {
		if _, err := c.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if len(steps) != 1 || <-steps != discovery.StepHalfPushed {
		t.Error("no step between the push and its blob")
	}
	if err := c.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	s.offer(t, 2, "one")
	if m, err := c.Recv(); err != nil || m.GetPush().GetBlobs() != 0 || len(steps) != 0 {
		t.Errorf("Recv = %v, %v and %d steps", m, err, len(steps))
	}
}

// TestForget drops nodes that stay away.
func TestForget(t *testing.T) {
	s := serve(t, func(c *discovery.Config) { c.Forget = time.Nanosecond })
	ctx, cancel := context.WithCancel(t.Context())
	c, err := discoveryv1.NewDiscoveryServiceClient(s.dial).Sync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(hello("a")); err != nil {
		t.Fatal(err)
	}
	s.node(t, "a", in(rollout.Pending))
	cancel()
	for timeout := time.After(20 * time.Second); ; {
		changed, _ := s.Changed("default")
		if len(s.Groups()) == 0 {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("the groups are %v", s.Groups())
		}
	}
}
