// Package worker takes the sources of a module and gives what they compile to,
// compiled in a child process that is ended when it needs too much.
//
// Evaluating CUE cannot be canceled, and a hundred bytes of it can take for ever,
// all memory or all stack. Whoever compiles what others wrote does it here. The
// child is the running program itself, started again with [Arg]: so every main
// that compiles begins with
//
//	if len(os.Args) > 1 && os.Args[1] == worker.Arg {
//		os.Exit(worker.Main())
//	}
package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// Arg is the first argument of a program that is to be the child.
const Arg = "bindery-compile-worker"

const (
	deadline   = 10 * time.Second // from the sources to the end of the child, and
	perMiB     = 5 * time.Second  // so much more for each MiB of sources
	maxCPU     = 40 * time.Second // on all cores together
	maxMemory  = 2 << 30          // bytes, beyond what the program takes at its start
	maxStack   = 128 << 20        // bytes, of one goroutine
	maxFiles   = 64               // open at once
	maxSources = 64 << 20         // bytes read by the child
	maxOutput  = 160 << 20        // bytes of compiled module read by the parent
	maxErrors  = 64 << 10         // bytes kept of what the child says on stderr
)

// turns has a place for each child of [Compile] that compiles now. It belongs to the
// process, as the processors do that they share: a child that is one of many would take
// longer than it may, whatever its sources. There are two at least, so that sources which
// take all the time there is do not hold up all others.
var turns = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

// Compile compiles s in a child process. It may be called concurrently: as many children
// as there are processors compile at once, and the others wait for their turn, which does
// not count as time that the sources take.
//
// Sources that need more than the limits are an author's problem, so they give a
// diagnostic without a bundle, like sources that are wrong. The error is the one of
// ctx, or says why the child could not do its work.
func Compile(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return nil, fmt.Errorf("compile: %w", ctx.Err())
	}
	return child{args: []string{Arg}, deadline: deadline}.compile(ctx, s)
}

func (c child) compile(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
	return compileIn(c.run, ctx, s)
}

// compileIn compiles s in the child that run feeds.
func compileIn(run func(context.Context, []byte) ([]byte, error), ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
	in, err := proto.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("compile: marshal sources: %w", err)
	}
	out, err := run(ctx, in)
	if limit := (*limitError)(nil); errors.As(err, &limit) {
		return limit.compiled(), nil
	} else if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	compiled := &sourcev1.Compiled{}
	if err := proto.Unmarshal(out, compiled); err != nil {
		return nil, fmt.Errorf("compile: the child wrote what is no compiled module: %w", err)
	}
	return compiled, nil
}

// A limitError says which limit the sources did not keep.
type limitError struct {
	what string // what compilation did
	hint string // what the author can do
}

func (e *limitError) Error() string { return e.what }

func (e *limitError) compiled() *sourcev1.Compiled {
	return &sourcev1.Compiled{Diagnostics: []*sourcev1.Diagnostic{{
		Severity: sourcev1.Severity_SEVERITY_ERROR,
		Code:     "compile-limit",
		Message:  e.what,
		Hint:     e.hint,
	}}}
}

const (
	costly = "look for nested comprehensions, long list.Range and many disjunctions in one struct; to find the file, compile with files taken away"
	deep   = "look for an expression or a nesting thousands of levels deep; to find the file, compile with files taken away"
)

func tookTooLong(d time.Duration) *limitError {
	return &limitError{fmt.Sprintf("compilation took longer than %v and was stopped", d), costly}
}

func tookTooMuchCPU() *limitError {
	return &limitError{fmt.Sprintf("compilation took more than %v of processor time and was stopped", maxCPU), costly}
}

func tookTooMuchMemory() *limitError {
	return &limitError{fmt.Sprintf("compilation needs more than %d MiB of memory and was stopped", maxMemory>>20), costly}
}

func tookTooMuchStack() *limitError {
	return &limitError{fmt.Sprintf("compilation nests deeper than %d MiB of stack hold and was stopped", maxStack>>20), deep}
}

// limitIn returns the limit that the Go runtime names in its last words, nil when
// it names none.
func limitIn(stderr string) *limitError {
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(stderr, w) {
				return true
			}
		}
		return false
	}
	switch {
	case says("stack overflow", "goroutine stack exceeds"):
		return tookTooMuchStack()
	case says("out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed"):
		return tookTooMuchMemory()
	}
	return nil
}
