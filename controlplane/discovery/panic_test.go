package discovery_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/rollout"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A trap is a log that panics at an answer of one node, in place of a mistake of ours.
type trap struct {
	slog.Handler
	node string
}

func (h trap) Enabled(context.Context, slog.Level) bool { return true }

func (h trap) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h trap) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "ack" && a.Equal(slog.String("node", h.node)) {
			panic("a mistake")
		}
		return true
	})
	return nil
}

// TestPanicEndsOneStream answers where that panics: the stream ends, and those of
// other nodes go on.
func TestPanicEndsOneStream(t *testing.T) {
	s := serve(t, func(c *discovery.Config) { c.Log = slog.New(trap{slog.DiscardHandler, "bad"}) })
	gen := s.offer(t, 1, "one")
	good, bad := s.open(t, hello("good")), s.open(t, hello("bad"))
	if err := bad.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := bad.Recv(); status.Code(err) == codes.Internal {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := good.Send(ack(gen)); err != nil {
		t.Fatal(err)
	}
	s.node(t, "good", in(rollout.Synced))
	s.node(t, "bad", in(rollout.Disconnected))
}
