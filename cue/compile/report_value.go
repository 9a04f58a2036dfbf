package compile

import (
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func (x examiner) notABinding(v value, name string) {
	x.list.Errorf(v.atLabel("not-a-binding", "write bindings: "+name+": bind.#Binding & {...}"),
		"what is under bindings must be a bind.#Binding: nothing holds this to the language")
}

// unnamed reports that a field whose members are of a definition is of it itself.
func (x examiner) unnamed(field, name, definition string) {
	w := writtenAt(x.author, field)
	p := w.atLabel("unnamed", "write "+field+": "+name+": "+definition+" & {...}")
	for _, r := range w.author().References() {
		if strings.HasSuffix(r.Name, strings.TrimPrefix(definition, "bind")) {
			p.Pos = r.Pos
		}
	}
	x.list.Errorf(p, "a %s needs a name", definition)
}

func (x examiner) otherName(v value, label string) {
	x.list.Errorf(v.at("other-name", "remove it, or write the label"), "%q is not the binding's label, %q", v.quiet(), label)
}

func (x examiner) unknownField(v value, name string, shape outline.Cursor) {
	x.list.Errorf(v.atLabel("unknown-field", diag.Nearest(name, visible(shape))), "unknown field %q", name)
}

// hiddenField reports a field that CUE keeps from all who read the value.
func (x examiner) hiddenField(w written) {
	x.list.Errorf(w.atLabel("hidden-field", fmt.Sprintf("write %q in quotes", w.label())), `CUE hides fields that begin with "_", so nobody sees this`)
}

func visible(shape outline.Cursor) []string {
	return slices.DeleteFunc(shape.Fields(), func(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#") })
}

func (x examiner) notAllowed(v value, own []errors.Error) {
	if x.language(v.path).Exists() {
		if ref, at := x.closing(v.path); ref.Name != "" || v.where() == nil {
			x.closed(ref, at)
			return
		}
	}
	p := v.atLabel("unknown-field", "")
	if p.Pos == nil {
		p.Pos = v.culprit(own)
	}
	x.list.Errorf(p, "field %q is not allowed here", v.label())
}

// closed reports a definition that ref refers to, which leaves no room at a path for what
// the language has there. It says no field: there are as many as the language has.
func (x examiner) closed(ref outline.Reference, path []string) {
	name, held := ref.Name, x.heldTo(path)
	in, last, _ := strings.Cut(name, "#")
	simple := in == "" && last != "" && !strings.Contains(last, ".")
	var hint string
	switch {
	case held == "" && simple:
		hint = "call it _" + last + ": only definitions are closed"
	case held == "":
		hint = "take it from what is no definition: only they are closed"
	case simple:
		hint = "write " + name + ": bind." + held + " & {...}"
	default:
		hint = "begin it with bind." + held + " & where it is defined"
	}
	if name == "" {
		name = "what this refers to"
	}
	x.list.Errorf(diag.Problem{Pos: ref.Pos, Code: "closed-definition", Path: dotted(path...), Hint: hint},
		"%s is closed, and has no room for all that the language has here", name)
}

func (x examiner) missingField(v value, shape outline.Cursor) {
	p := v.atLabel("missing-field", about(shape))
	demand, lacking := x.enclosing(v, outline.Conditional), x.enclosing(v, outline.Referenced)
	if p.Pos = lacking; lacking == nil {
		p.Pos = demand
	} else if !same(lacking, demand) && len(x.author.Down(v.path[:len(v.path)-1]...).Places()) > 0 {
		p.Hint = "that it must be there follows from " + diag.Place(demand)
	}
	x.list.Errorf(p, "missing field %q", v.label())
}

// enclosing returns the place of the innermost value around v that is written, at
// the place by a route that is as telling as most.
func (x examiner) enclosing(v value, most outline.Route) *sourcev1.Position {
	for n := len(v.path) - 1; n > 0; n-- {
		if at := x.author.Down(v.path[:n]...).Places(); len(at) > 0 && at[0].Route <= most {
			return at[0].Label
		}
	}
	return nil
}

func (x examiner) incomplete(v value, shape outline.Cursor, own []errors.Error) {
	if v.where() == nil {
		return // it follows from another field, which has been reported
	}
	defaults, law := starred(v.author().Places()), starred(x.language(v.path).Places())
	if len(defaults) > 0 && len(defaults)+len(law) > 1 {
		x.twoDefaults(v, defaults, len(law) > 0)
		return
	}
	from := x.taken(v, own)
	if from == nil {
		x.list.Errorf(v.at("missing-value", about(shape)), "field %q has no value yet", v.label())
		return
	}
	hint := "give it one at " + diag.Place(from.pos)
	if from.tag != "" {
		hint = "-t " + from.tag + "=..., or a default at " + diag.Place(from.pos)
	}
	x.list.Errorf(v.at("missing-value", hint), "field %q takes its value from %s, which has none yet", v.label(), dotted(from.path...))
}

// external reports an attribute, such as @embed, whose value is not CUE.
func (x examiner) external(v value, own []errors.Error) {
	p := v.at("external", "write the value in CUE")
	p.Pos = v.culprit(own)
	x.list.Errorf(p, "%s gives nothing here: no file is read when a module is evaluated", text(own[0]))
}

// twoDefaults reports defaults that an author wrote for v, all of which are lost as there
// are several; law: the language has one, too. Only then is the value repeated: data of
// tests has none there.
func (x examiner) twoDefaults(v value, defaults []ast.Expr, law bool) {
	if !law {
		x.list.Errorf(v.at("two-defaults", "keep one of them"), "field %q has %d defaults that differ, and so none", v.label(), len(defaults))
		return
	}
	hint := "write it without a default"
	if data, err := format.Node(defaults[0]); err == nil {
		hint = "write " + v.label() + ": " + string(data)
	}
	x.list.Errorf(v.at("two-defaults", hint), "field %q has a default of the language, too, and so none", v.label())
}

func (x examiner) wrongType(v value, have, want string, shape outline.Cursor, own []errors.Error) {
	p := v.at("wrong-type", about(shape))
	p.Pos = v.culprit(own)
	if have == "float" && want == "int" {
		x.list.Errorf(p, "must be an integer, not a fraction")
		return
	}
	x.list.Errorf(p, "must be %s, not %s", kind(want), kind(have))
}

func (x examiner) badEnum(v value, written string, options []string, own []errors.Error) {
	hint := "one of " + quoted(options)
	if near := diag.Nearest(written, options); strings.HasPrefix(near, "did") {
		hint = near + " (" + hint + ")"
	}
	p := v.at("bad-enum", hint)
	p.Pos = v.culprit(own)
	x.list.Errorf(p, "%q is not one of the values that are allowed", written)
}

func (x examiner) badForm(p diag.Problem, s string, f form) {
	p.Hint = f.about
	x.list.Errorf(p, "%s is not %s", mention(s, f.code), f.noun)
}

// mention returns how messages with a code name the text s: in quotes, unless it may be a
// secret: one in place of its name, or one in a URL with a user or a query.
func mention(s, code string) string {
	switch {
	case code == "bad-secret", code == "bad-url" && strings.ContainsAny(s, "@?"), strings.Contains(s, "://") && strings.Contains(s, "@"):
		return "what is written"
	}
	return fmt.Sprintf("%q", s)
}

func (x examiner) unsatisfied(v value, shape outline.Cursor, own []errors.Error, got, bound string) {
	p := v.at("bad-value", "")
	p.Pos = v.culprit(own)
	if p.Hint = elsewhere(own, p.Pos, "that is demanded at "); p.Hint == "" {
		p.Hint = about(shape)
	}
	x.list.Errorf(p, "%s does not satisfy %s", got, bound)
}

// invalidValue reports a value that fails a check, such as strings.MinRunes(1).
func (x examiner) invalidValue(v value, shape outline.Cursor, own []errors.Error) {
	p := v.at("bad-value", about(shape))
	p.Pos = v.culprit(own)
	x.list.Errorf(p, "%s", text(own[0]))
}

// other reports what CUE says, in its words, unless it follows from what has been
// reported.
func (x examiner) other(v value, own []errors.Error) {
	if slices.ContainsFunc(namedBy(own), x.reported) {
		return
	}
	p := v.at("cue", "")
	p.Pos = v.culprit(own)
	if p.Pos == nil {
		p.Pos = x.unit.place()
	}
	p.Hint = elsewhere(own, p.Pos, "the other place is ")
	said := inFull(own[0])
	if slices.Contains(v.path, "upstream") || slices.Contains(v.path, "state") { // where secrets are named
		said = withoutValues(said)
	}
	x.list.Errorf(p, "%s", said)
}

// elsewhere returns a hint at the first place that errors name beside at.
func elsewhere(own []errors.Error, at *sourcev1.Position, prefix string) string {
	for _, p := range namedBy(own) {
		if !same(p, at) {
			return prefix + diag.Place(p)
		}
	}
	return ""
}

// about returns what the schema says of a field: the first sentence of its comment.
func about(shape outline.Cursor) string {
	for _, p := range shape.Places() {
		if doc := p.Doc(); doc != "" {
			sentence, _, _ := strings.Cut(doc, ". ")
			return strings.TrimSuffix(sentence, ".")
		}
	}
	return ""
}

var kinds = map[string]string{
	"string": "a string", "int": "an integer", "float": "a number", "number": "a number", "bool": "true or false",
	"struct": "a struct", "list": "a list", "null": "null", "bytes": "bytes",
}

func kind(s string) string {
	if k := kinds[s]; k != "" {
		return k
	}
	return s
}

func quoted(all []string) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%q", s))
	}
	return strings.Join(parts, ", ")
}
