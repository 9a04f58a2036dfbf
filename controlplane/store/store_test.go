package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/controlplane/store"
	"github.com/bindery-dev/bindery/controlplane/store/storetest"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/protobuf/proto"
)

var made = time.UnixMilli(1_790_000_000_123)

func TestBolt(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.KV { return bolt(t, t.TempDir()) })
}

func bolt(t testing.TB, dir string) store.KV {
	t.Helper()
	kv, err := store.Bolt(dir)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

func open(t testing.TB, kv store.KV) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), kv, made)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// draft returns a revision of a bundle with a binding of the given size.
func draft(t testing.TB, base uint64, title string, size int) store.Draft {
	t.Helper()
	bundle, err := irv1.Seal([]*irv1.Binding{
		{Name: "catalog", Title: "always the same"},
		{Name: "loans", Title: title + strings.Repeat(".", size)},
	}, [][]byte{[]byte(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return store.Draft{
		Revision: &adminv1.Revision{
			Group: "library", Author: "librarian", Message: title, Module: "library.example@v0", Tags: []string{"prod"},
			Bindings: []*adminv1.BindingSummary{{Name: "loans", Endpoint: "/mcp", Tools: []string{"lend"}}},
		},
		Base: base, Number: base + 1,
		Sources: []*sourcev1.File{{Path: "a.cue", Data: []byte(title)}, {Path: "empty.json"}},
		Compiled: &sourcev1.Compiled{Bundle: bundle, SourceMap: &sourcev1.SourceMap{
			Entries: []*sourcev1.SourceMapEntry{{Binding: "loans", Position: &sourcev1.Position{File: title, Line: 1}}},
		}},
	}
}

func commit(t testing.TB, s *store.Store, d store.Draft) *adminv1.Revision {
	t.Helper()
	r, err := s.Commit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, bolt(t, dir))
	if _, err := s.Head(t.Context(), "library"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Head of nothing: %v", err)
	}
	first := draft(t, 0, "first", 0)
	r := commit(t, s, first)
	digest := irv1.DigestOf(first.Compiled.GetBundle().GetManifest())
	if g := r.GetGeneration(); g.GetNumber() != 1 || g.GetEpoch() != uint64(made.UnixMilli()) || !bytes.Equal(g.GetDigest(), digest[:]) {
		t.Errorf("generation %v", g)
	}
	commit(t, s, draft(t, 1, "second", 0))
	s.Close()

	kv := bolt(t, dir)
	s, err := store.Open(t.Context(), kv, made.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Epoch() != uint64(made.UnixMilli()) {
		t.Errorf("the epoch of a store that was opened again is %d", s.Epoch())
	}
	head, err := s.Head(t.Context(), "library")
	if err != nil || head.GetGeneration().GetNumber() != 2 || head.GetMessage() != "second" {
		t.Errorf("Head = %v, %v", head, err)
	}
	checkRevision(t, s, 1, first)
	groups, err := s.Groups(t.Context())
	if err != nil || !slices.Equal(groups, []string{"library"}) {
		t.Errorf("Groups = %v, %v", groups, err)
	}
}

// checkRevision checks that a revision has everything of d.
func checkRevision(t *testing.T, s *store.Store, number uint64, d store.Draft) {
	t.Helper()
	ctx := context.Background()
	r, err := s.Revision(ctx, "library", number)
	want := proto.CloneOf(d.Revision)
	want.Generation, want.Bindings = r.GetGeneration(), nil
	if err != nil || !proto.Equal(r, want) {
		t.Errorf("Revision = %v, %v; want %v", r, err, want)
	}
	bindings, err := s.Bindings(ctx, "library", number)
	if err != nil || len(bindings) != 1 || !proto.Equal(bindings[0], d.Revision.GetBindings()[0]) {
		t.Errorf("Bindings = %v, %v", bindings, err)
	}
	m, err := s.SourceMap(ctx, "library", number)
	if err != nil || !proto.Equal(m, d.Compiled.GetSourceMap()) {
		t.Errorf("SourceMap = %v, %v", m, err)
	}
	var files []*sourcev1.File
	err = s.Sources(ctx, "library", number, func(f *sourcev1.File) error { files = append(files, f); return nil })
	if err != nil || !proto.Equal(&sourcev1.Sources{Files: files}, &sourcev1.Sources{Files: d.Sources}) {
		t.Errorf("Sources = %v, %v", files, err)
	}
	if made, err := s.MadeOf(ctx, "library", number, d.Sources); err != nil || !made {
		t.Errorf("MadeOf = %t, %v", made, err)
	}
	if made, err := s.MadeOf(ctx, "library", number, d.Sources[1:]); err != nil || made {
		t.Errorf("MadeOf other files = %t, %v", made, err)
	}
	for _, blob := range append(d.Compiled.GetBundle().GetBlobs(), d.Compiled.GetBundle().GetManifest()) {
		if got, err := s.Blob(ctx, irv1.DigestOf(blob)); err != nil || !bytes.Equal(got, blob) {
			t.Errorf("Blob: %v", err)
		}
	}
}

func TestCommitConflict(t *testing.T) {
	s := open(t, bolt(t, t.TempDir()))
	commit(t, s, draft(t, 0, "first", 0))
	for _, d := range []store.Draft{draft(t, 0, "late", 0), draft(t, 5, "early", 0)} {
		if _, err := s.Commit(t.Context(), d); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Commit at base %d: %v", d.Base, err)
		}
	}
	// Numbers may leave some out.
	d := draft(t, 1, "far", 0)
	d.Number = 9
	commit(t, s, d)
	if head, err := s.Head(t.Context(), "library"); err != nil || head.GetGeneration().GetNumber() != 9 {
		t.Errorf("Head = %v, %v", head, err)
	}
}

func TestRevisions(t *testing.T) {
	s := open(t, bolt(t, t.TempDir()))
	for i := range uint64(12) {
		commit(t, s, draft(t, i, fmt.Sprint("r", i+1), 0))
	}
	other := draft(t, 0, "other", 0)
	other.Revision.Group = "library-2"
	commit(t, s, other)
	tests := []struct {
		before uint64
		limit  int
		want   string
	}{
		{0, 3, "r12 r11 r10"},
		{11, 2, "r10 r9"},
		{3, 10, "r2 r1"},
		{1, 10, ""},
	}
	for _, tt := range tests {
		revisions, err := s.Revisions(t.Context(), "library", tt.before, tt.limit)
		var messages []string
		for _, r := range revisions {
			messages = append(messages, r.GetMessage())
		}
		if got := strings.Join(messages, " "); got != tt.want || err != nil {
			t.Errorf("Revisions(before %d, %d) = %q, %v; want %q", tt.before, tt.limit, got, err, tt.want)
		}
	}
}

func TestRepeat(t *testing.T) {
	s := open(t, bolt(t, t.TempDir()))
	first := draft(t, 0, "first", 0)
	commit(t, s, first)
	commit(t, s, draft(t, 1, "second", 0))
	r, err := s.Repeat(t.Context(), store.Draft{
		Revision: &adminv1.Revision{Group: "library", Author: "night shift", Message: "back"}, Base: 2, Number: 3,
	}, 1)
	if err != nil || r.GetRollbackOf() != 1 || len(r.GetBindings()) != 1 {
		t.Fatalf("Repeat = %v, %v", r, err)
	}
	want := first
	want.Revision = proto.CloneOf(first.Revision)
	want.Revision.Author, want.Revision.Message, want.Revision.RollbackOf = "night shift", "back", 1
	checkRevision(t, s, 3, want)
	if _, err := s.Repeat(t.Context(), store.Draft{Revision: r, Base: 3, Number: 4}, 8); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Repeat of nothing: %v", err)
	}
}

// TestChunks puts blobs around the size of a chunk, where the end of a blob is told
// by the length of its last chunk.
func TestChunks(t *testing.T) {
	const chunk = 512 << 10
	s := open(t, bolt(t, t.TempDir()))
	d := draft(t, 0, "large", 0)
	for i, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 5*chunk + 7} {
		d.Sources = append(d.Sources, &sourcev1.File{Path: fmt.Sprintf("f%d.json", i), Data: bytes.Repeat([]byte{byte(i + 1)}, size)})
	}
	commit(t, s, d)
	checkRevision(t, s, 1, d)
}

