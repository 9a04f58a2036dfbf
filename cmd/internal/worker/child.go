package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A child is the running program, to be started again.
type child struct {
	args     []string
	deadline time.Duration
}

// errFlood is why a child that writes without end is stopped.
var errFlood = errors.New("the child writes more than a compiled module can hold")

// run starts the child, writes in to it and returns what it wrote once it has
// succeeded. The error is a *limitError, the error of ctx, or another failure.
func (c child) run(ctx context.Context, in []byte) ([]byte, error) {
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find the running program: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	flooded, flood := context.WithCancelCause(timed)
	defer flood(nil)

	cmd := exec.CommandContext(flooded, path, c.args...)
	cmd.Args[0] = "bindery" // what a list of processes shows
	cmd.Env = environment()
	cmd.Stdin = bytes.NewReader(in)
	out := &capped{limit: maxOutput, full: func() { flood(errFlood) }}
	stderr := &capped{limit: maxErrors, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, stderr
	cmd.WaitDelay = time.Second
	ownGroup(cmd)

	err = cmd.Run()
	switch {
	case err == nil:
		return out.buffer.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case context.Cause(flooded) == errFlood:
		return nil, errFlood
	case timed.Err() != nil:
		return nil, tookTooLong(c.deadline)
	}
	return nil, failure(cmd.ProcessState, stderr.buffer.String(), err)
}

// failure says why a child that was not stopped by us did not succeed.
func failure(state *os.ProcessState, stderr string, err error) error {
	if state == nil {
		return fmt.Errorf("start the child: %w", err)
	}
	if limit := limitIn(stderr); limit != nil {
		return limit
	}
	if killed(state) {
		if state.UserTime()+state.SystemTime() >= maxCPU-time.Second {
			return tookTooMuchCPU()
		}
		return tookTooMuchMemory() // the system's last resort
	}
	if line := firstLine(stderr); line != "" {
		return errors.New(line)
	}
	return fmt.Errorf("the child ended with %s and said nothing: run bindery vet on the sources", state)
}

// environment is what of ours the child sees: nothing that is a secret and nothing
// that could change what comes out.
func environment() []string {
	env := []string{} // nil would mean all of ours
	for _, name := range []string{"GOMAXPROCS", "GOCOVERDIR", "GORACE", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// capped keeps the first limit bytes written to it and calls full when there are
// more.
type capped struct {
	buffer bytes.Buffer // not embedded: its ReadFrom would know no limit
	limit  int
	full   func()
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.buffer.Len()
	if len(p) > room {
		c.full()
	}
	c.buffer.Write(p[:min(room, len(p))])
	return len(p), nil
}
