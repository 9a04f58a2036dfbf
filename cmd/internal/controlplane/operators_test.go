package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/controlplane/store"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// refused fails unless err is a status with that code and part of a message.
func refused(t *testing.T, err error, code codes.Code, part string) {
	t.Helper()
	if status.Code(err) != code || !strings.Contains(status.Convert(err).Message(), part) {
		t.Errorf("error %v, want %v with %q", err, code, part)
	}
}

func TestApplyResults(t *testing.T) {
	p := start(t, t.TempDir(), "")
	one := sources("loans.cue", "one")
	if o := p.want(adminv1.Result_RESULT_DRY_RUN, one, func(s *adminv1.ApplyStart) { s.DryRun = true }); o.GetRevision() != nil {
		t.Errorf("a dry run gives %v", o)
	}
	o := p.want(adminv1.Result_RESULT_INVALID, sources("loans.cue", "broken"))
	if len(o.GetDiagnostics()) != 1 || o.GetDiagnostics()[0].GetPosition().GetFile() != "loans.cue" || o.GetRevision() != nil {
		t.Errorf("broken sources give %v", o)
	}
	o = p.want(adminv1.Result_RESULT_NO_NODES, one, func(s *adminv1.ApplyStart) { s.Message = "the first" })
	r := o.GetRevision()
	if r.GetGeneration().GetNumber() != 1 || r.GetMessage() != "the first" || r.GetAuthor() != "librarian" || r.GetModule() != "library.example@v0" ||
		len(r.GetBindings()) != 1 || r.GetBindings()[0].GetName() != "loans" || time.Since(r.GetCreated().AsTime()) > time.Minute {
		t.Errorf("revision %v", r)
	}
	if o := p.want(adminv1.Result_RESULT_UNCHANGED, one); !proto.Equal(o.GetRevision(), r) {
		t.Errorf("unchanged: %v, want %v", o.GetRevision(), r)
	}
	p.want(adminv1.Result_RESULT_UNCHANGED, one, func(s *adminv1.ApplyStart) { s.DryRun = true })
	p.want(adminv1.Result_RESULT_STORED, sources("loans.cue", "two"), noWait)
}

func TestApplyRefusals(t *testing.T) {
	p := start(t, t.TempDir(), "")
	one := sources("loans.cue", "one")
	one.Tags = []string{"test", "region=eu"}
	p.want(adminv1.Result_RESULT_NO_NODES, one)
	try := func(s *sourcev1.Sources, change func(*adminv1.ApplyStart)) error {
		_, err := p.apply(s, change)
		return err
	}
	none := func(*adminv1.ApplyStart) {}
	two := sources("loans.cue", "two")
	refused(t, try(two, none), codes.FailedPrecondition, `group "default" is compiled with -t test -t region=eu, these sources with no tags: use the same tags, or --change-tags`)
	two.Tags = []string{"region=eu", "test"} // the order of tags means nothing
	refused(t, try(two, func(s *adminv1.ApplyStart) { s.Expected = proto.Uint64(0) }), codes.Aborted, "at revision 1, not at 0")
	refused(t, try(two, func(s *adminv1.ApplyStart) { s.Expected = proto.Uint64(2) }), codes.Aborted, "at revision 1, not at 2")
	p.want(adminv1.Result_RESULT_NO_NODES, two, func(s *adminv1.ApplyStart) { s.Expected = proto.Uint64(1) })

	other := sources("loans.cue", "two", "module.json", "museum.example@v0")
	other.Tags = two.Tags
	refused(t, try(other, none), codes.FailedPrecondition, "--replace-module")
	p.want(adminv1.Result_RESULT_NO_NODES, other, func(s *adminv1.ApplyStart) { s.ReplaceModule = true })

	for path, part := range map[string]string{"../up.cue": "no path below", "/abs.cue": "no path below", "a//b.cue": "no path below", ".": "no path below"} {
		refused(t, try(sources(path, "x"), none), codes.InvalidArgument, part)
	}
	refused(t, try(sources("a.cue", "1", "b.cue", "2", "a.cue", "3"), none), codes.InvalidArgument, `"a.cue" was sent twice`)
	refused(t, try(sources(), none), codes.InvalidArgument, "there are no sources")
	refused(t, try(one, func(s *adminv1.ApplyStart) { s.Group = "a/b" }), codes.InvalidArgument, "is no name")
	refused(t, try(one, func(s *adminv1.ApplyStart) { s.Group = "" }), codes.InvalidArgument, "group is empty")
	refused(t, try(one, func(s *adminv1.ApplyStart) { s.Timeout = durationpb.New(-1) }), codes.InvalidArgument, "negative")
	refused(t, try(one, func(s *adminv1.ApplyStart) { s.Message = strings.Repeat("x", 17<<10) }), codes.InvalidArgument, "more than 16384 bytes")
	var many []string
	for i := range 5001 {
		many = append(many, strings.Repeat("d/", i%50)+"f"+string(rune('a'+i/50%26))+strings.Repeat("x", i/1300)+".cue", "")
	}
	refused(t, try(sources(many...), none), codes.InvalidArgument, "more than 5000 files")
	large := make([]string, 0, 34)
	for i := range 17 {
		large = append(large, string(rune('a'+i))+".cue", strings.Repeat("x", 2<<20))
	}
	refused(t, try(sources(large...), none), codes.InvalidArgument, "more than 33554432 bytes")
	long := strings.Repeat("p", 4<<10-8)
	refused(t, try(sources(long+"12345.cue", "x"), none), codes.InvalidArgument, "has more than 4096 bytes")
	large = large[:0]
	for i := range 4_500 {
		large = append(large, fmt.Sprintf("%s%04d.cue", long, i), strings.Repeat("x", 4<<10))
	}
	refused(t, try(sources(large...), none), codes.InvalidArgument, "more than 33554432 bytes")
	if r := p.revisions(0); len(r) != 3 {
		t.Errorf("%d revisions after all that", len(r))
	}
}

