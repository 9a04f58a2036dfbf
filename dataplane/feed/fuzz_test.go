package feed

import (
	"testing"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// FuzzAssemble holds that whatever comes, a node never panics, and that what it
// takes for whole is what the generation's digest stands for.
func FuzzAssemble(f *testing.F) {
	b := newBundle(f, "one")
	f.Add(b.GetManifest(), b.GetBlobs()[0], b.GetBlobs()[1])
	f.Add([]byte{}, []byte{}, []byte("x"))
	f.Fuzz(func(t *testing.T, manifest, came, held []byte) {
		digest := irv1.DigestOf(manifest)
		d := delivery{push: &discoveryv1.Push{Generation: &generation{Number: 1, Digest: digest[:]}, Manifest: manifest}, blobs: [][]byte{came}}
		c, err := assemble(d, nil, blobs{irv1.DigestOf(held): held})
		if err != nil {
			return
		}
		if c.content.Digest != digest {
			t.Errorf("the content is of %s, the generation of %s", c.content.Digest, digest)
		}
		for name, blob := range c.blobs {
			if irv1.DigestOf(blob) != name {
				t.Errorf("blob %s hashes to %s", name, irv1.DigestOf(blob))
			}
		}
	})
}
