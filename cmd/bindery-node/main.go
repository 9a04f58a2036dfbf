// Command bindery-node serves MCP: it takes its configuration from a control plane
// or from a bundle file and calls REST APIs on behalf of MCP clients.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/build"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// Exit codes.
const (
	exitOK    = 0
	exitInput = 1
	exitUsage = 2
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program; the result is its exit code. It ends when ctx is done
// or the process is told to by a signal. A second signal ends it at once.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "bindery-node: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitInput
}

// A usageError is a command line that does not say what to do.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func command() *cobra.Command {
	f := flags{}
	cmd := &cobra.Command{
		Use:   "bindery-node (--control-plane ADDR[,ADDR] | --bundle FILE)",
		Short: "Serve REST APIs as MCP tools",
		Long: `Serves the tools of one group over MCP (Streamable HTTP) and calls the REST APIs
behind them. What it serves comes from a control plane, or from a bundle file that
it watches; a change is taken over without losing a call, and what cannot be
served changes nothing.

Secrets are read from the files of --secrets-dir, or from the environment: the
secret "library-token" is BINDERY_SECRET_LIBRARY_TOKEN.`,
		Example: `  # Serve what the group "default" is to run, for clients on this machine.
  bindery-node --control-plane 127.0.0.1:7700 --secrets-dir /etc/bindery/secrets

  # Serve a bundle without a control plane, under a public name.
  bindery compile --out library.bundle
  bindery-node --bundle library.bundle --listen 0.0.0.0:8080 --public-url https://tools.example.com --insecure`,
		Version:       build.Version(),
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), cmd.ErrOrStderr()) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%w: see bindery-node --help", err) })
	f.register(cmd)
	return cmd
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q: see bindery-node --help", args[0])
	}
	return nil
}

// serve runs the node that f describes until ctx is done.
func (f flags) serve(ctx context.Context, stderr io.Writer) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if cfg.Log, err = f.logger(stderr); err != nil {
		return err
	}
	if cfg.MCP, err = f.open("listen", f.listen); err != nil {
		return err
	}
	defer cfg.MCP.Close()
	if cfg.Admin, err = f.open("admin", f.admin); err != nil {
		return err
	}
	defer cfg.Admin.Close()
	if cfg.ID == "" {
		cfg.ID = defaultID(cfg.MCP.Addr())
	}
	return node.Run(ctx, cfg)
}

// open listens at addr. Anybody who can reach a listener off loopback can read
// what passes through it, as long as it has no TLS.
func (f flags) open(flag, addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, usagef("--%s %s is not host:port: %w", flag, addr, err)
	}
	if !tcp.IP.IsLoopback() && !f.insecure {
		return nil, usagef("--%s %s is reachable from other machines and has no TLS: listen on 127.0.0.1, or add --insecure where something in front encrypts", flag, addr)
	}
	l, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w: choose another address", flag, addr, err)
	}
	return l, nil
}

// defaultID names a node by what stays when it restarts and differs between the
// nodes of one machine.
func defaultID(mcp net.Addr) string {
	host, err := os.Hostname()
	if err != nil || discoveryv1.CheckName(host) != nil {
		host = "node"
	}
	if tcp, ok := mcp.(*net.TCPAddr); ok {
		return host + "-" + strconv.Itoa(tcp.Port)
	}
	return host
}

func (f flags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, usagef("--log-level %s is none of debug, info, warn, error", f.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, usagef("--log-format %s is neither text nor json", f.logFormat)
}
