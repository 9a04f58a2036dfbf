package compile

import (
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var argumentTypes = map[string]irv1.ArgumentType{
	"string":  irv1.ArgumentType_ARGUMENT_TYPE_STRING,
	"integer": irv1.ArgumentType_ARGUMENT_TYPE_INTEGER,
	"number":  irv1.ArgumentType_ARGUMENT_TYPE_NUMBER,
	"boolean": irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN,
	"array":   irv1.ArgumentType_ARGUMENT_TYPE_ARRAY,
	"object":  irv1.ArgumentType_ARGUMENT_TYPE_OBJECT,
}

var locations = map[string]irv1.ArgumentIn{
	"path":   irv1.ArgumentIn_ARGUMENT_IN_PATH,
	"query":  irv1.ArgumentIn_ARGUMENT_IN_QUERY,
	"header": irv1.ArgumentIn_ARGUMENT_IN_HEADER,
	"body":   irv1.ArgumentIn_ARGUMENT_IN_BODY,
}

var arrayStyles = map[string]irv1.ArrayStyle{
	"":        irv1.ArrayStyle_ARRAY_STYLE_EXPLODE,
	"explode": irv1.ArrayStyle_ARRAY_STYLE_EXPLODE,
	"csv":     irv1.ArrayStyle_ARRAY_STYLE_CSV,
}

func (rd *reading) arguments(t *irv1.Tool, fields map[string]value) []*irv1.Argument {
	places, said := irv1.Places{}, map[string]string{}
	var all []*irv1.Argument
	for _, name := range sorted(fields) {
		f := fields[name]
		f.note()
		if name == "meta" || name == "payload" {
			rd.reservedArgument(f, name)
		}
		a := rd.argument(name, f)
		rd.checkArgument(a, f)
		rd.checkWireName(t, a, f)
		if other := places.Claim(a); other != "" {
			rd.argumentTwice(f, a, other)
		}
		if header := a.GetClientHeader(); header != "" {
			if other := said[header]; other != "" {
				rd.clientHeaderTwice(f.get("mcpHeader"), header, other)
			}
			said[header] = name
		}
		all = append(all, a)
	}
	return all
}

func (rd *reading) argument(name string, v value) *irv1.Argument {
	a := &irv1.Argument{
		Name:        name,
		In:          locations[v.get("in").text()],
		Required:    v.get("required").flag(),
		Description: v.get("description").text(),
		Nullable:    v.get("nullable").flag(),
		Checked:     v.get("schema").exists() || v.get("enum").exists(),
	}
	schema := rd.valueSchema(a, v.get("schema"))
	a.Type = argumentType(a, v, schema)
	if header := v.get("mcpHeader").text(); header != "" {
		a.ClientHeader = textproto.CanonicalMIMEHeaderKey(irv1.ClientHeaderPrefix + header)
	}
	if a.GetType() == irv1.ArgumentType_ARGUMENT_TYPE_ARRAY {
		a.Items = elementType(v.get("items"), schema.elements()).Enum()
		if a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY {
			a.Style = arrayStyles[v.get("style").text()].Enum()
		}
	}
	rd.checkKinds(a, v, schema)
	name = v.get("as").text()
	switch a.GetIn() {
	case irv1.ArgumentIn_ARGUMENT_IN_QUERY:
		a.WireName = name
	case irv1.ArgumentIn_ARGUMENT_IN_HEADER:
		a.WireName = headerOf(a.GetName(), name)
	case irv1.ArgumentIn_ARGUMENT_IN_BODY:
		a.Place = placeOf(a.GetName(), name)
	}
	return a
}

// valueSchema returns the schema that ref names for an argument outside the body; the
// zero valueSchema when there is none. What is wrong with it is reported where it is made
// part of the input schema.
func (rd *reading) valueSchema(a *irv1.Argument, ref value) valueSchema {
	if a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_BODY || ref.quiet() == "" {
		return valueSchema{}
	}
	doc, pointer := rd.locate(ref.quiet(), ref)
	if doc == nil {
		return valueSchema{}
	}
	schema, defs := rd.bundle(doc, pointer, "", &diag.List{})
	return valueSchema{schema, defs}
}

// argumentType returns the type that is written, or what holds for a without one.
func argumentType(a *irv1.Argument, v value, schema valueSchema) irv1.ArgumentType {
	switch typ := v.get("type"); {
	case typ.exists():
		return argumentTypes[typ.text()]
	case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_BODY && v.get("schema").exists():
		return irv1.ArgumentType_ARGUMENT_TYPE_ANY
	}
	return schema.kinds().argumentType()
}

func elementType(v value, schema valueSchema) irv1.ArgumentType {
	if v.exists() {
		return argumentTypes[v.text()]
	}
	return schema.kinds().argumentType()
}

// checkKinds reports a type of a, or of its elements, of which no value satisfies its
// schema.
func (rd *reading) checkKinds(a *irv1.Argument, v value, schema valueSchema) {
	field, typ, kinds := "type", a.GetType(), schema.kinds()
	if a.Items != nil && kinds&arrayKind != 0 {
		field, typ, kinds = "items", a.GetItems(), schema.elements().kinds()
	}
	name, known := typeNames[typ]
	if !known || kindNames[name]&kinds != 0 {
		return
	}
	hint := "name another schema"
	if better := kinds.argumentType(); kindNames[typeNames[better]]&kinds != 0 {
		hint = fmt.Sprintf("write %s: %q, or name another schema", field, typeNames[better])
	}
	rd.schemaKind(v.get("schema"), name, hint)
}

// headerOf returns the header, in canonical form, of an argument.
func headerOf(name, as string) string {
	if as == "" {
		as = strings.ReplaceAll(name, "_", "-")
	}
	return textproto.CanonicalMIMEHeaderKey(as)
}

// placeOf returns where in the body an argument goes.
func placeOf(name, as string) []string {
	switch {
	case as == "":
		return []string{name}
	case strings.HasPrefix(as, "/"):
		return document.Tokens(as)
	}
	return []string{as}
}

// argumentSchemas adds what arguments are held to beside their types.
func (rd *reading) argumentSchemas(in *input, fields map[string]value) {
	in.schemas, in.enums = map[string]*document.Value{}, map[string]*document.Value{}
	for _, a := range in.tool.GetArguments() {
		name := a.GetName()
		if !a.GetChecked() {
			continue
		}
		if ref := fields[name].get("schema"); ref.exists() {
			in.schemas[name] = rd.bundled(in.bundle, ref, name)
		}
		if enum := fields[name].get("enum"); enum.exists() {
			in.enums[name] = acceptedValues(enum)
		}
	}
}

func acceptedValues(v value) *document.Value {
	v.note()
	all := document.Arr()
	for _, e := range v.elements() {
		all.Items = append(all.Items, &document.Value{Text: e.json()})
	}
	return all
}

// checkArgument reports what has no effect on an argument, or contradicts the rest
// of it.
func (rd *reading) checkArgument(a *irv1.Argument, v value) {
	if a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_UNSPECIFIED {
		return // that has been reported, and all else follows from it
	}
	body, array := a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_BODY, a.Items != nil
	schema := a.GetChecked() && v.get("schema").exists()
	idle := func(field, why string) {
		if f := v.get(field); f.exists() {
			rd.idleField(f, field, why)
		}
	}
	if !array {
		idle("items", "only an array has elements")
	}
	if a.Style == nil {
		idle("style", "it is for arrays in the query")
	}
	if !body {
		idle("nullable", "null is a value in the body only")
	} else if schema {
		for _, field := range []string{"type", "items", "nullable"} {
			idle(field, "the schema says what an argument of the body is")
		}
	}
	if schema {
		idle("enum", "the schema says which values are accepted")
	}
	if a.GetType() == irv1.ArgumentType_ARGUMENT_TYPE_OBJECT {
		idle("enum", "an object has members, not one of some values")
		if !body && a.GetIn() != irv1.ArgumentIn_ARGUMENT_IN_QUERY {
			rd.misplacedObject(v.get(typedBy(v)))
		}
	}
	if a.GetChecked() {
		rd.checkEnum(a, v.get("enum"))
	}
}

// typedBy returns the field that says what type an argument has.
func typedBy(v value) string {
	if v.get("type").exists() {
		return "type"
	}
	return "schema"
}

// checkEnum reports accepted values that no value of the type is equal to.
func (rd *reading) checkEnum(a *irv1.Argument, v value) {
	typ := a.GetType()
	if a.Items != nil {
		typ = a.GetItems()
	}
	elements := v.elements()
	if v.exists() && v.cue.Err() == nil && len(elements) == 0 {
		rd.emptyEnum(v)
	}
	for _, e := range elements {
		if want, known := scalarKinds[typ]; known && e.cue.Err() == nil && e.cue.Kind()&want == 0 {
			rd.enumType(e, typ)
		}
	}
}

var scalarKinds = map[irv1.ArgumentType]cue.Kind{
	irv1.ArgumentType_ARGUMENT_TYPE_STRING:  cue.StringKind,
	irv1.ArgumentType_ARGUMENT_TYPE_INTEGER: cue.IntKind,
	irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:  cue.NumberKind,
	irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN: cue.BoolKind,
}

var (
	headerName  = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	jsonPointer = regexp.MustCompile(`^(/([^/~]|~[01])*)*$`)
)

// checkWireName reports an argument whose name in the request is none, or is taken
// by something else.
func (rd *reading) checkWireName(t *irv1.Tool, a *irv1.Argument, v value) {
	as := v.get("as")
	switch a.GetIn() {
	case irv1.ArgumentIn_ARGUMENT_IN_PATH:
		if as.exists() {
			rd.idleField(as, "as", "the path has no names")
		}
	case irv1.ArgumentIn_ARGUMENT_IN_HEADER:
		if as.where() == nil { // it follows from the argument's name
			as = v
		}
		if !headerName.MatchString(a.GetWireName()) {
			rd.badArgumentHeader(as, a.GetWireName())
			return
		}
		rd.headers.argument(as, a.GetWireName(), t.GetMeta())
	case irv1.ArgumentIn_ARGUMENT_IN_BODY:
		if s := as.quiet(); strings.HasPrefix(s, "/") && !jsonPointer.MatchString(s) {
			rd.badPlace(as, s)
		}
		if len(a.GetPlace()) > irv1.MaxPlace {
			rd.deepPlace(as)
		}
	}
}

// checkClientHeaders reports an argument that clients cannot say in a header: they
// look at the type in its schema, one of properties.
func (rd *reading) checkClientHeaders(t *irv1.Tool, properties *document.Value, declared map[string]value) {
	for _, a := range t.GetArguments() {
		typ, _ := properties.Get(a.GetName()).Get("type").AsString()
		if a.GetClientHeader() != "" && typ != "string" && typ != "integer" && typ != "boolean" {
			rd.clientHeaderType(declared[a.GetName()].get("mcpHeader"))
		}
	}
}

// argument reports a header of an argument that something else sets, or that only
// the node sets. A meta rule that the tool leaves out sets none.
func (c claims) argument(v value, header string, meta []string) {
	other := c.by[header]
	field, isMeta := strings.CutPrefix(other, "meta.")
	switch {
	case reserved(header):
		c.reservedHeader(v, header)
	case other != "" && (!isMeta || slices.Contains(meta, field)):
		c.headerTwice(v, header, other)
	}
}

// checkArguments holds the arguments against the method and the path.
func (rd *reading) checkArguments(t *irv1.Tool, v value, declared map[string]value) {
	var inPath []string
	for _, part := range t.GetPath() {
		name := part.GetArgument()
		if name == "" || slices.Contains(inPath, name) {
			continue
		}
		inPath = append(inPath, name)
		if _, ok := declared[name]; !ok {
			rd.unboundParameter(v.get("http"), name, notInPath(t, declared))
		}
	}
	for _, a := range t.GetArguments() {
		f := declared[a.GetName()]
		used := slices.Contains(inPath, a.GetName())
		switch in := a.GetIn(); {
		case in == irv1.ArgumentIn_ARGUMENT_IN_PATH && !used:
			rd.unusedArgument(f, a.GetName(), inPath)
		case in == irv1.ArgumentIn_ARGUMENT_IN_PATH && !a.GetRequired():
			rd.optionalInPath(f.get("required"), a.GetName())
		case in != irv1.ArgumentIn_ARGUMENT_IN_PATH && in != 0 && used:
			rd.misplacedArgument(f.get("in"), a.GetName())
		case in == irv1.ArgumentIn_ARGUMENT_IN_BODY:
			rd.checkBody(t, f, v)
		}
	}
}

// checkBody reports an argument of the body where there is none for it.
func (rd *reading) checkBody(t *irv1.Tool, argument, tool value) {
	switch {
	case t.GetMethod() == irv1.Method_METHOD_GET:
		rd.bodyOnGet(argument.get("in"))
	case tool.get("payload").exists():
		rd.bodyTwice(argument.get("in"))
	}
}

// notInPath returns the declared arguments that are not in the path, sorted.
func notInPath(t *irv1.Tool, declared map[string]value) []string {
	return slices.DeleteFunc(sorted(declared), func(name string) bool {
		return slices.ContainsFunc(t.GetPath(), func(p *irv1.PathPart) bool { return p.GetArgument() == name })
	})
}
