package content_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	text     = irv1.PartField_PART_FIELD_TEXT
	data     = irv1.PartField_PART_FIELD_DATA
	mimeType = irv1.PartField_PART_FIELD_MIME_TYPE
	uri      = irv1.PartField_PART_FIELD_URI
	name     = irv1.PartField_PART_FIELD_NAME
)

func written(field irv1.PartField, json string) *irv1.PartMember {
	return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Json{Json: []byte(json)}}
}

func placed(field irv1.PartField, tokens ...string) *irv1.PartMember {
	return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Body{Body: &irv1.Pointer{Tokens: tokens}}}
}

// parts are parts of every kind.
func parts() []*irv1.ContentPart {
	return []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{written(text, `"a"`)}, Annotations: []*irv1.PartMember{
			placed(irv1.PartField_PART_FIELD_AUDIENCE, "for"), placed(irv1.PartField_PART_FIELD_PRIORITY, "p"), placed(irv1.PartField_PART_FIELD_LAST_MODIFIED, "at"),
		}},
		{Kind: irv1.PartKind_PART_KIND_AUDIO, Members: []*irv1.PartMember{placed(data, "d"), placed(mimeType, "t")}},
		{Kind: irv1.PartKind_PART_KIND_IMAGE, Members: []*irv1.PartMember{placed(data, "d"), written(mimeType, `"image/png"`)}},
		{Kind: irv1.PartKind_PART_KIND_RESOURCE, Members: []*irv1.PartMember{placed(uri, "u"), placed(irv1.PartField_PART_FIELD_BLOB, "d")}},
		{Kind: irv1.PartKind_PART_KIND_LINK, Members: []*irv1.PartMember{placed(uri, "u"), placed(name, "n"), placed(irv1.PartField_PART_FIELD_SIZE, "s")}},
	}
}

// TestForms has each kind of part as clients of the first and of the newest revision of
// MCP get it.
func TestForms(t *testing.T) {
	body := rawjson.Value(`{"for":["user","assistant"],"p":1,"at":"2026-01-31T09:30:00Z","d":"AA\/=","t":"audio/wav; codecs=1","u":"book://1","n":7,"s":0}`)
	all, _, err := content.Of(parts(), body)
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{
		{`{"type":"text","text":"a","annotations":{"audience":["user","assistant"],"priority":1}}`,
			`{"type":"text","text":"a","annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2026-01-31T09:30:00Z"}}`},
		{`{"type":"text","text":"There is audio here (audio/wav; codecs=1), which this revision of MCP cannot carry."}`, `{"type":"audio","data":"AA/=","mimeType":"audio/wav; codecs=1"}`},
		{`{"type":"image","data":"AA/=","mimeType":"image/png"}`, `{"type":"image","data":"AA/=","mimeType":"image/png"}`},
		{`{"type":"resource","resource":{"uri":"book://1","blob":"AA/="}}`, `{"type":"resource","resource":{"uri":"book://1","blob":"AA/="}}`},
		{`{"type":"text","text":"7: book://1"}`, `{"type":"resource_link","uri":"book://1","name":"7","size":0}`},
	}
	for i, p := range all {
		for j, f := range []content.Form{{}, {Audio: true, Links: true}} {
			if got := string(p.Append(nil, f)); got != want[i][j] {
				t.Errorf("part %d is %s, want %s", i, got, want[i][j])
			}
		}
	}
	if len(all) != len(want) {
		t.Errorf("there are %d parts", len(all))
	}
}

// FuzzOf states the law of parts: whatever Validate accepts and whatever body there is,
// each part is one object of JSON on one line, for clients of every revision.
func FuzzOf(f *testing.F) {
	for _, body := range []string{`{"for":"user","p":0.5,"at":"now","d":"AAAA","t":"a/b","u":"x:y","n":"\u0000","s":3}`, `{"d":[1],"u":"/"}`, `[]`, `null`, `"a"`} {
		for _, p := range append(parts(), &irv1.ContentPart{}) {
			encoded, err := proto.Marshal(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(encoded, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, encoded, body []byte) {
		part := &irv1.ContentPart{}
		v, err := rawjson.Parse(body, 64)
		if err != nil || proto.Unmarshal(encoded, part) != nil || !valid(part) {
			return
		}
		all, _, err := content.Of([]*irv1.ContentPart{part}, v.OneLine())
		if err != nil {
			return
		}
		for _, p := range all {
			for _, form := range []content.Form{{}, {Audio: true}, {Audio: true, Links: true}} {
				got := p.Append(nil, form)
				var object map[string]any
				if json.Unmarshal(got, &object) != nil || bytes.ContainsAny(got, "\r\n") || object["type"] == "" {
					t.Errorf("%s of %s is %q", part, body, got)
				}
				if a, ok := object["annotations"].(map[string]any); object["annotations"] != nil && (!ok || len(a) == 0) {
					t.Errorf("annotations of %s are %q", part, got)
				}
			}
		}
	})
}

// valid reports whether a node would take a bundle with the part.
func valid(part *irv1.ContentPart) bool {
	b := &irv1.Binding{Name: "a", Tools: []*irv1.Tool{{Name: "a", Content: []*irv1.ContentPart{part}}}}
	for _, p := range (&irv1.Content{Manifest: &irv1.Manifest{Level: irv1.Level}, Bindings: []*irv1.Binding{b}}).Validate() {
		if p.Field == "content" || len(p.Field) > 13 && p.Field[:13] == "tools.content" {
			return false
		}
	}
	return true
}
