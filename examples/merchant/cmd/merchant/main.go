// Command merchant serves the sample seller.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/bindery-dev/bindery/examples/internal/run"
	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

const usage = `merchant serves a sample seller: the checkout API of the Agentic Commerce Protocol,
release 2026-04-17.

Usage:
  BINDERY_SECRET_MERCHANT_TOKEN=merchant-secret BINDERY_SECRET_REDEEM=redeem-secret \
    merchant --listen 127.0.0.1:9001 --psp http://127.0.0.1:9002

Agents come with the bearer token in BINDERY_SECRET_MERCHANT_TOKEN. Payment tokens are redeemed
at the provider that --psp names (see psp --help) with the secret in BINDERY_SECRET_REDEEM.

Flags:
`

func main() {
	ctx, stop := run.Until()
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Getenv, os.Stderr))
}

type options struct {
	listen, tokenFile, psp, pages string
	keyOptional, inform           bool
}

// command is main with its surroundings given. It returns the exit code.
func command(ctx context.Context, args []string, env func(string) string, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("merchant", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:9001", "where to listen, as `HOST:PORT`; port 0 picks a free one and prints it")
	flags.StringVar(&o.tokenFile, "token-file", "", "`FILE` with the agents' token, instead of BINDERY_SECRET_MERCHANT_TOKEN")
	flags.StringVar(&o.psp, "psp", "", "`URL` of the payment provider; without one every payment is taken, and no money")
	flags.StringVar(&o.pages, "pages-url", "", "`URL` at which buyers reach this server, to authenticate a payment; without one that is left to the agent")
	flags.BoolVar(&o.keyOptional, "idempotency-key-optional", false, "take POST requests without Idempotency-Key")
	flags.BoolVar(&o.inform, "inform", false, "tell agents that lack a required intervention, instead of blocking them early")
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	switch err := flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	}
	if err := serve(ctx, o, env, stderr); err != nil {
		fmt.Fprintf(stderr, "merchant: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, env func(string) string, stderr io.Writer) error {
	token, err := run.Secret(o.tokenFile, "BINDERY_SECRET_MERCHANT_TOKEN", env)
	if err != nil {
		return err
	}
	c := merchant.Config{Token: token, KeyOptional: o.keyOptional, PagesURL: o.pages}
	if o.inform {
		c.OnMismatch = merchant.Inform
	}
	if c.Charge, err = charger(o.psp, env, stderr); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	return run.Serve(ctx, l, merchant.New(c), stderr)
}

// charger redeems at the provider. Without one it says, once, that nothing is
// charged, and lets every payment through.
func charger(url string, env func(string) string, stderr io.Writer) (func(context.Context, psp.Charge) error, error) {
	if url == "" {
		fmt.Fprintln(stderr, "merchant: no --psp: every payment is taken, and no money")
		return func(context.Context, psp.Charge) error { return nil }, nil
	}
	secret, err := run.Secret("", "BINDERY_SECRET_REDEEM", env)
	if err != nil {
		return nil, err
	}
	return (&psp.Client{URL: url, Secret: secret}).Redeem, nil
}
