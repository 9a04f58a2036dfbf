package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// patience is how long a test waits for what should come soon.
const patience = 20 * time.Second

// TestProcess is the life of a node: it starts with a bundle, answers a client,
// takes over a changed bundle while a call is held, refuses a broken one, and ends
// on SIGTERM after its last call.
func TestProcess(t *testing.T) {
	library := startLibrary(t)
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	book := librarytest.Binding(library.authority)
	replace(t, bundle, librarytest.Bundle(t, book))
	p := start(t, "--bundle", bundle, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain-delay", "0s", "--log-format", "json")
	p.until(t, "/readyz", http.StatusOK, "ready")

	changed := make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(_ context.Context, _ *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://" + p.mcp + "/library"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	first := call(t, session, "1")
	p.until(t, "/metrics", http.StatusOK, "bindery_node_listen_streams 1")

	held := library.hold()
	last := make(chan *mcp.CallToolResult, 1)
	go func() { last <- call(t, session, "2") }()
	wait(t, "the library is asked for the held book", held.asked)

	book.Tools[0].Description = "Adds a book to the shelf."
	replace(t, bundle, librarytest.Bundle(t, book))
	wait(t, "the client hears of the change", changed)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tools.Tools[0].Description; got != "Adds a book to the shelf." {
		t.Errorf("description is %q", got)
	}
	second := call(t, session, "3")

	if err := os.WriteFile(bundle, []byte("no bundle"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.logged(t, `"msg":"bundle refused"`)
	if third := call(t, session, "4"); third.Meta["bindery.dev/digest"] != second.Meta["bindery.dev/digest"] {
		t.Error("a broken bundle changed what is served")
	}

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until(t, "/readyz", http.StatusServiceUnavailable, "draining")
	close(held.answer)
	end := wait(t, "the held call is answered", last)
	if end == nil || end.Meta["bindery.dev/digest"] != first.Meta["bindery.dev/digest"] || first.Meta["bindery.dev/digest"] == second.Meta["bindery.dev/digest"] {
		t.Errorf("digests are %v, %v and, of the held call, %v", first.Meta, second.Meta, end.Meta)
	}
	if code := wait(t, "the node ends", p.ended); code != daemon.ExitOK {
		t.Errorf("exit code is %d", code)
	}
}

// TestMaxRequest: requests are bounded as the command line says.
func TestMaxRequest(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	replace(t, bundle, librarytest.Bundle(t, librarytest.Binding("127.0.0.1:9")))
	p := start(t, "--bundle", bundle, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--max-request-bytes", "1000", "--log-format", "json")
	for padding, want := range map[int]int{100: http.StatusOK, 1000: http.StatusRequestEntityTooLarge} {
		body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"` + strings.Repeat("x", padding) + `"}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.mcp+"/library", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: HTTP %d, want %d", len(body), res.StatusCode, want)
		}
	}
}

func call(t *testing.T, session *mcp.ClientSession, id string) *mcp.CallToolResult {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": id}})
	if err != nil {
		t.Error(err)
		return &mcp.CallToolResult{}
	}
	return res
}

// replace puts a bundle in the place of what is at path, as bindery compile does.
func replace(t *testing.T, path string, b *irv1.Bundle) {
	t.Helper()
	data, err := proto.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// library is an upstream that can be told to take its time.
type library struct {
	authority string
	holds     chan hold // at most one: for the next request
}

type hold struct {
	asked  chan struct{}
	answer chan struct{}
}

func startLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{holds: make(chan hold, 1)}
	books := librarytest.Upstream()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case h := <-l.holds:
			close(h.asked)
			<-h.answer
		default:
		}
		books.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	l.authority = strings.TrimPrefix(s.URL, "http://")
	return l
}

// hold makes the library answer the next request only when answer is closed.
func (l *library) hold() hold {
	h := hold{asked: make(chan struct{}), answer: make(chan struct{})}
	l.holds <- h
	return h
}

// A process is a running bindery-node.
type process struct {
	cmd        *exec.Cmd
	mcp, admin string // host:port
	lines      chan string
	ended      chan int // its exit code
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 1000), ended: make(chan int, 1)}
	p.cmd.Env = append(os.Environ(), asNode+"=1", "BINDERY_SECRET_LIBRARY_TOKEN=open sesame")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended already if all went well
	go p.follow(stderr)
	var serving struct{ MCP, Admin string }
	if err := json.Unmarshal([]byte(p.logged(t, `"msg":"serving"`)), &serving); err != nil {
		t.Fatal(err)
	}
	p.mcp, p.admin = serving.MCP, serving.Admin
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

// until waits until the admin listener answers with status and part.
func (p *process) until(t *testing.T, path string, status int, part string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		resp, err := http.Get("http://" + p.admin + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got = string(body); resp.StatusCode == status && strings.Contains(got, part) {
			return
		}
	}
	t.Fatalf("%s is %s", path, got)
}

// wait waits for a signal.
func wait[T any](t *testing.T, what string, signal <-chan T) T {
	t.Helper()
	select {
	case v := <-signal:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
		panic("unreachable")
	}
}
