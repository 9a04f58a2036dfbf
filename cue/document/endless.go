package document

// inPlace are the keywords whose schemas hold for the same value as the schema that they
// are in.
var inPlace = map[string]holding{
	"$ref": reference, "allOf": subschemas, "anyOf": subschemas, "oneOf": subschemas,
	"not": subschema, "if": subschema, "then": subschema, "else": subschema, "dependentSchemas": named,
}

// endless reports each $ref by which schema, or what it refers to, comes back to itself
// for the same value: to hold a value to it would not end.
func (b *bundler) endless(schema *Value) {
	b.look(schema)
	for _, d := range b.defs.Members {
		b.look(d.Value)
	}
}

// look looks at schema and at all that it holds the same value to.
func (b *bundler) look(schema *Value) {
	if _, looked := b.looked[schema]; looked || schema.Kind != Object {
		return
	}
	b.looked[schema] = false
	for _, m := range schema.Members {
		switch inPlace[m.Name] {
		case reference:
			b.follow(m.Value)
		case subschema:
			b.look(m.Value)
		case subschemas:
			for _, item := range m.Value.Items {
				b.look(item)
			}
		case named:
			for _, member := range m.Value.Members {
				b.look(member.Value)
			}
		}
	}
	b.looked[schema] = true
}

// follow looks at what ref, the value of a $ref, leads to, and reports it if that is being
// looked at.
func (b *bundler) follow(ref *Value) {
	name, _ := ref.AsString()
	to := b.bundled[name]
	if to == nil {
		return // it leads nowhere, which has been reported
	}
	if done, looked := b.looked[to]; looked && !done {
		b.errorf(ref, "schema-invalid", "refer to it from a property or an element", "$ref leads back to where it stands, for the same value: a check would not end")
		return
	}
	b.look(to)
}
