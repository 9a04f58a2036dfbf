package daemon

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context returns a context that is done when ctx is, or when the process is told to
// stop: by Ctrl-C, by SIGTERM, or by SIGHUP, the end of its terminal, unless it was
// started to outlive that (nohup). A second such signal ends the process at once. The
// function that it returns gives the signals their old meaning.
//
// A pipe that nobody reads any more is an error of who writes to it from here on, and
// not the end of the process, which may have something to put away.
func Context(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
