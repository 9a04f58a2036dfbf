// Package compile turns the sources of a module into a bundle that nodes run, or
// into diagnostics that say why there is none.
//
// It reads no file and opens no connection: sources are in memory, and the
// language that they import is the one that is built in. Equal sources and tags
// give equal bytes.
//
// The phases, in order: survey the files and hold them to the rules of a module;
// load its packages; per package, in parallel, evaluate, examine what does not
// evaluate, and read each binding; then link the bindings into a bundle. Each
// reports what it finds and lets the next go on with what is sound, so that one run
// shows all there is to fix.
package compile

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// Module compiles a module. What is wrong with the sources is in the result's
// diagnostics, and then there is no bundle. The error is that of ctx, or says what
// failed in the compiler itself.
//
// CUE can be made to evaluate for ever, and a deeply nested expression overflows
// the stack: sources that are not the caller's own belong in a process that may
// die. ctx is looked at between packages only.
//
// Test files have no part in it; see [Tested].
func Module(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
	list := &diag.List{}
	return survey(sources, list).compiled(ctx, list)
}

// compiled compiles what was surveyed.
func (m *module) compiled(ctx context.Context, list *diag.List) (*sourcev1.Compiled, error) {
	compiled := &sourcev1.Compiled{Module: m.path}
	var bindings []*binding
	if m.sound {
		var err error
		if bindings, err = m.compile(ctx, list); err != nil {
			return nil, err
		}
	}
	if err := link(bindings, compiled, list); err != nil {
		return nil, err
	}
	compiled.Diagnostics = list.Sorted()
	return compiled, nil
}

// compile returns the bindings of the module's packages.
func (m *module) compile(ctx context.Context, list *diag.List) ([]*binding, error) {
	batches := m.batches()
	results := make([]result, len(batches))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, b := range batches {
		group.Go(func() (err error) {
			results[i], err = b.compile(ctx)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var bindings []*binding
	for _, r := range results {
		list.Append(&r.problems)
		bindings = append(bindings, r.bindings...)
	}
	m.checkTags(results, report{list})
	return bindings, nil
}

// A result is what compiling the packages of a batch gives.
type result struct {
	bindings []*binding
	strange  []string // tags that none of the packages takes
	problems diag.List
}

// compile compiles the packages of the batch one after the other.
func (b *batch) compile(ctx context.Context) (res result, err error) {
	defer recovered(&res.problems, b.packages[0])
	var units []*unit
	units, res.strange = b.load(report{&res.problems})
	err = work(ctx, units, func(u *unit) { res.bindings = append(res.bindings, u.compile(&res.problems)...) })
	return res, err
}

// work calls do with each unit, which is let go then. The error is that of ctx.
func work(ctx context.Context, units []*unit, do func(*unit)) error {
	for i, u := range units {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		do(u)
		u.forget()
		units[i] = nil
	}
	return nil
}

// recovered turns a panic into a diagnostic for a package. CUE has bugs that panic;
// one must not take the compiler of all other modules with it.
func recovered(list *diag.List, p *pkg) {
	if cause := recover(); cause != nil {
		report{list}.panicked(p, cause)
	}
}
