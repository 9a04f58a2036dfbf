// Package journey tests the whole way, from sources to calls: a real control
// plane and real nodes, gRPC on loopback, a compiler in its own process, real MCP
// clients and a real upstream.
package journey

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	group    = "default"
	token    = "token-of-the-library"
	patience = 60 * time.Second // for anything that is awaited; never for what is measured
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// A seen request is one that reached the upstream, as the call's id names it.
type seen struct {
	path, form, branch, body string
	branches                 int // headers that begin with X-Branch-
}

// A library is an upstream that remembers what it was asked. A call whose id begins
// with "hold-" is not answered before it is released, one whose id begins with
// "conflict-" gets a 409.
type library struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]seen          // by the call's id
	arrived  map[string]chan struct{} // closed when the call is here
	release  map[string]chan struct{} // closed when it may go
}

func newLibrary(t *testing.T) *library {
	l := &library{requests: map[string]seen{}, arrived: map[string]chan struct{}{}, release: map[string]chan struct{}{}}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

// hold prepares the call with this id to be held. arrived is closed when it is at
// the upstream, release lets it go.
func (l *library) hold(id string) (arrived <-chan struct{}, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, out := make(chan struct{}), make(chan struct{})
	l.arrived[id], l.release[id] = in, out
	return in, func() { close(out) }
}

func (l *library) request(id string) (seen, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.requests[id]
	return s, ok
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	s := seen{path: r.URL.Path, form: r.Header.Get("X-Form"), body: string(body)}
	for name := range r.Header {
		if branch, ok := strings.CutPrefix(name, "X-Branch-"); ok {
			s.branch = branch
			s.branches++
		}
	}
	l.mu.Lock()
	l.requests[id] = s
	arrived, release := l.arrived[id], l.release[id]
	l.mu.Unlock()
	if arrived != nil {
		close(arrived)
		<-release
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"who are you?"}`)
		return
	}
	if strings.HasPrefix(id, "conflict-") {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, `{"message":"lent already","path":%q,"form":%q}`, s.path, s.form)
		return
	}
	fmt.Fprintf(w, `{"id":%q,"path":%q,"form":%q}`, id, s.path, s.form)
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// background runs f until the test ends and fails the test when f does.
func background(t *testing.T, what string, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	})
}

// startControlPlane runs one in this process and returns a client for it and its
// address.
func startControlPlane(t *testing.T, data string) (*operator.Client, string) {
	grpc, http := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	background(t, "control plane", func(ctx context.Context) error {
		return controlplane.Run(ctx, controlplane.Config{GRPC: grpc, HTTP: http, Data: data, Compile: worker.Compile})
	})
	return dial(t, grpc.Addr().String()), grpc.Addr().String()
}

func dial(t *testing.T, addr string) *operator.Client {
	c, err := operator.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// startNode runs one in this process and returns the URL of its endpoint.
func startNode(t *testing.T, id, controlPlane string) string {
	mcp, admin := listen(t, "127.0.0.1:0"), listen(t, "127.0.0.1:0")
	background(t, "node "+id, func(ctx context.Context) error {
		return node.Run(ctx, node.Config{MCP: mcp, Admin: admin, ControlPlane: []string{controlPlane}, Group: group, ID: id, Secrets: secrets(t)})
	})
	return "http://" + mcp.Addr().String() + "/mcp"
}

// secrets returns a directory with the library's token.
func secrets(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "library-token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// await polls until ok; nothing else tells when another process is ready.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// awaitNodes waits until exactly these nodes are connected, whatever their state.
func awaitNodes(t *testing.T, op *operator.Client, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d connected nodes", n), func() bool {
		nodes, err := op.Nodes(t.Context(), group)
		connected := 0
		for _, n := range nodes {
			if n.GetState() != adminv1.NodeState_NODE_STATE_DISCONNECTED {
				connected++
			}
		}
		return err == nil && connected == n
	})
}

func apply(t *testing.T, op *operator.Client, s *sourcev1.Sources) *adminv1.Outcome {
	t.Helper()
	out, err := op.Apply(t.Context(), &adminv1.ApplyStart{Group: group, Author: "test"}, s, operator.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range out.GetDiagnostics() {
		t.Errorf("%s:%d: %s: %s", d.GetPosition().GetFile(), d.GetPosition().GetLine(), d.GetPath(), d.GetMessage())
	}
	return out
}

// lendArgs are the arguments of a call with this id.
func lendArgs(id string, copies int) json.RawMessage {
	return fmt.Appendf(nil, `{"meta":{"branch":"north"},"id":%q,"payload":{"copies":%d}}`, id, copies)
}

// A result is what a call of lend came to.
type result struct {
	Path, Form string
	Meta       struct {
		Revision uint64 `json:"bindery.dev/revision"`
	} `json:"_meta"`
}

func parse(r agent.Result) (result, error) {
	var res result
	err := json.Unmarshal(r.JSON, &res)
	return res, err
}

// mixture says how a result and the request behind it belong to more than one
// revision; "" when they do not. Revision n is always the n-th form here.
func mixture(id string, res result, req seen) string {
	form := strconv.FormatUint(res.Meta.Revision, 10)
	want := seen{path: "/form" + form + "/loans/" + id, form: form, branch: form, body: `{"copies":1}`, branches: 1}
	if req != want || res.Path != want.path || res.Form != form {
		return fmt.Sprintf("call %s: result %+v of request %+v, want all of revision %s", id, res, req, form)
	}
	return ""
}
