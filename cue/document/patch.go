package document

import (
	"bytes"
	"slices"
	"strings"
)

// A Patch changes one schema. The zero Patch changes nothing.
//
// Every part but Properties lets through what was let through before, and more; only
// in the arms of oneOf, and under not and if, can letting more through refuse more.
type Patch struct {
	Properties []Member // members that the schema does not name yet, and their schemas
	Optional   []string // members that need not be there any more
	Open       bool     // members that are not named are let through
	OpenEnum   bool     // values that are not listed are let through, if of the same type
	Overlap    bool     // values of several of the forms of oneOf are let through
	Nullable   bool     // null is let through
}

// Changes reports whether p makes a difference to the schema v.
func (p Patch) Changes(v *Value) bool {
	return !bytes.Equal(p.apply(v).AppendJSON(nil), v.AppendJSON(nil))
}

// apply returns v, a schema, as p changes it. v stays as it is; what lies in it and
// does not change is shared.
func (p Patch) apply(v *Value) *Value {
	v = addProperties(v, p.Properties)
	v = dropRequired(v, p.Optional)
	if p.Open {
		v = open(v)
	}
	if p.OpenEnum {
		v = openEnum(v)
	}
	if p.Overlap {
		v = overlap(v)
	}
	if p.Nullable {
		v = nullable(v)
	}
	return v
}

// Patches are the patches of schemas of a set. A patch belongs to a value and not to
// a name: whoever comes by the value, by whatever $ref, gets it patched. The nil
// Patches has none. Patches are not safe for concurrent use.
type Patches struct {
	of  map[*Value]Patch
	met map[*Value]bool
}

// Add makes p the patch of the schema v. It reports whether v had none before.
func (ps *Patches) Add(v *Value, p Patch) bool {
	if _, twice := ps.of[v]; twice {
		return false
	}
	if ps.of == nil {
		ps.of, ps.met = map[*Value]Patch{}, map[*Value]bool{}
	}
	ps.of[v] = p
	return true
}

// Met reports whether a schema that was bundled has v in it.
func (ps *Patches) Met(v *Value) bool { return ps.met[v] }

// apply returns the schema v as its patch, if there is one, changes it.
func (ps *Patches) apply(v *Value) *Value {
	if ps == nil {
		return v
	}
	p, patched := ps.of[v]
	if !patched {
		return v
	}
	ps.met[v] = true
	return p.apply(v)
}

func addProperties(v *Value, added []Member) *Value {
	if len(added) == 0 || v.Kind != Object {
		return v
	}
	properties := v.Get("properties")
	if properties == nil {
		properties = Obj()
	}
	if properties.Kind != Object {
		return v
	}
	properties = properties.copy()
	for _, m := range added {
		if properties.Get(m.Name) == nil {
			properties.Add(m.Name, m.Value)
		}
	}
	return v.with("properties", properties)
}

func dropRequired(v *Value, names []string) *Value {
	required := v.Get("required")
	if len(names) == 0 || required == nil || required.Kind != Array {
		return v
	}
	required = required.copy()
	required.Items = slices.DeleteFunc(required.Items, func(item *Value) bool {
		name, ok := item.AsString()
		return ok && slices.Contains(names, name)
	})
	switch len(required.Items) {
	case len(v.Get("required").Items):
		return v
	case 0:
		return v.without("required")
	}
	return v.with("required", required)
}

func open(v *Value) *Value {
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		if value := v.Get(keyword); value != nil && string(value.Text) == "false" {
			v = v.without(keyword)
		}
	}
	return v
}

// openEnum lets the type of the listed values take their place. The description keeps
// them: they are what models should send.
func openEnum(v *Value) *Value {
	listed, ok := values(v)
	if !ok {
		return v
	}
	if types := typesOf(listed); v.Get("type") == nil && types != nil {
		v = v.with("type", types)
	}
	if known := knownValues(listed); known != "" {
		description, _ := v.Get("description").AsString()
		v = v.with("description", Str(strings.TrimSpace(description+" Known values: "+known+".")))
	}
	return v.without("enum", "const")
}

// values returns what enum or const of a schema list, and false without them.
func values(v *Value) ([]*Value, bool) {
	if enum := v.Get("enum"); enum != nil && enum.Kind == Array {
		return enum.Items, true
	}
	if c := v.Get("const"); c != nil {
		return []*Value{c}, true
	}
	return nil, false
}

