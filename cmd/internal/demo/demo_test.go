package demo

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
	os.Exit(m.Run())
}

// TestBrokenShop: a demo whose parts do not do what they should fails, and names
// the step.
func TestBrokenShop(t *testing.T) {
	tests := []struct {
		name, want string
		sabotage   func(*shop)
	}{
		{"the node has no token of the shop", `step 1 (Apply the bindings of examples/acp): `, func(s *shop) {
			delete(s.tokens, "BINDERY_SECRET_MERCHANT_TOKEN")
		}},
		{"the shop does not know the token", `step 2 (An agent buys two mugs): create_checkout_session: `, func(s *shop) {
			s.tokens["BINDERY_SECRET_MERCHANT_TOKEN"] = "another"
		}},
		{"the provider is gone", `step 2 (An agent buys two mugs): delegate_payment: `, func(s *shop) {
			s.psp.server.Close()
		}},
		{"a request comes twice", `step 2 (An agent buys two mugs): create_checkout_session: the call became 2 HTTP requests, want 1`, func(s *shop) {
			h := s.merchant.server.Handler
			s.merchant.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.ledger.add(request{header: r.Header.Clone()})
				h.ServeHTTP(w, r)
			})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := openShop()
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			tt.sabotage(s)
			err = run(t.Context(), config(t, true), s)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestServesUntilTold: without Once the demo goes on serving, and being told to stop
// is no failure.
func TestServesUntilTold(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg := config(t, false)
	out := &tripwire{word: "Ctrl-C", trip: stop}
	cfg.Out = term.NewScreen(out)
	if err := Run(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "bindery apply ") {
		t.Errorf("it does not say how to go on:\n%s", out)
	}
}

func TestCounts(t *testing.T) {
	tests := []struct {
		name, want string
		counts     counts
	}{
		{"good", "", counts{calls: 4, byRevision: map[uint64]int{1: 2, 2: 2}, held: 1}},
		{"lost", "1 calls were lost", counts{calls: 4, lost: 1, byRevision: map[uint64]int{1: 2, 2: 1}, held: 1, firstError: errors.New("x")}},
		{"one revision", "did not meet both revisions", counts{calls: 4, byRevision: map[uint64]int{1: 4}, held: 1}},
		{"mixed", "answered by revision 2, want 1", counts{calls: 4, byRevision: map[uint64]int{1: 2, 2: 2}, held: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &demo{teller: &teller{out: term.NewScreen(&bytes.Buffer{})}}
			err := d.showCounts(tt.counts, 2)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func config(t *testing.T, once bool) Config {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return Config{MCP: l, Once: once, Out: term.NewScreen(&bytes.Buffer{})}
}

// A tripwire calls trip when word is written.
type tripwire struct {
	bytes.Buffer
	word string
	trip func()
}

func (w *tripwire) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.word)) {
		w.trip()
	}
	return w.Buffer.Write(p)
}
