package compile

import (
	"regexp"
	"strings"

	"github.com/bindery-dev/bindery/cue/document"
)

// A patched is a patch of the binding: where it is written and the schema it changes.
type patched struct {
	at     value
	schema *document.Value
}

// schemaPlace is #SchemaPlace of the language.
var schemaPlace = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*(/([^/~#]|~[01])*)*$|^[^#]*#(/([^/~]|~[01])*)*$`)

// readPatches reads the patches of the binding's schema documents.
func (rd *reading) readPatches(v value) {
	rd.patches = &document.Patches{}
	patches := v.fields()
	for _, place := range sorted(patches) {
		at := patches[place]
		at.note()
		if !schemaPlace.MatchString(place) {
			continue // that has been reported
		}
		doc, pointer := rd.locatePlace(place, at)
		if doc == nil {
			continue
		}
		schema, err := doc.At(pointer)
		switch {
		case err != nil:
			rd.noPlace(at, place, doc, err)
		case schema.Kind == document.Array || schema.Kind == document.Scalar && string(schema.Text) != "true" && string(schema.Text) != "false":
			rd.noSchemaThere(at, place, doc)
		case !rd.patches.Add(schema, rd.patch(at, doc, schema)):
			rd.patchedTwice(at, place, rd.placeOf(schema))
		default:
			rd.patched = append(rd.patched, patched{at, schema})
		}
	}
}

// placeOf returns what the patch of a schema is called.
func (rd *reading) placeOf(schema *document.Value) value {
	for _, p := range rd.patched {
		if p.schema == schema {
			return p.at
		}
	}
	return value{}
}

// checkPatches reports patches that no tool comes by.
func (rd *reading) checkPatches() {
	if rd.list.Failed() {
		return // and so some tools were not bundled
	}
	for _, p := range rd.patched {
		if !rd.patches.Met(p.schema) {
			rd.unusedPatch(p.at)
		}
	}
}

// locatePlace finds the document and the pointer that the label of a patch, at, names.
// It reports what keeps it from that, and then doc is nil.
func (rd *reading) locatePlace(place string, at value) (doc *document.Document, pointer string) {
	file, pointer, pointed := strings.Cut(place, "#")
	from := at
	if !pointed {
		name, below, _ := strings.Cut(place, "/")
		file, pointer = "", document.Pointer("$defs", name)
		if below != "" {
			pointer += "/" + below
		}
	}
	if file == "" {
		if file, from = rd.schema.quiet(), rd.schema; file == "" {
			rd.noPatchedDocument(at, place)
			return nil, ""
		}
	}
	return rd.document(file, from), pointer
}

// patch reads what becomes of schema, which is in doc.
func (rd *reading) patch(v value, doc *document.Document, schema *document.Value) document.Patch {
	return document.Patch{
		Properties: rd.addedProperties(v, doc, schema),
		Optional:   rd.optional(v.get("optional"), schema),
		Open:       rd.patchFlag(v.get("open"), document.Patch{Open: true}, schema),
		OpenEnum:   rd.patchFlag(v.get("openEnum"), document.Patch{OpenEnum: true}, schema),
		Overlap:    rd.patchFlag(v.get("overlap"), document.Patch{Overlap: true}, schema),
		Nullable:   rd.patchFlag(v.get("nullable"), document.Patch{Nullable: true}, schema),
	}
}

// patchFlag reports whether v is set, and reports it as idle if what it stands for
// changes nothing.
func (rd *reading) patchFlag(v value, part document.Patch, schema *document.Value) bool {
	set := v.flag()
	if set && !part.Changes(schema) {
		rd.idlePatch(v, schema, nil)
	}
	return set
}

func (rd *reading) optional(v value, schema *document.Value) []string {
	fields := v.fields()
	var names []string
	for _, name := range sorted(fields) {
		if !fields[name].flag() {
			continue
		}
		part := document.Patch{Optional: []string{name}}
		if !part.Changes(schema) {
			rd.idlePatch(fields[name], schema, schema.Get("required").Strings())
		}
		names = append(names, name)
	}
	return names
}

// addedProperties reads the properties that the patch at v adds to schema.
func (rd *reading) addedProperties(v value, doc *document.Document, schema *document.Value) []document.Member {
	fields := v.get("properties").fields()
	var added []document.Member
	for _, name := range sorted(fields) {
		f := fields[name]
		f.note()
		if !takesProperties(schema) {
			rd.noProperties(f, schema)
			continue
		}
		if schema.Get("properties").Get(name) != nil {
			rd.propertyExists(f, v.label(), name)
			continue
		}
		data := f.json()
		if data == nil {
			continue // it does not evaluate, which is reported
		}
		property, err := doc.Fragment(f.where(), data)
		if err != nil {
			rd.badProperty(f, err)
			continue
		}
		added = append(added, document.Member{Name: name, Value: property})
	}
	return added
}

// takesProperties reports whether schema is that of an object itself, not by what it
// refers to.
func takesProperties(schema *document.Value) bool {
	refers := schema.Get("$ref") != nil && schema.Get("properties") == nil
	return schema.Kind == document.Object && !refers && typed(schema.Get("type")) != otherBody
}
