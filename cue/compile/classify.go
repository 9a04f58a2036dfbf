package compile

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"

	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// classify reports one problem for all the errors that CUE has for one path.
func (x examiner) classify(v value, shape outline.Cursor, own []errors.Error) {
	switch {
	case says(own, "field is required but not present"):
		x.missingField(v, shape)
		return
	case says(own, "field not allowed"):
		x.notAllowed(v, own)
		return
	case says(own, "@%s"):
		x.external(v, own)
		return
	case says(own, "incomplete value"), says(own, "non-concrete value"), says(own, "invalid non-ground value"), lacksPart(own):
		x.incomplete(v, shape, own)
		return
	}
	arms := slices.DeleteFunc(slices.Clone(own), func(e errors.Error) bool { return says([]errors.Error{e}, "%d errors in empty disjunction") })
	if len(arms) == 0 {
		x.other(v, own)
		return
	}
	if have, want := mismatch(v, arms); want != "" {
		x.wrongType(v, have, want, shape, arms)
		return
	}
	if i := slices.IndexFunc(arms, missesBound); i >= 0 {
		x.outOfBound(v, shape, arms[i])
		return
	}
	if says(arms, "invalid value") {
		x.invalidValue(v, shape, arms)
		return
	}
	options := alternatives(shape)
	if got, found := stranger(arms, options); found {
		x.badEnum(v, got, options, arms)
		return
	}
	x.other(v, arms)
}

// outOfBound reports a value that misses a bound: a form of the language, or what
// the author or a layer demands.
func (x examiner) outOfBound(v value, shape outline.Cursor, e errors.Error) {
	_, args := e.Msg()
	got, bound := fmt.Sprint(args[0]), fmt.Sprint(args[1])
	arm := []errors.Error{e}
	for _, form := range x.forms(shape) {
		if strings.Contains(bound, form.pattern) {
			p := v.at(form.code, "")
			p.Pos = v.culprit(arm)
			x.badForm(p, unquote(got), form)
			return
		}
	}
	x.unsatisfied(v, shape, arm, got, bound)
}

// missesBound reports whether e is about a bound, such as <=5 or =~"^a".
func missesBound(e errors.Error) bool {
	format, args := e.Msg()
	return strings.HasPrefix(format, "invalid value %v (out of bound") && len(args) == 2
}

// says reports whether the message of one of the errors begins with prefix.
func says(own []errors.Error, prefix string) bool {
	return slices.ContainsFunc(own, func(e errors.Error) bool {
		format, _ := e.Msg()
		return strings.HasPrefix(format, prefix)
	})
}

// lacksPart reports whether one of the errors is about a text with a part that has no
// value.
func lacksPart(own []errors.Error) bool {
	return slices.ContainsFunc(own, func(e errors.Error) bool {
		return says([]errors.Error{e}, "invalid interpolation") && says([]errors.Error{cause(e)}, "non-concrete value")
	})
}

// taken returns the field that v takes its value from: one that errors name and that is not
// written for v, or what v refers to. It is nil when there is none.
func (x examiner) taken(v value, own []errors.Error) *field {
	for _, at := range namedBy(own) {
		if !slices.ContainsFunc(v.author().Places(), func(p outline.Place) bool { return within(at, p.Expr) }) {
			return x.unit.fieldAt(at)
		}
	}
	for _, r := range slices.Backward(reachable(v.author())) {
		if at := r.To.Places(); len(at) > 0 {
			return x.unit.fieldAt(at[0].Value)
		}
	}
	return nil
}

// starred returns the defaults that are written at places.
func starred(places []outline.Place) []ast.Expr {
	var all []ast.Expr
	for _, p := range places {
		ast.Walk(p.Expr, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				if n.Op == token.MUL {
					all = append(all, n.X)
				}
				return false
			case *ast.BinaryExpr:
				return n.Op == token.OR || n.Op == token.AND
			}
			_, parens := n.(*ast.ParenExpr)
			return parens
		}, nil)
	}
	return all
}

// A field is one that is written in a package.
type field struct {
	path []string // from the package
	pos  *sourcev1.Position
	tag  string // that gives its value; "" for none
}

