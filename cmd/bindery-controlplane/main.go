// Command bindery-controlplane compiles what operators send, stores it as revisions
// and keeps the nodes of each group at the one they should run.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program; the result is its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return daemon.Execute(ctx, command(), args, stdout, stderr)
}

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
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context(), cmd.ErrOrStderr()) },
	}
	f.register(cmd)
	return cmd
}

// serve runs the control plane that f describes until ctx is done.
func (f *flags) serve(ctx context.Context, stderr io.Writer) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if cfg.Log, err = f.Logger(stderr); err != nil {
		return err
	}
	if cfg.GRPC, err = f.Open("listen", f.listen); err != nil {
		return err
	}
	defer cfg.GRPC.Close()
	if cfg.HTTP, err = f.Open("http", f.http); err != nil {
		return err
	}
	defer cfg.HTTP.Close()
	return controlplane.Run(ctx, cfg)
}
