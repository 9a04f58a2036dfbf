package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// unused returns the name of a tag that CUE says no file takes, "" when it says so
// of none. It names one at a time.
func unused(instances []*build.Instance) string {
	for _, inst := range instances {
		for _, e := range errors.Errors(inst.Err) {
			format, args := e.Msg()
			if len(args) > 0 && (strings.HasPrefix(format, "tag %q not used") || strings.HasPrefix(format, "no tag for %q")) {
				return tagName(fmt.Sprint(args[0]))
			}
		}
	}
	return ""
}

// tagName returns env of "env=prod", and "prod" of "prod".
func tagName(tag string) string {
	name, _, _ := strings.Cut(tag, "=")
	return name
}

// checkTags reports the tags that are strange to every batch: one package's tag is
// strange to the others. What a package takes that has a file which does not parse, nobody
// can tell.
func (m *module) checkTags(batches []result, r report) {
	if slices.ContainsFunc(m.files, func(f *file) bool { return f.broken }) {
		return
	}
	for _, tag := range m.tags {
		knows := func(b result) bool { return !slices.Contains(b.strange, tagName(tag)) }
		if len(batches) == 0 || slices.ContainsFunc(batches, knows) {
			continue
		}
		known := m.knownTags()
		if !slices.ContainsFunc(known, func(t knownTag) bool { return t.asked && t.name == tag }) { // else it may have left the file out
			r.strangeTag(tag, known)
		}
	}
}

// A knownTag is a tag that a file takes.
type knownTag struct {
	name  string
	value bool   // it is given as name=value
	asked bool   // by an @if
	kind  string // of the value: "string", "int", "number" or "bool"
	pos   *sourcev1.Position
}

// knownTags returns the tags that files take, their short forms and those that @if asks
// for, in the order of the files, those that CUE leaves out last.
func (m *module) knownTags() []knownTag {
	var all []knownTag
	for _, f := range slices.Concat(m.files, m.out) {
		tree := f.tree()
		if tree == nil {
			continue
		}
		ast.Walk(tree, func(n ast.Node) bool {
			if a, ok := n.(*ast.Attribute); ok {
				at := &sourcev1.Position{File: f.path, Line: uint32(a.Pos().Line()), Column: uint32(a.Pos().Column())}
				for _, t := range tagsOf(a.Text) {
					t.pos = at
					all = append(all, t)
				}
			}
			return true
		}, nil)
	}
	return all
}

var (
	tagAttribute = regexp.MustCompile(`^@tag\(\s*([^,\s)]+)`)
	tagShorts    = regexp.MustCompile(`\bshort=([^,\s)]+)`)
	tagType      = regexp.MustCompile(`\btype=([^,\s)]+)`)
	ifAttribute  = regexp.MustCompile(`^@if\((.*)\)$`)
	ifName       = regexp.MustCompile(`[\pL_$][\pL\d_$]*`)
)

// tagsOf returns the tags that an attribute takes: env=..., dev and prod of
// @tag(env,short=dev|prod), and prod and eu of @if(prod && !eu).
func tagsOf(attribute string) []knownTag {
	var all []knownTag
	if match := ifAttribute.FindStringSubmatch(attribute); match != nil {
		for _, name := range ifName.FindAllString(match[1], -1) {
			all = append(all, knownTag{name: name, asked: true})
		}
		return all
	}
	match := tagAttribute.FindStringSubmatch(attribute)
	if match == nil {
		return nil
	}
	kind := "string"
	if typed := tagType.FindStringSubmatch(attribute); typed != nil {
		kind = typed[1]
	}
	all = append(all, knownTag{name: match[1], value: true, kind: kind})
	if shorts := tagShorts.FindStringSubmatch(attribute); shorts != nil {
		for _, name := range strings.Split(shorts[1], "|") {
			all = append(all, knownTag{name: name})
		}
	}
	return all
}

// mistyped returns the tag of which CUE says in e that its value is not of the type that
// it takes.
func (m *module) mistyped(e errors.Error) (tag knownTag, found bool) {
	format, args := e.Msg()
	if !strings.HasSuffix(format, "for injection tag %q") || len(args) == 0 {
		return knownTag{}, false
	}
	name := fmt.Sprint(args[len(args)-1])
	known := m.knownTags()
	i := slices.IndexFunc(known, func(t knownTag) bool { return t.name == name && t.value && t.kind != "string" })
	if i < 0 {
		return knownTag{}, false
	}
	return known[i], true
}
