package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestStdio is a desktop client's: it starts the node, and is served what the bundle
// is, which comes late, changes and breaks.
func TestStdio(t *testing.T) {
	library := startLibrary(t)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			bundle := filepath.Join(t.TempDir(), "library.bundle")
			book := librarytest.Binding(library.authority)
			cmd := nodeCommand("--bundle", bundle, "--stdio", "--log-format", "json")
			var log safeBuffer
			cmd.Stderr = &log
			changed := make(chan struct{}, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			first := make(chan *mcp.CallToolResult, 1)
			go func() { first <- call(t, session, "1") }()
			replace(t, bundle, librarytest.Bundle(t, book))
			if res := wait(t, "the call finds its bundle", first); res.Meta["bindery.dev/digest"] == nil {
				t.Errorf("result is %+v", res)
			}
			_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "missing"}})
			var refusal *jsonrpc.Error
			if !errors.As(err, &refusal) || refusal.Code != -32000 || !strings.Contains(string(refusal.Data), "no_book") {
				t.Errorf("error is %v", err)
			}

			book.Tools[0].Description = "Adds a book to the shelf."
			replace(t, bundle, librarytest.Bundle(t, book))
			for got := ""; got != "Adds a book to the shelf."; {
				wait(t, "the client hears of the change", changed) // it may hear of the first tools, too
				tools, err := session.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				got = tools.Tools[0].Description
			}
			other := librarytest.Binding(library.authority)
			other.Name, other.Endpoint = "other", "/other"
			replace(t, bundle, librarytest.Bundle(t, book, other))
			log.until(t, "there are several endpoints: choose one of /library, /other")
			call(t, session, "3")
			if err := os.WriteFile(bundle, []byte("no bundle"), 0o600); err != nil {
				t.Fatal(err)
			}
			log.until(t, "is not a bundle")
			call(t, session, "2")
			if err := session.Close(); err != nil {
				t.Errorf("the node ended with %v", err)
			}
		})
	}
}

// TestStdioEnds holds a call while the node is to end: it is answered, stdout has
// nothing but the answers, and the exit code is 0.
func TestStdioEnds(t *testing.T) {
	library := startLibrary(t)
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	replace(t, bundle, librarytest.Bundle(t, librarytest.Binding(library.authority)))
	ends := map[string]func(*exec.Cmd, io.Closer) error{
		"input": func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
		"TERM":  func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			cmd := nodeCommand("--bundle", bundle, "--stdio", "--endpoint", librarytest.Endpoint)
			var out bytes.Buffer
			cmd.Stdout = &out
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended already if all went well
			held := library.hold()
			const lines = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}
no JSON
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"}}}
`
			if _, err := io.WriteString(in, lines); err != nil {
				t.Fatal(err)
			}
			wait(t, "the library is asked for the held book", held.asked)
			if err := end(cmd, in); err != nil {
				t.Fatal(err)
			}
			close(held.answer)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if err := wait(t, "the node ends", ended); err != nil {
				t.Errorf("the node ended with %v", err)
			}
			var codes []int
			for line := range strings.Lines(out.String()) {
				var m struct {
					JSONRPC string
					Error   struct{ Code int }
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
					t.Errorf("stdout has the line %q", line)
				}
				codes = append(codes, m.Error.Code)
			}
			if len(codes) != 3 || !strings.Contains(out.String(), `"code":-32700`) || !strings.Contains(out.String(), "Go & more") {
				t.Errorf("stdout is %s", out.String())
			}
		})
	}
}

// TestStdioEndpoint wants an endpoint that the bundle has not, or not alone.
func TestStdioEndpoint(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "library.bundle")
	here, there := librarytest.Binding("127.0.0.1:9"), librarytest.Binding("127.0.0.1:9")
	there.Name, there.Endpoint = "other", "/other"
	replace(t, bundle, librarytest.Bundle(t, here, there))
	for args, want := range map[string]string{
		"--stdio":                  "bindery-node: --endpoint: there are several endpoints: choose one of /library, /other\n",
		"--stdio --endpoint=/none": "bindery-node: --endpoint: no endpoint is at \"/none\": there is /library, /other\n",
	} {
		cmd := nodeCommand(append(strings.Fields(args), "--bundle", bundle, "--log-level", "error")...)
		in, err := cmd.StdinPipe() // stays open
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // its error is the exit code
		in.Close()
		if cmd.ProcessState.ExitCode() != daemon.ExitUsage || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, stderr %q, stdout %q; want %q", args, cmd.ProcessState.ExitCode(), stderr.String(), stdout.String(), want)
		}
	}
}

// nodeCommand returns what starts a node that has the library's secret.
func nodeCommand(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asNode+"=1", "BINDERY_SECRET_LIBRARY_TOKEN=open sesame")
	return cmd
}

// A safeBuffer keeps what is written to it.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more != nil {
		close(b.more)
		b.more = nil
	}
	return b.text.Write(p)
}

// until waits for part to be written.
func (b *safeBuffer) until(t *testing.T, part string) {
	t.Helper()
	for {
		b.mu.Lock()
		if strings.Contains(b.text.String(), part) {
			b.mu.Unlock()
			return
		}
		more := make(chan struct{})
		b.more = more
		b.mu.Unlock()
		wait(t, part+" is written", more)
	}
}