// fieldAt returns the innermost field of the package whose value is written at a place,
// nil when there is none with a path.
func (u *unit) fieldAt(at *sourcev1.Position) *field {
	var found *field
	for _, f := range u.files {
		if f.path != at.GetFile() || f.tree() == nil {
			continue
		}
		ast.Walk(f.tree(), func(n ast.Node) bool {
			inner, ok := n.(*ast.Field)
			if !ok || !within(at, inner.Value) {
				return true
			}
			name, _, err := ast.LabelName(inner.Label)
			if err != nil {
				return false
			}
			if found == nil {
				found = &field{}
			}
			found.path, found.pos, found.tag = append(found.path, name), at, ""
			for _, a := range inner.Attrs {
				if all := tagsOf(a.Text); len(all) > 0 && all[0].value {
					found.tag = all[0].name
				}
			}
			return true
		}, nil)
	}
	return found
}

// mismatch returns the type of what is written and the type that it should have, if
// that is what is wrong in every arm.
func mismatch(v value, arms []errors.Error) (have, want string) {
	demanded := false // one of the two is what a value must be, and the other one a value
	for _, e := range arms {
		format, args := e.Msg()
		if !strings.Contains(format, "mismatched types") || len(args) != 4 {
			return "", ""
		}
		have, want = fmt.Sprint(args[2]), fmt.Sprint(args[3])
		first, second := demands(args[0], args[2]), demands(args[1], args[3])
		if first && !second {
			have, want = want, have
		}
		demanded = first != second
	}
	if demanded {
		return have, want
	}
	for _, p := range v.author().Places() {
		if k := kindOf(p.Expr); k != "" && k == want {
			return want, have
		}
	}
	return have, want
}

// demands reports whether a part of a conflict is a type or a bound, such as int or >=1,
// and not a value of the kind.
func demands(part, kind any) bool {
	s, k := fmt.Sprint(part), fmt.Sprint(kind)
	return strings.HasPrefix(s, k) && k != "null" || s != "" && strings.ContainsRune("<>!=", rune(s[0]))
}

// kindOf returns CUE's name for the type of what is written, "" when it takes an
// evaluation to tell.
func kindOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StructLit:
		return "struct"
	case *ast.ListLit:
		return "list"
	case *ast.BasicLit:
		switch e.Kind {
		case token.STRING:
			return "string"
		case token.INT:
			return "int"
		case token.FLOAT:
			return "float"
		case token.TRUE, token.FALSE:
			return "bool"
		}
	}
	return ""
}

// stranger returns the string that is none of options and conflicts with one, if
// there is one.
func stranger(arms []errors.Error, options []string) (got string, found bool) {
	for _, e := range arms {
		_, args := e.Msg()
		if len(args) < 2 || len(options) == 0 {
			continue
		}
		a, b := unquote(fmt.Sprint(args[0])), unquote(fmt.Sprint(args[1]))
		switch {
		case slices.Contains(options, a) && !slices.Contains(options, b):
			return b, true
		case slices.Contains(options, b) && !slices.Contains(options, a):
			return a, true
		}
	}
	return "", false
}

func unquote(s string) string {
	if u, err := literal.Unquote(s); err == nil {
		return u
	}
	return s
}

// alternatives returns the strings that a value must be one of, as it is written.
func alternatives(c outline.Cursor) []string {
	var all []string
	for _, p := range c.Places() {
		all = append(all, listed(p.Expr)...)
	}
	return all
}

func listed(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.OR {
			return append(listed(e.X), listed(e.Y)...)
		}
	case *ast.UnaryExpr:
		if e.Op == token.MUL {
			return listed(e.X)
		}
	case *ast.BasicLit:
		if s, err := literal.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{s}
		}
	}
	return nil
}

// A form is a definition of the language that a text must match.
type form struct {
	code    string
	noun    string // "the name of a header"
	about   string // what it is made of
	pattern string // the regular expression
}

