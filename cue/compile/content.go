package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A kindOfPart is what an author calls a kind of part, and the fields that it can have
// in the order of MCP.
type kindOfPart struct {
	name   string
	kind   irv1.PartKind
	fields []fieldOfPart
}

// A fieldOfPart is what an author calls a field of a part.
type fieldOfPart struct {
	name  string
	field irv1.PartField
}

var (
	mediaFields = []fieldOfPart{{"data", irv1.PartField_PART_FIELD_DATA}, {"mimeType", irv1.PartField_PART_FIELD_MIME_TYPE}}

	kindsOfParts = []kindOfPart{
		{"text", irv1.PartKind_PART_KIND_TEXT, nil}, // it is its own field
		{"image", irv1.PartKind_PART_KIND_IMAGE, mediaFields},
		{"audio", irv1.PartKind_PART_KIND_AUDIO, mediaFields},
		{"resource", irv1.PartKind_PART_KIND_RESOURCE, []fieldOfPart{
			{"uri", irv1.PartField_PART_FIELD_URI}, {"mimeType", irv1.PartField_PART_FIELD_MIME_TYPE},
			{"text", irv1.PartField_PART_FIELD_TEXT}, {"blob", irv1.PartField_PART_FIELD_BLOB},
		}},
		{"link", irv1.PartKind_PART_KIND_LINK, []fieldOfPart{
			{"uri", irv1.PartField_PART_FIELD_URI}, {"name", irv1.PartField_PART_FIELD_NAME}, {"title", irv1.PartField_PART_FIELD_TITLE},
			{"description", irv1.PartField_PART_FIELD_DESCRIPTION}, {"mimeType", irv1.PartField_PART_FIELD_MIME_TYPE},
			{"size", irv1.PartField_PART_FIELD_SIZE},
		}},
	}

	annotationFields = []fieldOfPart{
		{"audience", irv1.PartField_PART_FIELD_AUDIENCE}, {"priority", irv1.PartField_PART_FIELD_PRIORITY},
		{"lastModified", irv1.PartField_PART_FIELD_LAST_MODIFIED},
	}
)

// contentParts reads the parts of content of the tool t.
func (rd *reading) contentParts(t *irv1.Tool, v value) {
	for _, e := range v.elements() {
		e.note()
		if part := rd.part(e); part != nil {
			t.Content = append(t.Content, part)
			for _, m := range part.GetMembers() {
				if f := m.GetField(); m.GetBody() != nil && (f == irv1.PartField_PART_FIELD_DATA || f == irv1.PartField_PART_FIELD_BLOB) {
					move(t, m.GetBody())
				}
			}
		}
	}
	if v.exists() && t.GetResult() == irv1.ResultMode_RESULT_MODE_RAW {
		rd.contentOfNoResult(v)
	}
}

// part reads a part, nil for none: what is wrong with it is reported then.
func (rd *reading) part(v value) *irv1.ContentPart {
	var stated []string
	part := &irv1.ContentPart{}
	for _, k := range kindsOfParts {
		f := v.get(k.name)
		if !f.exists() {
			continue
		}
		stated = append(stated, k.name)
		part.Kind = k.kind
		if k.fields == nil {
			part.Members = partMembers(v, []fieldOfPart{{k.name, irv1.PartField_PART_FIELD_TEXT}})
			continue
		}
		f.note()
		part.Members = partMembers(f, k.fields)
	}
	part.Annotations = partMembers(v.get("annotations"), annotationFields)
	switch {
	case len(stated) == 0:
		rd.emptyPart(v)
		return nil
	case len(stated) > 1:
		rd.twoParts(v, stated)
		return nil
	}
	if r := v.get("resource"); r.exists() && r.get("text").exists() == r.get("blob").exists() {
		rd.bodyOfResource(r)
	}
	return part
}

// partMembers reads those of fields that v has.
func partMembers(v value, fields []fieldOfPart) []*irv1.PartMember {
	var all []*irv1.PartMember
	for _, f := range fields {
		of := v.get(f.name)
		if !of.exists() {
			continue
		}
		of.note()
		m := &irv1.PartMember{Field: f.field}
		if at := of.get("body"); at.exists() {
			m.Source = &irv1.PartMember_Body{Body: pointer(at.quiet())}
		} else if data := of.json(); data != nil {
			m.Source = &irv1.PartMember_Json{Json: data}
		} else {
			continue // what is wrong with it has been reported
		}
		all = append(all, m)
	}
	return all
}

// move notes that t moves the member at a place away; the whole body stays.
func move(t *irv1.Tool, at *irv1.Pointer) {
	if len(at.GetTokens()) == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(t.GetMoved(), at, irv1.ComparePointers)
	if !found {
		t.Moved = slices.Insert(t.Moved, i, at)
	}
}
