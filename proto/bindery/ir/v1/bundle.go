package irv1

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
)

// Level is the IR level of this build: the one it writes and the highest it
// reads.
const Level = 1

// MaxBlob is the size, in bytes, that no blob of a bundle exceeds: a blob is one
// message on the wire.
const MaxBlob = 1 << 20

// MaxBundle is the size, in bytes, that manifest and blobs together do not
// exceed.
const MaxBundle = 64 << 20

// A Digest is a SHA-256. That of a bundle is its manifest's, which names every
// blob by its own.
type Digest [sha256.Size]byte

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// ParseDigest returns the digest whose bytes are b; the error says only that b has
// another length.
func ParseDigest(b []byte) (Digest, error) {
	if len(b) != sha256.Size {
		return Digest{}, fmt.Errorf("digest has %d bytes, want %d", len(b), sha256.Size)
	}
	return Digest(b), nil
}

// String returns the digest as 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 hexadecimal digits: enough for a person to tell two
// apart.
func (d Digest) Short() string { return d.String()[:12] }

// Content is a bundle taken apart. It is not changed after [Open] or [Seal]
// returned it and may be read concurrently.
type Content struct {
	Digest   Digest
	Manifest *Manifest
	Bindings []*Binding        // in the order of the manifest: by name
	Schemas  map[Digest][]byte // JSON Schema documents
	Files    map[Digest][]byte // what bindings show as it is
}

