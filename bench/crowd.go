package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/feed"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A crowd is many nodes that serve nobody: each verifies what it is sent, as a node
// does, and acks it, but builds no table of it.
type crowd struct {
	nodes int
	conns []*grpc.ClientConn
	fail  context.CancelCauseFunc

	left  atomic.Int64   // nodes that have not acked what is being delivered
	acked chan time.Time // when the last of them did

	mu        sync.Mutex
	manifests map[irv1.Digest]*irv1.Manifest
	missing   map[[2]irv1.Digest]map[irv1.Digest]bool
}

// joinAtOnce is how many nodes connect at the same time.
const joinAtOnce = 64

// newCrowd connects nodes over conns connections, or one each for 0, to a control
// plane whose group has a revision. What goes wrong later ends the context that it
// returns, with the cause.
func newCrowd(ctx context.Context, addr string, nodes, conns int) (*crowd, context.Context, error) {
	ctx, fail := context.WithCancelCause(ctx)
	c := &crowd{
		nodes: nodes, fail: fail, acked: make(chan time.Time, 1),
		manifests: map[irv1.Digest]*irv1.Manifest{}, missing: map[[2]irv1.Digest]map[irv1.Digest]bool{},
	}
	if conns == 0 {
		conns = nodes
	}
	for range conns {
		conn, err := feed.Dial(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			c.close()
			return nil, nil, err
		}
		c.conns = append(c.conns, conn)
	}
	c.expect()
	var joining errgroup.Group
	joining.SetLimit(joinAtOnce)
	for i := range nodes {
		joining.Go(func() error { return c.join(ctx, fmt.Sprintf("node-%05d", i), c.conns[i%conns]) })
	}
	if err := joining.Wait(); err != nil {
		c.close()
		return nil, nil, err
	}
	return c, ctx, nil
}

// close ends all nodes.
func (c *crowd) close() {
	c.fail(context.Canceled)
	for _, conn := range c.conns {
		_ = conn.Close() // nothing is sent any more
	}
}

// expect says that one more generation is delivered to every node.
func (c *crowd) expect() { c.left.Store(int64(c.nodes)) }

// await returns when the last node acked what was expected.
func (c *crowd) await(ctx context.Context) (time.Time, error) {
	select {
	case at := <-c.acked:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// A member is one node of a crowd.
type member struct {
	crowd  *crowd
	name   string
	stream grpc.BidiStreamingClient[discoveryv1.SyncRequest, discoveryv1.SyncResponse]
	held   *discoveryv1.Generation // nil: nothing
}

func (c *crowd) join(ctx context.Context, name string, conn *grpc.ClientConn) error {
	s, err := discoveryv1.NewDiscoveryServiceClient(conn).Sync(ctx)
	if err != nil {
		return err
	}
	err = s.Send(&discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Hello{Hello: &discoveryv1.Hello{
		Node: name, Boot: "1", Group: "default", Build: "bench", IrLevels: []uint32{irv1.Level}, Features: irv1.Features(),
	}}})
	if err != nil {
		return err
	}
	m := &member{crowd: c, name: name, stream: s}
	go func() {
		for ctx.Err() == nil {
			if err := m.follow(); err != nil {
				c.fail(fmt.Errorf("%s: %w", name, err))
			}
		}
	}()
	return nil
}

// follow takes one generation.
func (m *member) follow() error {
	first, err := m.stream.Recv()
	if err != nil {
		return err
	}
	push := first.GetPush()
	if push == nil {
		return fmt.Errorf("a blob that no push announced")
	}
	blobs := make([][]byte, 0, push.GetBlobs())
	for range push.GetBlobs() {
		message, err := m.stream.Recv()
		if err != nil {
			return err
		}
		blobs = append(blobs, message.GetBlob().GetData())
	}
	came := time.Now()
	if err := m.verify(push, blobs); err != nil {
		return fmt.Errorf("generation %d: %w", push.GetGeneration().GetNumber(), err)
	}
	m.held = push.GetGeneration()
	return m.ack(time.Since(came))
}

// verify holds what came to its digests, to what the node lacks and to its turn: a
// generation comes once, and none is left out.
func (m *member) verify(push *discoveryv1.Push, blobs [][]byte) error {
	gen := push.GetGeneration()
	if m.held != nil && gen.GetNumber() != m.held.GetNumber()+1 {
		return fmt.Errorf("came after %d", m.held.GetNumber())
	}
	want, err := irv1.ParseDigest(gen.GetDigest())
	if err != nil {
		return err
	}
	if got := irv1.DigestOf(push.GetManifest()); got != want {
		return fmt.Errorf("the manifest hashes to %s, not to %s", got.Short(), want.Short())
	}
	missing, err := m.crowd.lacks(m.held, want, push.GetManifest())
	if err != nil {
		return err
	}
	came := map[irv1.Digest]bool{}
	for _, blob := range blobs {
		d := irv1.DigestOf(blob)
		if !missing[d] || came[d] {
			return fmt.Errorf("blob %s came and is not missing", d.Short())
		}
		came[d] = true
	}
	if len(came) != len(missing) {
		return fmt.Errorf("%d blobs came and %d are missing", len(came), len(missing))
	}
	return nil
}

func (m *member) ack(took time.Duration) error {
	ack := &discoveryv1.Ack{Generation: m.held, Took: durationpb.New(took)}
	if err := m.stream.Send(&discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Ack{Ack: ack}}); err != nil {
		return err
	}
	switch left := m.crowd.left.Add(-1); {
	case left == 0:
		m.crowd.acked <- time.Now()
	case left < 0:
		return fmt.Errorf("generation %d was not expected", m.held.GetNumber())
	}
	return nil
}

// lacks returns the blobs of a bundle that are not in the one held. All nodes share
// the answer, as each has a machine of its own to find it on where they are real.
func (c *crowd) lacks(held *discoveryv1.Generation, bundle irv1.Digest, manifest []byte) (map[irv1.Digest]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, _ := irv1.ParseDigest(held.GetDigest()) // zero for nothing
	step := [2]irv1.Digest{before, bundle}
	if missing, ok := c.missing[step]; ok {
		return missing, nil
	}
	m, err := irv1.OpenManifest(manifest)
	if err != nil {
		return nil, err
	}
	c.manifests[bundle] = m
	missing := map[irv1.Digest]bool{}
	for _, r := range m.Refs() {
		missing[irv1.Digest(r.GetSha256())] = true
	}
	for _, r := range c.manifests[before].Refs() {
		delete(missing, irv1.Digest(r.GetSha256()))
	}
	c.missing[step] = missing
	return missing, nil
}
