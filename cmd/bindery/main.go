// Command bindery is what authors and operators of bindings use: author's files
// and an operator's wishes come in, diagnostics, revisions and tool calls go out.
package main

import (
	"context"
	"os"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
		os.Exit(worker.Main())
	}
	os.Exit(run())
}

// run runs the command that the process was started as and returns its exit code.
func run() int {
	ctx, stop := daemon.Context(context.Background())
	defer stop()
	out := term.NewScreen(os.Stdout)
	p := &program{in: os.Stdin, out: out, err: out.Beside(os.Stderr)}
	return p.execute(ctx, os.Args[1:])
}
