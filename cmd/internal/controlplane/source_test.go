package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
	"google.golang.org/grpc/codes"
)

// A mount is a directory as Kubernetes mounts a ConfigMap: what is in it is links to
// ..data, which is a link to the directory of one version.
type mount struct {
	t       *testing.T
	dir     string
	version int
}

func newMount(t *testing.T, text string) *mount {
	m := &mount{t: t, dir: t.TempDir()}
	m.swap(text)
	if err := os.Symlink(filepath.Join("..data", "loans.cue"), filepath.Join(m.dir, "loans.cue")); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mount) swap(text string) {
	m.t.Helper()
	m.version++
	version := "..v" + string(rune('0'+m.version))
	if err := os.Mkdir(filepath.Join(m.dir, version), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, version, "loans.cue"), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(version, filepath.Join(m.dir, "..next")); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(m.dir, "..next"), filepath.Join(m.dir, "..data")); err != nil {
		m.t.Fatal(err)
	}
}

// TestSource feeds a group from a directory.
func TestSource(t *testing.T) {
	m, data := newMount(t, "one"), t.TempDir()
	fed := func(c *Config) { c.Sources = []Source{{Group: "default", Tags: []string{"prod"}, Dir: m.dir}} }
	p := start(t, data, "", fed)
	a := join(t, "a", nil, p.addr)
	p.node("a", syncedAt(1))
	m.swap("two")
	p.node("a", syncedAt(2))
	r := p.status().GetRevision()
	if r.GetAuthor() != "source" || r.GetSource() != m.dir || strings.Join(r.GetTags(), " ") != "prod" || a.titles() != "two" {
		t.Errorf("the node runs %q: %v", a.titles(), r)
	}

	m.swap("broken")
	g := p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() != "" })
	if g.GetSourceError() != "loans.cue:1:1: file is broken" || g.GetRevision().GetGeneration().GetNumber() != 2 {
		t.Errorf("after a bad change: %v", g)
	}
	m.swap("two")
	p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() == "" })

	_, err := p.apply(sources("loans.cue", "by hand"))
	refused(t, err, codes.FailedPrecondition, "is fed by the directory "+m.dir)
	byHand := sources("loans.cue", "by hand")
	byHand.Tags = []string{"prod"}
	p.want(adminv1.Result_RESULT_SYNCED, byHand, func(s *adminv1.ApplyStart) { s.Force = true })

	// What an operator put over the directory stays until the directory changes, also
	// over a restart.
	p.stop()
	p = start(t, data, p.addr, fed)
	p.node("a", syncedAt(3))
	m.swap("two")   // the same as before, so no change
	m.swap("three") // and a change
	p.node("a", syncedAt(4))
	if a.titles() != "three" {
		t.Errorf("the node runs %q", a.titles())
	}
}

// TestSourceSpeaksWhenItChanges holds that what an operator puts over a directory stays
// until the directory changes, and that each change of it after that makes a revision,
// also one back to what it said before.
func TestSourceSpeaksWhenItChanges(t *testing.T) {
	for name, over := range map[string]func(*plane){
		"rollback": func(p *plane) {
			if o, err := p.rollback(0); err != nil || o.GetResult() != adminv1.Result_RESULT_SYNCED {
				p.t.Fatalf("rollback: %v, %v", o, err)
			}
		},
		"forced apply": func(p *plane) {
			p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"), func(s *adminv1.ApplyStart) { s.Force = true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, data := newMount(t, "one"), t.TempDir()
			fed := func(c *Config) { c.Sources = []Source{{Group: "default", Dir: m.dir}} }
			p := start(t, data, "", fed)
			a := join(t, "a", nil, p.addr)
			p.node("a", syncedAt(1))
			m.swap("two")
			p.node("a", syncedAt(2))
			over(p)
			p.stays(m, "two", 3)

			p.stop()
			p = start(t, data, p.addr, fed)
			p.stays(m, "two", 3)
			p.stop()
			p = start(t, data, p.addr, fed, nextBuild)
			p.stays(m, "two", 3)

			for i, title := range []string{"one", "two", "one"} {
				m.swap(title)
				p.node("a", syncedAt(uint64(4+i)))
				if a.titles() != title {
					t.Errorf("the directory says %q, the node runs %q", title, a.titles())
				}
			}
		})
	}
}

// stays fails unless the directory, which says text, was read again and the group is still
// at the revision.
func (p *plane) stays(m *mount, text string, number uint64) {
	p.t.Helper()
	m.swap("broken")
	p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() != "" })
	m.swap(text)
	g := p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() == "" })
	if at := g.GetRevision().GetGeneration().GetNumber(); at != number {
		p.t.Errorf("the directory says %s again and the group is at revision %d, not %d", text, at, number)
	}
}

// nextBuild has the control plane compile as a later build might: to one thing more of
// every binding.
func nextBuild(c *Config) {
	c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
		compiled, err := compile(ctx, s)
		if compiled.GetBundle() == nil {
			return compiled, err
		}
		content, err := irv1.Open(compiled.Bundle)
		if err != nil {
			return nil, err
		}
		for _, b := range content.Bindings {
			b.Version = "1"
		}
		compiled.Bundle, err = irv1.Seal(content.Bindings, nil)
		return compiled, err
	}
}

