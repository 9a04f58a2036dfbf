package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"time"
)

func soak(ctx context.Context, args []string) error {
	var calls, reloads int
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.IntVar(&calls, "calls", 1_000_000, "`N` calls at least")
	flags.IntVar(&reloads, "reloads", 1000, "`N` bundles to replace meanwhile")
	return onField(ctx, flags, args, func(f *field) error { return measureSoak(ctx, f, calls, reloads) })
}

func measureSoak(ctx context.Context, f *field, calls, reloads int) error {
	node, err := f.node(ctx)
	if err != nil {
		return err
	}
	const parts = 10
	var first, last footprint
	done, began := 0, time.Now()
	for part := 0; part < parts || done < calls; part++ {
		if err := f.reset(ctx, node); err != nil {
			return err
		}
		r, err := f.replaceUnderLoad(ctx, node, max(1, reloads/parts))
		if err != nil {
			return err
		}
		done += r.calls
		if more := (part+1)*calls/parts - done; more > 0 {
			n, err := f.callTimes(ctx, node, more)
			if err != nil {
				return err
			}
			done += n
		}
		if last, err = node.footprint(); err != nil {
			return err
		}
		if part == 0 {
			first = last
		}
		progress(fmt.Sprintf("%d of %d calls: %s", done, calls, last))
	}
	fmt.Printf("%d calls and %d reloads in %v, 0 failed\n", done, reloads, time.Since(began).Round(time.Second))
	fmt.Printf("after a tenth: %s\nat the end:    %s\n", first, last)
	return last.flat(first)
}

// reset puts a bundle in place that is neither of those that are replaced in turns.
func (f *field) reset(ctx context.Context, node *process) error {
	t, err := mcpTarget(node, eras()[0])
	if err != nil {
		return err
	}
	if err := f.edit(2); err != nil {
		return err
	}
	data, err := compileModule(ctx, f.module(), "http://"+f.upstream.addr)
	if err != nil {
		return err
	}
	if err := replace(f.bundle, data); err != nil {
		return err
	}
	_, err = changed(node, t.want[0])
	return err
}

// callTimes makes n calls or some more.
func (f *field) callTimes(ctx context.Context, node *process, n int) (int, error) {
	t, err := mcpTarget(node, eras()[1])
	if err != nil {
		return 0, err
	}
	done := 0
	for done < n {
		s, err := load(ctx, t, 64, time.Second)
		if err != nil {
			return done, err
		}
		if done += len(s.latency); ctx.Err() != nil {
			return done, ctx.Err()
		}
	}
	return done, nil
}

// A footprint is what a process holds.
type footprint struct {
	files, goroutines int
	heap              float64 // bytes in use
}

func (f footprint) String() string {
	return fmt.Sprintf("%d files, %d goroutines, heap of %.1f MB", f.files, f.goroutines, f.heap/1e6)
}

// footprint waits until the connections of the last clients are gone.
func (p *process) footprint() (f footprint, err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		m, err := p.metrics()
		if err != nil {
			return f, err
		}
		f.goroutines, f.heap = int(m["go_goroutines"]), m["go_memstats_heap_inuse_bytes"]
		if f.files, err = p.files(); err != nil || f.goroutines < 200 {
			return f, err
		}
	}
	return f, nil
}

// slack is how many more files or goroutines may be there than before, for
// connections that come and go: those to the upstream are kept for a while.
func slack() int { return 64 + 8*runtime.NumCPU() }

// flat returns an error when f holds clearly more than before. The heap is not held
// to a number: when it is looked at depends on the collector.
func (f footprint) flat(before footprint) error {
	if f.files > before.files+slack() || f.goroutines > before.goroutines+2*slack() {
		return fmt.Errorf("something piles up: %s, and before it was %s", f, before)
	}
	return nil
}