func knownValues(listed []*Value) string {
	var words []string
	for _, v := range listed {
		word, ok := v.AsString()
		if !ok {
			word = string(v.AppendJSON(nil))
		}
		if word != "null" {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// typesOf returns the value of the keyword type that lets all of listed through; nil
// when there are none.
func typesOf(listed []*Value) *Value {
	types := Arr()
	for _, v := range listed {
		name := Str(v.typeName())
		if !slices.ContainsFunc(types.Items, func(t *Value) bool { return bytes.Equal(t.Text, name.Text) }) {
			types.Items = append(types.Items, name)
		}
	}
	switch len(types.Items) {
	case 0:
		return nil
	case 1:
		return types.Items[0]
	}
	return types
}

// typeName returns the name that JSON Schema has for the type of v.
func (v *Value) typeName() string {
	switch {
	case v.Kind == Object:
		return "object"
	case v.Kind == Array:
		return "array"
	}
	switch v.Text[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(v.Text, ".eE") {
		return "number"
	}
	return "integer"
}

// overlap lets anyOf take the place of oneOf.
func overlap(v *Value) *Value {
	forms := v.Get("oneOf")
	if forms == nil {
		return v
	}
	if v.Get("anyOf") == nil {
		return v.replace("oneOf", "anyOf", forms)
	}
	all := Arr(Obj(Member{"anyOf", forms}))
	if and := v.Get("allOf"); and != nil {
		all.Items = append(slices.Clone(and.Items), all.Items...)
	}
	return v.replace("oneOf", "allOf", all)
}

// combining are the keywords that can refuse null and whose schemas a patch leaves
// alone.
var combining = []string{"$ref", "allOf", "oneOf", "not", "if"}

// annotating are the keywords that stay with a schema when it becomes one of two
// alternatives.
var annotating = []string{"title", "description", "default", "deprecated", "readOnly", "writeOnly"}

func nullable(v *Value) *Value {
	switch {
	case string(v.Text) == "false":
		return nullSchema()
	case v.Kind != Object || letsNull(v):
		return v
	case slices.ContainsFunc(combining, func(keyword string) bool { return v.Get(keyword) != nil }):
		return orNull(v)
	}
	v = nullValue(v)
	if arms := v.Get("anyOf"); arms != nil && !slices.ContainsFunc(arms.Items, letsNull) {
		arms = arms.copy()
		arms.Items = append(arms.Items, nullSchema())
		v = v.with("anyOf", arms)
	}
	return v
}

func nullSchema() *Value { return Obj(Member{"type", Str("null")}) }

// letsNull reports whether v lets null through for sure.
func letsNull(v *Value) bool {
	switch {
	case v.Kind != Object:
		return string(v.Text) == "true"
	case slices.ContainsFunc(combining, func(keyword string) bool { return v.Get(keyword) != nil }):
		return false
	case v.Get("anyOf") != nil && !slices.ContainsFunc(v.Get("anyOf").Items, letsNull):
		return false
	}
	return bytes.Equal(nullValue(v).AppendJSON(nil), v.AppendJSON(nil))
}

// nullValue adds null to the types and to the values that a schema lists.
func nullValue(v *Value) *Value {
	if t := v.Get("type"); t != nil {
		v = v.with("type", withNull(t, Str("null")))
	}
	if listed, ok := values(v); ok {
		enum := withNull(Arr(listed...), &Value{Text: []byte("null")})
		if len(enum.Items) > len(listed) {
			v = v.replace("const", "enum", enum)
		}
	}
	return v
}

// withNull returns the list v, or the list of v alone, with null in it.
func withNull(v, null *Value) *Value {
	isNull := func(item *Value) bool { return bytes.Equal(item.Text, null.Text) }
	switch {
	case v.Kind == Array && slices.ContainsFunc(v.Items, isNull), isNull(v):
		return v
	case v.Kind == Array:
		return Arr(append(slices.Clone(v.Items), null)...)
	}
	return Arr(v, null)
}

// orNull returns the schema of what v or null is. What describes v describes both.
func orNull(v *Value) *Value {
	either := &Value{Kind: Object, doc: v.doc, offset: v.offset}
	for _, keyword := range annotating {
		if value := v.Get(keyword); value != nil {
			either.Add(keyword, value)
		}
	}
	either.Add("anyOf", Arr(v.without(annotating...), nullSchema()))
	return either
}

// copy returns a copy of v with lists of its own.
func (v *Value) copy() *Value {
	c := *v
	c.Members, c.Items = slices.Clone(v.Members), slices.Clone(v.Items)
	return &c
}

// with returns a copy of the object v whose member of that name is value.
func (v *Value) with(name string, value *Value) *Value { return v.replace(name, name, value) }

// replace returns a copy of the object v without the member old, with value as the
// member called name: where that is, or else where old is, or else at the end.
func (v *Value) replace(old, name string, value *Value) *Value {
	c := v.copy()
	at := slices.IndexFunc(c.Members, func(m Member) bool { return m.Name == name })
	if at < 0 {
		at = slices.IndexFunc(c.Members, func(m Member) bool { return m.Name == old })
	}
	if at < 0 {
		c.Add(name, value)
	} else {
		c.Members[at] = Member{name, value}
	}
	if old == name {
		return c
	}
	return c.without(old)
}

// without returns a copy of the object v without the members of those names.
func (v *Value) without(names ...string) *Value {
	c := v.copy()
	c.Members = slices.DeleteFunc(c.Members, func(m Member) bool { return slices.Contains(names, m.Name) })
	return c
}
