package irv1_test

import (
	"slices"
	"strings"
	"testing"

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
