package compile

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/token"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// home is the directory that modules are laid over. It does not exist: CUE's loader
// looks beneath an overlay for files, and must find none. (With Config.FS in its
// place the loader of v0.17.1 finds no package in cue.mod/pkg.)
var home = absolute("/.bindery-has-no-such-directory")

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// A unit is a package, loaded.
type unit struct {
	*pkg
	module   *module
	instance *build.Instance
	context  *cue.Context
}

// A batch is packages that are loaded together. They share syntax trees, which building
// a package changes, and what they import: only one goroutine may work on them.
type batch struct {
	module   *module
	packages []*pkg
	size     int // of the packages
}

// Loading a batch costs parsing the language, and a context costs building it. What is
// loaded takes thirty times its size in memory until the batch is done, and what is
// evaluated hundreds of times until its context is let go.
const (
	batchSize   = 128 << 10 // bytes of CUE in a batch, about
	contextSize = 32 << 10  // bytes of CUE in a context, unless one package has more
)

// batches deals the packages that are sound to batches, as many as processors even if one
// would hold them all. Packages without their tests get half of those: tests, which are
// built at the same time, take longer.
func (m *module) batches() []*batch {
	var sound []*pkg
	total := 0
	for _, p := range m.sorted() {
		if m.tested && !slices.ContainsFunc(p.own, func(f *file) bool { return f.test }) {
			continue
		}
		if slices.ContainsFunc(p.files, func(f *file) bool { return f.broken }) {
			continue
		}
		sound, total = append(sound, p), total+p.size()
	}
	n := runtime.GOMAXPROCS(0)
	if !m.tested {
		n = (n + 1) / 2
	}
	all := make([]*batch, min(len(sound), max(n, total/batchSize)))
	for i := range all {
		all[i] = &batch{module: m}
	}
	for _, p := range sound {
		least := slices.MinFunc(all, func(a, b *batch) int { return a.size - b.size })
		least.packages = append(least.packages, p)
		least.size += p.size()
	}
	return all
}

// load loads the packages of the batch. It returns the tags that none of them
// takes, too.
func (b *batch) load(r report) (units []*unit, strange []string) {
	args := b.args()
	tags := slices.Clone(b.module.tags)
	instances := load.Instances(args, b.module.config(tags))
	for tag := unused(instances); tag != ""; tag = unused(instances) {
		tags = slices.DeleteFunc(tags, func(t string) bool { return tagName(t) == tag })
		strange = append(strange, tag)
		instances = load.Instances(args, b.module.config(tags))
	}
	var in *cue.Context
	room := 0
	for i, inst := range instances {
		for _, e := range errors.Errors(inst.Err) {
			if tag, found := b.module.mistyped(e); found {
				r.tagType(tag)
			} else if !b.module.missing[diag.Place(position(e.Position()))] {
				r.load(e)
			}
		}
		if inst.Err == nil && i < len(b.packages) && len(instances) == len(args) {
			p := b.packages[i]
			if room -= p.size(); room < 0 {
				in, room = cuecontext.New(), contextSize-p.size()
			}
			units = append(units, &unit{p, b.module, inst, in})
		}
	}
	return units, strange
}

// args names the packages of the batch, and after them those of the root that are
// not among them: the loader of v0.17.1 does not find what the root imports for a
// directory with a name of one letter unless the root is loaded, too.
func (b *batch) args() []string {
	var args []string
	for _, p := range b.packages {
		args = append(args, "./"+key(p.dir, p.name))
	}
	for _, p := range b.module.sorted() {
		if p.dir == "." && !slices.Contains(b.packages, p) {
			args = append(args, "./"+key(p.dir, p.name))
		}
	}
	return args
}

func (m *module) config(tags []string) *load.Config {
	overlay := make(map[string]load.Source, len(m.cue))
	for name, data := range m.cue {
		if isTest(name) && (!m.tested || inside(name, "cue.mod")) {
			continue
		}
		overlay[filepath.Join(home, filepath.FromSlash(name))] = load.FromBytes(data)
	}
	return &load.Config{Dir: home, ModuleRoot: home, Overlay: overlay, Tags: tags, Tests: m.tested, Registry: noRegistry{}, Env: []string{}}
}

// build makes a value of the package, in a context that it shares with few: contexts
// keep all that was ever built in them.
func (u *unit) build() cue.Value { return u.context.BuildInstance(u.instance) }

// position returns the place of p in the author's files, and nil when it is in none
// of them.
func position(p token.Pos) *sourcev1.Position {
	if !p.IsValid() {
		return nil
	}
	name, ok := strings.CutPrefix(filepath.ToSlash(p.Filename()), filepath.ToSlash(home)+"/")
	if !ok || inside(name, vendorDir+"/bindery.dev") {
		return nil
	}
	return &sourcev1.Position{File: name, Line: uint32(p.Line()), Column: uint32(p.Column())}
}

// positions returns those places of e that are in the author's files, each once.
func positions(e errors.Error) []*sourcev1.Position {
	var all []*sourcev1.Position
	for _, p := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
		at := position(p)
		if at != nil && !slices.ContainsFunc(all, func(q *sourcev1.Position) bool { return same(at, q) }) {
			all = append(all, at)
		}
	}
	return all
}

func same(a, b *sourcev1.Position) bool {
	return a.GetFile() == b.GetFile() && a.GetLine() == b.GetLine() && a.GetColumn() == b.GetColumn()
}
