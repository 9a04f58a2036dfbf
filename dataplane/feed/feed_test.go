package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type (
	generation = discoveryv1.Generation
	content    = irv1.Content
)

var missing = &discoveryv1.Refused{Retryable: true, Reasons: []*discoveryv1.Reason{{Code: "missing-secret", Message: "secret is missing"}}}

// errPanic makes a runner panic.
var errPanic = errors.New("a mistake of ours")

func quiet(cfg Config) Config {
	cfg.Log = slog.New(slog.DiscardHandler)
	if cfg.OnStep == nil {
		cfg.OnStep = func(string) {}
	}
	return cfg
}

// A bundle is a sealed bundle of two bindings, of which one never changes.
type bundle struct{ *irv1.Bundle }

func newBundle(t testing.TB, title string) bundle {
	t.Helper()
	b, err := irv1.Seal([]*irv1.Binding{{Name: "catalog", Title: "same"}, {Name: "loans", Title: title}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return bundle{b}
}

func (b bundle) generation(number uint64) *generation {
	digest := irv1.DigestOf(b.GetManifest())
	return &generation{Epoch: 1, Number: number, Digest: digest[:]}
}

// delivery sends all blobs, or those with the given indices.
func (b bundle) delivery(number uint64, blobs ...int) delivery {
	d := delivery{push: &discoveryv1.Push{Generation: b.generation(number), Manifest: b.GetManifest()}, at: time.Now()}
	for i, blob := range b.GetBlobs() {
		if len(blobs) == 0 || slices.Contains(blobs, i) {
			d.blobs = append(d.blobs, blob)
		}
	}
	d.push.Blobs = uint32(len(d.blobs))
	return d
}

// A plane is a control plane that does what a test says.
type plane struct {
	discoveryv1.UnimplementedDiscoveryServiceServer
	addr    string
	streams chan *peer
}

// A peer is the control plane's end of one stream.
type peer struct {
	t     testing.TB
	hello *discoveryv1.Hello
	grpc.BidiStreamingServer[discoveryv1.SyncRequest, discoveryv1.SyncResponse]
	end func(error) // ends the stream
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &plane{addr: l.Addr().String(), streams: make(chan *peer)}
	s := grpc.NewServer()
	discoveryv1.RegisterDiscoveryServiceServer(s, p)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return p
}

func (p *plane) Sync(s grpc.BidiStreamingServer[discoveryv1.SyncRequest, discoveryv1.SyncResponse]) error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	select {
	case p.streams <- &peer{hello: m.GetHello(), BidiStreamingServer: s, end: func(err error) { ended <- err }}:
	case <-s.Context().Done():
	}
	select {
	case err := <-ended:
		return err
	case <-s.Context().Done():
		return s.Context().Err()
	}
}

// next waits for the next stream.
func (p *plane) next(t testing.TB) *peer {
	t.Helper()
	select {
	case s := <-p.streams:
		s.t = t
		return s
	case <-time.After(20 * time.Second):
		t.Fatal("no stream came")
		return nil
	}
}

func (p *peer) send(d delivery) {
	p.t.Helper()
	messages := []*discoveryv1.SyncResponse{{Kind: &discoveryv1.SyncResponse_Push{Push: d.push}}}
	for _, blob := range d.blobs {
		messages = append(messages, &discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Blob{Blob: &discoveryv1.Blob{Data: blob}}})
	}
	for _, m := range messages {
		if err := p.Send(m); err != nil {
			p.t.Fatal(err)
		}
	}
}

// answer returns what the node says: "ack NUMBER" or "nack NUMBER CODE".
func (p *peer) answer() string {
	p.t.Helper()
	m, err := p.Recv()
	switch {
	case err != nil:
		p.t.Fatal(err)
		return ""
	case m.GetAck() != nil:
		return fmt.Sprintf("ack %d", m.GetAck().GetGeneration().GetNumber())
	case m.GetNack() != nil:
		text := fmt.Sprintf("nack %d %s", m.GetNack().GetGeneration().GetNumber(), m.GetNack().GetReasons()[0].GetCode())
		if m.GetNack().GetRetryable() {
			text += ", retrying"
		}
		return text
	}
	return fmt.Sprint(m)
}

