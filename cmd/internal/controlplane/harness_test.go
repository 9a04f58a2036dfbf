package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/feed"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// compile is a compiler whose language has one statement: a file NAME.cue is the
// binding NAME, titled as the file says up to a remark. A file that says broken is refused.
func compile(_ context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
	c := &sourcev1.Compiled{SourceMap: &sourcev1.SourceMap{}, Module: "library.example@v0"}
	var bindings []*irv1.Binding
	for _, f := range s.GetFiles() {
		pos := &sourcev1.Position{File: f.GetPath(), Line: 1, Column: 1}
		name, ok := strings.CutSuffix(f.GetPath(), ".cue")
		switch {
		case f.GetPath() == "module.json":
			c.Module = string(f.GetData())
		case !ok || string(f.GetData()) == "broken":
			c.Diagnostics = append(c.Diagnostics, &sourcev1.Diagnostic{
				Position: pos, Severity: sourcev1.Severity_SEVERITY_ERROR, Code: "broken", Message: "file is broken",
			})
		default:
			title, _, _ := strings.Cut(string(f.GetData()), " // ")
			bindings = append(bindings, &irv1.Binding{Name: name, Title: title, Endpoint: "/mcp"})
			c.SourceMap.Entries = append(c.SourceMap.Entries, &sourcev1.SourceMapEntry{Binding: name, Position: pos})
		}
	}
	if len(c.Diagnostics) > 0 {
		return c, nil
	}
	var err error
	c.Bundle, err = irv1.Seal(bindings, nil)
	return c, err
}

// sources makes sources of path and data in turn.
func sources(pathData ...string) *sourcev1.Sources {
	s := &sourcev1.Sources{}
	for i := 0; i < len(pathData); i += 2 {
		s.Files = append(s.Files, &sourcev1.File{Path: pathData[i], Data: []byte(pathData[i+1])})
	}
	return s
}

// A plane is a running control plane.
type plane struct {
	t     testing.TB
	addr  string
	admin adminv1.AdminServiceClient
	stop  func() // may be called twice
}

// start runs a control plane over the data directory. The address is a free one
// unless given.
func start(t testing.TB, data, addr string, change ...func(*Config)) *plane {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{GRPC: l, Data: data, Compile: compile, Log: logger(t)}
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cfg) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		t.Fatal(err)
	}
	p := &plane{t: t, addr: l.Addr().String(), admin: adminv1.NewAdminServiceClient(conn)}
	p.stop = sync.OnceFunc(func() {
		cancel()
		conn.Close()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

// logger shows what was logged when a test is run with -v.
func logger(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// apply applies sources to the group "default".
func (p *plane) apply(s *sourcev1.Sources, change ...func(*adminv1.ApplyStart)) (*adminv1.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := p.admin.Apply(ctx)
	if err != nil {
		return nil, err
	}
	start := &adminv1.ApplyStart{Group: "default", Tags: s.GetTags(), Author: "librarian"}
	for _, c := range change {
		c(start)
	}
	_ = stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_Start{Start: start}}) // its error comes from Recv
	for _, f := range s.GetFiles() {
		_ = stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_File{File: f}})
	}
	_ = stream.CloseSend()
	for {
		m, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if o := m.GetOutcome(); o != nil {
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("after the outcome: %v", err)
			}
			return o, nil
		}
	}
}

// want applies sources and fails unless that ends with result.
func (p *plane) want(result adminv1.Result, s *sourcev1.Sources, change ...func(*adminv1.ApplyStart)) *adminv1.Outcome {
	p.t.Helper()
	o, err := p.apply(s, change...)
	if err != nil || o.GetResult() != result {
		p.t.Fatalf("apply: %v, %v; want %v", o, err, result)
	}
	return o
}

func noWait(s *adminv1.ApplyStart) { s.NoWait = true }

// node returns what the control plane says of a node, once ok accepts it.
func (p *plane) node(id string, ok func(*adminv1.Node) bool) *adminv1.Node {
	p.t.Helper()
	var last []*adminv1.Node
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		answer, err := p.admin.ListNodes(context.Background(), &adminv1.ListNodesRequest{})
		if err != nil {
			p.t.Fatal(err)
		}
		last = answer.GetNodes()
		for _, n := range last {
			if n.GetId() == id && ok(n) {
				return n
			}
		}
	}
	p.t.Fatalf("node %s is not as awaited: %v", id, last)
	return nil
}

