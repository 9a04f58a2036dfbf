// Package run is what the commands of the sample servers share: a handler and
// where to listen come in, a running server goes out, until it is told to stop.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// grace is how long requests in flight have to end when the server stops.
const grace = 10 * time.Second

// Until returns a context that ends with the first interrupt or termination
// signal; a second one kills the process as usual.
func Until() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Secret reads a secret from file, or from the named environment variable when
// file is empty. White space around it does not count. The error says how to
// provide one.
func Secret(file, variable string, env func(string) string) (string, error) {
	value, from := env(variable), "$"+variable
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read a secret: %w", err)
		}
		value, from = string(data), file
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", fmt.Errorf("%s is empty: set %s, or name a file with a flag", from, variable)
	}
	return value, nil
}

// Serve answers on l until ctx ends, then lets requests in flight finish. It
// writes one line for each request, without headers and bodies, to log.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log io.Writer) error {
	lines := slog.New(slog.NewTextHandler(log, nil))
	srv := &http.Server{Handler: logged(h, lines), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	lines.Info("listening", "url", "http://"+l.Addr().String())
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("stop: %w", err), srv.Close())
	}
	lines.Info("stopped")
	return nil
}

func logged(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(rec, r)
		log.Info("request", "method", r.Method, "path", r.URL.Path, "status", rec.status, "took", time.Since(start).Round(time.Microsecond))
	})
}

// A recorder remembers the status that was written.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