func (p *peer) want(answer string) {
	p.t.Helper()
	if got := p.answer(); got != answer {
		p.t.Errorf("the node says %q, want %q", got, answer)
	}
}

// A runner is a feed with what it did.
type runner struct {
	mu      sync.Mutex
	refusal error
	running []string // titles, in order
	steps   []string
	retry   chan struct{}
}

func run(t *testing.T, addrs ...string) *runner {
	t.Helper()
	r := &runner{retry: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{
			Addrs:       addrs,
			Hello:       &discoveryv1.Hello{Node: "a", Boot: "1", Group: "default", IrLevels: []uint32{1}},
			DialOptions: []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())},
			Prepare:     r.prepare,
			Retry:       r.retry,
			OnStep: func(step string) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.steps = append(r.steps, step)
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

func (r *runner) prepare(_ context.Context, gen *generation, c *content) (func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusal == errPanic {
		panic(errPanic)
	} else if r.refusal != nil {
		return nil, r.refusal
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running = append(r.running, c.Bindings[1].GetTitle())
	}, nil
}

func (r *runner) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal = err
}

func (r *runner) ran() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.running, " ")
}

func (r *runner) stepped() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.steps, " ")
}

// await waits until there was a step.
func (r *runner) await(step string) {
	for !strings.Contains(r.stepped(), step) {
		time.Sleep(time.Millisecond)
	}
}

func TestSteps(t *testing.T) {
	p := newPlane(t)
	r := run(t, p.addr)
	s := p.next(t)
	if s.hello.GetNode() != "a" || s.hello.GetHeld() != nil {
		t.Errorf("hello %v", s.hello)
	}
	s.send(newBundle(t, "one").delivery(1))
	s.want("ack 1")
	r.refuse(errors.New("no"))
	s.send(newBundle(t, "two").delivery(2))
	s.want("nack 2 internal")
	s.end(nil)
	s = p.next(t)
	if s.hello.GetHeld().GetNumber() != 1 {
		t.Errorf("hello %v", s.hello)
	}
	const want = "connected received validated swapping swapped acked received nacked disconnected"
	if got := r.stepped(); !strings.HasPrefix(got, want) {
		t.Errorf("steps %s, want %s", got, want)
	}
}

// TestBadGenerations sends what a node must not run. It says so and goes on.
func TestBadGenerations(t *testing.T) {
	p := newPlane(t)
	r := run(t, p.addr)
	s := p.next(t)
	one, two := newBundle(t, "one"), newBundle(t, "two")

	lacking := one.delivery(1, 0)
	s.send(lacking)
	s.want("nack 1 damaged-bundle")
	changed := one.delivery(1)
	changed.blobs[1] = append([]byte("x"), changed.blobs[1]...)
	s.send(changed)
	s.want("nack 1 damaged-bundle")
	other := one.delivery(1)
	other.push.Generation = two.generation(1)
	s.send(other)
	s.want("nack 1 damaged-bundle")
	none := one.delivery(1)
	none.push.Manifest = []byte("\xff no manifest")
	digest := irv1.DigestOf(none.push.Manifest)
	none.push.Generation = &generation{Epoch: 1, Number: 1, Digest: digest[:]}
	s.send(none)
	s.want("nack 1 damaged-bundle")

	s.send(one.delivery(5))
	s.want("ack 5")
	s.send(two.delivery(4))
	s.want("nack 4 stale-generation")
	older := two.delivery(9)
	older.push.Generation.Epoch = 0
	s.send(older)
	s.want("nack 9 stale-generation")
	s.send(two.delivery(5))
	s.want("nack 5 conflicting-generation")
	s.send(one.delivery(5))
	s.want("ack 5") // it runs that
	if r.ran() != "one" {
		t.Errorf("ran %s", r.ran())
	}
	s.send(one.delivery(6, 9)) // equal bytes: no blob
	s.want("ack 6")
}

