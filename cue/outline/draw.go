package outline

import (
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"
)

func (n *node) decls(decls []ast.Decl, conditional bool) {
	for _, decl := range decls {
		switch d := decl.(type) {
		case *ast.Field:
			n.field(d, conditional)
		case *ast.EmbedDecl:
			n.expr(d.Expr, conditional)
		case *ast.Comprehension:
			n.expr(d.Value, true)
		case *ast.LetClause:
			n.let(d)
		case *ast.Ellipsis:
			n.opaque = true
		}
	}
}

func (n *node) let(d *ast.LetClause) {
	if n.lets == nil {
		n.lets = map[string]*node{}
	}
	child := &node{parent: n}
	n.lets[d.Ident.Name] = child
	child.written = append(child.written, written{d.Expr, false})
}

func (n *node) field(f *ast.Field, conditional bool) {
	child := n.child(f.Label)
	child.places = append(child.places, place{
		label: f.Label, value: f.Value, expr: f.Value, field: f, conditional: conditional,
	})
	child.written = append(child.written, written{f.Value, conditional})
}

// child returns the node for a label, which it makes where needed.
func (n *node) child(label ast.Label) *node {
	if alias, ok := label.(*ast.Alias); ok {
		if inner, ok := alias.Expr.(ast.Label); ok {
			return n.child(inner)
		}
	}
	if list, ok := label.(*ast.ListLit); ok {
		return n.pattern(list)
	}
	name, _, err := ast.LabelName(label)
	if err == nil {
		return n.named(name)
	}
	if x, ok := label.(*ast.Interpolation); ok {
		return n.matching(x)
	}
	return n.matching(nil) // an expression: its label is not known
}

func (n *node) named(name string) *node {
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	child := n.fields[name]
	if child == nil {
		child = &node{parent: n}
		n.fields[name] = child
	}
	return child
}

func (n *node) pattern(list *ast.ListLit) *node {
	if len(list.Elts) != 1 {
		return n.matching(nil)
	}
	label := list.Elts[0]
	if alias, ok := label.(*ast.Alias); ok {
		label = alias.Expr
	}
	return n.matching(label)
}

func (n *node) matching(label ast.Expr) *node {
	child := &node{parent: n}
	n.patterns = append(n.patterns, pattern{label, child})
	return child
}

// expr adds what an expression says about the value that n stands for.
func (n *node) expr(e ast.Expr, conditional bool) {
	switch x := e.(type) {
	case *ast.StructLit:
		n.decls(x.Elts, conditional)
	case *ast.ListLit:
		n.list(x, conditional)
	case *ast.BinaryExpr:
		if x.Op == token.AND || x.Op == token.OR {
			n.expr(x.X, conditional)
			n.expr(x.Y, conditional)
		}
	case *ast.UnaryExpr:
		if x.Op == token.MUL { // the default of a disjunction
			n.expr(x.X, conditional)
		}
	case *ast.ParenExpr:
		n.expr(x.X, conditional)
	case *ast.Alias:
		n.expr(x.Expr, conditional)
	case *ast.Ident, *ast.SelectorExpr:
		n.refer(x)
	case *ast.IndexExpr, *ast.CallExpr:
		n.opaque = true
	}
}

func (n *node) list(l *ast.ListLit, conditional bool) {
	for i, element := range l.Elts {
		child := (*node)(nil)
		if more, ok := element.(*ast.Ellipsis); ok {
			child, element = n.matching(nil), more.Type
		} else {
			child = n.named(index(i))
		}
		if element == nil {
			child.opaque = true
			continue
		}
		child.places = append(child.places, place{label: element, value: element, expr: element, conditional: conditional})
		child.written = append(child.written, written{element, conditional})
	}
}

func (n *node) refer(e ast.Expr) {
	path, ok := selectors(e)
	switch {
	case !ok:
		n.opaque = true
	case len(path) == 1 && path[0] == "_":
		n.opaque = true
	default:
		n.refs = append(n.refs, reference{n, path, e})
	}
}

// selectors returns a, b, c for a.b.c.
func selectors(e ast.Expr) ([]string, bool) {
	switch x := e.(type) {
	case *ast.Ident:
		return []string{x.Name}, true
	case *ast.SelectorExpr:
		path, ok := selectors(x.X)
		name, _, err := ast.LabelName(x.Sel)
		return append(path, name), ok && err == nil
	}
	return nil, false
}