// nouns names the forms, and the rule that a text without the form breaks.
var nouns = map[string]struct{ code, noun string }{
	"#ClientID":     {"bad-client", "the ID of a client"},
	"#Endpoint":     {"bad-endpoint", "the path of an endpoint"},
	"#BaseURL":      {"bad-url", "a base URL"},
	"#DocumentPath": {"bad-document", "the path of a document"},
	"#Locale":       {"bad-locale", "the tag of a language"},
	"#MediaType":    {"bad-media-type", "a media type"},
	"#EntryKey":     {"bad-name", "a key of _meta"},
	"#HeaderName":   {"illegal-header", "the name of a header"},
	"#HeaderValue":  {"illegal-header", "the value of a header"},
	"#IconSize":     {"bad-icon", "the size of an icon"},
	"#IconSource":   {"bad-icon", "where an icon can be"},
	"#IconType":     {"bad-icon", "the media type of an icon"},
	"#Keyword":      {"bad-name", "the name of a keyword"},
	"#MediaRange":   {"bad-media-type", "a media type that becomes content"},
	"#Member":       {"bad-name", "the name of a member"},
	"#MetaKey":      {"bad-name", "the key of a _meta"},
	"#Name":         {"bad-name", "a name"},
	"#Operation":    {"bad-http", "a method and a path"},
	"#Place":        {"bad-place", "a place in a call"},
	"#Pointer":      {"bad-pointer", "a JSON Pointer"},
	"#ContentType":  {"bad-media-type", "a media type"},
	"#Origin":       {"bad-origin", "an origin"},
	"#ResourceName": {"bad-name", "the name of a resource"},
	"#URITemplate":  {"bad-uri", "a template of URIs"},
	"#PromptName":   {"bad-name", "the name of a prompt"},
	"#RequestLine":  {"bad-http", "a method and a path"},
	"#SchemaPlace":  {"patch-place", "the place of a schema"},
	"#SchemaRef":    {"schema-ref", "the name of a schema"},
	"#Scope":        {"bad-scope", "a scope"},
	"#Secret":       {"bad-secret", "the name of a secret"},
	"#Status":       {"bad-status", "a status of a failure"},
	"#TokenURL":     {"bad-url", "the URL of a token endpoint"},
	"#ToolName":     {"bad-name", "the name of a tool"},
	"#User":         {"bad-user", "the name of a user"},
	"#URI":          {"bad-uri", "a URI"},
	"#UUID":         {"bad-uuid", "a UUID"},
}

// forms returns the forms that the schema of a value refers to.
func (x examiner) forms(shape outline.Cursor) []form {
	var all []form
	for _, p := range shape.Places() {
		all = append(all, x.formsIn(p.Expr)...)
	}
	return all
}

// labels returns the forms of the labels that a struct of the language takes.
func (x examiner) labels(shape outline.Cursor) []form {
	var all []form
	for _, e := range shape.Patterns() {
		all = append(all, x.formsIn(e)...)
	}
	return all
}

func (x examiner) formsIn(e ast.Expr) []form {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return append(x.formsIn(e.X), x.formsIn(e.Y)...)
	case *ast.Ident:
		for _, p := range x.shape(e.Name).Places() {
			if unary, ok := p.Expr.(*ast.UnaryExpr); ok && unary.Op == token.MAT {
				_, about, _ := strings.Cut(strings.TrimSuffix(p.Doc(), "."), " is ")
				n := nouns[e.Name]
				return []form{{n.code, n.noun, about, unquote(unary.X.(*ast.BasicLit).Value)}}
			}
		}
	}
	return nil
}

// culprit returns the place of v to blame: the most telling one that CUE names, too.
func (v value) culprit(own []errors.Error) *sourcev1.Position {
	named := namedBy(own)
	places := v.author().Places()
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

// namedBy returns the places in the author's files that errors name, each once.
func namedBy(own []errors.Error) []*sourcev1.Position {
	var all []*sourcev1.Position
	for _, e := range own {
		for _, at := range positions(e) {
			if !slices.ContainsFunc(all, func(p *sourcev1.Position) bool { return same(p, at) }) {
				all = append(all, at)
			}
		}
	}
	return all
}

func within(at *sourcev1.Position, e ast.Expr) bool {
	from, to := e.Pos(), e.End()
	if at.GetFile() != from.Filename() {
		return false
	}
	line, column := int(at.GetLine()), int(at.GetColumn())
	after := line > from.Line() || line == from.Line() && column >= from.Column()
	before := line < to.Line() || line == to.Line() && column <= to.Column()
	return after && before
}