// TestBadStreams sends what is no generation. The node begins a new stream.
func TestBadStreams(t *testing.T) {
	one := newBundle(t, "one")
	blob := &discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Blob{Blob: &discoveryv1.Blob{Data: []byte("x")}}}
	tests := map[string]func(s *peer){
		"a blob that no push announced": func(s *peer) { _ = s.Send(blob) },
		"nothing":                       func(s *peer) { _ = s.Send(&discoveryv1.SyncResponse{}) },
		"a push within a push": func(s *peer) {
			d := one.delivery(1)
			d.blobs = nil
			s.send(d)
			s.send(one.delivery(1))
		},
		"too much": func(s *peer) {
			d := one.delivery(1)
			d.push.Blobs, d.blobs = 1000, nil
			s.send(d)
			large := &discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Blob{Blob: &discoveryv1.Blob{Data: make([]byte, 8<<20)}}}
			for s.Send(large) == nil {
			}
		},
		"more blobs than a manifest can name": func(s *peer) {
			d := one.delivery(1)
			d.push.Blobs, d.blobs = irv1.MaxBundle/32+1, nil
			s.send(d)
		},
		"the end": func(s *peer) { s.end(errors.New("gone")) },
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlane(t)
			r := run(t, p.addr)
			bad(p.next(t))
			s := p.next(t)
			s.send(one.delivery(1))
			s.want("ack 1")
			if r.ran() != "one" {
				t.Errorf("ran %s", r.ran())
			}
		})
	}
}

// TestPanic has Prepare panic: the control plane is told, and the node lives.
func TestPanic(t *testing.T) {
	p := newPlane(t)
	r := run(t, p.addr)
	s := p.next(t)
	r.refuse(errPanic)
	s.send(newBundle(t, "one").delivery(1))
	s.want("nack 1 internal")
	r.refuse(nil)
	s.send(newBundle(t, "two").delivery(2))
	s.want("ack 2")
}

// TestLongRefusal has Prepare say more than fits one message, and what is no UTF-8:
// the control plane hears of the refusal all the same, on the stream of the push.
func TestLongRefusal(t *testing.T) {
	tests := map[string]*discoveryv1.Refused{
		"a long text":  {Reasons: []*discoveryv1.Reason{{Code: "long", Message: strings.Repeat("x", 5<<20)}}},
		"many reasons": {Reasons: slices.Repeat([]*discoveryv1.Reason{{Code: "long", Hint: strings.Repeat("x", 1<<10)}}, 5<<10)},
		"no UTF-8":     {Reasons: []*discoveryv1.Reason{{Code: "long", Message: "a file says \xff"}}},
	}
	for name, refusal := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t)
			r := run(t, p.addr)
			r.refuse(refusal)
			s := p.next(t)
			s.send(newBundle(t, "one").delivery(1))
			s.want("nack 1 long")
			r.refuse(nil)
			s.send(newBundle(t, "two").delivery(2))
			s.want("ack 2")
		})
	}
}

