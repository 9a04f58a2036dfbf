// Package outline says where in CUE files each field is written.
//
// What comes in are the syntax trees of the files of one package; what goes out
// are, for the path of a value, the places that have a part in it, the most
// telling first. CUE itself keeps such places only for values that it can
// evaluate, and often names the schema instead of the author.
//
// An outline is drawn without evaluating anything: it follows literal fields,
// unifications, references to fields and definitions of the package, patterns,
// and the bodies of comprehensions. What a function computes or an index selects
// is not in it.
package outline

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Route is how a place came to have a part in a value: the lower, the more
// telling.
type Route uint8

const (
	Literal     Route = iota // the field is written out
	Referenced               // it is written out in a field that this one refers to
	Matched                  // a pattern matches its label
	Conditional              // it is in the body of a comprehension
)

// A Place is where a field is written.
type Place struct {
	Route Route
	Label *sourcev1.Position
	Value *sourcev1.Position
	Expr  ast.Expr   // the value as it is written there
	field *ast.Field // nil for an element of a list
}

// A Cursor is a value in the outline of a package, or none. It is not changed and
// may be used concurrently. The zero Cursor is at no value.
type Cursor struct {
	at []reached
}

// Draw outlines the files of a package and returns a cursor at the package itself. What
// is below a field is drawn when somebody gets there.
func Draw(files ...*ast.File) Cursor {
	root := &node{regexps: &sync.Map{}}
	for _, f := range files {
		root.decls(f.Decls, false)
	}
	return Cursor{[]reached{{root, Literal}}}
}

// A node stands for a field, wherever it is written. All but parent and places is there
// once it is open.
type node struct {
	parent   *node
	places   []place
	written  []written // what is drawn to open it
	once     sync.Once
	fields   map[string]*node
	lets     map[string]*node
	patterns []pattern
	refs     []reference
	opaque   bool      // it has a part that an outline cannot follow
	regexps  *sync.Map // of the root: those that were needed, by how they are written; nil for one that is none
}

// A written expression says something of the value that a node stands for.
type written struct {
	expr        ast.Expr
	conditional bool
}

// open returns n with what is below it.
func (n *node) open() *node {
	n.once.Do(func() {
		for _, w := range n.written {
			n.expr(w.expr, w.conditional)
		}
		n.written = nil
	})
	return n
}

// root returns the node of the package.
func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// regexp returns what is written as s, compiled once; nil when it is no regular
// expression.
func (n *node) regexp(s string) *regexp.Regexp {
	all := n.root().regexps
	if re, ok := all.Load(s); ok {
		return re.(*regexp.Regexp)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		re = nil
	}
	all.Store(s, re)
	return re
}

type place struct {
	label, value ast.Node
	expr         ast.Expr
	field        *ast.Field // nil for an element of a list
	conditional  bool
}

type pattern struct {
	label ast.Expr // nil matches every label
	node  *node
}

// A reference is a, or a.b.c, seen from scope.
type reference struct {
	scope *node
	path  []string
	at    ast.Expr // where it is written
}

// Down returns a cursor at the value at path below c. A list's elements have their
// index as label.
func (c Cursor) Down(path ...string) Cursor {
	for _, label := range path {
		var next []reached
		for _, r := range expand(c.at) {
			next = r.step(next, label)
		}
		c.at = next
	}
	return c
}

// Places returns where the value is written, the most telling place first.
func (c Cursor) Places() []Place {
	var found []Place
	for _, r := range c.at {
		for _, p := range r.node.places {
			route := r.route
			if p.conditional {
				route = Conditional
			}
			found = append(found, Place{
				Route: route, Label: position(p.label.Pos()), Value: position(p.value.Pos()), Expr: p.expr, field: p.field,
			})
		}
	}
	slices.SortStableFunc(found, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Route, b.Route), depth(b)-depth(a))
	})
	return found
}

