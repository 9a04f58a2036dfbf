// Command bench measures what a node costs, beside what it is compared with: both
// run on one machine, in alternating slices of time, and what is printed first are
// ratios. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"syscall"
)

// A command is a subcommand; run prints to stdout what it measured.
type command struct {
	about string
	run   func(ctx context.Context, args []string) error
}

func commands() map[string]command {
	return map[string]command{
		"call":    {"what a call costs, against a reverse proxy and a server written by hand", call},
		"reload":  {"calls that fail while bundles are replaced, and how soon a change serves", reload},
		"start":   {"how soon a node answers after its start, and a module is vetted", start},
		"deliver": {"how soon all nodes run what an operator applied, and what a stream costs", deliver},
		"compile": {"what compiling a module of 10,000 tools takes, against evaluating it with cue", compileWide},
		"soak":    {"what stays behind after many calls and reloads", soak},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run returns the exit code: 2 for wrong usage, 1 when something was not as it must
// be. What is only slow fails nothing.
func run(ctx context.Context, args []string) int {
	if len(args) > 1 && args[0] == childArg {
		return child(ctx, args[1:])
	}
	if len(args) == 0 || commands()[args[0]].run == nil {
		usage()
		return 2
	}
	switch err := commands()[args[0]].run(ctx, args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

func usage() {
	fmt.Fprint(os.Stderr, "bench measures a node beside what it is compared with.\n\nUsage:\n  go run ./bench COMMAND [--help]\n\nCommands:\n")
	var names []string
	for name := range commands() {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(os.Stderr, "  %-8s %s\n", name, commands()[name].about)
	}
}
