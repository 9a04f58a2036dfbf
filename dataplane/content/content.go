// Package content makes parts of content: what an author said of them and the body of a
// response come in, and the parts of a result go out, as MCP has them.
//
// A part is made of pieces of the body, byte for byte where MCP has the same form.
package content

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Form says what of content a client knows. The zero Form is for clients of the first
// revision of MCP, 2024-11-05.
type Form struct {
	Audio bool // since 2025-03-26
	Links bool // to resources, and "lastModified" of annotations: since 2025-06-18
}

// A Part is one part of content. The zero Part is none.
type Part struct {
	kind        irv1.PartKind
	members     []member // those of the part, or of the resource in it
	annotations []member
}

// A member is a field and its value, JSON on one line.
type member struct {
	field irv1.PartField
	value rawjson.Value
}

// An unfit is why a body has no parts as its author wants them. It names the part and
// its field and quotes nothing.
type unfit struct {
	part  int // counted from 1
	field irv1.PartField
}

func (u unfit) Error() string {
	return fmt.Sprintf("the body of the response has nothing that can be %s of part %d of the content", nameOf(u.field), u.part)
}

// Of returns the parts that source stands for where the body of a response is body, one
// line of JSON or nil for none. A part that lacks what it must have is left out, in left,
// and so is what is optional and not as it must be. The error, which quotes nothing, says
// what a part must have and the body has in a form that it cannot have.
func Of(source []*irv1.ContentPart, body rawjson.Value) (parts []Part, left []*irv1.ContentPart, err error) {
	parts = make([]Part, 0, len(source))
	for i, s := range source {
		p := Part{kind: s.GetKind()}
		for _, m := range s.GetMembers() {
			v, ok := valueOf(m, body)
			needed := needs(s.GetKind(), m.GetField())
			if needed && !ok {
				return nil, nil, unfit{i + 1, m.GetField()}
			}
			if needed && v == nil {
				p.kind = 0
				break
			}
			p.members = add(p.members, m.GetField(), v)
		}
		for _, m := range s.GetAnnotations() {
			v, _ := valueOf(m, body)
			p.annotations = add(p.annotations, m.GetField(), v)
		}
		if p.kind == 0 {
			left = append(left, s)
		} else {
			parts = append(parts, p)
		}
	}
	return parts, left, nil
}

// Takes reports whether one of parts takes a member from the place at of the body.
func Takes(parts []*irv1.ContentPart, at *irv1.Pointer) bool {
	return slices.ContainsFunc(parts, func(p *irv1.ContentPart) bool {
		return slices.ContainsFunc(p.GetMembers(), func(m *irv1.PartMember) bool {
			return m.GetBody() != nil && irv1.ComparePointers(m.GetBody(), at) == 0
		})
	})
}

func add(members []member, field irv1.PartField, v rawjson.Value) []member {
	if v == nil {
		return members
	}
	return append(members, member{field, v})
}

// needs reports whether there is no part of a kind without a field that it has.
func needs(kind irv1.PartKind, field irv1.PartField) bool {
	switch field {
	case irv1.PartField_PART_FIELD_TEXT, irv1.PartField_PART_FIELD_DATA, irv1.PartField_PART_FIELD_BLOB, irv1.PartField_PART_FIELD_URI,
		irv1.PartField_PART_FIELD_NAME:
		return true
	case irv1.PartField_PART_FIELD_MIME_TYPE:
		return kind == irv1.PartKind_PART_KIND_IMAGE || kind == irv1.PartKind_PART_KIND_AUDIO
	}
	return false
}

// valueOf returns the value of m, nil where the body has none, and whether what the
// body has can be one.
func valueOf(m *irv1.PartMember, body rawjson.Value) (rawjson.Value, bool) {
	at, ok := m.GetSource().(*irv1.PartMember_Body)
	if !ok {
		return m.GetJson(), true
	}
	v := body.Lookup(at.Body.GetTokens())
	if v == nil || v.Kind() == rawjson.Null {
		return nil, true
	}
	v = fit(m.GetField(), v)
	return v, v != nil
}

// fit returns v as the value of a field; nil where it cannot be that.
func fit(field irv1.PartField, v rawjson.Value) rawjson.Value {
	switch field {
	case irv1.PartField_PART_FIELD_TEXT:
		return textOf(v)
	case irv1.PartField_PART_FIELD_NAME, irv1.PartField_PART_FIELD_TITLE, irv1.PartField_PART_FIELD_DESCRIPTION:
		if k := v.Kind(); k == rawjson.Object || k == rawjson.Array {
			return nil
		}
		return textOf(v)
	case irv1.PartField_PART_FIELD_SIZE:
		return when(v, v.Kind() == rawjson.Number && strings.Trim(string(v), "0123456789") == "")
	case irv1.PartField_PART_FIELD_PRIORITY:
		n, err := strconv.ParseFloat(string(v), 64)
		return when(v, v.Kind() == rawjson.Number && err == nil && 0 <= n && n <= 1)
	case irv1.PartField_PART_FIELD_AUDIENCE:
		return audience(v)
	}
	text, ok := v.Text()
	if !ok || !fits(field, text) {
		return nil
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v
	}
	return rawjson.Quote(text)
}