func in(state adminv1.NodeState) func(*adminv1.Node) bool {
	return func(n *adminv1.Node) bool { return n.GetState() == state }
}

// A node is a feed and what it runs.
type node struct {
	id      string
	retry   chan struct{}
	steps   chan string
	stop    func()
	wire    wire
	prepare func(*discoveryv1.Generation, *irv1.Content) error // nil: accepts all

	mu       sync.Mutex
	running  *discoveryv1.Generation
	content  *irv1.Content
	prepared int // calls of Prepare
}

// join runs a node against control planes.
func join(t testing.TB, id string, prepare func(*discoveryv1.Generation, *irv1.Content) error, addrs ...string) *node {
	t.Helper()
	n := &node{id: id, retry: make(chan struct{}), steps: make(chan string, 10_000), prepare: prepare}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- feed.Run(ctx, feed.Config{
			Addrs:       addrs,
			Hello:       &discoveryv1.Hello{Node: id, Boot: t.Name(), Group: "default", IrLevels: []uint32{irv1.Level}},
			DialOptions: n.wire.options(),
			Prepare:     n.build,
			Retry:       n.retry,
			OnStep:      func(step string) { n.steps <- step },
			Log:         logger(t).With("feed", id),
		})
	}()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("feed.Run: %v", err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

func (n *node) build(_ context.Context, gen *discoveryv1.Generation, c *irv1.Content) (func(), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prepared++
	if n.prepare != nil {
		if err := n.prepare(gen, c); err != nil {
			return nil, err
		}
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.running, n.content = gen, c
	}, nil
}

// A wire counts what a node receives, and can be cut.
type wire struct {
	mu            sync.Mutex
	conns         []net.Conn
	pushes, blobs int
	bytes         int // of the messages
}

func (w *wire) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(w.dial),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, next grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			s, err := next(ctx, desc, cc, method, opts...)
			return counted{s, w}, err
		}),
	}
}

func (w *wire) dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.conns = append(w.conns, c)
	}
	return c, err
}

// cut breaks the connections there are.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// received returns how many pushes and blobs came since the last call, and their
// bytes.
func (w *wire) received() (pushes, blobs, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pushes, blobs, bytes = w.pushes, w.blobs, w.bytes
	w.pushes, w.blobs, w.bytes = 0, 0, 0
	return pushes, blobs, bytes
}

type counted struct {
	grpc.ClientStream
	wire *wire
}

func (c counted) RecvMsg(m any) error {
	err := c.ClientStream.RecvMsg(m)
	if err != nil {
		return err
	}
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	response := m.(*discoveryv1.SyncResponse)
	c.wire.bytes += proto.Size(response)
	if response.GetPush() != nil {
		c.wire.pushes++
	} else {
		c.wire.blobs++
	}
	return nil
}

// titles returns the titles of what the node runs.
func (n *node) titles() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.content == nil {
		return ""
	}
	var titles []string
	for _, b := range n.content.Bindings {
		titles = append(titles, b.GetTitle())
	}
	return strings.Join(titles, " ")
}

// await waits for a step.
func (n *node) await(t testing.TB, step string) {
	t.Helper()
	for {
		select {
		case s := <-n.steps:
			if s == step {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("node %s did not come to %q", n.id, step)
		}
	}
}

// cut breaks the node's stream. A stream that the control plane has seen nothing of
// is begun again by gRPC itself: then it is the next one that is broken.
func (n *node) cut(t testing.TB) {
	t.Helper()
	for range 1000 {
		n.wire.cut()
		for {
			select {
			case s := <-n.steps:
				if s == feed.StepDisconnected {
					return
				}
				continue
			case <-time.After(20 * time.Millisecond):
			}
			break
		}
	}
	t.Fatalf("the stream of node %s does not break", n.id)
}

// missing is the refusal of a node that lacks a secret of the binding.
func missing(binding string) error {
	return &discoveryv1.Refused{Retryable: true, Reasons: []*discoveryv1.Reason{{
		Code: "missing-secret", Binding: binding, Field: "upstream", Message: "secret is missing", Hint: "create it",
	}}}
}

func wrong(binding string) error {
	return &discoveryv1.Refused{Reasons: []*discoveryv1.Reason{{Code: "unknown-field", Binding: binding, Message: "is wrong"}}}
}