// TestSharedBlobs holds the store to content addressing: what two revisions share is
// stored once.
func TestSharedBlobs(t *testing.T) {
	kv := &counting{KV: bolt(t, t.TempDir())}
	s := open(t, kv)
	commit(t, s, draft(t, 0, "first", 400<<10))
	before := kv.bytes
	d := draft(t, 1, "first", 400<<10)
	d.Revision.Message = "again"
	commit(t, s, d)
	if grown := kv.bytes - before; grown > 4<<10 {
		t.Errorf("the same bundle again wrote %d bytes", grown)
	}
}

type counting struct {
	store.KV
	bytes int
}

func (c *counting) Commit(ctx context.Context, t store.Txn) error {
	for _, p := range t.Put {
		c.bytes += len(p.Value)
	}
	return c.KV.Commit(ctx, t)
}

// TestWriteErrors fails each write of a commit in turn: the group stays at its old
// revision, whole, and the next commit works.
func TestWriteErrors(t *testing.T) {
	for fail := 1; ; fail++ {
		kv := &failing{KV: bolt(t, t.TempDir())}
		s := open(t, kv)
		first := draft(t, 0, "first", 0)
		commit(t, s, first)
		kv.left = fail
		_, err := s.Commit(t.Context(), draft(t, 1, "second", 900<<10))
		if kv.left > 0 { // fewer writes than that: all of them were tried
			if err != nil || fail < 3 {
				t.Errorf("Commit with %d writes: %v", fail-1, err)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Errorf("write %d fails: Commit returns %v", fail, err)
		}
		kv.left = 0
		head, err := s.Head(t.Context(), "library")
		if err != nil || head.GetGeneration().GetNumber() != 1 {
			t.Errorf("write %d fails: head is %v, %v", fail, head, err)
		}
		checkRevision(t, s, 1, first)
		commit(t, s, draft(t, 1, "second", 900<<10))
	}
}

var errDisk = errors.New("no space left on device")

// failing fails the write that comes when left is 1; 0: none.
type failing struct {
	store.KV
	left int
}

func (f *failing) Commit(ctx context.Context, t store.Txn) error {
	if f.left > 0 {
		if f.left--; f.left == 0 {
			f.left = -1
			return errDisk
		}
	}
	return f.KV.Commit(ctx, t)
}

// TestDamagedBlob damages a blob of a bundle: whoever reads it is told, nothing goes back
// to it, and it is whole again when it is stored again, as a revision or not.
func TestDamagedBlob(t *testing.T) {
	schema := []byte(`{"type":"object"}`)
	digest := irv1.DigestOf(schema)
	first, second := draft(t, 0, "first", 0), draft(t, 1, "second", 0)
	for name, again := range map[string]func(*store.Store) error{
		"in a revision": func(s *store.Store) error { _, err := s.Commit(t.Context(), second); return err },
		"in none":       func(s *store.Store) error { return s.Mend(t.Context(), first) },
	} {
		t.Run(name, func(t *testing.T) {
			kv := bolt(t, t.TempDir())
			s := open(t, kv)
			commit(t, s, first)
			key := fmt.Sprintf("blobs/%s/%06d", digest, 0)
			if err := kv.Commit(t.Context(), store.Txn{Put: []store.Pair{{Key: key, Value: []byte(`{"type":"array"}`)}}}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Blob(t.Context(), digest); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("Blob: %v", err)
			}
			back := store.Draft{Revision: &adminv1.Revision{Group: "library"}, Base: 1, Number: 2}
			if r, err := s.Repeat(t.Context(), back, 1); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("Repeat = %v, %v", r, err)
			}
			if err := again(s); err != nil {
				t.Fatal(err)
			}
			checkRevision(t, s, 1, first)
			head, err := s.Head(t.Context(), "library")
			if err != nil {
				t.Fatal(err)
			}
			back.Base = head.GetGeneration().GetNumber()
			back.Number = back.Base + 1
			if _, err := s.Repeat(t.Context(), back, 1); err != nil {
				t.Errorf("Repeat of what is whole again: %v", err)
			}
		})
	}
}

