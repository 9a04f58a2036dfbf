package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// patience bounds every wait; only a broken test waits so long.
const patience = 30 * time.Second

const module = `package bindings

import "bindery.dev/bind"

bindings: library: bind.#Binding & {
	upstream: url: "https://library.example"
	tools: lend: {
		description: "Lends a book."
		http:        "POST /loans/{id}"
		args: id: description: "The loan."
	}
}
`

// TestProcess runs the binary: it takes a directory for a source, makes revisions of
// good changes, keeps the last one over a bad change, and ends in peace.
func TestProcess(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	write(t, dir, "cue.mod/module.cue", "module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")
	write(t, dir, "library.cue", module)
	p := start(t, data, "--source", "library="+dir)
	p.until(t, "the first revision", func(g *adminv1.GroupStatus) bool { return number(g) == 1 && g.GetSource() == dir })

	write(t, dir, "library.cue", module+"nonsense: {\n")
	p.until(t, "what is wrong", func(g *adminv1.GroupStatus) bool {
		return number(g) == 1 && strings.HasPrefix(g.GetSourceError(), "library.cue:13:")
	})
	write(t, dir, "library.cue", strings.Replace(module, "Lends", "Gives", 1))
	p.until(t, "the second revision", func(g *adminv1.GroupStatus) bool { return number(g) == 2 && g.GetSourceError() == "" })
	p.serves(t)

	second := binary(data)
	out, err := second.CombinedOutput()
	if second.ProcessState.ExitCode() != daemon.ExitInput || !strings.Contains(string(out), "is in use by another process") {
		t.Errorf("a second process with the same data: %v: %s", err, out)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, "the end", p.ended); code != daemon.ExitOK {
		t.Errorf("exit code %d", code)
	}

	p = start(t, data, "--source", "library="+dir)
	p.until(t, "the revision of before", func(g *adminv1.GroupStatus) bool { return number(g) == 2 })
}

func number(g *adminv1.GroupStatus) uint64 { return g.GetRevision().GetGeneration().GetNumber() }

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A process is a running bindery-controlplane.
type process struct {
	cmd   *exec.Cmd
	http  string // host:port
	conn  *grpc.ClientConn
	lines chan string
	ended chan int // its exit code
}

func binary(data string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"--data", data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-format", "json"}, args...)...)
	cmd.Env = append(os.Environ(), asControlPlane+"=1")
	return cmd
}

func start(t *testing.T, data string, args ...string) *process {
	t.Helper()
	p := &process{cmd: binary(data, args...), lines: make(chan string, 1000), ended: make(chan int, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended already if all went well
	go p.follow(stderr)
	var serving struct{ Listen, HTTP string }
	if err := json.Unmarshal([]byte(p.logged(t, `"msg":"serving"`)), &serving); err != nil {
		t.Fatal(err)
	}
	p.http = serving.HTTP
	if p.conn, err = grpc.NewClient(serving.Listen, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	return p
}

func (p *process) follow(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.lines <- lines.Text()
	}
	close(p.lines)
	_ = p.cmd.Wait() // its error is the exit code
	p.ended <- p.cmd.ProcessState.ExitCode()
}

// logged waits for a line of the log that holds part, and returns it.
func (p *process) logged(t *testing.T, part string) string {
	t.Helper()
	for {
		if line := wait(t, "a line of the log with "+part, p.lines); strings.Contains(line, part) {
			return line
		} else if line == "" {
			t.Fatalf("the process ended without logging %s", part)
		}
	}
}

// until waits until the group "library" is as ok wants it.
func (p *process) until(t *testing.T, what string, ok func(*adminv1.GroupStatus) bool) {
	t.Helper()
	var last *adminv1.GetStatusResponse
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var err error
		if last, err = adminv1.NewAdminServiceClient(p.conn).GetStatus(t.Context(), &adminv1.GetStatusRequest{}); err != nil {
			t.Fatal(err)
		}
		for _, g := range last.GetGroups() {
			if g.GetName() == "library" && ok(g) {
				return
			}
		}
	}
	t.Fatalf("waited in vain for %s: %v", what, last)
}

// serves looks at health and metrics.
func (p *process) serves(t *testing.T) {
	t.Helper()
	for path, want := range map[string]string{
		"/healthz": "ok", "/readyz": "ready", "/metrics": "bindery_controlplane_revisions_total 2",
	} {
		resp, err := http.Get("http://" + p.http + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s, %v; want %q", path, resp.StatusCode, body, err, want)
		}
	}
	answer, err := grpc_health_v1.NewHealthClient(p.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("gRPC health: %v, %v", answer, err)
	}
}

// wait waits for a signal.
func wait[T any](t *testing.T, what string, signal <-chan T) T {
	t.Helper()
	select {
	case v := <-signal:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
		panic("not reached")
	}
}
