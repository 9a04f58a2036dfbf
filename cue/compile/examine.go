package compile

import (
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// An examiner finds out what is wrong with values that do not evaluate.
//
// CUE reports a conflict and then neither the unknown nor the missing fields beside
// it, and reports every arm of a disjunction. So an examiner asks CUE about each
// value on its own, holds the fields against the outline of the language, and tells
// of each path once.
type examiner struct {
	report
	author outline.Cursor // of the package
	unit   *unit
	around *diag.List // of what is around the value; nil: nothing is
	unread []string   // labels that hide fields nobody refers to, see [unit.unread]
}

// examiner returns one for the package, which reports to list.
func (u *unit) examiner(list *diag.List) examiner {
	return examiner{report: report{list}, author: draw(u.files), unit: u, unread: u.unread()}
}

// apart returns an examiner for one binding or test. What it reports is in a list of
// its own, so that nothing that is asked of that list depends on what else is compiled.
func (x examiner) apart() examiner {
	x.list, x.around = &diag.List{}, x.list
	return x
}

// reported reports whether there is an error at a place already.
func (x examiner) reported(at *sourcev1.Position) bool {
	return x.list.Has(at) || x.around != nil && x.around.Has(at)
}

// shape returns the outline of a definition of the language, such as "#Binding".
func (x examiner) shape(definition string) outline.Cursor {
	return x.unit.module.shape().Down(definition)
}

// A failure is all that CUE says is wrong at one path.
type failure struct {
	path   []string
	errors []errors.Error
}

// failures returns what is wrong with v, by path in the order of CUE.
func failures(v cue.Value) []*failure {
	byPath := map[string]*failure{}
	var all []*failure
	for _, e := range errors.Errors(v.Validate()) {
		path := pathOf(e)
		f := byPath[dotted(path...)]
		if f == nil {
			f = &failure{path: path}
			byPath[dotted(path...)] = f
			all = append(all, f)
		}
		f.errors = append(f.errors, e)
	}
	return all
}

// whole reports what keeps a package from having bindings.
func (x examiner) whole(v cue.Value) {
	for _, f := range failures(v) {
		x.failure(f)
	}
}

// outside reports what is wrong outside of the fields, which are looked at by
// themselves. It returns what is wrong with definitions: most of that also shows
// where they are used.
func (x examiner) outside(v cue.Value, fields ...string) (definitions []*failure) {
	for _, f := range failures(v) {
		switch {
		case len(f.path) > 1 && slices.Contains(fields, f.path[0]):
		case len(f.path) > 0 && strings.HasPrefix(f.path[0], "#"):
			definitions = append(definitions, f)
		default:
			x.failure(f)
		}
	}
	return definitions
}

// definitions reports what is wrong with definitions and has not been reported
// where they are used.
func (x examiner) definitions(broken []*failure) {
	for _, f := range broken {
		v := value{written: writtenAt(x.author, f.path...)}
		if !x.reported(v.where()) && !x.reported(v.culprit(f.errors)) {
			x.failure(f)
		}
	}
}

func (x examiner) failure(f *failure) {
	w := writtenAt(x.author, f.path...)
	x.classify(value{written: w}, w.author(), f.errors)
}

// binding reports what is wrong with a binding, and whether it can be read at all.
func (x examiner) binding(name string, v value) bool {
	if !isMarked(v.cue, "binding") {
		x.noBinding(name, v)
		return false
	}
	x.checkLabel(name, v)
	x.held(v, "#Binding")
	return true
}

// held reports what keeps v, whose mark says that it is meant to be of a definition,
// from being it.
func (x examiner) held(v value, definition string) {
	err := v.cue.Validate(cue.Concrete(true))
	if err == nil {
		return
	}
	x.value(v, x.shape(definition))
	all := errors.Errors(err)
	if !x.list.Failed() && !slices.ContainsFunc(namedBy(all), x.reported) { // nothing of it has a path of its own
		for _, e := range all {
			x.other(value{written: writtenAt(x.author, pathOf(e)...)}, []errors.Error{e})
		}
	}
}

// noBinding reports why what is under bindings is no binding: nobody said so, or it
// conflicts as a whole.
func (x examiner) noBinding(name string, v value) {
	if v.cue.Err() == nil || v.cue.IncompleteKind() == cue.StructKind || !x.self(v, x.shape("#Binding")) {
		x.notABinding(v, name)
	}
}

// isMarked reports whether v is of the kind of definition whose mark is kind: a
// bind.#Binding is marked as a binding.
func isMarked(v cue.Value, kind string) bool {
	mark, err := v.LookupPath(cue.MakePath(cue.Hid("_kind", "bindery.dev/bind"))).String()
	return err == nil && mark == kind
}

// bindingName is #Name of the language.
var bindingName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// checkLabel holds the binding's label to the form of a name.
func (x examiner) checkLabel(name string, v value) {
	if !bindingName.MatchString(name) {
		form := x.forms(x.shape("#Binding").Down("name"))[0]
		x.badForm(v.atLabel(form.code, ""), name, form)
	}
	if field := v.get("name"); field.quiet() != "" && field.quiet() != name {
		x.otherName(field, name)
	}
}

// value reports what is wrong at v and below it. What is sound is not looked into: most
// of a module is, whatever is wrong with it.
func (x examiner) value(v value, shape outline.Cursor) {
	all := problems(v)
	if len(all) == 0 || x.own(v, shape, all) {
		return
	}
	elements, fields := v.children()
	for _, element := range elements {
		x.value(element, beneath(shape, element.label()))
	}
	for _, name := range sorted(fields) {
		below := beneath(shape, name)
		switch {
		case below.Exists():
			x.value(fields[name], below)
		case shape.Opaque():
			x.value(fields[name], shape)
		case len(x.labels(shape)) > 0:
			form := x.labels(shape)[0]
			x.badForm(fields[name].atLabel(form.code, ""), name, form)
		default:
			x.unknownField(fields[name], name, shape)
		}
	}
}

// beneath returns the shape of what has a label in a value of that shape. What the
// language leaves open is open all the way down.
func beneath(shape outline.Cursor, label string) outline.Cursor {
	if below := shape.Down(label); below.Exists() || !shape.Opaque() {
		return below
	}
	return shape
}

// problems returns what CUE says is wrong at v and below it.
func problems(v value) []errors.Error { return errors.Errors(v.cue.Validate(cue.Concrete(true))) }

// self reports what is wrong with v itself, not below it, and whether there is
// something.
func (x examiner) self(v value, shape outline.Cursor) bool { return x.own(v, shape, problems(v)) }

// own is self where all is what CUE says of v.
func (x examiner) own(v value, shape outline.Cursor, all []errors.Error) bool {
	var own []errors.Error
	for _, e := range all {
		if slices.Equal(pathOf(e), v.path) {
			own = append(own, e)
		}
	}
	if len(own) > 0 {
		x.classify(v, shape, own)
	}
	return len(own) > 0
}

// pathOf returns the path of e with its labels unquoted.
func pathOf(e errors.Error) []string {
	p := slices.Clone(e.Path())
	for i, label := range p {
		if s, err := literal.Unquote(label); err == nil {
			p[i] = s
		}
	}
	return p
}
