package compile

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var checks = map[string]irv1.Check{
	"enforce": irv1.Check_CHECK_ENFORCE,
	"warn":    irv1.Check_CHECK_WARN,
	"off":     irv1.Check_CHECK_OFF,
}

// check returns what v says of bodies that break their schema, and otherwise when v
// is absent.
func check(v value, otherwise irv1.Check) irv1.Check {
	if c := checks[v.text()]; c != 0 {
		return c
	}
	return otherwise
}

// output reads what the tool t, at v, says of its results; nil when it says nothing.
// The schema goes to the binding's.
func (rd *reading) output(t *irv1.Tool, v value) *irv1.Output {
	ref, shown, result := v.get("output"), v.get("outputSchema"), v.get("validate").get("result")
	o := &irv1.Output{Shown: shown.flag(), Check: check(result, irv1.Check_CHECK_WARN)}
	if !ref.exists() {
		rd.checkNoOutput(o, shown, result)
		return nil
	}
	doc, pointer := rd.locate(ref.text(), ref)
	if doc == nil {
		return nil
	}
	c := composition{reading: rd, doc: doc, pointer: pointer, objects: t.GetResult() != irv1.ResultMode_RESULT_MODE_MCP}
	schema := c.schema(o, ref)
	rd.checkOutput(o, v)
	o.Schema = rd.keep(schema)
	return o
}

// checkNoOutput reports what is said of an output that the tool does not have.
func (rd *reading) checkNoOutput(o *irv1.Output, shown, result value) {
	if o.GetShown() {
		rd.noOutput(shown, "there is no schema to show")
	}
	if result.exists() && o.GetCheck() != irv1.Check_CHECK_OFF {
		rd.noOutput(result, "there is no schema to hold results to")
	}
}

// checkOutput reports an output that is shown but not kept, or known for nothing.
func (rd *reading) checkOutput(o *irv1.Output, v value) {
	if o.GetCheck() != irv1.Check_CHECK_OFF {
		return
	}
	if o.GetShown() {
		rd.shownUnchecked(v.get("outputSchema"))
	} else {
		rd.idleOutput(v.get("output"))
	}
}

// A composition makes the document of an output: the schema of structuredContent,
// which is the body where that is an object, and {value: body} otherwise.
type composition struct {
	*reading
	doc     *document.Document
	pointer string
	objects bool // every body is an object, or else no result
}

// schema returns the document, and says in o whether it wraps the body. ref is where
// the author names the body's schema.
func (c composition) schema(o *irv1.Output, ref value) *document.Value {
	body, defs := c.bundle(c.doc, c.pointer, "", c.list)
	kind := bodyOf(body, defs)
	switch {
	case kind == otherBody && c.objects:
		c.neverAnObject(ref)
	case kind == otherBody:
		o.Wrapped = true
		return c.around("/properties/value", func(body, out *document.Value) {
			out.Add("properties", document.Obj(document.Member{Name: "value", Value: body}))
			out.Add("required", document.Arr(document.Str("value")))
		})
	case kind == anyBody && !c.objects && o.GetShown():
		c.unknownBody(ref)
	case c.objects || kind == objectBody:
		if name, _ := body.Get("type").AsString(); name != "object" {
			return c.around("/allOf/0", func(body, out *document.Value) { out.Add("allOf", document.Arr(body)) })
		}
	}
	out := document.Obj(document.Member{Name: "$schema", Value: document.Str(document.Dialect)})
	out.Members = append(out.Members, body.Members...)
	return define(out, defs)
}

// around returns the document of an object in which put places the body's schema at
// the pointer here. What is wrong with that is reported already.
func (c composition) around(here string, put func(body, out *document.Value)) *document.Value {
	body, defs := c.bundle(c.doc, c.pointer, here, &diag.List{})
	out := document.Obj()
	out.Add("$schema", document.Str(document.Dialect))
	out.Add("type", document.Str("object"))
	put(body, out)
	return define(out, defs)
}

// define adds definitions, if there are any, to a document.
func define(out, defs *document.Value) *document.Value {
	if len(defs.Members) > 0 {
		out.Add("$defs", defs)
	}
	return out
}

// A bodyKind is what a schema lets through, as far as its types say.
type bodyKind int

const (
	anyBody    bodyKind = iota // objects and others, or nothing is said
	objectBody                 // objects only
	otherBody                  // no objects
)

// bodyOf returns what schema lets through, whose $refs lead to defs.
func bodyOf(schema, defs *document.Value) bodyKind { return bodyBelow(schema, defs, map[string]bool{}) }

func bodyBelow(schema, defs *document.Value, seen map[string]bool) bodyKind {
	if string(schema.Text) == "false" {
		return otherBody
	}
	if kind := typed(schema.Get("type")); kind != anyBody {
		return kind
	}
	for _, part := range parts(schema, defs, seen) {
		if kind := bodyBelow(part, defs, seen); kind != anyBody {
			return kind
		}
	}
	return anyBody
}

// parts returns the schemas all of which a value must satisfy for schema: what it
// refers to, unless seen, and its allOf.
func parts(schema, defs *document.Value, seen map[string]bool) []*document.Value {
	var all []*document.Value
	ref, ok := schema.Get("$ref").AsString()
	if name, found := strings.CutPrefix(ref, "#/$defs/"); ok && found && !seen[ref] {
		seen[ref] = true
		if def := defs.Get(definition(name)); def != nil {
			all = append(all, def)
		}
	}
	if list := schema.Get("allOf"); list != nil {
		all = append(all, list.Items...)
	}
	return all
}

// definition returns the name that a $ref has for a definition, unescaped.
func definition(escaped string) string {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped
	}
	return strings.Join(document.Tokens("/"+name), "/")
}

// typed returns what the value of the keyword type, nil when absent, lets through.
func typed(v *document.Value) bodyKind {
	if v == nil {
		return anyBody
	}
	names := []string{}
	if name, ok := v.AsString(); ok {
		names = append(names, name)
	}
	for _, item := range v.Items {
		name, _ := item.AsString()
		names = append(names, name)
	}
	switch {
	case !slices.Contains(names, "object"):
		return otherBody
	case len(names) == 1:
		return objectBody
	}
	return anyBody
}
