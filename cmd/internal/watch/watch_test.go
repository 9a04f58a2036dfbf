package watch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// step is one change that must be signalled.
type step struct {
	name string
	do   func(t *testing.T, dir string)
}

// TestPath walks through what editors, git-sync and Kubernetes do to a path, and
// wants a signal after each step.
func TestPath(t *testing.T) {
	tests := []struct {
		name  string
		setup func(t *testing.T, dir string)
		watch string
		steps []step
	}{
		{"file", nil, "a.cue", []step{
			{"comes", write("a.cue", "1")},
			{"is written", write("a.cue", "2")},
			{"is replaced by a rename", replace("a.cue", "3")},
			{"is written after that", write("a.cue", "4")},
			{"goes", remove("a.cue")},
			{"comes again", write("a.cue", "5")},
		}},
		{"directory", mkdir("m"), "m", []step{
			{"file comes", write("m/a.cue", "1")},
			{"file is replaced", replace("m/a.cue", "2")},
			{"subdirectory comes", mkdir("m/sub")},
			{"file comes there", write("m/sub/b.cue", "1")},
			{"deep directories come at once", mkdir("m/x/y/z")},
			{"file comes there", write("m/x/y/z/c.cue", "1")},
			{"subdirectory is replaced", func(t *testing.T, dir string) {
				mkdir("new")(t, dir)
				write("new/b.cue", "2")(t, dir)
				rename("m/sub", "old")(t, dir)
				rename("new", "m/sub")(t, dir)
			}},
			{"file of the new one is written", write("m/sub/b.cue", "3")},
			{"goes", remove("m")},
			{"comes again", mkdir("m")},
			{"file comes again", write("m/a.cue", "3")},
		}},
		{"directories that are not there yet", nil, "a/b/c", []step{
			{"come one by one", func(t *testing.T, dir string) {
				mkdir("a")(t, dir)
				mkdir("a/b")(t, dir)
				mkdir("a/b/c")(t, dir)
			}},
			{"file comes", write("a/b/c/x.cue", "1")},
		}},
		{"git-sync swaps the directory", func(t *testing.T, dir string) {
			mkdir("1")(t, dir)
			mkdir("2")(t, dir)
			link("1", "current")(t, dir)
		}, "current", []step{
			{"file comes", write("1/a.cue", "1")},
			{"link moves", swap("2", "current")},
			{"file comes in the new one", write("2/a.cue", "1")},
			{"link moves back", swap("1", "current")},
			{"file is written in the old one", write("1/a.cue", "2")},
		}},
		{"ConfigMap swaps its data", configMap, "vol", []step{
			{"first swap", swapData("2")},
			{"second swap", swapData("3")},
		}},
		{"one file of a ConfigMap", configMap, "vol/a.cue", []step{
			{"first swap", swapData("2")},
			{"second swap", swapData("3")},
		}},
		{"dangling link", link("later/x", "current"), "current", []step{
			{"target comes", func(t *testing.T, dir string) {
				mkdir("later/x")(t, dir)
			}},
			{"file comes", write("later/x/a.cue", "1")},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.setup != nil {
				tt.setup(t, dir)
			}
			signals := Path(t.Context(), filepath.Join(dir, tt.watch), slog.New(slog.DiscardHandler))
			for _, s := range tt.steps {
				drain(signals)
				s.do(t, dir)
				select {
				case <-signals:
				case <-time.After(10 * time.Second):
					t.Fatalf("%s: no signal", s.name)
				}
			}
		})
	}
}

// TestPathIgnores makes changes that are none of the path's business, then one
// that is, and wants one signal.
func TestPathIgnores(t *testing.T) {
	dir := t.TempDir()
	mkdir("m/.git")(t, dir)
	signals := Path(t.Context(), filepath.Join(dir, "m"), slog.New(slog.DiscardHandler))
	for _, name := range []string{"m/.git/index", "m/.a.cue.swp", "beside.cue"} {
		write(name, "1")(t, dir)
	}
	select {
	case <-signals:
		t.Fatal("signal for files that are hidden or elsewhere")
	case <-time.After(10 * quiet):
	}
	write("m/a.cue", "1")(t, dir)
	<-signals
}

func TestPathEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	signals := Path(ctx, t.TempDir(), slog.New(slog.DiscardHandler))
	cancel()
	for range signals {
	}
}

// TestCoalesce: a burst is one signal after its end, and an endless one is a
// signal every quarter of a second.
func TestCoalesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes, signals, early := make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 1)
		go coalesce(ctx, changes, signals, early)

		start := time.Now()
		for range 5 {
			changes <- struct{}{}
			changed := time.Now()
			<-early
			if took := time.Since(changed); took != brief {
				t.Errorf("what may be the end of a burst signalled after %v, want %v", took, brief)
			}
			time.Sleep(quiet/2 - brief)
		}
		<-signals
		if took := time.Since(start); took != 3*quiet {
			t.Errorf("burst of %v signalled after %v, want %v", 2*quiet, took, 3*quiet)
		}
		time.Sleep(time.Hour)
		select {
		case <-signals:
			t.Error("one burst, two signals")
		case <-early:
			t.Error("a signal that comes early, and nothing after it")
		default:
		}

		start = time.Now()
		for time.Since(start) < 2*longest+quiet {
			changes <- struct{}{}
			time.Sleep(quiet - 1)
			select {
			case <-signals:
				if took := time.Since(start); took > longest+quiet {
					t.Fatalf("endless burst: no signal for %v", took)
				}
				return
			default:
			}
		}
		t.Error("endless burst: no signal")
	})
}

func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changes := make(chan struct{}, 1)
		go poll(ctx, changes, slog.New(slog.DiscardHandler), "x", os.ErrInvalid)
		start := time.Now()
		<-changes
		if took := time.Since(start); took != pace {
			t.Errorf("first change after %v, want %v", took, pace)
		}
		cancel()
	})
}

func drain(c <-chan struct{}) {
	// What an earlier step still causes comes within one burst.
	for {
		select {
		case <-c:
		case <-time.After(3 * quiet):
			return
		}
	}
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func replace(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		write(name+"~", text)(t, dir)
		rename(name+"~", name)(t, dir)
	}
}

func rename(from, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, name))) }
}

func mkdir(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, os.MkdirAll(filepath.Join(dir, name), 0o700)) }
}

func link(to, name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { must(t, os.Symlink(to, filepath.Join(dir, name))) }
}

// swap points the link elsewhere in one step, as git-sync does.
func swap(to, name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		link(to, name+".new")(t, dir)
		rename(name+".new", name)(t, dir)
	}
}

// configMap lays out a volume as the kubelet does, with what it will hold later.
func configMap(t *testing.T, dir string) {
	for _, n := range []string{"1", "2", "3"} {
		mkdir("vol/.."+n)(t, dir)
		write("vol/.."+n+"/a.cue", n)(t, dir)
	}
	link("..1", "vol/..data")(t, dir)
	link("..data/a.cue", "vol/a.cue")(t, dir)
}

func swapData(to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		link(".."+to, "vol/..data_tmp")(t, dir)
		rename("vol/..data_tmp", "vol/..data")(t, dir)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