// TestApplyParts sends a file in parts.
func TestApplyParts(t *testing.T) {
	p := start(t, t.TempDir(), "")
	p.want(adminv1.Result_RESULT_NO_NODES, sources("a.cue", "one ", "a.cue", "two ", "a.cue", "three", "b.cue", ""))
	stream, err := p.admin.GetRevision(t.Context(), &adminv1.GetRevisionRequest{Group: "default", Sources: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if f := m.GetFile(); f != nil {
			got = append(got, f.GetPath()+"="+string(f.GetData()))
		}
	}
	if text := strings.Join(got, " | "); text != "a.cue=one two three | b.cue=" {
		t.Errorf("the sources of the revision are %s", text)
	}
}

// TestApplyWaits holds the ends of waiting: time is up, or another revision came.
func TestApplyWaits(t *testing.T) {
	p := start(t, t.TempDir(), "")
	free := make(chan struct{})
	join(t, "a", func(*discoveryv1.Generation, *irv1.Content) error {
		<-free
		return nil
	}, p.addr)
	p.node("a", in(pending))
	o := p.want(adminv1.Result_RESULT_TIMEOUT, sources("loans.cue", "one"), func(s *adminv1.ApplyStart) {
		s.Timeout = durationpb.New(50 * time.Millisecond)
	})
	if o.GetNodes()[0].GetState() != pending {
		t.Errorf("nodes %v", o.GetNodes())
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.apply(sources("loans.cue", "two"))
		ended <- err
	}()
	for len(p.revisions(0)) < 2 {
		time.Sleep(time.Millisecond)
	}
	p.want(adminv1.Result_RESULT_STORED, sources("loans.cue", "three"), noWait)
	refused(t, <-ended, codes.Aborted, `revision 2 of group "default" was replaced by revision 3`)
	close(free)
	p.node("a", syncedAt(3))
}

// revisions returns the numbers of the revisions before one, all for 0.
func (p *plane) revisions(before uint64) []uint64 {
	p.t.Helper()
	answer, err := p.admin.ListRevisions(context.Background(), &adminv1.ListRevisionsRequest{Group: "default", Before: before})
	if err != nil {
		p.t.Fatal(err)
	}
	var numbers []uint64
	for _, r := range answer.GetRevisions() {
		numbers = append(numbers, r.GetGeneration().GetNumber())
	}
	return numbers
}

// rollback goes back to a revision, 0 for the default.
func (p *plane) rollback(number uint64) (*adminv1.Outcome, error) {
	stream, err := p.admin.Rollback(context.Background(), &adminv1.RollbackRequest{Group: "default", Revision: number, Author: "night shift"})
	for err == nil {
		var m *adminv1.RollbackResponse
		if m, err = stream.Recv(); m.GetOutcome() != nil {
			return m.GetOutcome(), nil
		}
	}
	return nil, err
}

// TestRollback goes back by default to what some node ran.
func TestRollback(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, "")
	_, err := p.rollback(0)
	refused(t, err, codes.FailedPrecondition, "has no revision: apply one first")
	a := join(t, "a", refuseTitle("bad"), p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "good"))
	_, err = p.rollback(0)
	refused(t, err, codes.FailedPrecondition, "no revision before 1 with another bundle")
	p.want(adminv1.Result_RESULT_REJECTED, sources("loans.cue", "bad"))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "better"))

	back := func(number uint64, result adminv1.Result, title string, wantNumber, of uint64) {
		t.Helper()
		o, err := p.rollback(number)
		r := o.GetRevision()
		if err != nil || o.GetResult() != result || a.titles() != title || r.GetGeneration().GetNumber() != wantNumber || r.GetRollbackOf() != of {
			t.Errorf("rollback to %d: %v, %v; the node runs %q", number, o, err, a.titles())
		}
	}
	back(0, adminv1.Result_RESULT_SYNCED, "good", 4, 1)    // over 2, which nobody ran
	back(0, adminv1.Result_RESULT_SYNCED, "better", 5, 3)  // and forth
	back(1, adminv1.Result_RESULT_SYNCED, "good", 6, 1)    // by name
	back(4, adminv1.Result_RESULT_UNCHANGED, "good", 6, 1) // the same bundle
	back(2, adminv1.Result_RESULT_REJECTED, "good", 7, 2)
	_, err = p.rollback(99)
	refused(t, err, codes.NotFound, `group "default" has no revision 99`)

	// After a restart nobody knows who ran what, but for what nodes hold.
	p.stop()
	p = start(t, data, p.addr)
	p.node("a", in(rejected))
	back(0, adminv1.Result_RESULT_SYNCED, "good", 8, 6)
}

