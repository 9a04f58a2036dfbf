// Package daemon is what the mains of long-running processes share: a command and
// its command line come in, an exit code goes out; signals end a context.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/build"
)

// Exit codes.
const (
	ExitOK    = 0
	ExitInput = 1
	ExitUsage = 2
)

// A UsageError is a command line that does not say what to do.
type UsageError struct{ error }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Unwrap returns what is wrong.
func (e UsageError) Unwrap() error { return e.error }

// Execute runs cmd, a command without subcommands, and returns the exit code of the
// process. "version" and "help" alone mean the flags of these names. It ends when ctx is
// done or the process is told to stop, as [Context] says.
func Execute(ctx context.Context, cmd *cobra.Command, args []string, stdout, stderr io.Writer) int {
	ctx, stop := Context(ctx)
	defer stop()
	prepare(cmd)
	if len(args) == 1 && (args[0] == "version" || args[0] == "help") {
		args = []string{"--" + args[0]}
	}
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	fmt.Fprintf(stderr, "%s: %v\n", cmd.Name(), err)
	var usage UsageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitInput
}

// prepare makes cmd report a wrong command line as [Execute] expects.
func prepare(cmd *cobra.Command) {
	cmd.Version = build.Version()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return Usagef("%w: see %s --help", err, c.Name()) })
	cmd.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usagef("unexpected argument %q: see %s --help", args[0], c.Name())
		}
		return nil
	}
}
