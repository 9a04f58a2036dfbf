package admin

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/store"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// looked is an empty store that counts how often it is asked for something.
type looked struct{ times atomic.Int64 }

func (l *looked) Get(context.Context, string) ([]byte, bool, error) {
	l.times.Add(1)
	return nil, false, nil
}

func (l *looked) List(context.Context, string, string, int) ([]store.Pair, error) { return nil, nil }
func (l *looked) Commit(context.Context, store.Txn) error                         { return nil }
func (l *looked) Close() error                                                    { return nil }

// TestLedWhileUnreadable has a directory that cannot be read and is tried again and again:
// its group is looked at for nodes that have to be led on all the same.
func TestLedWhileUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &looked{}
		st, err := store.Open(t.Context(), kv, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s := New(Config{Store: st, Nodes: discovery.New(discovery.Config{})})
		src := Source{Group: "default", Dir: "away", Read: func() (*sourcev1.Sources, error) { return nil, errors.New("is away") }}
		s.Declare(src)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Follow(ctx, src)
		time.Sleep(10*s.cfg.Retry + 1)
		if got := kv.times.Load(); got < 9 {
			t.Errorf("it was looked at %d times", got)
		}
	})
}
