package irv1

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of content: a result has at most maxParts parts, and moves at most maxMoved
// members of a body away.
const (
	maxParts = 100
	maxMoved = 200
)

// content checks the parts that a result has of a body, and what it moves away.
func (p *problems) content(t *Tool) {
	shaped := len(t.GetContent()) > 0 || len(t.GetMoved()) > 0
	p.check(!shaped || t.GetResult() != ResultMode_RESULT_MODE_RAW, "content", "a raw result has no parts of the node's, and all of the body")
	p.check(len(t.GetMoved()) == 0 || !t.GetOutput().GetShown(), "content", "clients expect what the output schema says")
	p.check(len(t.GetContent()) <= maxParts, "content", "there are %d parts, at most %d can be", len(t.GetContent()), maxParts)
	p.check(len(t.GetMoved()) <= maxMoved, "content", "there are %d members to be moved, at most %d can be", len(t.GetMoved()), maxMoved)
	p.check(slices.IsSortedFunc(t.GetMoved(), ComparePointers), "content", "the members to be moved are not sorted")
	for _, at := range t.GetMoved() {
		p.check(len(at.GetTokens()) > 0, "content", "the whole body cannot be moved")
	}
	p.check(t.GetMaxResultBytes() >= 0, "maxResultBytes", "it must not be negative")
	for _, part := range t.GetContent() {
		p.part(part)
	}
}

// fields returns the fields that a part of the kind can have.
func (k PartKind) fields() []PartField {
	switch k {
	case PartKind_PART_KIND_TEXT:
		return []PartField{PartField_PART_FIELD_TEXT}
	case PartKind_PART_KIND_IMAGE, PartKind_PART_KIND_AUDIO:
		return []PartField{PartField_PART_FIELD_DATA, PartField_PART_FIELD_MIME_TYPE}
	case PartKind_PART_KIND_RESOURCE:
		return []PartField{PartField_PART_FIELD_URI, PartField_PART_FIELD_MIME_TYPE, PartField_PART_FIELD_TEXT, PartField_PART_FIELD_BLOB}
	}
	return []PartField{
		PartField_PART_FIELD_URI, PartField_PART_FIELD_NAME, PartField_PART_FIELD_TITLE, PartField_PART_FIELD_DESCRIPTION,
		PartField_PART_FIELD_MIME_TYPE, PartField_PART_FIELD_SIZE,
	}
}

func (p *problems) part(part *ContentPart) {
	has := p.partMembers(part.GetMembers(), part.GetKind().fields())
	whole := has[PartField_PART_FIELD_TEXT]
	switch part.GetKind() {
	case PartKind_PART_KIND_IMAGE, PartKind_PART_KIND_AUDIO:
		whole = has[PartField_PART_FIELD_DATA] && has[PartField_PART_FIELD_MIME_TYPE]
	case PartKind_PART_KIND_RESOURCE:
		whole = has[PartField_PART_FIELD_URI] && has[PartField_PART_FIELD_TEXT] != has[PartField_PART_FIELD_BLOB]
	case PartKind_PART_KIND_LINK:
		whole = has[PartField_PART_FIELD_URI] && has[PartField_PART_FIELD_NAME]
	}
	p.check(whole, "content", "a part lacks what it must have, or has too much")
	p.partMembers(part.GetAnnotations(), []PartField{PartField_PART_FIELD_AUDIENCE, PartField_PART_FIELD_PRIORITY, PartField_PART_FIELD_LAST_MODIFIED})
}

// partMembers checks members, which can be of fields, and returns of which they are.
func (p *problems) partMembers(members []*PartMember, fields []PartField) map[PartField]bool {
	has := map[PartField]bool{}
	for _, m := range members {
		p.check(slices.Contains(fields, m.GetField()) && !has[m.GetField()], "content", "a part has %s twice, or cannot have it", m.GetField())
		if s, ok := m.GetSource().(*PartMember_Json); ok {
			p.check(validConstant(m.GetField(), s.Json), "content", "%q cannot be %s", s.Json, m.GetField())
		}
		has[m.GetField()] = true
	}
	return has
}

// validConstant reports whether data is one line of JSON that a field can have.
func validConstant(field PartField, data []byte) bool {
	var v any
	if !utf8.Valid(data) || bytes.ContainsAny(data, "\r\n") || json.Unmarshal(data, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		return validText(field, v)
	case float64:
		return field == PartField_PART_FIELD_SIZE && strings.Trim(string(data), "0123456789") == "" || field == PartField_PART_FIELD_PRIORITY && 0 <= v && v <= 1
	case []any:
		return field == PartField_PART_FIELD_AUDIENCE && !slices.ContainsFunc(v, func(e any) bool { return e != "user" && e != "assistant" })
	}
	return false
}

func validText(field PartField, s string) bool {
	switch field {
	case PartField_PART_FIELD_TEXT, PartField_PART_FIELD_TITLE, PartField_PART_FIELD_DESCRIPTION:
		return true
	case PartField_PART_FIELD_NAME:
		return s != ""
	case PartField_PART_FIELD_URI:
		return ValidURI(s)
	case PartField_PART_FIELD_MIME_TYPE:
		return ValidContentType(s)
	case PartField_PART_FIELD_LAST_MODIFIED:
		_, err := time.Parse(time.RFC3339, s)
		return err == nil
	}
	return false
}
