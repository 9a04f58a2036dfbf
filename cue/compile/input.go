package compile

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"

	"github.com/bindery-dev/bindery/cue/document"
)

// An input is what a tool's input schema is made of.
//
// The schema says nothing of members that it does not name: a caller may send
// others and a node ignores them, so neither a newer client nor one that adds a
// field of its own is turned away. The same holds within meta, which says so, as
// the MCP binding of its first API does.
type input struct {
	tool    *irv1.Tool
	rules   []*irv1.MetaRule           // of the binding
	payload *document.Value            // nil: none
	schemas map[string]*document.Value // of arguments that have one, by name
	enums   map[string]*document.Value // of arguments whose values are listed, by name
	bundle  *document.Bundle           // what the schemas have in common
}

// schema composes the document {meta, arguments, payload}.
func (in input) schema() *document.Value {
	properties, required := document.Obj(), document.Arr()
	if meta := in.meta(); meta != nil {
		properties.Add("meta", meta)
		if meta.Get("required") != nil {
			required.Items = append(required.Items, document.Str("meta"))
		}
	}
	for _, a := range in.ordered() {
		properties.Add(a.GetName(), in.argument(a))
		if a.GetRequired() {
			required.Items = append(required.Items, document.Str(a.GetName()))
		}
	}
	if in.payload != nil {
		properties.Add("payload", in.payload)
		if in.tool.GetPayload().GetRequired() {
			required.Items = append(required.Items, document.Str("payload"))
		}
	}
	s := document.Obj()
	s.Add("$schema", document.Str(document.Dialect))
	s.Add("type", document.Str("object"))
	s.Add("properties", properties)
	if len(required.Items) > 0 {
		s.Add("required", required)
	}
	if len(in.bundle.Defs.Members) > 0 {
		s.Add("$defs", in.bundle.Defs)
	}
	return s
}

// ordered returns the arguments in the order in which an agent would name them:
// those of the path from left to right, then the others by name.
func (in input) ordered() []*irv1.Argument {
	byName := map[string]*irv1.Argument{}
	for _, a := range in.tool.GetArguments() {
		byName[a.GetName()] = a
	}
	var all []*irv1.Argument
	for _, part := range in.tool.GetPath() {
		if a := byName[part.GetArgument()]; a != nil {
			all = append(all, a)
			delete(byName, a.GetName())
		}
	}
	for _, a := range in.tool.GetArguments() {
		if byName[a.GetName()] != nil {
			all = append(all, a)
		}
	}
	return all
}

var typeNames = map[irv1.ArgumentType]string{
	irv1.ArgumentType_ARGUMENT_TYPE_STRING:  "string",
	irv1.ArgumentType_ARGUMENT_TYPE_INTEGER: "integer",
	irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:  "number",
	irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN: "boolean",
	irv1.ArgumentType_ARGUMENT_TYPE_ARRAY:   "array",
	irv1.ArgumentType_ARGUMENT_TYPE_OBJECT:  "object",
}

// argument returns the schema of a: its type and description, then what its own
// schema says beside them.
func (in input) argument(a *irv1.Argument) *document.Value {
	own := in.schemas[a.GetName()]
	s := document.Obj()
	if typ := typeOf(a); typ != nil && own.Get("type") == nil {
		s.Add("type", typ)
	}
	s.Add("description", document.Str(a.GetDescription()))
	if name, ok := strings.CutPrefix(a.GetClientHeader(), irv1.ClientHeaderPrefix); ok {
		s.Add("x-mcp-header", document.Str(name))
	}
	switch {
	case own != nil && own.Kind == document.Object:
		for _, m := range own.Members {
			if m.Name != "description" {
				s.Add(m.Name, m.Value)
			}
		}
	case own != nil: // true or false
		s.Add("allOf", document.Arr(own))
	case a.Items != nil:
		s.Add("items", in.items(a))
	case a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY && a.GetType() == irv1.ArgumentType_ARGUMENT_TYPE_OBJECT:
		scalars := document.Arr(document.Str("string"), document.Str("number"), document.Str("boolean"))
		s.Add("additionalProperties", document.Obj(document.Member{Name: "type", Value: scalars}))
	case in.enums[a.GetName()] != nil:
		s.Add("enum", in.accepted(a))
	}
	return s
}

// accepted returns the values that a can have; null is one of them where it is one.
func (in input) accepted(a *irv1.Argument) *document.Value {
	all := document.Arr(in.enums[a.GetName()].Items...)
	if a.GetNullable() {
		all.Items = append(slices.Clip(all.Items), &document.Value{Text: []byte("null")})
	}
	return all
}

// typeOf returns the type or types of a, nil when its schema says all.
func typeOf(a *irv1.Argument) *document.Value {
	name := typeNames[a.GetType()]
	switch {
	case name == "":
		return nil
	case a.GetNullable():
		return document.Arr(document.Str(name), document.Str("null"))
	}
	return document.Str(name)
}

// items returns the schema of the elements of a.
func (in input) items(a *irv1.Argument) *document.Value {
	s := document.Obj(document.Member{Name: "type", Value: document.Str(typeNames[a.GetItems()])})
	if enum := in.enums[a.GetName()]; enum != nil {
		s.Add("enum", enum)
	}
	return s
}

// meta returns the schema of the argument meta, nil when the tool takes none.
func (in input) meta() *document.Value {
	properties, required := document.Obj(), document.Arr()
	for _, rule := range in.rules {
		if rule.GetHidden() || !slices.Contains(in.tool.GetMeta(), rule.GetField()) {
			continue
		}
		properties.Add(rule.GetField(), metaField(rule))
		if rule.GetRequired() && len(rule.GetSources()) == 0 { // else it may come from there
			required.Items = append(required.Items, document.Str(rule.GetField()))
		}
	}
	if len(properties.Members) == 0 {
		return nil
	}
	s := document.Obj()
	s.Add("type", document.Str("object"))
	s.Add("description", document.Str("What goes into the headers of the request."))
	s.Add("properties", properties)
	if len(required.Items) > 0 {
		s.Add("required", required)
	}
	s.Add("additionalProperties", document.Bool(true))
	return s
}

var formatNames = map[irv1.Format]string{
	irv1.Format_FORMAT_DATE:      "date",
	irv1.Format_FORMAT_DATE_TIME: "date-time",
	irv1.Format_FORMAT_UUID:      "uuid",
	irv1.Format_FORMAT_URI:       "uri",
}

func metaField(rule *irv1.MetaRule) *document.Value {
	s := document.Obj()
	s.Add("type", document.Str("string"))
	if d := rule.GetDescription(); d != "" {
		s.Add("description", document.Str(d))
	}
	if f := formatNames[rule.GetFormat()]; f != "" {
		s.Add("format", document.Str(f))
	}
	if n := rule.GetMinLength(); n > defaultMinLength {
		s.Add("minLength", document.Num(int64(n)))
	}
	if n := rule.GetMaxLength(); n != defaultMaxLength { // else it surprises no one
		s.Add("maxLength", document.Num(int64(n)))
	}
	if len(rule.GetOneOf()) > 0 {
		values := document.Arr()
		for _, v := range rule.GetOneOf() {
			values.Items = append(values.Items, document.Str(v))
		}
		s.Add("enum", values)
	}
	return s
}
