package store

import (
	"context"
	"fmt"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxChunk is the size of every chunk of a blob but the last.
const maxChunk = 512 << 10

// A blob is stored as chunks under its digest. Chunk 0 is written last, so it is
// there only when all of them are.
func chunkKey(d irv1.Digest, i int) string { return fmt.Sprintf("blobs/%s/%06d", d, i) }

// Blob returns the bytes whose SHA-256 is d, verified. The error wraps
// [ErrNotFound] when the store has none, and [ErrDamaged] when it has others.
func (s *Store) Blob(ctx context.Context, d irv1.Digest) ([]byte, error) {
	blob, found, err := stored(ctx, s.kv, d)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read blob %s: %w", d.Short(), err)
	case !found:
		return nil, fmt.Errorf("blob %s: %w", d.Short(), ErrNotFound)
	case irv1.DigestOf(blob) != d:
		return nil, fmt.Errorf("blob %s: %w", d.Short(), ErrDamaged)
	}
	return blob, nil
}

// stored returns what is stored for d, not verified, and whether there is anything.
func stored(ctx context.Context, kv KV, d irv1.Digest) (blob []byte, found bool, err error) {
	for i := 0; ; i++ {
		chunk, found, err := kv.Get(ctx, chunkKey(d, i))
		if err != nil || !found && i == 0 {
			return nil, false, err
		}
		if blob = append(blob, chunk...); len(chunk) < maxChunk {
			return blob, true, nil
		}
	}
}

// checkBundle reads all of a bundle, as a node is sent it. The errors are those of
// [Store.Blob], and that of a manifest that is none.
func (s *Store) checkBundle(ctx context.Context, digest []byte) error {
	raw, err := s.named(ctx, digest)
	if err != nil {
		return err
	}
	m, err := irv1.OpenManifest(raw)
	if err != nil {
		return err
	}
	for _, r := range m.Refs() {
		if _, err := s.Blob(ctx, irv1.Digest(r.GetSha256())); err != nil {
			return err
		}
	}
	return nil
}

// A batch collects puts of blobs and commits them in transactions as large as a
// [Txn] may be.
type batch struct {
	kv   KV
	txn  Txn
	size int
	seen map[irv1.Digest]bool
}

// add puts a blob unless it is stored already, whole, and returns its digest.
func (b *batch) add(ctx context.Context, blob []byte) (irv1.Digest, error) {
	d := irv1.DigestOf(blob)
	if b.seen[d] {
		return d, nil
	}
	b.seen[d] = true
	if old, found, err := stored(ctx, b.kv, d); err != nil || found && irv1.DigestOf(old) == d {
		return d, err
	}
	// A blob of whole chunks ends with an empty one: a short chunk is the end.
	for i := len(blob) / maxChunk; i >= 0; i-- {
		chunk := blob[i*maxChunk : min(len(blob), (i+1)*maxChunk)]
		if err := b.put(ctx, Pair{Key: chunkKey(d, i), Value: chunk}); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (b *batch) put(ctx context.Context, p Pair) error {
	size := len(p.Key) + len(p.Value)
	if len(b.txn.Put) == MaxOps || b.size+size > MaxBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.txn.Put = append(b.txn.Put, p)
	b.size += size
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.txn.Put) == 0 {
		return nil
	}
	txn := b.txn
	b.txn, b.size = Txn{}, 0
	return b.kv.Commit(ctx, txn)
}
