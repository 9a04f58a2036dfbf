package store

import (
	"context"
	"errors"
	"fmt"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	storev1 "github.com/bindery-dev/bindery/proto/bindery/store/v1"
	"google.golang.org/protobuf/proto"
)

// Draft is a revision that is not stored yet.
type Draft struct {
	// Revision says whose it is and why. Its group, which must be a valid name, is
	// set; its generation is made by the store.
	Revision *adminv1.Revision
	// Base is the number of the group's current revision, 0 when it has none.
	Base uint64
	// Number is the number to give the revision; above Base.
	Number uint64

	Sources  []*sourcev1.File // sorted by path
	Compiled *sourcev1.Compiled
}

// Commit stores d and makes it the current revision of its group; it returns what
// it stored, with bindings. The error wraps [ErrConflict] when the group is not at
// d.Base any more; then, and after any other error, the group is where it was.
func (s *Store) Commit(ctx context.Context, d Draft) (*adminv1.Revision, error) {
	blobs := &batch{kv: s.kv, seen: map[irv1.Digest]bool{}}
	record, err := d.record(ctx, blobs)
	if err != nil {
		return nil, fmt.Errorf("write blobs: %w", err)
	}
	digest := irv1.DigestOf(d.Compiled.GetBundle().GetManifest())
	return s.commit(ctx, d, digest[:], record)
}

// Mend writes anew what of d is stored and damaged, and what of it is not stored; it
// makes no revision.
func (s *Store) Mend(ctx context.Context, d Draft) error {
	if _, err := d.record(ctx, &batch{kv: s.kv, seen: map[irv1.Digest]bool{}}); err != nil {
		return fmt.Errorf("write blobs: %w", err)
	}
	return nil
}

// Repeat stores a new revision that has sources, source map and bundle of the
// revision with the number of: a rollback. d has neither sources nor a bundle. It
// returns and fails as Commit does; the error wraps [ErrNotFound] when there is no
// such revision, and [ErrDamaged] when its bundle cannot be sent to a node.
func (s *Store) Repeat(ctx context.Context, d Draft, of uint64) (*adminv1.Revision, error) {
	old, err := s.record(ctx, d.Revision.GetGroup(), of)
	if err != nil {
		return nil, err
	}
	digest := old.GetRevision().GetGeneration().GetDigest()
	if err := s.checkBundle(ctx, digest); err != nil {
		return nil, fmt.Errorf("revision %d of group %q: %w", of, d.Revision.GetGroup(), err)
	}
	record := &storev1.Record{Bindings: old.GetBindings(), Sources: old.GetSources(), SourceMap: old.GetSourceMap()}
	list := &storev1.BindingList{}
	if err := s.message(ctx, old.GetBindings(), list); err != nil {
		return nil, err
	}
	d.Revision = proto.CloneOf(d.Revision)
	d.Revision.Module, d.Revision.Tags, d.Revision.Bindings = old.GetRevision().GetModule(), old.GetRevision().GetTags(), list.GetBindings()
	d.Revision.RollbackOf = of
	return s.commit(ctx, d, digest, record)
}

// commit stores the small part: revision and head, in one transaction.
func (s *Store) commit(ctx context.Context, d Draft, digest []byte, record *storev1.Record) (*adminv1.Revision, error) {
	group := d.Revision.GetGroup()
	head, raw, err := s.head(ctx, group)
	if err != nil {
		return nil, err
	}
	if at := head.GetGeneration().GetNumber(); at != d.Base || d.Number <= d.Base {
		return nil, fmt.Errorf("group %q is at revision %d, not at %d: %w", group, at, d.Base, ErrConflict)
	}
	revision := proto.CloneOf(d.Revision)
	revision.Generation = s.generation(d.Number, digest)
	record.Revision = proto.CloneOf(revision)
	record.Revision.Bindings = nil

	recordRaw, err := irv1.Marshal(record)
	headRaw, err2 := irv1.Marshal(&storev1.Head{Generation: revision.Generation})
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	key := revisionKey(group, d.Number)
	err = s.kv.Commit(ctx, Txn{
		If:  []Condition{{Key: headKey(group), Value: raw}, {Key: key}},
		Put: []Pair{{Key: key, Value: recordRaw}, {Key: headKey(group), Value: headRaw}},
	})
	if err != nil {
		return nil, fmt.Errorf("write revision %d of group %q: %w", d.Number, group, err)
	}
	return revision, nil
}

// record stores what is large in d and returns the record that names it.
func (d Draft) record(ctx context.Context, blobs *batch) (*storev1.Record, error) {
	for _, blob := range append([][]byte{d.Compiled.GetBundle().GetManifest()}, d.Compiled.GetBundle().GetBlobs()...) {
		if _, err := blobs.add(ctx, blob); err != nil {
			return nil, err
		}
	}
	for _, f := range d.Sources {
		if _, err := blobs.add(ctx, f.GetData()); err != nil {
			return nil, err
		}
	}
	sourceMap := d.Compiled.GetSourceMap()
	if sourceMap == nil {
		sourceMap = &sourcev1.SourceMap{}
	}
	var names [3][]byte
	for i, m := range []proto.Message{&storev1.BindingList{Bindings: d.Revision.GetBindings()}, listed(d.Sources), sourceMap} {
		raw, err := irv1.Marshal(m)
		if err != nil {
			return nil, err
		}
		digest, err := blobs.add(ctx, raw)
		if err != nil {
			return nil, err
		}
		names[i] = digest[:]
	}
	return &storev1.Record{Bindings: names[0], Sources: names[1], SourceMap: names[2]}, blobs.flush(ctx)
}
