// Command bindery-controlplane compiles what operators send, stores it as revisions
// and keeps the nodes of each group at the one they should run.
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
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/build"
	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
)

// Exit codes.
const (
	exitOK    = 0
	exitInput = 1
	exitUsage = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
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
	fmt.Fprintf(stderr, "bindery-controlplane: %v\n", err)
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
		Use:   "bindery-controlplane [--data DIR] [--source GROUP[:TAG,...]=DIR]...",
		Short: "Keep nodes at the revision they should run",
		Long: `Takes modules from operators (bindery apply) or from directories, compiles them,
stores each as a revision in --data, and pushes it to the nodes of its group. Nodes
keep what they run while no control plane is there.`,
		Example: `  # Keep revisions in a directory, for nodes and operators on this machine.
  bindery-controlplane --data /var/lib/bindery

  # Feed the group "shop", compiled with -t prod, from a directory that is watched.
  bindery-controlplane --data /var/lib/bindery --source shop:prod=/etc/bindery/shop`,
		Version:       build.Version(),
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), cmd.ErrOrStderr()) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usagef("%w: see bindery-controlplane --help", err)
	})
	f.register(cmd)
	return cmd
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q: see bindery-controlplane --help", args[0])
	}
	return nil
}

// serve runs the control plane that f describes until ctx is done.
func (f *flags) serve(ctx context.Context, stderr io.Writer) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if cfg.Log, err = f.logger(stderr); err != nil {
		return err
	}
	if cfg.GRPC, err = f.open("listen", f.listen); err != nil {
		return err
	}
	defer cfg.GRPC.Close()
	if cfg.HTTP, err = f.open("http", f.http); err != nil {
		return err
	}
	defer cfg.HTTP.Close()
	return controlplane.Run(ctx, cfg)
}

// open listens at addr. Anybody who can reach a listener off loopback can read what
// passes through it and change what nodes run, as long as it has no TLS.
func (f *flags) open(flag, addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, usagef("--%s %s is not host:port: %w", flag, addr, err)
	}
	if !tcp.IP.IsLoopback() && !f.insecure {
		return nil, usagef("--%s %s is reachable from other machines and has no TLS: listen on 127.0.0.1, or add --insecure where something in front encrypts and admits", flag, addr)
	}
	l, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w: choose another address", flag, addr, err)
	}
	return l, nil
}

func (f *flags) logger(w io.Writer) (*slog.Logger, error) {
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
