// Command bindery-node serves MCP: it takes its configuration from a control plane
// or from a bundle file and calls REST APIs on behalf of MCP clients.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/dataplane/serve"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

func main() {
	setMemory()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program; the result is its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return daemon.Execute(ctx, command(), args, stdout, stderr)
}

func command() *cobra.Command {
	f := flags{}
	cmd := &cobra.Command{
		Use:   "bindery-node (--control-plane ADDR[,ADDR] | --bundle FILE) [--stdio [--endpoint PATH]]",
		Short: "Serve REST APIs as MCP tools",
		Long: `Serves the tools of one group over MCP (Streamable HTTP) and calls the REST APIs
behind them. What it serves comes from a control plane, or from a bundle file that
it watches; a change is taken over without losing a call, and what cannot be
served changes nothing.

With --stdio it serves the one client that started it, on stdin and stdout; the log
is on stderr. Requests wait up to 30 s for the first configuration.

Secrets are read from the files of --secrets-dir, or from the environment: the
secret "library-token" is BINDERY_SECRET_LIBRARY_TOKEN.

Memory: garbage is collected when the heap has grown to five times what is in use;
GOGC changes that. In a container set GOMEMLIMIT to about 90 % of its limit.`,
		Example: `  # Serve what the group "default" is to run, for clients on this machine.
  bindery-node --control-plane 127.0.0.1:7700 --secrets-dir /etc/bindery/secrets

  # Serve a bundle without a control plane, under a public name.
  bindery compile --out library.bundle
  bindery-node --bundle library.bundle --listen 0.0.0.0:8080 --public-url https://tools.example.com --insecure

  # Be a server that a desktop client starts.
  bindery-node --bundle library.bundle --stdio --log-level warn`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd) },
	}
	f.register(cmd)
	return cmd
}

// serve runs the node that f describes until cmd's context is done.
func (f *flags) serve(cmd *cobra.Command) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	lines := daemon.NewLines(cmd.ErrOrStderr())
	defer lines.Flush()
	if cfg.Log, err = f.Logger(lines); err != nil {
		return err
	}
	if f.stdio {
		cfg.Stdio = &node.Stdio{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Endpoint: f.endpoint}
		signal.Ignore(syscall.SIGPIPE) // a client that is gone is seen at stdin
	} else {
		if cfg.MCP, err = f.Open("listen", f.listen); err != nil {
			return err
		}
		defer cfg.MCP.Close()
	}
	if cfg.Admin, err = f.Open("admin", f.adminAddr()); err != nil {
		return err
	}
	defer cfg.Admin.Close()
	if cfg.ID == "" {
		cfg.ID = defaultID(cfg.MCP)
	}
	err = node.Run(cmd.Context(), cfg)
	if unknown := (*serve.EndpointError)(nil); errors.As(err, &unknown) {
		return daemon.Usagef("--endpoint: %w", unknown)
	}
	return err
}

// defaultID names a node by what differs between the nodes of one machine and, for
// one with a listener, stays when it restarts.
func defaultID(mcp net.Listener) string {
	host, err := os.Hostname()
	if err != nil || discoveryv1.CheckName(host) != nil {
		host = "node"
	}
	if mcp == nil {
		return host + "-stdio-" + strconv.Itoa(os.Getpid())
	}
	if tcp, ok := mcp.Addr().(*net.TCPAddr); ok {
		return host + "-" + strconv.Itoa(tcp.Port)
	}
	return host
}
