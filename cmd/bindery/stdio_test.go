package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestStdio is a desktop client's: it starts the command on an author's module, calls
// a tool, and sees each save that compiles and none that does not.
func TestStdio(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(library))
	t.Cleanup(upstream.Close)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "cue.mod", "module.cue"), "module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")
			module := filepath.Join(dir, "library.cue")
			const binding = `package bindings

import "bindery.dev/bind"

bindings: library: bind.#Binding & {
	upstream: url: "http://127.0.0.1:1"
	errors: {style: "jsonrpc", code: -32000, usable: message: true}
	tools: get_book: {
		description: %q
		http:        "GET /books/{isbn}"
		args: isbn: description: "The book."
	}
}
`
			write(t, module, fmt.Sprintf(binding, "Read one book."))
			cmd := &exec.Cmd{Path: os.Args[0], Args: []string{"bindery", "stdio", dir, "--upstream", "library=" + upstream.URL}}
			var said said
			cmd.Stderr = &said
			changed := make(chan struct{}, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "desk", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := description(t, session); got != "Read one book." {
				t.Errorf("description is %q", got)
			}
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"isbn": "1"}})
			if err != nil || res.StructuredContent.(map[string]any)["asked"] != "GET /books/1" {
				t.Errorf("result is %+v, %v", res, err)
			}
			_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"isbn": "missing"}})
			if refusal := (*jsonrpc.Error)(nil); !errors.As(err, &refusal) || refusal.Code != -32000 || string(refusal.Data) != `{"message":"no such book"}` {
				t.Errorf("error is %v", err)
			}

			said.await(t, "revision 1 of library.example@v0 is served")
			write(t, module, "package bindings\n\nbindings: library: 7\n")
			said.await(t, "revision 1 keeps serving")
			write(t, module, fmt.Sprintf(binding, "Read a book."))
			select {
			case <-changed:
			case <-time.After(30 * time.Second):
				t.Fatalf("the client hears of no change; stderr is %s", said.String())
			}
			if got := description(t, session); got != "Read a book." {
				t.Errorf("description is %q", got)
			}
			if err := session.Close(); err != nil {
				t.Errorf("the command ended with %v", err)
			}
		})
	}
}

// description returns the description of the only tool.
func description(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 {
		t.Fatalf("tools are %+v, %v", list, err)
	}
	return list.Tools[0].Description
}

// write writes a file as editors do: it is there whole or not at all.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// said keeps what a process writes to stderr.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until part was written.
func (s *said) await(t *testing.T, part string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(s.String(), part); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("stderr is without %q:\n%s", part, s.String())
		}
	}
}
