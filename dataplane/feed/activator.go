package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// An activator holds what the node runs and what waits to run. It outlives streams.
type activator struct {
	cfg  Config
	wake chan struct{} // holds one: something new waits

	mu      sync.Mutex
	stream  syncClient // nil: disconnected
	running *discoveryv1.Generation
	content *irv1.Content // of running
	holds   blobs         // of running
	// before are the blobs of what ran when the last push was answered: the control
	// plane may not know yet of what began to run by itself since, and leaves out
	// blobs of one or the other.
	before  blobs
	waiting *candidate           // refused for now; nil: nothing
	told    *discoveryv1.Refused // what the control plane knows of waiting
	// final refuses for good what waited, when that came last; nil: something else
	// did. The control plane goes on waiting until it hears it, and a message can be
	// lost with its stream, so every stream begins with it.
	final *discoveryv1.SyncRequest
}

func newActivator(cfg Config) *activator {
	return &activator{cfg: cfg, wake: make(chan struct{}, 1)}
}

// attach begins a stream: it sends the Hello, with what runs, and what the control
// plane may not have heard of what waited. If it offers something newer meanwhile, it
// does not listen to that.
func (a *activator) attach(s syncClient) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	hello := proto.CloneOf(a.cfg.Hello)
	hello.Held = a.running
	a.before = a.holds
	a.told = nil // a Nack may have been lost with the last stream
	if err := s.Send(&discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Hello{Hello: hello}}); err != nil {
		if _, cause := s.Recv(); cause != nil { // Send says only that the stream ended
			err = cause
		}
		return err
	}
	a.stream = s
	a.cfg.OnStep(StepConnected)
	if a.final != nil {
		a.answer(a.final, StepNacked)
	}
	return nil
}

func (a *activator) detach() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stream = nil
	a.cfg.OnStep(StepDisconnected)
}

// take brings what came to an Ack or a Nack. It returns an error only when ctx is
// done.
func (a *activator) take(ctx context.Context, d delivery) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting, a.told, a.final = nil, nil, nil // superseded, whatever becomes of d
	defer func() { a.before = a.holds }()
	gen := d.push.GetGeneration()
	c, err := assemble(d, a.content, a.holds, a.before)
	if err != nil {
		a.nack(gen, damaged(err))
		return nil
	}
	a.cfg.OnStep(StepReceived)
	if gen.Same(a.running) {
		a.ack(gen, 0)
		return nil
	}
	if r := misplaced(gen, a.running); r != nil {
		a.nack(gen, r)
		return nil
	}
	return a.activate(ctx, c, d.at)
}

// retry tries what waits once more.
func (a *activator) retry(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting != nil && ctx.Err() == nil {
		_ = a.activate(ctx, a.waiting, time.Now()) // an error of ctx, which ends the loop
	}
}

// activate prepares and commits a candidate and answers the control plane. The
// caller holds the lock.
func (a *activator) activate(ctx context.Context, c *candidate, since time.Time) error {
	commit, err := a.prepare(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err() // the error may be a consequence: no answer is better than a wrong one
	}
	if err != nil {
		a.refuse(c, refused(err))
		return nil
	}
	a.cfg.OnStep(StepValidated)
	a.cfg.OnStep(StepSwapping)
	commit()
	a.running, a.content, a.holds = c.generation, c.content, c.blobs
	a.waiting, a.told = nil, nil
	a.cfg.OnStep(StepSwapped)
	a.ack(c.generation, time.Since(since))
	return nil
}

// prepare calls Config.Prepare. A panic there is our own mistake, and still no
// reason to stop serving what runs.
func (a *activator) prepare(ctx context.Context, c *candidate) (commit func(), err error) {
	defer func() {
		if r := recover(); r != nil {
			commit, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return a.cfg.Prepare(ctx, c.generation, c.content)
}

// refuse answers with a Nack, unless the control plane knows all of it, and keeps a
// candidate that may run later.
func (a *activator) refuse(c *candidate, r *discoveryv1.Refused) {
	known := a.told != nil && r.Retryable && a.told.Error() == r.Error()
	waited := a.waiting == c
	a.waiting, a.told = nil, nil
	if r.Retryable {
		a.waiting, a.told = c, r
	}
	if r.Retryable && !waited {
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
	if known {
		return
	}
	nack := a.nack(c.generation, r)
	if waited && !r.Retryable {
		a.final = nack
	}
}

func (a *activator) ack(gen *discoveryv1.Generation, took time.Duration) {
	a.cfg.Log.Info("running", "generation", gen.GetNumber(), "digest", irv1.Digest(gen.GetDigest()).Short(), "took", took)
	ack := &discoveryv1.Ack{Generation: gen, Took: durationpb.New(took)}
	a.answer(&discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Ack{Ack: ack}}, StepAcked)
}

// nack refuses gen and returns what it sent, or would have sent on a stream.
func (a *activator) nack(gen *discoveryv1.Generation, r *discoveryv1.Refused) *discoveryv1.SyncRequest {
	a.cfg.Log.Warn("refused", "generation", gen.GetNumber(), "retryable", r.Retryable, "reason", r)
	nack := &discoveryv1.Nack{Generation: gen, Reasons: discoveryv1.Bounded(r.Reasons), Retryable: r.Retryable}
	m := &discoveryv1.SyncRequest{Kind: &discoveryv1.SyncRequest_Nack{Nack: nack}}
	a.answer(m, StepNacked)
	return m
}

// answer sends to the stream there is. Without one, the next begins with what the
// control plane has to know: see attach.
func (a *activator) answer(m *discoveryv1.SyncRequest, step string) {
	if a.stream == nil {
		return
	}
	if err := a.stream.Send(m); err != nil {
		return // the stream is over: its receiver knows the cause
	}
	a.cfg.OnStep(step)
}

// What waits is tried again after a wait that doubles.
const (
	minRetry = time.Second
	maxRetry = 30 * time.Second
)

// retryLoop tries what waits when Config.Retry says so, and on its own now and
// then, until ctx is done.
func (a *activator) retryLoop(ctx context.Context) {
	retry, wait := a.cfg.Retry, minRetry
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			wait = minRetry
		case _, open := <-retry:
			if !open {
				retry = nil
			}
			a.retry(ctx)
		case <-timer.C:
			a.retry(ctx)
			wait = min(2*wait, maxRetry)
		}
		timer.Reset(wait)
	}
}
