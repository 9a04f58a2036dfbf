package document

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
)

// Dialect is the JSON Schema dialect that documents are read as, and the only one.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// A Bundle is what schemas of a set that stand in one document have in common.
type Bundle struct {
	// Defs are the definitions that the schemas need, in the order in which they are
	// first referred to.
	Defs *Value

	bundler bundler
}

// NewBundle returns a bundle without schemas. Those that have a patch are bundled as
// it changes them; a $ref is followed in the documents as they are. What is wrong with
// schemas that are added is added to list, at the place where it was written.
func (s *Set) NewBundle(patches *Patches, list *diag.List) *Bundle {
	defs := Obj()
	return &Bundle{Defs: defs, bundler: bundler{set: s, patches: patches, list: list, defs: defs, refs: map[target]string{}, taken: map[string]bool{},
		bundled: map[string]*Value{}, looked: map[*Value]bool{}, problems: map[*Document]int{}}}
}

// Add returns a copy of the schema at a pointer of doc that refers to nothing
// outside itself and adds the definitions it needs: every $ref in both is
// "#/$defs/X", X a member of Defs, or "#" and here, which is where the schema itself
// will stand in the document that is made of all. $id, $comment, example and
// examples are left out: models copy examples, and half of them are wrong.
//
// Without a problem the result is a valid schema.
func (b *Bundle) Add(doc *Document, pointer, here string) *Value {
	return b.bundler.add(doc, pointer, here)
}

func (b *bundler) add(doc *Document, pointer, here string) *Value {
	v, err := doc.At(pointer)
	if err != nil {
		b.errorf(doc.Root, "schema-ref", "", "%v", err)
		return Obj()
	}
	b.dialect(doc)
	t := target{doc, pointer}
	b.refs[t] = "#" + here
	schema := b.bundle(t, v)
	for len(b.queue) > 0 {
		d := b.queue[0]
		b.queue = b.queue[1:]
		b.defs.Add(d.name, b.bundle(d.target, d.value))
	}
	b.endless(schema)
	return schema
}

// bundle returns a copy of v, which is at t, as what $refs to t lead to.
func (b *bundler) bundle(t target, v *Value) *Value {
	b.within = t.doc.embedding(t.pointer)
	schema := b.schema(v)
	b.bundled[b.refs[t]] = schema
	return schema
}

// A target is what a $ref refers to.
type target struct {
	doc     *Document
	pointer string
}

type bundler struct {
	set     *Set
	patches *Patches
	list    *diag.List
	refs    map[target]string // the $ref that replaces those to target
	taken   map[string]bool   // names in defs
	queue   []definition      // to be added to defs
	defs    *Value
	within  *Value            // the $id that the current schema stands below; nil: the document's, or none
	bundled map[string]*Value // what is in the bundle, by the $ref to it
	looked  map[*Value]bool   // at, see endless; false while that goes on

	problems map[*Document]int // how many were found
}

type definition struct {
	name   string
	target target
	value  *Value
}

// maxProblems is how many problems of a document are told at most: one that is not a
// JSON Schema at all has one in every value.
const maxProblems = 100

func (b *bundler) errorf(at *Value, code, hint, format string, args ...any) {
	b.problems[at.doc]++
	switch n := b.problems[at.doc]; {
	case n == maxProblems+1:
		b.list.Errorf(diag.Problem{Pos: at.Pos(), Code: "too-many-problems"}, "the document has more problems, which are not shown")
		return
	case n > maxProblems:
		return
	}
	b.list.Errorf(diag.Problem{Pos: at.Pos(), Code: code, Hint: hint}, format, args...)
}

func (b *bundler) dialect(doc *Document) {
	v := doc.Root.Get("$schema")
	dialect, _ := v.AsString()
	if v != nil && strings.TrimSuffix(dialect, "#") != Dialect {
		b.errorf(v, "schema-dialect", "convert the document to 2020-12", "JSON Schema dialect %s is not supported, only 2020-12 is", v.Text)
	}
}

func (b *bundler) schema(v *Value) *Value {
	if within := b.within; v.rebases() && !v.isRoot() {
		b.within = v.Get("$id")
		defer func() { b.within = within }()
	}
	v = b.patches.apply(v)
	switch {
	case v.Kind == Object:
	case v.Kind == Scalar && (v.Text[0] == 't' || v.Text[0] == 'f'):
		return v
	default:
		b.errorf(v, "schema-invalid", "", "a schema is an object, true or false")
		return v
	}
	out := &Value{Kind: Object, doc: v.doc, offset: v.offset}
	for _, m := range v.Members {
		if member := b.member(m); member != nil {
			out.Add(m.Name, member)
		}
	}
	return out
}

