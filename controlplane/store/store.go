// Package store keeps revisions: sources and the bundle they compile to go in,
// and come out unchanged by group and number, or blob by blob.
//
// What is large is content-addressed and written first; the revision and the head
// of its group follow in one small transaction that compares and swaps. A process
// that ends at any point leaves the group at its old or at its new revision, and
// at worst blobs that nothing names. Nothing is ever changed or deleted; only a blob
// that is damaged is written anew when it is stored again.
package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	storev1 "github.com/bindery-dev/bindery/proto/bindery/store/v1"
	"google.golang.org/protobuf/proto"
)

// ErrNotFound is wrapped by the error of every method that names something the
// store does not have.
var ErrNotFound = errors.New("not in the store")

// ErrDamaged is wrapped by the error of every method that finds other bytes for a blob
// than were stored.
var ErrDamaged = errors.New("it is damaged in the store: apply what it belongs to again, or restore a copy of the data directory")

// MaxGroups is how many groups a store lists.
const MaxGroups = 10_000

const epochKey = "meta/epoch"

// Store is a store of revisions. Its methods may be called concurrently.
type Store struct {
	kv    KV
	epoch uint64
}

// Open returns the store kept in kv. An empty one gets the epoch now, in
// milliseconds, so that its generations outrank those of a store that was lost.
// The store owns kv from then on, also when Open fails.
func Open(ctx context.Context, kv KV, now time.Time) (*Store, error) {
	value := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))
	err := kv.Commit(ctx, Txn{If: []Condition{{Key: epochKey}}, Put: []Pair{{Key: epochKey, Value: value}}})
	if errors.Is(err, ErrConflict) {
		value, _, err = kv.Get(ctx, epochKey)
	}
	if err == nil && len(value) != 8 {
		err = fmt.Errorf("epoch has %d bytes, want 8", len(value))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), kv.Close())
	}
	return &Store{kv: kv, epoch: binary.BigEndian.Uint64(value)}, nil
}

// Epoch returns when the store was made, in milliseconds since 1970.
func (s *Store) Epoch() uint64 { return s.epoch }

// Close releases the store. No other method may be called afterwards.
func (s *Store) Close() error { return s.kv.Close() }

// Groups returns the names of the groups that have a revision, sorted.
func (s *Store) Groups(ctx context.Context) ([]string, error) {
	pairs, err := s.kv.List(ctx, "heads/", "", MaxGroups)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	var groups []string
	for _, p := range pairs {
		groups = append(groups, strings.TrimPrefix(p.Key, "heads/"))
	}
	slices.Reverse(groups)
	return groups, nil
}

// Head returns the current revision of a group, without its bindings. The error
// wraps [ErrNotFound] when it has none.
func (s *Store) Head(ctx context.Context, group string) (*adminv1.Revision, error) {
	head, _, err := s.head(ctx, group)
	if err != nil {
		return nil, err
	}
	if head == nil {
		return nil, fmt.Errorf("group %q has no revision: %w", group, ErrNotFound)
	}
	return s.Revision(ctx, group, head.GetGeneration().GetNumber())
}

// Revision returns a revision, without its bindings. The error wraps
// [ErrNotFound] when there is none with that number.
func (s *Store) Revision(ctx context.Context, group string, number uint64) (*adminv1.Revision, error) {
	r, err := s.record(ctx, group, number)
	return r.GetRevision(), err
}

// Revisions returns up to limit revisions of a group whose numbers are below
// before, or all when before is 0; newest first, without their bindings.
func (s *Store) Revisions(ctx context.Context, group string, before uint64, limit int) ([]*adminv1.Revision, error) {
	end := ""
	if before > 0 {
		end = revisionKey(group, before)
	}
	pairs, err := s.kv.List(ctx, "revisions/"+group+"/", end, limit)
	if err != nil {
		return nil, fmt.Errorf("list revisions of group %q: %w", group, err)
	}
	var revisions []*adminv1.Revision
	for _, p := range pairs {
		r := &storev1.Record{}
		if err := proto.Unmarshal(p.Value, r); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w", p.Key, err)
		}
		revisions = append(revisions, r.GetRevision())
	}
	return revisions, nil
}