// TestSourceStandsUnchanged holds that a directory that stays as it is makes no further
// revision, and that one whose change makes no difference to nodes does: what comes over
// it has to stay, too.
func TestSourceStandsUnchanged(t *testing.T) {
	m, data := newMount(t, "one"), t.TempDir()
	fed := func(c *Config) { c.Sources = []Source{{Group: "default", Dir: m.dir}} }
	p := start(t, data, "", fed)
	join(t, "a", nil, p.addr)
	p.node("a", syncedAt(1))
	p.stays(m, "one", 1)
	p.stop()
	p = start(t, data, p.addr, fed, nextBuild)
	p.stays(m, "one", 1)
	p.stop()
	p = start(t, data, p.addr, fed)
	m.swap("two")
	p.node("a", syncedAt(2))
	m.swap("two // with a remark")
	p.node("a", syncedAt(3))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "by hand"), func(s *adminv1.ApplyStart) { s.Force = true })
	p.stays(m, "two // with a remark", 4)
}

// TestSourceChangesPlace has a group fed from another directory and then from the first
// again, which has not changed: each speaks when it is named, as after a change.
func TestSourceChangesPlace(t *testing.T) {
	first, second, data := newMount(t, "one"), newMount(t, "two"), t.TempDir()
	for i, m := range []*mount{first, second, first} {
		p := start(t, data, "", func(c *Config) { c.Sources = []Source{{Group: "default", Dir: m.dir}} })
		p.until(func(g *adminv1.GroupStatus) bool { return g.GetRevision().GetGeneration().GetNumber() == uint64(i+1) })
		p.stop()
	}
}

// TestSourceBeyondALimit has a directory take too much to compile, as any may while its
// machine is busy: it is tried again by itself.
func TestSourceBeyondALimit(t *testing.T) {
	m := newMount(t, "one")
	var idle atomic.Bool
	p := start(t, t.TempDir(), "", func(c *Config) {
		c.Sources, c.Retry = []Source{{Group: "default", Dir: m.dir}}, 50*time.Millisecond
		c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
			if !idle.Load() {
				return &sourcev1.Compiled{Diagnostics: []*sourcev1.Diagnostic{{
					Severity: sourcev1.Severity_SEVERITY_ERROR, Code: "compile-limit", Message: "took longer than 10s",
				}}}, nil
			}
			return compile(ctx, s)
		}
	})
	p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() == "took longer than 10s" })
	idle.Store(true)
	p.until(func(g *adminv1.GroupStatus) bool {
		return g.GetRevision().GetGeneration().GetNumber() == 1 && g.GetSourceError() == ""
	})
}

// TestSourcePanics has a mistake of ours end neither the process nor the group.
func TestSourcePanics(t *testing.T) {
	m := newMount(t, "one")
	p := start(t, t.TempDir(), "", func(c *Config) {
		c.Sources = []Source{{Group: "default", Dir: m.dir}}
		c.Compile = func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
			if string(s.GetFiles()[0].GetData()) == "one" {
				panic("a mistake of ours")
			}
			return compile(ctx, s)
		}
	})
	p.until(func(g *adminv1.GroupStatus) bool { return strings.Contains(g.GetSourceError(), "made a mistake") })
	m.swap("two")
	p.until(func(g *adminv1.GroupStatus) bool {
		return g.GetRevision().GetGeneration().GetNumber() == 1 && g.GetSourceError() == ""
	})
}

// TestRestoredSource brings back an older store under a directory: what that says is led
// above what the nodes run, also when they come after it was read.
func TestRestoredSource(t *testing.T) {
	m := newMount(t, "one")
	fed := func(c *Config) {
		c.Sources, c.Retry = []Source{{Group: "default", Dir: m.dir}}, 50*time.Millisecond
	}
	data, old := t.TempDir(), t.TempDir()
	p := start(t, data, "", fed)
	a := join(t, "a", nil, p.addr)
	p.node("a", syncedAt(1))
	p.stop()
	copyFile(t, data, old)
	p = start(t, data, p.addr, fed)
	p.node("a", syncedAt(1))
	for i, title := range []string{"two", "three"} {
		m.swap(title)
		p.node("a", syncedAt(uint64(2+i)))
	}
	p.stop()
	a.cut(t)

	m.swap("four")
	p = start(t, old, p.addr, fed) // revision 2, when the node runs 3
	p.node("a", syncedAt(4))
	if a.titles() != "four" {
		t.Errorf("the node runs %q", a.titles())
	}
	p.stays(m, "four", 4)
}

// TestSourceAppears begins with a directory that is not there yet.
func TestSourceAppears(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	p := start(t, t.TempDir(), "", func(c *Config) { c.Sources = []Source{{Group: "default", Dir: dir}} })
	g := p.until(func(g *adminv1.GroupStatus) bool { return g.GetSourceError() != "" })
	if !strings.Contains(g.GetSourceError(), "no such file") {
		t.Errorf("source error %q", g.GetSourceError())
	}
	next := dir + "-next"
	if err := os.Mkdir(next, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(next, "loans.cue"), []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, dir); err != nil {
		t.Fatal(err)
	}
	p.until(func(g *adminv1.GroupStatus) bool {
		return g.GetRevision().GetGeneration().GetNumber() == 1 && g.GetSourceError() == ""
	})
}

func (p *plane) status() *adminv1.GroupStatus {
	p.t.Helper()
	s, err := p.admin.GetStatus(context.Background(), &adminv1.GetStatusRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, g := range s.GetGroups() {
		if g.GetName() == "default" {
			return g
		}
	}
	return nil
}

// until returns the state of the group "default" once ok accepts it.
func (p *plane) until(ok func(*adminv1.GroupStatus) bool) *adminv1.GroupStatus {
	p.t.Helper()
	var g *adminv1.GroupStatus
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if g = p.status(); ok(g) {
			return g
		}
	}
	p.t.Fatalf("the group is not as awaited: %v", g)
	return nil
}
