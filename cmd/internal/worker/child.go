package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// errDeadline is why a child that takes too long is stopped.
var errDeadline = errors.New("the child takes too long")

// run starts the child, writes in to it and returns what it wrote once it has
// succeeded. The error is a *limitError, the error of ctx, or another failure.
func (c child) run(ctx context.Context, in []byte) ([]byte, error) {
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	return p.run(ctx, in)
}

// A process is a child that waits for its input.
type process struct {
	cmd         *exec.Cmd
	in          io.WriteCloser
	answer      chan []byte // gets what it wrote, once that is whole
	out, stderr *capped
	deadline    time.Duration
	life        context.Context // its end stops the process
	end         context.CancelCauseFunc
	ended       chan struct{} // closed when it has ended, with err
	err         error
}

// start starts the child.
func (c child) start() (*process, error) {
	path, err := executable()
	if err != nil {
		return nil, fmt.Errorf("find the running program: %w", err)
	}
	p := &process{answer: make(chan []byte, 1), deadline: c.deadline}
	p.life, p.end = context.WithCancelCause(context.Background())
	p.cmd = exec.CommandContext(p.life, path, c.args...)
	p.cmd.Args[0] = "bindery" // what a list of processes shows
	p.cmd.Env = environment()
	p.out = &capped{limit: maxOutput, full: func() { p.end(errFlood) }, written: p.look}
	p.stderr = &capped{limit: maxErrors, full: func() {}}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.stderr
	p.cmd.WaitDelay = time.Second
	ownGroup(p.cmd)
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.end(nil)
		return nil, fmt.Errorf("start the child: %w", err)
	}
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// run is what child.run does once the child has started. The time that the process
// waited before does not count.
func (p *process) run(ctx context.Context, in []byte) ([]byte, error) {
	defer time.AfterFunc(lingering, func() { p.end(nil) })
	defer context.AfterFunc(ctx, func() { p.end(ctx.Err()) })()
	deadline := p.deadline + time.Duration(len(in)>>20)*perMiB
	timer := time.AfterFunc(deadline, func() { p.end(errDeadline) })
	defer timer.Stop()
	go func() {
		_, _ = p.in.Write(in) // a child that does not read says why it ends
		p.in.Close()
	}()
	select {
	case answer := <-p.answer:
		return answer, nil
	case <-p.ended:
	}
	switch cause := context.Cause(p.life); {
	case len(p.answer) > 0:
		return <-p.answer, nil
	case p.err == nil:
		return nil, errors.New("the child wrote what is no compiled module")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case cause == errFlood:
		return nil, errFlood
	case cause == errDeadline:
		return nil, tookTooLong(deadline)
	}
	return nil, failure(p.cmd.ProcessState, p.stderr.buffer.String(), p.err)
}

// header is how long what precedes an answer is: the length of that, so that it is known
// to be whole. A process takes milliseconds to end, for each page of its memory.
const header = 8

// lingering is how long a process that has answered has to end by itself.
const lingering = time.Second

// framed returns what a child writes for an answer.
func framed(answer []byte) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, header+len(answer)), uint64(len(answer))), answer...)
}

// look takes the answer from what the child has written so far, once it is whole.
func (p *process) look(written []byte) {
	if len(written) >= header && binary.BigEndian.Uint64(written) == uint64(len(written)-header) {
		select {
		case p.answer <- written[header:]:
		default: // it had answered, with less
		}
	}
}

// waits reports whether the process has not ended yet.
func (p *process) waits() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stop ends a child that is not needed.
func (p *process) stop() {
	p.end(nil)
	<-p.ended
}

// failure says why a child that was not stopped by us did not succeed.
func failure(state *os.ProcessState, stderr string, err error) error {
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

	written func(all []byte) // is told what was kept so far; nil: nobody is
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.buffer.Len()
	if len(p) > room {
		c.full()
	}
	c.buffer.Write(p[:min(room, len(p))])
	if c.written != nil {
		c.written(c.buffer.Bytes())
	}
	return len(p), nil
}
