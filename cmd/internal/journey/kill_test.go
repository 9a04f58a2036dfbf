package journey

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/internal/testaddr"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

// The environment of a process that this test binary starts of itself.
const (
	roleVar    = "JOURNEY_ROLE"    // "node" or "controlplane"
	stopVar    = "JOURNEY_STOP_AT" // the step at which it stands still, to be killed; "" for none
	listenVar  = "JOURNEY_LISTEN"  // where it serves MCP or gRPC
	planeVar   = "JOURNEY_CONTROL_PLANE"
	dataVar    = "JOURNEY_DATA"
	nameVar    = "JOURNEY_NAME"
	secretsVar = "JOURNEY_SECRETS"
)

// play runs a daemon's own Run in this process. When the step to stop at comes, it
// says so on stdout and that goroutine goes no further.
func play(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	switch role {
	case "node":
		err = playNode(ctx)
	case "controlplane":
		err = playControlPlane(ctx)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// standStill returns an observer of steps for which the place comes at "STEP", or
// "STEP#N" for the N-th time.
func standStill(at string) func(string) {
	at, nth, _ := strings.Cut(at, "#")
	left := 1
	if nth != "" {
		left, _ = strconv.Atoi(nth)
	}
	var mu sync.Mutex
	return func(step string) {
		if step != at {
			return
		}
		mu.Lock()
		left--
		stop := left <= 0
		mu.Unlock()
		if stop {
			fmt.Println("at", step)
			select {}
		}
	}
}

func openAt(addrs ...string) ([]net.Listener, error) {
	var all []net.Listener
	for _, addr := range addrs {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func playNode(ctx context.Context) error {
	l, err := openAt(os.Getenv(listenVar), "127.0.0.1:0")
	if err != nil {
		return err
	}
	return node.Run(ctx, node.Config{
		MCP: l[0], Admin: l[1], ControlPlane: []string{os.Getenv(planeVar)}, Group: group, ID: os.Getenv(nameVar),
		Secrets: os.Getenv(secretsVar), OnStep: standStill(os.Getenv(stopVar)),
	})
}

func playControlPlane(ctx context.Context) error {
	l, err := openAt(os.Getenv(listenVar), "127.0.0.1:0")
	if err != nil {
		return err
	}
	return controlplane.Run(ctx, controlplane.Config{
		GRPC: l[0], HTTP: l[1], Data: os.Getenv(dataVar), Compile: worker.Compile, OnStep: standStill(os.Getenv(stopVar)),
	})
}

// A process is a daemon in a process of its own, which may stand still at a step.
type process struct {
	cmd     *exec.Cmd
	reached chan struct{} // closed when it stands still
	gone    chan struct{} // closed when it has ended
}

func start(t *testing.T, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, reached: make(chan struct{}), gone: make(chan struct{})}
	go p.follow(out)
	t.Cleanup(p.kill)
	return p
}

func (p *process) follow(out io.Reader) {
	var once sync.Once
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "at ") {
			once.Do(func() { close(p.reached) })
		}
	}
	_ = p.cmd.Wait() // it was killed
	close(p.gone)
}

// kill sends SIGKILL and waits until the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	<-p.gone
}

// TestKillNode kills a node at every step of activating a revision, starts it
// again, and finds it at the generation of its neighbour. What it answers before
// and after is of one revision each.
func TestKillNode(t *testing.T) {
	for _, step := range []string{"received", "validated", "swapping", "swapped"} {
		t.Run(step, func(t *testing.T) {
			up := newLibrary(t)
			op, plane := startControlPlane(t, t.TempDir())
			neighbour := startNode(t, "neighbour", plane)
			addr := testaddr.Free(t)
			env := []string{roleVar + "=node", nameVar + "=victim", planeVar + "=" + plane, listenVar + "=" + addr, secretsVar + "=" + secrets(t)}

			first := start(t, env...)
			awaitNodes(t, op, 2)
			if out := apply(t, op, variant(1, up.URL)); out.GetResult() != adminv1.Result_RESULT_SYNCED {
				t.Fatalf("revision 1: %v", out)
			}
			url := "http://" + addr + "/mcp"
			checkCall(t, up, url, "before", 1)
			first.kill()

			victim := start(t, append(env, stopVar+"="+step)...)
			<-victim.reached // on its way to revision 1
			if step == "swapped" {
				checkCall(t, up, url, "standing", 1) // it serves what it has not acknowledged
			}
			victim.kill()

			last := start(t, env...)
			awaitSynced(t, op, 2, 1)
			if out := apply(t, op, variant(2, up.URL)); out.GetResult() != adminv1.Result_RESULT_SYNCED {
				t.Fatalf("revision 2: %v", out)
			}
			awaitSynced(t, op, 2, 2)
			checkCall(t, up, url, "after", 2)
			checkCall(t, up, neighbour, "neighbour", 2)
			last.kill()
		})
	}
}

