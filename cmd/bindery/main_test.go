package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/examples/conformance/studio"
	"github.com/bindery-dev/bindery/examples/fleet/depot"
	"github.com/bindery-dev/bindery/examples/issues/tracker"
	"github.com/bindery-dev/bindery/examples/maps/atlas"
	"github.com/bindery-dev/bindery/internal/testaddr"
)

// TestMain lets the test binary be the command, and the daemons that scripts need:
// their own Run, at addresses and with directories that a script gives.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
	testscript.Main(m, map[string]func(){
		"bindery":      func() { os.Exit(run()) },
		"controlplane": func() { asDaemon(playControlPlane) }, // controlplane ADDR DATA
		"node":         func() { asDaemon(playNode) },         // node ADDR ID CONTROLPLANE SECRETS
		"tracker":      func() { sample(tracker.New("tracker-key")) },
		"atlas":        func() { sample(atlas.New("maps", "maps-password")) },
		"studio":       func() { sample(studio.New(&studio.Shelves{})) },
		"depot":        func() { sample(depot.New("bindery", "depot-secret")) },
	})
}

func asDaemon(play func(context.Context, []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := play(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func playControlPlane(ctx context.Context, args []string) error {
	grpc, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	http, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return controlplane.Run(ctx, controlplane.Config{GRPC: grpc, HTTP: http, Data: args[1], Compile: worker.Compile})
}

func playNode(ctx context.Context, args []string) error {
	mcp, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return node.Run(ctx, node.Config{MCP: mcp, Admin: admin, ID: args[1], Group: defaultGroup, ControlPlane: []string{args[2]}, Secrets: args[3]})
}

// sample serves h as the sample services of the examples do: --listen ADDR.
func sample(h http.Handler) {
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[2], h))
	os.Exit(1)
}

// TestScripts runs testdata/script. Besides testscript's own commands there is
//
//	await REGEXP COMMAND [ARG]...
//
// which runs a command of the test binary until what it prints matches.
// $BINDERY_CONTROL_PLANE and $NODE are free addresses, $UPSTREAM is a library's REST
// service, upstream.cue says so to a module, and $ACP is the directory of the example.
func TestScripts(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(library))
	t.Cleanup(upstream.Close)
	acp, err := filepath.Abs(filepath.Join("..", "..", "examples", "acp"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("BINDERY_CONTROL_PLANE", testaddr.Free(t))
			e.Setenv("NODE", testaddr.Free(t))
			e.Setenv("UPSTREAM", upstream.URL)
			e.Setenv("ACP", acp)
			source := fmt.Sprintf("package bindings\n\n_upstream: %q\n", upstream.URL)
			return os.WriteFile(filepath.Join(e.WorkDir, "upstream.cue"), []byte(source), 0o666)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
	})
}

// library answers every request with what it was asked.
func library(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/missing") {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"no such book"}`)
		return
	}
	fmt.Fprintf(w, `{"asked":%q,"shelf":%q}`, r.Method+" "+r.URL.String(), r.Header.Get("X-Shelf"))
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await REGEXP COMMAND [ARG]...")
	}
	want := regexp.MustCompile(args[0])
	var out []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		cmd := exec.Command(args[1], args[2:]...)
		for _, name := range []string{"PATH", "BINDERY_CONTROL_PLANE", "HOME"} {
			cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
		}
		cmd.Path = lookIn(ts.Getenv("PATH"), args[1])
		cmd.Dir = ts.MkAbs(".")
		out, _ = cmd.CombinedOutput() // fails until what is awaited is there
		if want.Match(out) {
			return
		}
	}
	ts.Fatalf("waited 30s for %q, last was:\n%s", args[0], out)
}

func lookIn(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); isFile(full) {
			return full
		}
	}
	return name
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}
