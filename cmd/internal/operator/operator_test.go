package operator

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/controlplane/discovery"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestParts: what join makes of parts is the file, whatever its size.
func TestParts(t *testing.T) {
	joined := &sourcev1.Sources{}
	sizes := []int{0, 1, chunk - 1, chunk, chunk + 1, 3*chunk + 5}
	for i, size := range sizes {
		f := &sourcev1.File{Path: string(rune('a' + i)), Data: bytes.Repeat([]byte{byte(i)}, size)}
		n := 0
		for part := range parts(f) {
			if n++; len(part.Data) > chunk {
				t.Errorf("%d bytes: a part has %d", size, len(part.Data))
			}
			join(joined, &sourcev1.File{Path: part.Path, Data: bytes.Clone(part.Data)})
		}
		if want := max(1, (size+chunk-1)/chunk); n != want {
			t.Errorf("%d bytes: %d parts, want %d", size, n, want)
		}
	}
	for i, size := range sizes {
		if got := joined.Files[i].Data; !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Errorf("file of %d bytes came back with %d", size, len(got))
		}
	}
}

func TestFailure(t *testing.T) {
	c := &Client{addr: "127.0.0.1:7700"}
	refused := &Refused{}
	if err := c.failure(status.Error(codes.NotFound, "group \"x\" has no revision 9")); !errors.As(err, &refused) {
		t.Errorf("NotFound: %T, want *Refused", err)
	}
	unreachable := &Unreachable{}
	if err := c.failure(status.Error(codes.Internal, "disk full")); !errors.As(err, &unreachable) || unreachable.Down {
		t.Errorf("Internal: %#v, want *Unreachable that is not down", err)
	}
}

// TestUnreachable: an operator learns within moments that nobody listens, and
// where and what to do.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	c, err := Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	start := time.Now()
	_, err = c.Nodes(t.Context(), "")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	want := "no control plane answers at " + addr + " (dial tcp " + addr + ": connect: connection refused): start one with bindery-controlplane"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Nodes() = %v, want %s", err, want)
	}
}

// endless is a control plane that compiles and then never says how it went.
type endless struct {
	adminv1.UnimplementedAdminServiceServer
}

func (endless) Apply(s grpc.BidiStreamingServer[adminv1.ApplyRequest, adminv1.ApplyResponse]) error {
	if err := s.Send(&adminv1.ApplyResponse{Kind: &adminv1.ApplyResponse_Compiled{Compiled: &adminv1.Compiled{}}}); err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

func (endless) Rollback(_ *adminv1.RollbackRequest, s grpc.ServerStreamingServer[adminv1.RollbackResponse]) error {
	if err := s.Send(&adminv1.RollbackResponse{Kind: &adminv1.RollbackResponse_Rollout{Rollout: &adminv1.Rollout{}}}); err != nil {
		return err
	}
	<-s.Context().Done()
	return nil
}

// serveEndless returns the address of an endless control plane, with the options of a
// real one.
func serveEndless(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(discovery.ServerOptions()...)
	adminv1.RegisterAdminServiceServer(g, endless{})
	go g.Serve(l)
	t.Cleanup(g.Stop)
	return l.Addr().String()
}

// A silence passes on what two ends say until it begins; the connections stay.
type silence struct{ begun atomic.Bool }

// before returns an address behind which is addr.
func (s *silence) before(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			go io.Copy(s.to(client), server)
			go io.Copy(s.to(server), client)
		}
	}()
	return l.Addr().String()
}

func (s *silence) to(w io.Writer) io.Writer {
	return write(func(p []byte) (int, error) {
		if s.begun.Load() {
			return len(p), nil
		}
		return w.Write(p)
	})
}

type write func([]byte) (int, error)

func (w write) Write(p []byte) (int, error) { return w(p) }

// requests are those that wait for nodes, each told by begun that the control plane has
// answered something.
var requests = map[string]func(ctx context.Context, c *Client, timeout time.Duration, begun func()) error{
	"apply": func(ctx context.Context, c *Client, timeout time.Duration, begun func()) error {
		_, err := c.Apply(ctx, &adminv1.ApplyStart{Timeout: durationpb.New(timeout)}, &sourcev1.Sources{},
			Progress{Compiled: func(*adminv1.Compiled) { begun() }})
		return err
	},
	"rollback": func(ctx context.Context, c *Client, timeout time.Duration, begun func()) error {
		_, err := c.Rollback(ctx, &adminv1.RollbackRequest{Timeout: durationpb.New(timeout)},
			Progress{Rollout: func(*adminv1.Rollout) { begun() }})
		return err
	},
}

// TestSilentEnd has the control plane's machine go away without a word: that is found out
// long before nodes are waited for no more.
func TestSilentEnd(t *testing.T) {
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quiet := &silence{}
			c, err := Dial(quiet.before(t, serveEndless(t)))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			err = request(ctx, c, time.Hour, func() { quiet.begun.Store(true) })
			unreachable := &Unreachable{}
			if !errors.As(err, &unreachable) || !unreachable.Lost || ctx.Err() != nil {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestLate has a control plane that lives and does not answer.
func TestLate(t *testing.T) {
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			c, err := Dial(serveEndless(t))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.margin = 100 * time.Millisecond
			err = request(t.Context(), c, 100*time.Millisecond, func() {})
			unreachable := &Unreachable{}
			if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), errLate.Error()) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestLongWait has an operator wait for as long as a duration can be.
func TestLongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &Client{margin: margin}
		stop := c.until(durationpb.New(math.MaxInt64), cancel)
		time.Sleep(24 * time.Hour)
		if stop(); ctx.Err() != nil {
			t.Errorf("ended for %v", context.Cause(ctx))
		}
	})
}