// Doc returns the comment above the field, on one line.
func (p Place) Doc() string {
	if p.field == nil {
		return ""
	}
	var b strings.Builder
	for _, group := range ast.Comments(p.field) {
		if group.Doc {
			b.WriteString(group.Text())
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// depth is how many directories deep a place's file is: a deeper one belongs to
// fewer bindings and says more about this one.
func depth(p Place) int { return strings.Count(p.Label.GetFile(), "/") }

// Fields returns the labels, sorted, that are written out at the value.
func (c Cursor) Fields() []string {
	var names []string
	for _, r := range expand(c.at) {
		for name := range r.node.open().fields {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Patterns returns the patterns that labels at the value can match, as they are
// written.
func (c Cursor) Patterns() []ast.Expr {
	var all []ast.Expr
	for _, r := range expand(c.at) {
		for _, p := range r.node.open().patterns {
			if p.label != nil {
				all = append(all, p.label)
			}
		}
	}
	return all
}

// A Reference is where the name of another value stands for what a value is.
type Reference struct {
	Name string // as it is written, such as "#Shared" or "lib.#Shared"
	Pos  *sourcev1.Position
	To   Cursor // at none if the package does not have it
}

// References returns what the value is written to be: the names, not what they stand
// for in turn.
func (c Cursor) References() []Reference {
	var all []Reference
	for _, r := range c.at {
		for _, ref := range r.node.open().refs {
			found := Reference{Name: strings.Join(ref.path, "."), Pos: position(ref.at.Pos())}
			if n := ref.resolve(); n != nil {
				found.To = Cursor{[]reached{{n, Referenced}}}
			}
			all = append(all, found)
		}
	}
	return all
}

// Exists reports whether the value is written or matched by a pattern.
func (c Cursor) Exists() bool { return len(c.at) > 0 }

// Opaque reports whether the value has a part that an outline cannot follow: what
// is not found below it may still be there.
func (c Cursor) Opaque() bool {
	return slices.ContainsFunc(expand(c.at), func(r reached) bool { return r.node.open().opaque })
}

// A reached is a node and how it was come to.
type reached struct {
	node  *node
	route Route
}

// step appends to next what is at a label of r.
func (r reached) step(next []reached, label string) []reached {
	if n := r.node.open().fields[label]; n != nil {
		next = append(next, reached{n, r.route})
	}
	for _, p := range r.node.patterns {
		if p.label == nil || matches(p.node, p.label, label) {
			next = append(next, reached{p.node, max(r.route, Matched)})
		}
	}
	return next
}

// expand adds the nodes that those of at refer to, each once.
func expand(at []reached) []reached {
	if !slices.ContainsFunc(at, func(r reached) bool { return len(r.node.open().refs) > 0 }) && len(at) < 2 {
		return at
	}
	all := make([]reached, 0, 2*len(at))
	for _, r := range at {
		all = r.appendTo(all)
	}
	return all
}

// appendTo appends r, and what it refers to, to those of all that are not there yet.
func (r reached) appendTo(all []reached) []reached {
	if slices.ContainsFunc(all, func(other reached) bool { return other.node == r.node }) {
		return all
	}
	all = append(all, r)
	for _, ref := range r.node.open().refs {
		if n := ref.resolve(); n != nil {
			all = reached{n, max(r.route, Referenced)}.appendTo(all)
		}
	}
	return all
}

// resolve returns the node that the reference names, nil if the package has none.
func (r reference) resolve() *node {
	for scope := r.scope; scope != nil; scope = scope.parent {
		n := scope.open().fields[r.path[0]]
		if let := scope.lets[r.path[0]]; let != nil {
			n = let
		}
		if n == nil {
			continue
		}
		for _, label := range r.path[1:] {
			if n = n.open().fields[label]; n == nil {
				return nil
			}
		}
		return n
	}
	return nil
}

// matches reports whether a pattern constraint, written in scope, applies to a
// label. Where that cannot be told without evaluation, it does. within are the fields
// whose values the pattern is part of.
func matches(scope *node, pattern ast.Expr, label string, within ...*node) bool {
	switch x := pattern.(type) {
	case *ast.BasicLit:
		s, err := literal.Unquote(x.Value)
		return err != nil || s == label
	case *ast.UnaryExpr:
		return compares(scope, x, label)
	case *ast.Interpolation:
		return completes(scope, x, label)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.OR:
			return matches(scope, x.X, label, within...) || matches(scope, x.Y, label, within...)
		case token.AND:
			return matches(scope, x.X, label, within...) && matches(scope, x.Y, label, within...)
		}
	case *ast.Ident:
		n := reference{scope.parent, []string{x.Name}, x}.resolve()
		if n == nil || slices.Contains(within, n) {
			return true
		}
		within = append(slices.Clip(within), n)
		for _, p := range n.places {
			if p.expr != pattern && !matches(n, p.expr, label, within...) {
				return false
			}
		}
	}
	return true
}

// compares reports whether !="x", =~"x" or !~"x" holds for a label.
func compares(scope *node, x *ast.UnaryExpr, label string) bool {
	lit, ok := x.X.(*ast.BasicLit)
	if !ok {
		return true
	}
	s, err := literal.Unquote(lit.Value)
	if err != nil {
		return true
	}
	switch x.Op {
	case token.NEQ:
		return s != label
	case token.MAT, token.NMAT:
		re := scope.regexp(s)
		return re == nil || re.MatchString(label) == (x.Op == token.MAT)
	}
	return true
}

// completes reports whether an interpolation can give the label: what it writes out is
// there, and anything between.
func completes(scope *node, x *ast.Interpolation, label string) bool {
	first, last := x.Quotes()
	if first == nil || last == nil {
		return true
	}
	info, skip, _, err := literal.ParseQuotes(first.Value, last.Value)
	if err != nil {
		return true
	}
	var re strings.Builder
	for i := 0; i < len(x.Elts); i += 2 {
		lit, ok := x.Elts[i].(*ast.BasicLit)
		if !ok || len(lit.Value) < skip {
			return true
		}
		s, err := info.Unquote(lit.Value[skip:])
		if err != nil {
			return true
		}
		if i > 0 {
			re.WriteString(".*")
		}
		re.WriteString(regexp.QuoteMeta(s))
		skip = len(")")
	}
	whole := scope.regexp("(?s)^" + re.String() + "$")
	return whole == nil || whole.MatchString(label)
}

func position(p token.Pos) *sourcev1.Position {
	if !p.IsValid() {
		return nil
	}
	return &sourcev1.Position{File: p.Filename(), Line: uint32(p.Line()), Column: uint32(p.Column())}
}

func index(i int) string { return strconv.Itoa(i) }
