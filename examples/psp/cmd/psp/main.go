// Command psp serves the sample payment service provider.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/bindery-dev/bindery/examples/internal/run"
	"github.com/bindery-dev/bindery/examples/psp"
)

const usage = `psp serves a sample payment service provider: the Delegate Payment operation of the
Agentic Commerce Protocol, and an internal one where merchants redeem tokens.

Usage:
  BINDERY_SECRET_PSP_TOKEN=psp-secret BINDERY_SECRET_REDEEM=redeem-secret psp --listen 127.0.0.1:9002

Agents come with the bearer token in BINDERY_SECRET_PSP_TOKEN, merchants with the one in
BINDERY_SECRET_REDEEM; without the latter, merchants in other processes cannot redeem.

Flags:
`

func main() {
	ctx, stop := run.Until()
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Getenv, os.Stderr))
}

type options struct {
	listen, tokenFile string
	perMinute         int
}

// command is main with its surroundings given. It returns the exit code.
func command(ctx context.Context, args []string, env func(string) string, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("psp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:9002", "where to listen, as `HOST:PORT`; port 0 picks a free one and prints it")
	flags.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the agents' token, instead of BINDERY_SECRET_PSP_TOKEN")
	flags.IntVar(&o.perMinute, "per-minute", 6000, "tokens that one agent can have in a minute")
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	}
	if err := serve(ctx, o, env, stderr); err != nil {
		fmt.Fprintf(stderr, "psp: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, env func(string) string, stderr io.Writer) error {
	token, err := run.Secret(o.tokenFile, "BINDERY_SECRET_PSP_TOKEN", env)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	h := psp.New(psp.Config{Token: token, RedeemSecret: env("BINDERY_SECRET_REDEEM"), PerMinute: o.perMinute})
	return run.Serve(ctx, l, h, stderr)
}
