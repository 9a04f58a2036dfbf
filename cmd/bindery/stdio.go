package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/dev"
	"github.com/bindery-dev/bindery/cmd/internal/node"
)

func (p *program) stdio() *cobra.Command {
	var tags, upstreams *[]string
	var endpoint, secrets string
	c := command("stdio [DIR|FILE] [--endpoint PATH] [--upstream NAME=URL]... [--secrets-dir DIR] [-t TAG]...", "Serve a module or a bundle on stdin and stdout", oneDir, func(c *cobra.Command, args []string) error {
		cfg := dev.Config{
			Dir: dirOf(args), Tags: *tags, Secrets: secrets, Log: p.log(slog.LevelWarn), Daemons: p.log(slog.LevelError),
			Stdio: &node.Stdio{In: p.in, Out: p.out, Endpoint: endpoint},
		}
		said := &program{out: p.err, err: p.err} // stdout is the protocol's
		cfg.Report = (&devScreen{program: said, only: endpoint, secrets: secrets}).report
		var err error
		if cfg.Upstreams, err = parseUpstreams(c, *upstreams); err != nil {
			return err
		}
		p.out.OnBroken(nil) // a client that is gone is seen at stdin
		if info, err := os.Stat(cfg.Dir); err != nil || info.IsDir() {
			if _, err := moduleDir(args); err != nil {
				return err
			}
			return asUsage(c, dev.Run(c.Context(), cfg))
		}
		if len(*tags) > 0 {
			return usagef(c, "%s is compiled already: leave out --tag", cfg.Dir)
		}
		return asUsage(c, dev.RunFile(c.Context(), cfg))
	})
	c.Long = `Serve one MCP client on stdin and stdout: the one that started the command, such as
a desktop's. The module in DIR is compiled, and again after every save; a save that
does not compile prints its problems on stderr, and what was served before goes on.
Of a bundle FILE, too, what replaces it is served. It ends when stdin does.

A client gets the tools of one endpoint: --endpoint says which when there are
several. Requests wait up to 30 s for the first tools. Secrets come from the files of
--secrets-dir or from the environment: the secret library-token is
BINDERY_SECRET_LIBRARY_TOKEN.`
	c.Example = `  bindery stdio shop
  bindery stdio shop -t staging --endpoint /mcp --upstream library=http://127.0.0.1:9001/v1
  bindery stdio shop.bundle --secrets-dir ~/.shop-secrets`
	f := c.Flags()
	tags, upstreams = tagsFlag(c), upstreamFlag(c)
	f.StringVar(&endpoint, "endpoint", "", "the `PATH` of the endpoint to serve (default: the only one)")
	f.StringVar(&secrets, "secrets-dir", "", "the `DIR` of secrets, a file each")
	return c
}
