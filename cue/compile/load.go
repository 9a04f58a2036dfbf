package compile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
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
	building *sync.Mutex // shared by all units: their syntax trees are, too
}

// load loads all packages that are sound in one go: a tag that only one of them
// has is unknown to the others.
func (m *module) load(list *diag.List) []*unit {
	var packages []*pkg
	var args []string
	for _, p := range m.sorted() {
		if !slices.ContainsFunc(p.files, func(f *file) bool { return f.broken }) {
			packages = append(packages, p)
			args = append(args, "./"+key(p.dir, p.name))
		}
	}
	if len(packages) == 0 {
		return nil
	}
	instances := load.Instances(args, m.config(packages))
	if len(instances) != len(packages) {
		m.reportLoad(report{list}, instances)
		return nil
	}
	var units []*unit
	building := &sync.Mutex{}
	for i, inst := range instances {
		if inst.Err != nil {
			m.reportLoad(report{list}, instances[i:i+1])
			continue
		}
		units = append(units, &unit{packages[i], m, inst, building})
	}
	return units
}

func (m *module) config(packages []*pkg) *load.Config {
	overlay := make(map[string]load.Source, len(m.cue))
	for name, data := range m.cue {
		overlay[filepath.Join(home, filepath.FromSlash(name))] = load.FromBytes(data)
	}
	return &load.Config{Dir: home, ModuleRoot: home, Overlay: overlay, Tags: m.tags, Registry: noRegistry{}, Env: []string{}}
}

func (m *module) reportLoad(r report, instances []*build.Instance) {
	for _, inst := range instances {
		for _, e := range errors.Errors(inst.Err) {
			if format, args := e.Msg(); (strings.HasPrefix(format, "tag %q not used") || strings.HasPrefix(format, "no tag for %q")) && len(args) > 0 {
				r.unknownTag(fmt.Sprint(args[0]), m.knownTags())
			} else {
				r.load(e)
			}
		}
	}
}

var tagAttribute = regexp.MustCompile(`^@tag\(\s*([^,\s)]+)(?:.*\bshort=([^,\s)]+))?`)

// knownTags returns the names of the tags that files take, and their short forms.
func (m *module) knownTags() []string {
	var names []string
	for _, f := range m.files {
		if f.syntax == nil {
			continue
		}
		ast.Walk(f.syntax, func(n ast.Node) bool {
			if a, ok := n.(*ast.Attribute); ok {
				names = append(names, tagNames(a.Text)...)
			}
			return true
		}, nil)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tagNames returns env, dev and prod of @tag(env,short=dev|prod).
func tagNames(attribute string) []string {
	match := tagAttribute.FindStringSubmatch(attribute)
	if match == nil {
		return nil
	}
	return append(match[1:2], strings.FieldsFunc(match[2], func(r rune) bool { return r == '|' })...)
}

// build makes a value of the package, in a context of its own: contexts keep all
// that was ever built in them. Building changes syntax trees that packages share;
// evaluating, which comes later and takes longer, does not.
func (u *unit) build() cue.Value {
	u.building.Lock()
	defer u.building.Unlock()
	return cuecontext.New().BuildInstance(u.instance)
}

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
