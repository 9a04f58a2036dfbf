package compile

import (
	"slices"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// excluded reports whether CUE leaves a file out of its package: one with @ignore(), or
// with an @if that does not hold for tags. A file whose @if is none stays: CUE says what is
// wrong with it when it loads the package.
func excluded(f *ast.File, tags []string) bool {
	var conditions []ast.Expr
	for _, a := range attributes(f) {
		switch key, body := a.Split(); key {
		case "ignore":
			return true
		case "if":
			condition, err := parser.ParseExpr(f.Filename, body)
			if err != nil {
				return false
			}
			conditions = append(conditions, condition)
		}
	}
	if len(conditions) != 1 { // two are an error
		return false
	}
	holds, known := evaluate(conditions[0], tags)
	return known && !holds
}

// attributes returns those of a file that stand before its package clause.
func attributes(f *ast.File) (all []*ast.Attribute) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.Attribute:
			all = append(all, d)
		case *ast.CommentGroup:
		default:
			return all
		}
	}
	return all
}

// evaluate reports whether a condition of @if holds, and whether it is one.
func evaluate(condition ast.Expr, tags []string) (holds, known bool) {
	switch x := condition.(type) {
	case *ast.Ident:
		return slices.Contains(tags, x.Name), true
	case *ast.ParenExpr:
		return evaluate(x.X, tags)
	case *ast.UnaryExpr:
		holds, known = evaluate(x.X, tags)
		return !holds, known && x.Op == token.NOT
	case *ast.BinaryExpr:
		a, aKnown := evaluate(x.X, tags)
		b, bKnown := evaluate(x.Y, tags)
		if x.Op == token.LAND {
			return a && b, aKnown && bKnown
		}
		return a || b, aKnown && bKnown && x.Op == token.LOR
	}
	return false, false
}
