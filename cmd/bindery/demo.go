package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/demo"
)

func (p *program) demo() *cobra.Command {
	var listen string
	var once bool
	c := command("demo [--once] [--listen ADDR]", "See a purchase over MCP, on this machine", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		l, err := listenTCP(c, listen)
		if err != nil {
			return err
		}
		return demo.Run(c.Context(), demo.Config{MCP: l, Once: once, Out: p.out, Log: p.log(slog.LevelError)})
	})
	c.Long = `Run everything on this machine, in a temporary directory: a sample shop and
payment provider that speak REST, a control plane, and a node that serves their
APIs as MCP tools. An agent buys something; then a mapping is changed while agents
call. Every step is checked: one that is not as it should be ends the demo with
its name and exit code 1.

Afterwards it serves until Ctrl-C, so that you can connect an MCP client.`
	c.Example = `  bindery demo
  bindery demo --once --listen 127.0.0.1:0`
	c.Flags().BoolVar(&once, "once", false, "exit after the last step instead of serving")
	c.Flags().StringVar(&listen, "listen", defaultListen, "serve MCP at this `ADDR`, host:port; port 0 picks a free one")
	return c
}