// TestRollbackWaitsForNoCompiler has a rollback come while sources for its group are being
// compiled: it is done at once, and what was applied before it does not undo it.
func TestRollbackWaitsForNoCompiler(t *testing.T) {
	busy, free := make(chan struct{}), make(chan struct{})
	p := start(t, t.TempDir(), "", func(c *Config) {
		c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
			if string(s.GetFiles()[0].GetData()) == "slow" {
				busy <- struct{}{}
				<-free
			}
			return compile(ctx, s)
		}
	})
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "one"))
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "two"))
	type answer struct {
		outcome *adminv1.Outcome
		err     error
	}
	apply := func(text string, change ...func(*adminv1.ApplyStart)) chan answer {
		ended := make(chan answer, 1)
		go func() {
			o, err := p.apply(sources("loans.cue", text), change...)
			ended <- answer{o, err}
		}()
		return ended
	}
	slow := apply("slow")
	<-busy
	after := apply("three") // waits for its turn, and then knows of the rollback
	dry := apply("slow", func(s *adminv1.ApplyStart) { s.DryRun = true })
	<-busy // the dry run does not
	o, err := p.rollback(0)
	if err != nil || o.GetRevision().GetGeneration().GetNumber() != 3 || o.GetRevision().GetRollbackOf() != 1 {
		t.Errorf("rollback: %v, %v", o, err)
	}
	close(free)
	refused(t, (<-slow).err, codes.Aborted, `group "default" is at revision 3, not at 2`)
	if a := <-dry; a.err != nil || a.outcome.GetResult() != adminv1.Result_RESULT_DRY_RUN {
		t.Errorf("the dry run: %v, %v", a.outcome, a.err)
	}
	if a := <-after; a.err != nil || a.outcome.GetRevision().GetGeneration().GetNumber() != 4 {
		t.Errorf("the apply that waited: %v, %v", a.outcome, a.err)
	}
}

// TestAppliesKeepTheirOrder has two operators apply, the first of them what takes longer
// to compile: the second's is the one that stays.
func TestAppliesKeepTheirOrder(t *testing.T) {
	busy, free := make(chan struct{}), make(chan struct{})
	p := start(t, t.TempDir(), "", func(c *Config) {
		c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
			if string(s.GetFiles()[0].GetData()) == "first" {
				close(busy)
				<-free
			}
			return compile(ctx, s)
		}
	})
	ended := make(chan error, 2)
	apply := func(text string) {
		_, err := p.apply(sources("loans.cue", text), noWait, func(s *adminv1.ApplyStart) { s.Message = text })
		ended <- err
	}
	go apply("first")
	<-busy
	go apply("second")
	close(free)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if r := p.status().GetRevision(); r.GetGeneration().GetNumber() != 2 || r.GetMessage() != "second" {
		t.Errorf("the group is at %v", r)
	}
}

// damage changes a byte of every stored blob that holds the text.
func damage(t *testing.T, data, text string) {
	t.Helper()
	kv, err := store.Bolt(data)
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	pairs, err := kv.List(t.Context(), "blobs/", "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, p := range pairs {
		if strings.Contains(string(p.Value), text) {
			p.Value[0] ^= 1
			if err := kv.Commit(t.Context(), store.Txn{Put: []store.Pair{p}}); err != nil {
				t.Fatal(err)
			}
			damaged++
		}
	}
	if damaged == 0 {
		t.Fatalf("no blob holds %q", text)
	}
}

