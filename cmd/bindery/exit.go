package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
)

// The exit codes of every command.
const (
	exitOK      = 0
	exitInvalid = 1 // the input is wrong or the tool call failed
	exitUsage   = 2
	exitRemote  = 3 // the remote side failed: not reachable, refused, too slow
)

// A failure ends the program with a code. Its error is printed; nil when all was
// said already.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// lostOutput says that what a command printed did not arrive.
type lostOutput struct{ err error }

func (e *lostOutput) Error() string { return fmt.Sprintf("the output is lost: %v", e.err) }
func (e *lostOutput) Unwrap() error { return e.err }

// failure says nothing where the reader left, as head does when it has what it wants.
func (e *lostOutput) failure() *failure {
	if errors.Is(e.err, syscall.EPIPE) {
		return &failure{code: exitInvalid}
	}
	return &failure{exitInvalid, e}
}

// errInvalid ends the program after diagnostics that say it all.
var errInvalid = &failure{code: exitInvalid}

func remotef(format string, args ...any) error {
	return &failure{exitRemote, fmt.Errorf(format, args...)}
}

func usagef(c *cobra.Command, format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf("%s (see %s --help)", fmt.Sprintf(format, args...), c.CommandPath())}
}

// asFailure returns what an error of cobra's own, which is one of usage, or of a
// command means.
func asFailure(err error) *failure {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f
	}
	return &failure{exitUsage, fmt.Errorf("%w (see bindery --help)", err)}
}

// ran puts the command's name before its error, and gives the error its code.
func ran(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	code := exitInvalid
	if f := (*failure)(nil); errors.As(err, &f) {
		if f.code == exitUsage || f.err == nil {
			return f
		}
		code, err = f.code, f.err
	} else if remote(err) {
		code = exitRemote
	}
	return &failure{code, fmt.Errorf("%s: %w", c.Name(), err)}
}

func remote(err error) bool {
	var (
		unreachable *operator.Unreachable
		transport   *agent.TransportError
		refusal     *jsonrpc.Error
	)
	switch {
	case errors.As(err, &refusal):
		return false
	case errors.As(err, &unreachable), errors.As(err, &transport):
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