// Bindings returns what a revision says of its bindings.
func (s *Store) Bindings(ctx context.Context, group string, number uint64) ([]*adminv1.BindingSummary, error) {
	r, err := s.record(ctx, group, number)
	if err != nil {
		return nil, err
	}
	list := &storev1.BindingList{}
	err = s.message(ctx, r.GetBindings(), list)
	return list.GetBindings(), err
}

// SourceMap returns where the author of a revision wrote what.
func (s *Store) SourceMap(ctx context.Context, group string, number uint64) (*sourcev1.SourceMap, error) {
	r, err := s.record(ctx, group, number)
	if err != nil {
		return nil, err
	}
	m := &sourcev1.SourceMap{}
	return m, s.message(ctx, r.GetSourceMap(), m)
}

// Sources calls yield with each file of a revision's sources, sorted by path, and
// returns the first error of yield.
func (s *Store) Sources(ctx context.Context, group string, number uint64, yield func(*sourcev1.File) error) error {
	r, err := s.record(ctx, group, number)
	if err != nil {
		return err
	}
	list := &storev1.FileList{}
	if err := s.message(ctx, r.GetSources(), list); err != nil {
		return err
	}
	for _, f := range list.GetFiles() {
		data, err := s.named(ctx, f.GetSha256())
		if err != nil {
			return fmt.Errorf("%s: %w", f.GetPath(), err)
		}
		if err := yield(&sourcev1.File{Path: f.GetPath(), Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// MadeOf reports whether a revision was made of just these files, which are sorted by
// path. It reads no blob, so damage to one does not matter. The error wraps
// [ErrNotFound] when there is no such revision.
func (s *Store) MadeOf(ctx context.Context, group string, number uint64, files []*sourcev1.File) (bool, error) {
	r, err := s.record(ctx, group, number)
	if err != nil {
		return false, err
	}
	raw, err := irv1.Marshal(listed(files))
	digest := irv1.DigestOf(raw)
	return bytes.Equal(r.GetSources(), digest[:]), err
}

// listed returns the list that names files. Builds of this program must write it alike:
// by its digest [Store.MadeOf] tells whether sources changed.
func listed(files []*sourcev1.File) *storev1.FileList {
	list := &storev1.FileList{}
	for _, f := range files {
		digest := irv1.DigestOf(f.GetData())
		list.Files = append(list.Files, &storev1.FileRef{Path: f.GetPath(), Sha256: digest[:]})
	}
	return list
}

func (s *Store) head(ctx context.Context, group string) (h *storev1.Head, raw []byte, err error) {
	raw, found, err := s.kv.Get(ctx, headKey(group))
	if err != nil {
		return nil, nil, fmt.Errorf("read head of group %q: %w", group, err)
	}
	if !found {
		return nil, nil, nil
	}
	h = &storev1.Head{}
	if err := proto.Unmarshal(raw, h); err != nil {
		return nil, nil, fmt.Errorf("head of group %q is damaged: %w", group, err)
	}
	return h, raw, nil
}

func (s *Store) record(ctx context.Context, group string, number uint64) (*storev1.Record, error) {
	raw, found, err := s.kv.Get(ctx, revisionKey(group, number))
	if err != nil {
		return nil, fmt.Errorf("read revision %d of group %q: %w", number, group, err)
	}
	if !found {
		return nil, fmt.Errorf("group %q has no revision %d: %w", group, number, ErrNotFound)
	}
	r := &storev1.Record{}
	if err := proto.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("revision %d of group %q is damaged: %w", number, group, err)
	}
	return r, nil
}

func (s *Store) named(ctx context.Context, name []byte) ([]byte, error) {
	d, err := irv1.ParseDigest(name)
	if err != nil {
		return nil, err
	}
	return s.Blob(ctx, d)
}

func (s *Store) message(ctx context.Context, name []byte, m proto.Message) error {
	raw, err := s.named(ctx, name)
	if err != nil {
		return err
	}
	return proto.Unmarshal(raw, m)
}

func headKey(group string) string { return "heads/" + group }

func revisionKey(group string, number uint64) string {
	return fmt.Sprintf("revisions/%s/%020d", group, number)
}

func (s *Store) generation(number uint64, digest []byte) *discoveryv1.Generation {
	return &discoveryv1.Generation{Epoch: s.epoch, Number: number, Digest: digest}
}
