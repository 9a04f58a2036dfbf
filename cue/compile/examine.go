package compile

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// An examiner finds out what is wrong with values that do not evaluate.
//
// CUE reports a conflict and then neither unknown nor missing fields beside it, and
// reports every arm of a disjunction. So an examiner asks CUE about each value on
// its own, holds the fields against the outline of the language's schema, and tells
// of each path once.
type examiner struct {
	report
	author outline.Cursor // of the package
	shape  outline.Cursor // of the schema
	unit   *unit
}

// outside reports what is wrong outside of bindings.
func (x examiner) outside(v cue.Value) {
	seen := map[string]bool{}
	for _, e := range errors.Errors(v.Validate()) {
		p := e.Path()
		if len(p) > 1 && p[0] == "bindings" || seen[strings.Join(p, ".")] {
			continue
		}
		seen[strings.Join(p, ".")] = true
		x.generic(e, p, x.author.Down(p...))
	}
}

// binding reports what is wrong with a binding, and whether it can be read at all.
func (x examiner) binding(name string, v value) bool {
	if !isBinding(v.cue) {
		if v.cue.Err() == nil || v.cue.IncompleteKind() == cue.StructKind {
			x.notBinding(v, name)
		} else {
			x.value(v, x.shape.Down("#Binding"))
		}
		return false
	}
	if v.cue.Validate(cue.Concrete(true)) == nil {
		return true
	}
	before := x.list.Len()
	x.value(v, x.shape.Down("#Binding"))
	if x.list.Len() == before {
		for _, e := range errors.Errors(v.cue.Validate(cue.Concrete(true))) {
			x.generic(e, e.Path(), x.author.Down(e.Path()...))
		}
	}
	return true
}

// isBinding reports whether v is a bind.#Binding: that has a mark.
func isBinding(v cue.Value) bool {
	return v.LookupPath(cue.MakePath(cue.Hid("_kind", "bindery.dev/bind"))).Exists()
}

// value reports what is wrong at v and below it.
func (x examiner) value(v value, shape outline.Cursor) {
	if x.self(v, shape) {
		return
	}
	if v.cue.IncompleteKind() == cue.ListKind {
		it, err := v.cue.List()
		for i := 0; err == nil && it.Next(); i++ {
			label := fmt.Sprint(i)
			x.value(value{it.Value(), append(slices.Clip(v.path), label), v.author.Down(label), nil}, shape.Down(label))
		}
		return
	}
	fields := v.fields()
	for _, name := range sorted(fields) {
		if below := shape.Down(name); below.Exists() || shape.Opaque() {
			x.value(fields[name], below)
		} else {
			x.unknownField(fields[name], name, shape)
		}
	}
}

// self reports what is wrong with v itself, not below it, and whether there is
// something.
func (x examiner) self(v value, shape outline.Cursor) bool {
	var own []errors.Error
	for _, e := range errors.Errors(v.cue.Validate(cue.Concrete(true))) {
		if slices.Equal(e.Path(), v.path) {
			own = append(own, e)
		}
	}
	if len(own) == 0 {
		return false
	}
	x.classify(v, shape, own)
	return true
}

// classify reports one problem for all the errors at a path.
func (x examiner) classify(v value, shape outline.Cursor, own []errors.Error) {
	written := literalOf(v, own)
	options := options(shape)
	have, want := mismatch(own, written)
	switch {
	case says(own, "field is required but not present"):
		x.missingField(v, shape)
	case says(own, "field not allowed"):
		x.notAllowed(v, own)
	case says(own, "incomplete value"), says(own, "non-concrete value"):
		x.incomplete(v, shape, own)
	case want != "":
		x.wrongType(v, have, want, shape, own)
	case written != "" && len(options) > 0 && !slices.Contains(options, written):
		x.badEnum(v, written, options, own)
	default:
		x.badValue(v, shape, own)
	}
}

// says reports whether the message of one of the errors begins with prefix.
func says(own []errors.Error, prefix string) bool {
	return slices.ContainsFunc(own, func(e errors.Error) bool {
		format, _ := e.Msg()
		return strings.HasPrefix(format, prefix)
	})
}

// mismatch returns the type of what is written and the type it should have, if that
// is what is wrong in every arm.
func mismatch(own []errors.Error, written string) (have, want string) {
	for _, e := range own {
		format, args := e.Msg()
		switch {
		case strings.Contains(format, "errors in empty disjunction"):
		case strings.Contains(format, "mismatched types") && len(args) == 4:
			a, b := fmt.Sprint(args[2]), fmt.Sprint(args[3])
			have, want = a, b
		default:
			return "", ""
		}
	}
	return have, want
}

// culprit returns the place of v to blame: the most telling one that CUE names, too.
func (v value) culprit(own []errors.Error) *sourcev1.Position {
	var named []*sourcev1.Position
	for _, e := range own {
		named = append(named, positions(e)...)
	}
	places := v.author.Places()
	for _, p := range places {
		for _, at := range named {
			if within(at, p.Expr) {
				return at
			}
		}
	}
	switch {
	case len(places) > 0:
		return places[0].Value
	case len(named) > 0:
		return named[0]
	}
	return nil
}

func within(at *sourcev1.Position, e ast.Expr) bool {
	from, to := e.Pos(), e.End()
	if at.GetFile() != from.Filename() {
		return false
	}
	after := int(at.GetLine()) > from.Line() || int(at.GetLine()) == from.Line() && int(at.GetColumn()) >= from.Column()
	before := int(at.GetLine()) < to.Line() || int(at.GetLine()) == to.Line() && int(at.GetColumn()) <= to.Column()
	return after && before
}

// literalOf returns the string that the author wrote for v, "" when it is none.
func literalOf(v value, own []errors.Error) string {
	for _, p := range v.author.Places() {
		if lit, ok := p.Expr.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := literal.Unquote(lit.Value); err == nil {
				return s
			}
		}
	}
	return ""
}

// options returns the strings that the schema lists for a value, if it does.
func options(shape outline.Cursor) []string {
	var all []string
	for _, p := range shape.Places() {
		all = append(all, alternatives(p.Expr)...)
	}
	return all
}

func alternatives(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.OR {
			return append(alternatives(e.X), alternatives(e.Y)...)
		}
	case *ast.UnaryExpr:
		if e.Op == token.MUL {
			return alternatives(e.X)
		}
	case *ast.Ellipsis:
		return alternatives(e.Type)
	case *ast.BasicLit:
		if s, err := literal.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{s}
		}
	}
	return nil
}
