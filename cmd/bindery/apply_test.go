package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// TestCutShort: who does not hear how an apply ends hears what becomes of it.
func TestCutShort(t *testing.T) {
	known := &adminv1.Revision{Group: "shop", Generation: &discoveryv1.Generation{Number: 7}}
	gone := &operator.Unreachable{Addr: "127.0.0.1:7700", Lost: true, Err: errors.New("error reading from server: EOF")}
	full := &operator.Unreachable{Addr: "127.0.0.1:7700", Err: errors.New("no revision was stored")}
	const stored = ": revision 7 of group shop is stored, and nodes go on to it by themselves: see bindery nodes, or go back with bindery rollback"
	const unknown = " before a revision was stored, as far as is known: see bindery revisions --group shop, and apply again if it is not there"
	tests := []struct {
		err    error
		known  *adminv1.Revision
		dryRun bool
		want   string
	}{
		{err: context.Canceled, known: known, want: "interrupted" + stored},
		{err: context.Canceled, want: "interrupted" + unknown},
		{err: context.Canceled, dryRun: true, want: "interrupted: nothing is stored by a dry run"},
		{err: gone, known: known, want: gone.Error() + stored},
		{err: gone, want: gone.Error() + unknown},
		{err: full, want: full.Error()},
		{err: &operator.Refused{Message: "no"}, want: "no"},
	}
	for _, tt := range tests {
		if got := cutShort(tt.err, "shop", tt.known, tt.dryRun); got.Error() != tt.want {
			t.Errorf("cutShort(%v, %v, %t) = %v, want %s", tt.err, tt.known, tt.dryRun, got, tt.want)
		}
	}
}

// A mortal control plane ends when it is asked for nodes.
type mortal struct {
	adminv1.UnimplementedAdminServiceServer
	end func()
}

func (m *mortal) ListNodes(ctx context.Context, _ *adminv1.ListNodesRequest) (*adminv1.ListNodesResponse, error) {
	go m.end()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestControlPlaneGoes: a control plane that ends while it is asked is told from one that
// was never there.
func TestControlPlaneGoes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	adminv1.RegisterAdminServiceServer(server, &mortal{end: server.Stop})
	go server.Serve(l)
	defer server.Stop()
	got, code := printed(t, "nodes", "--control-plane", l.Addr().String())
	if code != exitRemote || !strings.HasPrefix(got, "bindery: nodes: control plane at "+l.Addr().String()+": ") || !strings.HasSuffix(got, ": it went away meanwhile: start it again, or look at its log\n") {
		t.Errorf("exit code %d, %s", code, got)
	}
}

// TestDriftedIsNamed has a node stay with what comes after the revision: it is named as
// one that refused, and does not come round by itself.
func TestDriftedIsNamed(t *testing.T) {
	p := &program{out: term.NewScreen(io.Discard), err: term.NewScreen(io.Discard)}
	o := &adminv1.Outcome{Result: adminv1.Result_RESULT_REJECTED, Nodes: []*adminv1.Node{
		{Id: "a", State: adminv1.NodeState_NODE_STATE_SYNCED}, {Id: "b", State: adminv1.NodeState_NODE_STATE_DRIFTED},
	}}
	const want = "refused by b, which keep what they had: go back with bindery rollback, or apply what they can run"
	if err := p.verdict(o, text); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
