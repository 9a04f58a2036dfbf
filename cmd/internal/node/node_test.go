package node

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// patience is how long a test waits for what should come soon.
const patience = 20 * time.Second

// TestReadiness has a node whose bundle comes late, changes and breaks.
func TestReadiness(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	n := start(t, Config{Bundle: bundle, Env: librarytest.Env})
	n.logged(t, "waiting for the bundle")
	n.until(t, "/healthz", http.StatusOK, "ok")
	n.until(t, "/readyz", http.StatusServiceUnavailable, "nothing to serve yet")

	book := librarytest.Binding("127.0.0.1:9")
	replace(t, bundle, librarytest.Bundle(t, book))
	n.until(t, "/readyz", http.StatusOK, "ready")
	n.until(t, "/metrics", http.StatusOK, "bindery_node_reloads_total 1\n")

	book.Tools[0].Name = "not a name"
	replace(t, bundle, librarytest.Bundle(t, book))
	n.logged(t, "bundle refused")
	n.until(t, "/metrics", http.StatusOK, "bindery_node_refused_total 1\n")
	n.until(t, "/readyz", http.StatusOK, "ready")

	book.Tools[0].Name = "append_book"
	replace(t, bundle, librarytest.Bundle(t, book))
	n.until(t, "/metrics", http.StatusOK, "bindery_node_reloads_total 2\n")
	n.stop(t)
}