// member returns what becomes of one member of a schema; nil leaves it out.
func (b *bundler) member(m Member) *Value {
	switch keywords[m.Name].holds {
	case nothing:
		return nil
	case refused:
		b.errorf(m.Value, "schema-unsupported", "refer to the definition with $ref", "%s is not supported", m.Name)
	case reference:
		return b.reference(m.Value)
	case subschema:
		return b.schema(m.Value)
	case subschemas:
		return b.each(m)
	case named:
		return b.named(m)
	case data:
		if problem := keywords[m.Name].check.of(m.Value); problem != "" {
			b.errorf(m.Value, "schema-invalid", "", "%s %s", m.Name, problem)
		}
	}
	return m.Value
}

func (b *bundler) each(m Member) *Value {
	if m.Value.Kind != Array || len(m.Value.Items) == 0 {
		b.errorf(m.Value, "schema-invalid", "", "%s must be a list of schemas with at least one", m.Name)
		return m.Value
	}
	out := &Value{Kind: Array, doc: m.Value.doc, offset: m.Value.offset}
	for _, item := range m.Value.Items {
		out.Items = append(out.Items, b.schema(item))
	}
	return out
}

func (b *bundler) named(m Member) *Value {
	if m.Value.Kind != Object {
		b.errorf(m.Value, "schema-invalid", "", "%s must be an object of schemas", m.Name)
		return m.Value
	}
	out := &Value{Kind: Object, doc: m.Value.doc, offset: m.Value.offset}
	for _, member := range m.Value.Members {
		if m.Name == "patternProperties" {
			b.pattern(member)
		}
		out.Add(member.Name, b.schema(member.Value))
	}
	return out
}

func (b *bundler) pattern(m Member) {
	if _, err := regexp.Compile(m.Name); err != nil {
		b.errorf(m.Value, "schema-invalid", "", "patternProperties: %v", err)
	}
}

func (b *bundler) reference(v *Value) *Value {
	ref, ok := v.AsString()
	if !ok {
		b.errorf(v, "schema-invalid", "", "$ref must be a string")
		return v
	}
	if b.within != nil && !hasScheme(ref) {
		b.errorf(v, "schema-unsupported", "put the schema with that $id into a document of its own, or remove the $id",
			"$ref %q is relative to the $id %s that it stands below", ref, b.within.Text)
		return v
	}
	doc, pointer, err := b.set.resolve(v.doc, ref)
	if err != nil {
		b.unresolved(v, ref, err)
		return v
	}
	to, err := doc.At(pointer)
	if err != nil {
		b.unresolved(v, ref, err)
		return v
	}
	t := target{doc, pointer}
	if b.refs[t] == "" {
		b.dialect(doc)
		b.define(t, to)
	}
	return &Value{Text: quote(b.refs[t]), doc: v.doc, offset: v.offset}
}

func (b *bundler) unresolved(v *Value, ref string, err error) {
	var syntax *SyntaxError
	var pointer *PointerError
	switch {
	case errors.As(err, &syntax):
		b.list.Errorf(diag.Problem{Pos: syntax.Pos, Code: "schema-syntax"}, "%s", syntax.Msg)
	case errors.As(err, &pointer):
		b.errorf(v, "schema-ref", diag.Nearest(pointer.Token, pointer.Names), "$ref %q leads nowhere: %v", ref, err)
	default:
		b.errorf(v, "schema-ref", "", "$ref %q: %v", ref, err)
	}
}

// define gives a target its place in defs: under its own name, or with a number
// after it when another document's definition has that name.
func (b *bundler) define(t target, v *Value) {
	base := t.name()
	name := base
	for n := 2; b.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	b.taken[name] = true
	b.refs[t] = "#" + (&url.URL{Path: Pointer("$defs", name)}).EscapedPath()
	b.queue = append(b.queue, definition{name, t, v})
}

func (t target) name() string {
	last := path.Base(t.pointer)
	if t.pointer == "" {
		last = strings.TrimSuffix(path.Base(t.doc.Path), ".json")
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/~%\"\\ ", r) {
			return '_'
		}
		return r
	}, last)
}