// Marshal serialises m so that equal messages give equal bytes within one build
// of this program. Bundles hold no map, so they do so across builds too.
func Marshal(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// Parts are what a bundle is made of. Schemas and files are those that bindings refer
// to; one that stands twice is stored once.
type Parts struct {
	Bindings       []*Binding
	Schemas, Files [][]byte
	Features       []string
}

// Seal makes a bundle of bindings and schemas.
func Seal(bindings []*Binding, schemas [][]byte) (*Bundle, error) {
	return Parts{Bindings: bindings, Schemas: schemas}.Seal()
}

// Seal makes a bundle. It sorts bindings by name; what is inside them must be sorted
// already. The error says which blob is larger than [MaxBlob], or that the bundle is
// larger than [MaxBundle].
func (p Parts) Seal() (*Bundle, error) {
	bindings := slices.SortedFunc(slices.Values(p.Bindings), func(a, b *Binding) int {
		return cmp.Compare(a.GetName(), b.GetName())
	})
	m := &Manifest{Level: Level, Features: slices.Sorted(slices.Values(p.Features))}
	b := &Bundle{}
	for _, binding := range bindings {
		blob, err := Marshal(binding)
		if err != nil {
			return nil, fmt.Errorf("binding %q: %w", binding.GetName(), err)
		}
		m.Bindings = append(m.Bindings, ref(binding.GetName(), blob))
		b.Blobs = append(b.Blobs, blob)
	}
	m.Schemas = b.add(p.Schemas)
	m.Files = b.add(p.Files)
	var err error
	if b.Manifest, err = Marshal(m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return b, checkSizes(m, b)
}

// add adds blobs to b, each once, and returns the references to them, sorted by digest.
func (b *Bundle) add(blobs [][]byte) []*BlobRef {
	byDigest := map[Digest][]byte{}
	for _, blob := range blobs {
		byDigest[DigestOf(blob)] = blob
	}
	var refs []*BlobRef
	for _, d := range slices.SortedFunc(maps.Keys(byDigest), compareDigests) {
		refs = append(refs, ref("", byDigest[d]))
		b.Blobs = append(b.Blobs, byDigest[d])
	}
	return refs
}

// Open verifies every blob of b against the manifest and takes b apart. It holds
// nothing back for later: a bundle that Open accepts has all its bytes and all of
// them parse. Whether they make sense is for [Content.Validate].
func Open(b *Bundle) (*Content, error) {
	m, err := OpenManifest(b.GetManifest())
	if err != nil {
		return nil, err
	}
	if len(b.GetBlobs()) != len(m.Refs()) {
		return nil, fmt.Errorf("bundle has %d blobs, its manifest names %d", len(b.GetBlobs()), len(m.Refs()))
	}
	for i, r := range m.Refs() {
		if d := DigestOf(b.GetBlobs()[i]); !bytes.Equal(d[:], r.GetSha256()) {
			return nil, fmt.Errorf("blob %d is damaged: it hashes to %s, the manifest says %x", i, d, r.GetSha256())
		}
	}
	return take(m, b, nil)
}

// OpenNext takes the bundle with that manifest apart as [Open] does, but gets each of its
// blobs by digest from blob, whose caller has verified them. A binding that is in before,
// too, is the same message in both: what did not change costs nothing. before may be nil;
// an error of blob is returned as it is.
func OpenNext(before *Content, manifest []byte, blob func(Digest) ([]byte, error)) (*Content, error) {
	m, err := OpenManifest(manifest)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Manifest: manifest}
	for _, r := range m.Refs() {
		data, err := blob(Digest(r.GetSha256()))
		if err != nil {
			return nil, err
		}
		b.Blobs = append(b.Blobs, data)
	}
	return take(m, b, before)
}

// take takes a bundle apart whose blobs are those of its manifest m, in order.
func take(m *Manifest, b *Bundle, before *Content) (*Content, error) {
	if err := checkSizes(m, b); err != nil {
		return nil, err
	}
	c := &Content{Digest: DigestOf(b.GetManifest()), Manifest: m, Schemas: map[Digest][]byte{}, Files: map[Digest][]byte{}}
	blobs := b.GetBlobs()
	for i, r := range m.GetBindings() {
		binding, err := before.binding(r, blobs[i])
		if err != nil {
			return nil, err
		}
		c.Bindings = append(c.Bindings, binding)
	}
	blobs = blobs[len(m.GetBindings()):]
	for i, r := range m.GetSchemas() {
		c.Schemas[Digest(r.GetSha256())] = blobs[i]
	}
	blobs = blobs[len(m.GetSchemas()):]
	for i, r := range m.GetFiles() {
		c.Files[Digest(r.GetSha256())] = blobs[i]
	}
	return c, nil
}

// binding returns the binding that r refers to: the one of c, which may be nil, or else
// what blob holds.
func (c *Content) binding(r *BlobRef, blob []byte) (*Binding, error) {
	if c != nil {
		i, found := slices.BinarySearchFunc(c.Manifest.GetBindings(), r, func(a, b *BlobRef) int { return cmp.Compare(a.GetName(), b.GetName()) })
		if found && bytes.Equal(c.Manifest.GetBindings()[i].GetSha256(), r.GetSha256()) {
			return c.Bindings[i], nil
		}
	}
	binding := &Binding{}
	if err := proto.Unmarshal(blob, binding); err != nil {
		return nil, fmt.Errorf("binding %q: %w", r.GetName(), err)
	}
	if binding.GetName() != r.GetName() {
		return nil, fmt.Errorf("binding %q calls itself %q", r.GetName(), binding.GetName())
	}
	return binding, nil
}

// OpenManifest parses a manifest and checks that its references are whole and in
// order.
func OpenManifest(data []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if m.GetLevel() == 0 {
		return nil, errors.New("manifest states no IR level")
	}
	for i, r := range m.Refs() {
		if _, err := ParseDigest(r.GetSha256()); err != nil {
			return nil, fmt.Errorf("manifest entry %d: %w", i, err)
		}
	}
	if !slices.IsSortedFunc(m.GetBindings(), func(a, b *BlobRef) int { return cmp.Compare(a.GetName(), b.GetName()) }) {
		return nil, errors.New("manifest: bindings are not sorted by name")
	}
	if !slices.IsSortedFunc(m.GetSchemas(), compareRefs) {
		return nil, errors.New("manifest: schemas are not sorted by digest")
	}
	if !slices.IsSortedFunc(m.GetFiles(), compareRefs) {
		return nil, errors.New("manifest: files are not sorted by digest")
	}
	return m, nil
}

// Refs returns the references of m in the order of a bundle's blobs.
func (m *Manifest) Refs() []*BlobRef {
	return slices.Concat(m.GetBindings(), m.GetSchemas(), m.GetFiles())
}

func ref(name string, blob []byte) *BlobRef {
	d := DigestOf(blob)
	return &BlobRef{Name: name, Sha256: d[:], Size: uint64(len(blob))}
}

func checkSizes(m *Manifest, b *Bundle) error {
	total := len(b.GetManifest())
	for i, r := range m.Refs() {
		size := len(b.GetBlobs()[i])
		total += size
		if size <= MaxBlob {
			continue
		}
		if i < len(m.GetBindings()) {
			return fmt.Errorf("binding %q compiles to %d bytes, more than the %d that fit one message: split it in two", r.GetName(), size, MaxBlob)
		}
		return fmt.Errorf("schema or file %x has %d bytes, more than the %d that fit one message", r.GetSha256()[:6], size, MaxBlob)
	}
	if total > MaxBundle {
		return fmt.Errorf("bundle has %d bytes, more than the %d allowed: split the module", total, MaxBundle)
	}
	return nil
}

func compareDigests(a, b Digest) int { return bytes.Compare(a[:], b[:]) }

func compareRefs(a, b *BlobRef) int { return bytes.Compare(a.GetSha256(), b.GetSha256()) }