// TestWrittenInPlace has a node wait for a bundle that comes bit by bit.
func TestWrittenInPlace(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	n := start(t, Config{Bundle: bundle, Env: librarytest.Env})
	n.logged(t, "waiting for the bundle")
	whole := marshal(t, librarytest.Bundle(t, librarytest.Binding("127.0.0.1:9")))
	for _, part := range []struct {
		data []byte
		want string
	}{{nil, "manifest states no IR level"}, {whole[:len(whole)/2], "is not a bundle"}} {
		if err := os.WriteFile(bundle, part.data, 0o600); err != nil {
			t.Fatal(err)
		}
		n.logged(t, part.want)
	}
	n.until(t, "/readyz", http.StatusServiceUnavailable, "nothing to serve yet")
	if err := os.WriteFile(bundle, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	n.until(t, "/readyz", http.StatusOK, "ready")
	n.stop(t)
}

// TestMissingSecret has a bundle that is good but for a secret, which comes later.
func TestMissingSecret(t *testing.T) {
	secrets, bundle := t.TempDir(), filepath.Join(t.TempDir(), "library.bundle")
	replace(t, bundle, librarytest.Bundle(t, librarytest.Binding("127.0.0.1:9")))
	n := start(t, Config{Bundle: bundle, Secrets: secrets, Env: nothing})
	n.logged(t, "code=missing-secret")
	n.until(t, "/readyz", http.StatusServiceUnavailable, "nothing to serve yet")
	if err := os.WriteFile(filepath.Join(secrets, librarytest.Secret), []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	n.until(t, "/readyz", http.StatusOK, "ready")
	n.stop(t)
	if log := n.log.String(); strings.Contains(log, "open sesame") {
		t.Errorf("log holds the secret:\n%s", log)
	}
}

// TestBadStart has a file that no waiting makes a bundle.
func TestBadStart(t *testing.T) {
	book := librarytest.Binding("127.0.0.1:9")
	book.Tools[0].Name = "not a name"
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"no protobuf", []byte("no bundle"), "is not a bundle"},
		{"no manifest", nil, "manifest states no IR level"},
		{"too large", make([]byte, maxFile+1), "is larger than a bundle can be"},
		{"refused", marshal(t, librarytest.Bundle(t, book)), `tool "not a name"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bundle := filepath.Join(t.TempDir(), "library.bundle")
			if err := os.WriteFile(bundle, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			n := start(t, Config{Bundle: bundle, Env: librarytest.Env, DrainDelay: time.Hour})
			err := wait(t, "the node ends", n.ended)
			if err == nil || !strings.Contains(err.Error(), bundle) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestNoControlPlane has a node that nobody tells anything: it is healthy, not
// ready, and ends when it is told to.
func TestNoControlPlane(t *testing.T) {
	closed := listen(t)
	closed.Close()
	n := start(t, Config{ControlPlane: []string{closed.Addr().String()}, Group: "default", ID: "node"})
	n.until(t, "/healthz", http.StatusOK, "ok")
	n.until(t, "/readyz", http.StatusServiceUnavailable, "nothing to serve yet")
	n.until(t, "/metrics", http.StatusOK, "bindery_node_control_plane_connected 0\n")
	n.stop(t)
}

// TestDrain tells a node to stop while a call is held and a client listens.
func TestDrain(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	n := startHolding(t, asked, answer, Config{DrainDelay: 300 * time.Millisecond})
	listener := n.connect(t, func() {})
	n.until(t, "/metrics", http.StatusOK, "bindery_node_listen_streams 1\n")
	caller := n.connect(t, nil)
	called := make(chan error, 1)
	go func() { called <- getBook(caller) }()
	wait(t, "the library is asked", asked)

	n.cancel()
	n.until(t, "/readyz", http.StatusServiceUnavailable, "draining")
	if _, err := listener.ListTools(t.Context(), nil); err != nil {
		t.Errorf("during the delay: %v", err)
	}
	n.until(t, "/metrics", http.StatusOK, "bindery_node_listen_streams 0\n")
	close(answer)
	if err := wait(t, "the held call is answered", called); err != nil {
		t.Error(err)
	}
	if err := wait(t, "the node ends", n.ended); err != nil {
		t.Error(err)
	}
	if strings.Contains(n.log.String(), "cut off") {
		t.Error("a call was cut off")
	}
}

// TestDrainTimeout has a call that never ends.
func TestDrainTimeout(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	defer close(answer)
	n := startHolding(t, asked, answer, Config{DrainTimeout: 50 * time.Millisecond})
	caller := n.connect(t, nil)
	called := make(chan error, 1)
	go func() { called <- getBook(caller) }()
	wait(t, "the library is asked", asked)
	n.stop(t)
	if err := wait(t, "the call fails", called); err == nil {
		t.Error("the call was answered")
	}
	if !strings.Contains(n.log.String(), "calls were cut off") {
		t.Errorf("log is\n%s", n.log.String())
	}
}

// TestDrainOfTheGone has a call that never ends, of a session whose client does not wait
// for it.
func TestDrainOfTheGone(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	defer close(answer)
	n := startHolding(t, asked, answer, Config{Stateful: true, NoFastPath: true, DrainTimeout: 50 * time.Millisecond})
	session, body := n.post(t, t.Context(), "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	if session == "" {
		t.Fatal(body)
	}
	ctx, goAway := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		n.post(t, ctx, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_book","arguments":{"payload":{"title":"x"}}}}`)
	}()
	wait(t, "the library is asked", asked)
	goAway()
	wait(t, "the client is gone", gone)
	n.stop(t)
	if !strings.Contains(n.log.String(), "calls were cut off") {
		t.Errorf("log is\n%s", n.log.String())
	}
}

// TestLargeHeader has a request whose header is larger than what any client needs.
func TestLargeHeader(t *testing.T) {
	n := start(t, Config{ControlPlane: []string{"127.0.0.1:9"}, Group: "default", ID: "node"})
	r, err := http.NewRequest(http.MethodPost, "http://"+n.cfg.MCP.Addr().String()+"/library", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Large", strings.Repeat("x", maxHeaderBytes+8<<10))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status is %d", resp.StatusCode)
	}
	n.stop(t)
}

// TestListenerFails has a listener that somebody else closed.
func TestListenerFails(t *testing.T) {
	closed := listen(t)
	closed.Close()
	n := start(t, Config{MCP: closed, ControlPlane: []string{"127.0.0.1:9"}, Group: "default", ID: "node"})
	if err := wait(t, "the node ends", n.ended); err == nil {
		t.Error("the node ended well")
	}
}

// running is a node in this process.
type running struct {
	cfg    Config
	log    *logBuffer
	cancel context.CancelFunc
	ended  chan error
}

