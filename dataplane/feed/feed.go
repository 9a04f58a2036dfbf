// Package feed keeps a node at the generation that its control plane wants:
// messages of a discovery stream go in, calls that prepare and commit a bundle come
// out, and their result goes back as an Ack or a Nack.
//
// A feed never gives up and never takes anything away: without a control plane, or
// with one that sends what cannot run, the node keeps what it has.
package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"
)

// The steps that [Config].OnStep is told, in the order of a generation that becomes
// active. A refused one ends with StepNacked after StepReceived; a bundle that was
// waiting begins at StepValidated.
const (
	StepConnected    = "connected"    // a stream is open and the Hello sent
	StepReceived     = "received"     // all bytes are here and their digests verified
	StepValidated    = "validated"    // Prepare returned without an error
	StepSwapping     = "swapping"     // about to call commit
	StepSwapped      = "swapped"      // commit returned, the Ack is not sent
	StepAcked        = "acked"        // the Ack is sent
	StepNacked       = "nacked"       // a Nack is sent
	StepDisconnected = "disconnected" // the stream ended
)

// Config is what a feed needs.
type Config struct {
	// Addrs are addresses of control planes, one at least, as gRPC takes them. The
	// feed begins with any and goes on to the next when one fails.
	Addrs []string
	// Hello is what the node says of itself. What it holds is filled in by the feed.
	Hello *discoveryv1.Hello
	// DialOptions hold at least transport credentials.
	DialOptions []grpc.DialOption

	// Prepare makes a bundle runnable beside what runs; commit then makes it what
	// runs and cannot fail. An error that is a *discoveryv1.Refused goes to the
	// control plane, within the limits of [discoveryv1.Bounded]; any other is one that
	// will not go away. Prepare is never called concurrently with itself or a commit.
	Prepare func(ctx context.Context, gen *discoveryv1.Generation, c *irv1.Content) (commit func(), err error)

	// Retry receives when the cause of a retryable refusal may have gone. The feed
	// also tries again by itself, at least every 30 s. May be nil.
	Retry <-chan struct{}

	OnStep func(step string) // never called concurrently; nil: nothing
	Log    *slog.Logger      // nil: none
}

// Run feeds a node until ctx is done and returns the error of ctx. It returns
// early only for a cfg that can never work.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnStep == nil {
		cfg.OnStep = func(string) {}
	}
	if err := cfg.check(); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	cfg.Hello = proto.CloneOf(cfg.Hello)
	a := newActivator(cfg)
	retried := make(chan struct{})
	go func() {
		defer close(retried)
		a.retryLoop(ctx)
	}()
	d := dialer{activator: a}
	first := rand.IntN(len(cfg.Addrs))
	reconnect(ctx, func(attempt int) {
		d.session(ctx, cfg.Addrs[(first+attempt)%len(cfg.Addrs)])
	})
	<-retried
	return ctx.Err()
}

func (cfg Config) check() error {
	if len(cfg.Addrs) == 0 {
		return errors.New("no address of a control plane")
	}
	if err := discoveryv1.CheckName(cfg.Hello.GetNode()); err != nil {
		return fmt.Errorf("node id %w", err)
	}
	if err := discoveryv1.CheckName(cfg.Hello.GetGroup()); err != nil {
		return fmt.Errorf("group %w", err)
	}
	if err := discoveryv1.CheckLabels(cfg.Hello.GetLabels()); err != nil {
		return fmt.Errorf("labels %w", err)
	}
	for _, addr := range cfg.Addrs {
		conn, err := Dial(addr, cfg.DialOptions...)
		if err != nil {
			return fmt.Errorf("control plane %q: %w", addr, err)
		}
		conn.Close()
	}
	return nil
}

// ahead is how many bytes a control plane may send ahead of what is read.
const ahead = 1 << 20

// Dial makes a connection without connecting: the first stream does that. Each
// attempt has a connection of its own, so that gRPC's own waiting does not add to
// ours.
func Dial(addr string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	ours := []grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}),
		grpc.WithStaticStreamWindowSize(ahead),
		grpc.WithStaticConnWindowSize(ahead),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(irv1.MaxBundle + irv1.MaxBlob)),
	}
	return grpc.NewClient(addr, append(ours, options...)...)
}
