package irv1_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestFiles takes a bundle with schemas and files apart that it was made of, also where
// one is both.
func TestFiles(t *testing.T) {
	page, picture, both := []byte("<p>"), []byte{0x89, 0, 0xff}, []byte(schema)
	sealed, err := irv1.Parts{
		Bindings: []*irv1.Binding{library()}, Schemas: [][]byte{both}, Files: [][]byte{page, picture, both, page},
	}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	c, err := irv1.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Files) != 3 || len(c.Schemas) != 1 || string(c.Files[irv1.DigestOf(picture)]) != string(picture) || c.Files[irv1.DigestOf(both)] == nil {
		t.Errorf("files are %q, schemas %q", c.Files, c.Schemas)
	}
	if problems := c.Validate(); problems != nil {
		t.Errorf("problems are %q", problems)
	}
}

// TestOpenRefuses holds what is said of bundles that are not whole.
func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *irv1.Manifest, b *irv1.Bundle)
		want   string
	}{
		{"damaged", func(_ *irv1.Manifest, b *irv1.Bundle) { b.Blobs[3] = []byte("else") }, "blob 3 is damaged"},
		{"missing", func(_ *irv1.Manifest, b *irv1.Bundle) { b.Blobs = b.Blobs[:3] }, "bundle has 3 blobs, its manifest names 4"},
		{"unsorted", func(m *irv1.Manifest, _ *irv1.Bundle) { slices.Reverse(m.Files) }, "files are not sorted by digest"},
		{"no digest", func(m *irv1.Manifest, _ *irv1.Bundle) { m.Files[0].Sha256 = nil }, "digest has 0 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := irv1.Parts{Bindings: []*irv1.Binding{library()}, Schemas: [][]byte{[]byte(schema)}, Files: [][]byte{[]byte("a"), []byte("b")}}.Seal()
			if err != nil {
				t.Fatal(err)
			}
			m, err := irv1.OpenManifest(b.GetManifest())
			if err != nil {
				t.Fatal(err)
			}
			tt.change(m, b)
			if b.Manifest, err = irv1.Marshal(m); err != nil {
				t.Fatal(err)
			}
			if _, err := irv1.Open(b); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

// TestOpenNext takes a bundle apart after another one: with the result of Open, and with
// the bindings that did not change.
func TestOpenNext(t *testing.T) {
	seal := func(title string) *irv1.Bundle {
		changing := library()
		changing.Name, changing.Title = "changing", title
		b, err := irv1.Parts{Bindings: []*irv1.Binding{library(), changing}, Schemas: [][]byte{[]byte(schema)}, Files: [][]byte{[]byte(title)}}.Seal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var before *irv1.Content
	for _, title := range []string{"one", "two"} {
		b := seal(title)
		blobs := map[irv1.Digest][]byte{}
		for _, blob := range b.GetBlobs() {
			blobs[irv1.DigestOf(blob)] = blob
		}
		next, err := irv1.OpenNext(before, b.GetManifest(), func(d irv1.Digest) ([]byte, error) { return blobs[d], nil })
		if err != nil {
			t.Fatal(err)
		}
		whole, err := irv1.Open(b)
		if err != nil {
			t.Fatal(err)
		}
		if next.Digest != whole.Digest || !slices.EqualFunc(next.Bindings, whole.Bindings, func(a, b *irv1.Binding) bool { return proto.Equal(a, b) }) ||
			!reflect.DeepEqual(next.Schemas, whole.Schemas) || !reflect.DeepEqual(next.Files, whole.Files) {
			t.Errorf("%s: content is %v, Open says %v", title, next, whole)
		}
		if before != nil && (next.Bindings[1] != before.Bindings[1] || next.Bindings[0] == before.Bindings[0]) {
			t.Error("a binding that did not change was parsed again, or one that did was not")
		}
		before = next
	}
	lost := errors.New("lost")
	if _, err := irv1.OpenNext(before, seal("two").GetManifest(), func(irv1.Digest) ([]byte, error) { return nil, lost }); err != lost {
		t.Errorf("error is %v", err)
	}
}
