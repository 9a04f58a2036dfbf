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
	"cmp"
	"context"
	"runtime"
	"slices"

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
func Module(ctx context.Context, sources *sourcev1.Sources) (*sourcev1.Compiled, error) {
	list := &diag.List{}
	m := survey(sources, list)
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

// compile returns the bindings of the module's packages, sorted by name.
func (m *module) compile(ctx context.Context, list *diag.List) ([]*binding, error) {
	packages := m.load(list)
	results := make([]result, len(packages))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range packages {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			results[i] = p.compile()
			return nil
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
	slices.SortFunc(bindings, func(a, b *binding) int { return cmp.Compare(a.name, b.name) })
	return bindings, nil
}

// A result is what compiling one package gives.
type result struct {
	bindings []*binding
	problems diag.List
}