func start(t *testing.T, cfg Config) *running {
	t.Helper()
	log := &logBuffer{}
	if cfg.MCP == nil {
		cfg.MCP = listen(t)
	}
	cfg.Admin, cfg.Log = listen(t), slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(context.Background())
	n := &running{cfg: cfg, log: log, cancel: cancel, ended: make(chan error, 1)}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		n.ended <- Run(ctx, cfg)
	}()
	t.Cleanup(func() {
		cancel()
		wait(t, "the node ends", gone)
	})
	return n
}

// startHolding starts a node whose library tells when it is asked, and answers when
// it may.
func startHolding(t *testing.T, asked, answer chan struct{}, cfg Config) *running {
	t.Helper()
	books := librarytest.Upstream()
	library := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-answer
		books.ServeHTTP(w, r)
	}))
	t.Cleanup(library.Close)
	cfg.Bundle, cfg.Env = filepath.Join(t.TempDir(), "library.bundle"), librarytest.Env
	replace(t, cfg.Bundle, librarytest.Bundle(t, librarytest.Binding(strings.TrimPrefix(library.URL, "http://"))))
	n := start(t, cfg)
	n.until(t, "/readyz", http.StatusOK, "ready")
	return n
}

// stop ends the node, which is to end well.
func (n *running) stop(t *testing.T) {
	t.Helper()
	n.cancel()
	if err := wait(t, "the node ends", n.ended); err != nil {
		t.Error(err)
	}
}

// connect returns a client's session; changed, unless nil, makes it listen.
func (n *running) connect(t *testing.T, changed func()) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{}
	if changed != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { changed() }
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, options)
	transport := &mcp.StreamableClientTransport{Endpoint: fmt.Sprintf("http://%s%s", n.cfg.MCP.Addr(), librarytest.Endpoint)}
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// post sends a message in a session, "" for none, and returns that of the answer and its
// body; both are "" when ctx was done before.
func (n *running) post(t *testing.T, ctx context.Context, session, message string) (id, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.cfg.MCP.Addr().String()+librarytest.Endpoint, strings.NewReader(message))
	if err != nil {
		t.Error(err)
		return "", ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(r)
	if ctx.Err() != nil {
		return "", ""
	}
	if err != nil {
		t.Error(err)
		return "", ""
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	return resp.Header.Get("Mcp-Session-Id"), string(data)
}

func getBook(session *mcp.ClientSession) error {
	_, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "1"}})
	return err
}

// until waits until the admin listener answers with status and part.
func (n *running) until(t *testing.T, path string, status int, part string) {
	t.Helper()
	got := ""
	poll(t, func() bool {
		resp, err := http.Get("http://" + n.cfg.Admin.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		got = fmt.Sprintf("%d %s", resp.StatusCode, body)
		return err == nil && resp.StatusCode == status && strings.Contains(string(body), part)
	}, func() string { return path + " is " + got })
}

// logged waits until the log holds part.
func (n *running) logged(t *testing.T, part string) {
	t.Helper()
	poll(t, func() bool { return strings.Contains(n.log.String(), part) }, n.log.String)
}

// poll waits for a condition that nothing signals; state says what is there instead.
func poll(t *testing.T, condition func() bool, state func() string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + state())
		}
	}
}

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

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func marshal(t *testing.T, b *irv1.Bundle) []byte {
	t.Helper()
	data, err := proto.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// replace puts a bundle in the place of what is at path, as bindery compile does.
func replace(t *testing.T, path string, b *irv1.Bundle) {
	t.Helper()
	if err := os.WriteFile(path+".new", marshal(t, b), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func nothing(string) (string, bool) { return "", false }

// logBuffer is a log that may be written and read concurrently.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// TestStdioFrontStops holds that a client at streams is waited for only as long as it is
// said to be, also where a call goes on that is not safe to give up.
func TestStdioFrontStops(t *testing.T) {
	for _, ends := range []bool{true, false} {
		f := &stdioFront{gone: make(chan struct{})}
		f.end = func() {
			if ends {
				close(f.gone)
			}
		}
		timeout := patience
		if !ends {
			timeout = time.Millisecond
		}
		if got := f.stop(timeout); got != ends {
			t.Errorf("a client that ends: %t; stop says %t", ends, got)
		}
	}
}