// TestKillNodeDuringChange kills a node at every step of going from one revision to
// the next while it serves the first: until the kill it serves one or the other,
// whole.
func TestKillNodeDuringChange(t *testing.T) {
	for _, step := range []string{"received", "validated", "swapping", "swapped"} {
		t.Run(step, func(t *testing.T) {
			up := newLibrary(t)
			op, plane := startControlPlane(t, t.TempDir())
			addr := testaddr.Free(t)
			env := []string{roleVar + "=node", nameVar + "=victim", planeVar + "=" + plane, listenVar + "=" + addr, secretsVar + "=" + secrets(t)}
			victim := start(t, append(env, stopVar+"="+step+"#2")...)
			awaitNodes(t, op, 1)
			if out := apply(t, op, variant(1, up.URL)); out.GetResult() != adminv1.Result_RESULT_SYNCED {
				t.Fatalf("revision 1: %v", out)
			}
			if _, err := op.Apply(t.Context(), &adminv1.ApplyStart{Group: group, NoWait: true}, variant(2, up.URL), operator.Progress{}); err != nil {
				t.Fatal(err)
			}
			<-victim.reached
			serves := uint64(1)
			if step == "swapped" {
				serves = 2
			}
			checkCall(t, up, "http://"+addr+"/mcp", "standing", serves)
			victim.kill()
			start(t, env...)
			awaitSynced(t, op, 1, 2)
			checkCall(t, up, "http://"+addr+"/mcp", "after", 2)
		})
	}
}

// TestKillControlPlane kills a control plane that has stored a revision and pushed
// none or half of it, starts it again, and finds all nodes at that revision. Until
// then they serve the one before.
func TestKillControlPlane(t *testing.T) {
	for _, step := range []string{"stored", "half-pushed"} {
		t.Run(step, func(t *testing.T) {
			up := newLibrary(t)
			data, plane := t.TempDir(), testaddr.Free(t)
			env := []string{roleVar + "=controlplane", dataVar + "=" + data, listenVar + "=" + plane}
			urls := []string{startNode(t, "n1", plane), startNode(t, "n2", plane)}
			op := dial(t, plane)

			first := start(t, env...)
			awaitNodes(t, op, 2)
			if out := apply(t, op, variant(1, up.URL)); out.GetResult() != adminv1.Result_RESULT_SYNCED {
				t.Fatalf("revision 1: %v", out)
			}
			first.kill()
			checkCall(t, up, urls[0], "alone", 1) // nodes serve on without a control plane

			victim := start(t, append(env, stopVar+"="+step)...)
			awaitNodes(t, op, 2)
			applying := make(chan error, 1)
			go func() {
				_, err := op.Apply(t.Context(), &adminv1.ApplyStart{Group: group}, variant(2, up.URL), operator.Progress{})
				applying <- err
			}()
			<-victim.reached
			for _, url := range urls {
				checkCall(t, up, url, "standing", 0)
			}
			victim.kill()
			if err := <-applying; err == nil {
				t.Error("apply succeeded although the control plane was killed")
			}

			start(t, env...)
			awaitSynced(t, op, 2, 2)
			for _, url := range urls {
				checkCall(t, up, url, "after", 2)
			}
		})
	}
}

var calls struct {
	sync.Mutex
	n int
}

// checkCall calls url once and checks that request and result are of one revision,
// and of this one unless it is 0.
func checkCall(t *testing.T, up *library, url, name string, revision uint64) {
	t.Helper()
	calls.Lock()
	calls.n++
	id := fmt.Sprintf("%s-%d", name, calls.n)
	calls.Unlock()
	s, err := agent.Connect(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	answer, err := s.Call(t.Context(), "lend", lendArgs(id, 1))
	if err != nil {
		t.Fatalf("call %s: %v", id, err)
	}
	res, err := parse(answer)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := up.request(id)
	if m := mixture(id, res, req); m != "" {
		t.Error(m)
	}
	if revision != 0 && res.Meta.Revision != revision {
		t.Errorf("call %s was answered by revision %d, want %d", id, res.Meta.Revision, revision)
	}
}

// awaitSynced waits until n nodes are connected and all of them run the revision.
func awaitSynced(t *testing.T, op *operator.Client, n int, revision uint64) {
	t.Helper()
	await(t, fmt.Sprintf("%d nodes at revision %d", n, revision), func() bool {
		nodes, err := op.Nodes(t.Context(), group)
		synced := 0
		for _, n := range nodes {
			if n.GetState() == adminv1.NodeState_NODE_STATE_SYNCED && n.GetRunning().GetNumber() == revision {
				synced++
			}
		}
		return err == nil && synced == n && len(nodes) == n
	})
}
