package compile

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"golang.org/x/sync/errgroup"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/source"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Suite is a module with its tests.
type Suite struct {
	// Compiled is what [Module] gives for the same sources.
	Compiled *sourcev1.Compiled
	// Diagnostics are those of the module and of its tests; sorted by position.
	Diagnostics []*sourcev1.Diagnostic
	// Cases are what the tests state, sorted by position; nil when a diagnostic is an
	// error.
	Cases []*cases.Case
}

// Tested compiles a module as [Module] does, and reads its tests. Test files see all
// of their package and can change nothing of it: it is compiled without them. The
// error is as of Module.
func Tested(ctx context.Context, sources *sourcev1.Sources) (*Suite, error) {
	list, found := &diag.List{}, &diag.List{}
	m := survey(sources, list)
	s := &Suite{}
	var all []stated
	group, groupCtx := errgroup.WithContext(ctx)
	if m.sound {
		tests := m.clone()
		group.Go(func() (err error) {
			tests.takeTests(report{found})
			all, err = tests.cases(groupCtx, found)
			return err
		})
	}
	group.Go(func() (err error) {
		s.Compiled, err = m.compiled(groupCtx, list)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	ordered := &diag.List{}
	if err := order(all, s.Compiled.GetBundle(), report{ordered}); err != nil {
		return nil, err
	}
	ordered.Each(conceal)
	list.Append(found)
	list.Append(ordered)
	if s.Diagnostics = list.Sorted(); !list.Failed() {
		s.Cases = owners(all)
	}
	return s, nil
}

// clone returns a module that shares nothing with m that compiling changes. It has
// no packages.
func (m *module) clone() *module {
	c := *m
	c.packages = nil
	c.files = make([]*file, len(m.files))
	for i, f := range m.files {
		own := *f
		c.files[i] = &own
	}
	return &c
}

// takeTests makes m the module as its tests see it.
func (m *module) takeTests(r report) {
	m.tested = true
	for _, name := range slices.Sorted(maps.Keys(m.cue)) {
		if isTest(name) && !inside(name, "cue.mod") && source.Named(name) {
			m.take(m.parseFile(name, r))
		}
	}
	m.group()
	m.checkTests(r)
	m.checkImports(r)
}

// checkTests holds files to what belongs where: tests into test files, bindings into
// others, and a test to the directory that names it.
func (m *module) checkTests(r report) {
	for _, f := range m.files {
		if f.syntax == nil {
			continue
		}
		tree := draw([]*file{f})
		switch {
		case f.test && f.pkg == "" && !f.broken:
			r.noPackage(f, m.rootPackage())
		case f.test:
			r.bindingsInTest(tree.Down("bindings").Places())
		case len(tree.Down("tests").Places()) > 0:
			r.misplacedTests(tree.Down("tests").Places())
		}
	}
	for _, p := range m.sorted() {
		for _, q := range m.above(p) {
			if len(q.tests) == 0 {
				continue
			}
			tree := draw(p.own)
			for _, name := range q.tests {
				r.testNotOwner(name, tree.Down("tests", name).Places(), q)
			}
		}
	}
}

// rootPackage returns the name of the package in the module's root, "" when there is
// none.
func (m *module) rootPackage() string {
	for _, p := range m.sorted() {
		if p.dir == "." {
			return p.name
		}
	}
	return ""
}

// A stated case is one as it is written.
type stated struct {
	*cases.Case
	test value  // that states it
	dir  string // of the package
}

// order finds for each case the binding that it is about, and holds it to what that
// has. Where there is no bundle, nothing is known.
func order(all []stated, bundle *irv1.Bundle, r report) error {
	if bundle == nil {
		return nil
	}
	menu, err := newMenu(bundle)
	if err != nil {
		return err
	}
	for _, c := range all {
		c.Binding = menu.binding(c.test, r)
		menu.check(c, r)
	}
	return nil
}

// cases returns what the tests of the module's packages state.
func (m *module) cases(ctx context.Context, list *diag.List) ([]stated, error) {
	batches := m.batches()
	results := make([][]stated, len(batches))
	problems := make([]diag.List, len(batches))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, b := range batches {
		group.Go(func() (err error) {
			results[i], err = b.cases(ctx, &problems[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range problems {
		list.Append(&problems[i])
	}
	return slices.Concat(results...), nil
}

// cases returns what the tests of the batch's packages state.
func (b *batch) cases(ctx context.Context, list *diag.List) (all []stated, err error) {
	defer recovered(list, b.packages[0])
	units, _ := b.load(report{list})
	err = work(ctx, units, func(u *unit) { all = append(all, u.cases(list)...) })
	return all, err
}

// owners returns the cases by position. A case of a directory shows in the packages
// below it, too; it counts once, as the directory has it.
func owners(all []stated) []*cases.Case {
	named := map[string][]stated{}
	for _, c := range all {
		named[c.Name] = append(named[c.Name], c)
	}
	var kept []*cases.Case
	for _, c := range all {
		inherited := func(other stated) bool { return c.dir != other.dir && (other.dir == "." || inside(c.dir, other.dir)) }
		if !slices.ContainsFunc(named[c.Name], inherited) {
			kept = append(kept, c.Case)
		}
	}
	slices.SortFunc(kept, compareCases)
	return kept
}

func compareCases(a, b *cases.Case) int {
	return cmp.Or(
		strings.Compare(a.Position.GetFile(), b.Position.GetFile()),
		cmp.Compare(a.Position.GetLine(), b.Position.GetLine()),
		cmp.Compare(a.Position.GetColumn(), b.Position.GetColumn()),
		strings.Compare(a.Name, b.Name),
	)
}

// cases evaluates the package with its test files and reads the tests.
func (u *unit) cases(found *diag.List) (all []stated) {
	list := &diag.List{}
	defer func() {
		list.Each(conceal)
		found.Append(list)
	}()
	defer recovered(list, u.pkg)
	x := u.examiner(list)
	v := u.build()
	under := v.LookupPath(cue.MakePath(cue.Str("tests")))
	if !under.Exists() {
		x.whole(v)
		return nil
	}
	if isMarked(under, "test") {
		x.unnamed("tests", `"WHAT IT SHOWS"`, "bind.#Test")
		return nil
	}
	broken := x.outside(v, "bindings", "tests")
	whole := value{cue: under, written: writtenAt(x.author, "tests")}
	x.lost(whole)
	tests := whole.fields()
	for _, name := range sorted(tests) {
		if c := x.readCase(name, tests[name]); c != nil {
			all = append(all, stated{c, tests[name], u.dir})
		}
	}
	x.definitions(broken)
	return all
}

// readCase examines a test and reads it; nil when it cannot be read at all.
func (x examiner) readCase(name string, v value) *cases.Case {
	own := x.apart()
	defer x.list.Append(own.list)
	if !own.test(name, v) {
		return nil
	}
	own.hidden(v, own.shape("#Test"))
	return caseReading{own.report, x.unit}.read(name, v)
}

// test reports what is wrong with a test, and whether it can be read at all.
func (x examiner) test(name string, v value) bool {
	if isMarked(v.cue, "test") {
		x.held(v, "#Test")
		return true
	}
	if v.cue.Err() == nil || v.cue.IncompleteKind() == cue.StructKind || !x.self(v, x.shape("#Test")) {
		x.notATest(v, name)
	}
	return false
}