// TestDamagedStatus damages what the store has of one group: that group says so, the
// other is as it was, and to apply again mends it.
func TestDamagedStatus(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, "")
	other := func(s *adminv1.ApplyStart) { s.Group = "other" }
	p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "one"))
	p.want(adminv1.Result_RESULT_NO_NODES, sources("catalog.cue", "two"), other)
	p.stop()
	damage(t, data, "catalog") // bundle, bindings and source map
	p = start(t, data, "")
	check := func(what, problem string) {
		t.Helper()
		s, err := p.admin.GetStatus(t.Context(), &adminv1.GetStatusRequest{})
		if err != nil || len(s.GetGroups()) != 2 {
			t.Fatalf("%s: GetStatus = %v, %v", what, s, err)
		}
		if g := s.GetGroups()[0]; g.GetProblem() != "" || len(g.GetRevision().GetBindings()) != 1 {
			t.Errorf("%s: the whole group is %v", what, g)
		}
		g := s.GetGroups()[1]
		if !strings.Contains(g.GetProblem(), problem) || (problem == "") != (g.GetProblem() == "") || g.GetRevision().GetGeneration().GetNumber() != 1 {
			t.Errorf("%s: the damaged group is %v", what, g)
		}
	}
	check("damaged", "damaged in the store: apply what it belongs to again")
	list, err := p.admin.ListRevisions(t.Context(), &adminv1.ListRevisionsRequest{Group: "other"})
	if err != nil || len(list.GetRevisions()) != 1 {
		t.Errorf("ListRevisions = %v, %v", list, err)
	}
	p.want(adminv1.Result_RESULT_UNCHANGED, sources("catalog.cue", "two"), other)
	check("applied again", "")
}

// TestDamagedBundle damages the bundle of a revision: no rollback leads to it, and it goes
// to nodes when it is applied again, alone or within another.
func TestDamagedBundle(t *testing.T) {
	for _, again := range []string{"the first", "the third"} {
		t.Run(again, func(t *testing.T) {
			data := t.TempDir()
			p := start(t, data, "")
			p.want(adminv1.Result_RESULT_NO_NODES, sources("catalog.cue", "always the same", "loans.cue", "the first"))
			p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", "the second"))
			p.stop()
			damage(t, data, "always the same")
			p = start(t, data, p.addr)
			a := join(t, "a", nil, p.addr)
			p.node("a", syncedAt(2))
			_, err := p.rollback(1)
			refused(t, err, codes.FailedPrecondition, "no revision was stored")
			refused(t, err, codes.FailedPrecondition, "damaged in the store")
			if at := p.status().GetRevision().GetGeneration().GetNumber(); at != 2 {
				t.Errorf("the group is at revision %d", at)
			}
			p.want(adminv1.Result_RESULT_SYNCED, sources("catalog.cue", "always the same", "loans.cue", again))
			if want := "always the same " + again; a.titles() != want {
				t.Errorf("the node runs %q", a.titles())
			}
			if o, err := p.rollback(1); err != nil || a.titles() != "always the same the first" {
				t.Errorf("rollback: %v, %v; the node runs %q", o, err, a.titles())
			}
		})
	}
}

func TestRevisionsAndStatus(t *testing.T) {
	p := start(t, t.TempDir(), "")
	for _, title := range []string{"1", "2", "3", "4"} {
		p.want(adminv1.Result_RESULT_NO_NODES, sources("loans.cue", title))
	}
	if got := p.revisions(0); len(got) != 4 || got[0] != 4 || got[3] != 1 {
		t.Errorf("revisions %v", got)
	}
	if got := p.revisions(3); len(got) != 2 || got[0] != 2 {
		t.Errorf("revisions before 3: %v", got)
	}
	join(t, "a", nil, p.addr)
	p.node("a", syncedAt(4))
	s, err := p.admin.GetStatus(t.Context(), &adminv1.GetStatusRequest{})
	if err != nil || len(s.GetGroups()) != 1 {
		t.Fatalf("GetStatus = %v, %v", s, err)
	}
	g := s.GetGroups()[0]
	if g.GetName() != "default" || g.GetRevision().GetGeneration().GetNumber() != 4 || len(g.GetCounts()) != 1 ||
		g.GetCounts()[0].GetState() != synced || g.GetCounts()[0].GetNodes() != 1 || s.GetEpoch() == 0 || s.GetBuild() == "" {
		t.Errorf("GetStatus = %v", s)
	}
	empty, err := p.admin.ListRevisions(t.Context(), &adminv1.ListRevisionsRequest{Group: "other"})
	if err != nil || len(empty.GetRevisions()) != 0 {
		t.Errorf("ListRevisions of nothing = %v, %v", empty, err)
	}
	nodes, err := p.admin.ListNodes(t.Context(), &adminv1.ListNodesRequest{Group: "other"})
	if err != nil || len(nodes.GetNodes()) != 0 {
		t.Errorf("ListNodes of nothing = %v, %v", nodes, err)
	}
	stream, err := p.admin.GetRevision(t.Context(), &adminv1.GetRevisionRequest{Group: "default", Number: 7})
	if err == nil {
		_, err = stream.Recv()
	}
	refused(t, err, codes.NotFound, "has no revision 7")
}
