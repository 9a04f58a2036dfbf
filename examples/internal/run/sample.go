package run

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
)

// Sample is the main of a sample service called name, which listens at addr unless
// --listen says otherwise, and needs nothing else. It returns the exit code.
func Sample(name, addr string, h http.Handler) int {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&addr, "listen", addr, "where to listen, as `HOST:PORT`")
	switch err := flags.Parse(os.Args[1:]); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := Until()
	defer stop()
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = Serve(ctx, l, h, os.Stderr)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}