// fits reports whether a text can be the value of a field.
func fits(field irv1.PartField, text string) bool {
	switch field {
	case irv1.PartField_PART_FIELD_DATA, irv1.PartField_PART_FIELD_BLOB:
		return irv1.ValidBase64(text)
	case irv1.PartField_PART_FIELD_MIME_TYPE:
		return irv1.ValidContentType(text)
	case irv1.PartField_PART_FIELD_URI:
		return irv1.ValidURI(text)
	case irv1.PartField_PART_FIELD_LAST_MODIFIED:
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	}
	return false
}

// textOf returns v where it is a string, and else the string that says its JSON.
func textOf(v rawjson.Value) rawjson.Value {
	if v.Kind() == rawjson.String {
		return v
	}
	return rawjson.Quote(string(v))
}

func when(v rawjson.Value, ok bool) rawjson.Value {
	if !ok {
		return nil
	}
	return v
}

// audience returns v as a list of those whom a part is for; one alone may stand without
// a list.
func audience(v rawjson.Value) rawjson.Value {
	if v.Says("user") || v.Says("assistant") {
		return slices.Concat([]byte("["), v, []byte("]"))
	}
	for e := range v.Elements() {
		if !e.Says("user") && !e.Says("assistant") {
			return nil
		}
	}
	return when(v, v.Kind() == rawjson.Array)
}

// Size returns about how many bytes the part has.
func (p Part) Size() int {
	n := 64
	for _, m := range p.members {
		n += len(m.value) + 16
	}
	return n
}

// Append appends the part to dst, an object of JSON, for a client that knows f.
func (p Part) Append(dst []byte, f Form) []byte {
	switch {
	case p.kind == irv1.PartKind_PART_KIND_AUDIO && !f.Audio:
		dst = append(dst, `{"type":"text","text":`...)
		dst = rawjson.AppendQuote(dst, NoAudio(p.text(irv1.PartField_PART_FIELD_MIME_TYPE)))
	case p.kind == irv1.PartKind_PART_KIND_LINK && !f.Links:
		dst = append(dst, `{"type":"text","text":`...)
		dst = rawjson.AppendQuote(dst, p.text(irv1.PartField_PART_FIELD_NAME)+": "+p.text(irv1.PartField_PART_FIELD_URI))
	case p.kind == irv1.PartKind_PART_KIND_RESOURCE:
		dst = append(dst, `{"type":"resource","resource":{`...)
		dst = append(appendMembers(dst, p.members, f), '}')
	default:
		dst = append(append(append(dst, `{"type":"`...), typeNames[p.kind]...), `",`...)
		dst = appendMembers(dst, p.members, f)
	}
	return append(appendAnnotations(dst, p.annotations, f), '}')
}

// appendAnnotations appends the member with annotations, unless f has none of them.
func appendAnnotations(dst []byte, annotations []member, f Form) []byte {
	const begin = `,"annotations":{`
	with := appendMembers(append(dst, begin...), annotations, f)
	if len(with) == len(dst)+len(begin) {
		return dst
	}
	return append(with, '}')
}

// A Read is a part as what resources/read has of something.
type Read struct {
	URI       string // "": that which is read
	MediaType string // "": nobody says
	Member    string // text or blob
	Value     rawjson.Value
}

// Read returns the part as something that is read, and false for a link, which has
// nothing to read.
func (p Part) Read() (Read, bool) {
	r := Read{URI: p.text(irv1.PartField_PART_FIELD_URI), MediaType: p.text(irv1.PartField_PART_FIELD_MIME_TYPE)}
	for _, m := range p.members {
		switch m.field {
		case irv1.PartField_PART_FIELD_TEXT:
			r.Member, r.Value = "text", m.value
		case irv1.PartField_PART_FIELD_DATA, irv1.PartField_PART_FIELD_BLOB:
			r.Member, r.Value = "blob", m.value
		}
	}
	return r, r.Member != ""
}

// NoAudio is the text that stands for audio of a media type for clients of the revision
// of MCP that has none.
func NoAudio(mediaType string) string {
	return "There is audio here (" + mediaType + "), which this revision of MCP cannot carry."
}

// text returns what the string says that the part has for a field.
func (p Part) text(field irv1.PartField) string {
	for _, m := range p.members {
		if m.field == field {
			text, _ := m.value.Text()
			return text
		}
	}
	return ""
}

func appendMembers(dst []byte, members []member, f Form) []byte {
	first := true
	for _, m := range members {
		if m.field == irv1.PartField_PART_FIELD_LAST_MODIFIED && !f.Links {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), nameOf(m.field)...), `":`...)
		dst = append(dst, m.value...)
	}
	return dst
}

var typeNames = map[irv1.PartKind]string{
	irv1.PartKind_PART_KIND_TEXT:  "text",
	irv1.PartKind_PART_KIND_IMAGE: "image",
	irv1.PartKind_PART_KIND_AUDIO: "audio",
	irv1.PartKind_PART_KIND_LINK:  "resource_link",
}

// nameOf returns the name of a field in MCP.
func nameOf(f irv1.PartField) string {
	names := [...]string{"", "text", "data", "blob", "mimeType", "uri", "name", "title", "description", "size", "audience", "priority", "lastModified"}
	return names[f] // Validate lets no other through
}