// TestWaiting holds what becomes of a bundle that waits.
func TestWaiting(t *testing.T) {
	p := newPlane(t)
	r := run(t, p.addr)
	s := p.next(t)
	one, two, three, four := newBundle(t, "one"), newBundle(t, "two"), newBundle(t, "three"), newBundle(t, "four")
	s.send(one.delivery(1))
	s.want("ack 1")
	r.refuse(missing)
	s.send(two.delivery(2))
	s.want("nack 2 missing-secret, retrying")

	// Another cause is worth another Nack, the same is not.
	r.retry <- struct{}{}
	other := &discoveryv1.Refused{Retryable: true, Reasons: []*discoveryv1.Reason{{Code: "missing-file", Message: "file is missing"}}}
	r.refuse(other)
	r.retry <- struct{}{}
	s.want("nack 2 missing-file, retrying")
	r.refuse(nil)
	r.retry <- struct{}{}
	s.want("ack 2")

	// The control plane may leave out blobs of one, which it knows that the node
	// acknowledged, or of two.
	s.send(newBundle(t, "one").delivery(3, 9))
	s.want("ack 3")

	// A newer generation takes the place of one that waits.
	r.refuse(missing)
	s.send(three.delivery(4))
	s.want("nack 4 missing-secret, retrying")
	s.send(four.delivery(5))
	s.want("nack 5 missing-secret, retrying")
	r.refuse(nil)
	r.retry <- struct{}{}
	s.want("ack 5")

	// What waits begins to run without a control plane; the next Hello says so.
	r.refuse(missing)
	s.send(two.delivery(6))
	s.want("nack 6 missing-secret, retrying")
	s.end(nil)
	r.await(StepDisconnected)
	r.refuse(nil)
	r.retry <- struct{}{}
	for !strings.HasSuffix(r.ran(), "two one four two") {
		time.Sleep(time.Millisecond)
	}
	held := uint64(0)
	for held != 6 { // a stream may have begun meanwhile
		s = p.next(t)
		held = s.hello.GetHeld().GetNumber()
		if held != 6 {
			s.want("ack 6")
			s.end(nil)
		}
	}
	if got, want := r.ran(), "one two one four two"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
}

// TestRefusedAlone has what waits turn out to be wrong while there is no stream: every
// stream from then on begins with that, until something else is sent.
func TestRefusedAlone(t *testing.T) {
	p := newPlane(t)
	r := run(t, p.addr)
	s := p.next(t)
	r.refuse(missing)
	s.send(newBundle(t, "one").delivery(1))
	s.want("nack 1 missing-secret, retrying")
	s.end(nil)
	r.await(StepDisconnected)
	r.refuse(errors.New("no"))
	r.retry <- struct{}{}
	r.retry <- struct{}{} // the first try is over
	for range 2 {         // a message may be lost with its stream
		s = p.next(t)
		if s.hello.GetHeld() != nil {
			t.Errorf("hello %v", s.hello)
		}
		s.want("nack 1 internal")
		s.end(nil)
	}
	s = p.next(t)
	s.want("nack 1 internal")
	r.refuse(nil)
	s.send(newBundle(t, "two").delivery(2))
	s.want("ack 2")
	s.end(nil)
	s = p.next(t)
	s.send(newBundle(t, "three").delivery(3))
	s.want("ack 3")
}

func TestCheck(t *testing.T) {
	good := &discoveryv1.Hello{Node: "a", Group: "default"}
	plain := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	tests := []struct {
		name string
		cfg  Config
		want string
	}{
		{"no address", Config{Hello: good, DialOptions: plain}, "no address"},
		{"no node", Config{Addrs: []string{"x:1"}, Hello: &discoveryv1.Hello{Group: "g"}, DialOptions: plain}, "node id is empty"},
		{"no hello", Config{Addrs: []string{"x:1"}, DialOptions: plain}, "node id is empty"},
		{"bad group", Config{Addrs: []string{"x:1"}, Hello: &discoveryv1.Hello{Node: "a", Group: "a b"}, DialOptions: plain}, "is no name"},
		{"long labels", Config{Addrs: []string{"x:1"}, Hello: &discoveryv1.Hello{Node: "a", Group: "g", Labels: map[string]string{"zone": strings.Repeat("x", 5_000)}}, DialOptions: plain}, "labels have 5004 bytes together"},
		{"no credentials", Config{Addrs: []string{"x:1"}, Hello: good}, `control plane "x:1"`},
		{"bad address", Config{Addrs: []string{"x:1", "\x00"}, Hello: good, DialOptions: plain}, `control plane "\x00"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Run(t.Context(), tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run() = %v, want %q", err, tt.want)
			}
		})
	}
}