func TestBoltInUse(t *testing.T) {
	dir := t.TempDir()
	defer bolt(t, dir).Close()
	_, err := store.Bolt(dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("Bolt = %v", err)
	}
}

func TestBoltDamaged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, bolt(t, dir))
	commit(t, s, draft(t, 0, "first", 100<<10))
	s.Close()
	whole, err := os.ReadFile(filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"text":      []byte(strings.Repeat("this is no store\n", 1000)),
		"truncated": whole[:10_000],
		"zeros":     make([]byte, len(whole)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "bindery.db"), data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Bolt(dir); err == nil || !strings.Contains(err.Error(), "restore a copy, or move it away") {
				t.Errorf("Bolt = %v", err)
			}
		})
	}
}

// TestBoltDamagedPage wipes each page of a file in turn, which bbolt may find out about
// only when it comes to that page: then that is an error, and what other pages hold can be
// read and the file be closed.
func TestBoltDamagedPage(t *testing.T) {
	const page, groups = 4096, 12
	dir := t.TempDir()
	s := open(t, bolt(t, dir))
	for i := range groups {
		d := draft(t, 0, fmt.Sprint("title ", i), 1<<10)
		d.Revision.Group = fmt.Sprintf("group-%02d", i)
		commit(t, s, d)
	}
	s.Close()
	whole, err := os.ReadFile(filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	inUse := 0 // files in which a damaged page was met after they were opened
	for at := 0; at < len(whole); at += page {
		damaged := slices.Clone(whole)
		clear(damaged[at : at+page])
		if slices.Equal(damaged, whole) {
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "bindery.db"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if errs := useAll(t, dir, groups); len(errs) > 0 {
			inUse++
			for _, err := range errs {
				if !strings.Contains(err.Error(), "damaged") && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
					t.Errorf("page %d: %v", at/page, err)
				}
			}
		}
	}
	if inUse < 3 {
		t.Errorf("%d damaged pages were met", inUse)
	}
}

// useAll reads and writes each of the groups and returns what failed; nil when the store
// cannot be opened.
func useAll(t *testing.T, dir string, groups int) (failed []error) {
	kv, err := store.Bolt(dir)
	if err != nil {
		return nil
	}
	s, err := store.Open(t.Context(), kv, made)
	if err != nil {
		return nil
	}
	defer s.Close()
	note := func(err error) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	_, err = s.Groups(t.Context())
	note(err)
	for i := range groups {
		d := draft(t, 1, fmt.Sprint("next ", i), 1<<10)
		d.Revision.Group = fmt.Sprintf("group-%02d", i)
		_, err := s.Head(t.Context(), d.Revision.Group)
		note(err)
		_, err = s.Bindings(t.Context(), d.Revision.Group, 1)
		note(err)
		_, err = s.Commit(t.Context(), d)
		note(err)
	}
	return failed
}
