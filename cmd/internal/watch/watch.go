// Package watch takes the path of a file or directory and gives a signal
// whenever what is there may have changed.
//
// It follows the path, not the inode: it keeps working when an editor replaces a
// file by renaming another over it, when a symbolic link on the way is pointed
// elsewhere (a Kubernetes ConfigMap, git-sync), when directories appear, and
// when the path does not exist yet or vanishes for a while.
package watch

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	quiet   = 15 * time.Millisecond  // no change for so long means that a save is complete
	brief   = 3 * time.Millisecond   // no change for so long means that it may be
	longest = 250 * time.Millisecond // a signal comes at least so often while changes go on
	pace    = 2 * time.Second        // between signals where the system cannot tell of changes
)

// Path signals changes of the file or directory at path and, for a directory, of
// everything below it except hidden files and directories. Changes in quick
// succession are one signal, and a signal not yet received is not sent twice.
//
// Watching has begun when Path returns, so a caller that calls Path first and
// reads path then misses nothing. A signal says "look again": what is there may
// be what was there before. The channel is closed once ctx is done.
//
// Where the system has no watch left to give, Path logs that and signals every
// two seconds instead.
func Path(ctx context.Context, path string, log *slog.Logger) <-chan struct{} {
	signals, _ := Early(ctx, path, log)
	return signals
}

// Early is [Path] with a second channel, which signals some milliseconds before the first
// does, if nothing more changes: for who can begin with something that may turn out to
// have been in vain. That channel is never closed.
func Early(ctx context.Context, path string, log *slog.Logger) (signals, early <-chan struct{}) {
	over, soon := make(chan struct{}, 1), make(chan struct{}, 1)
	changes := make(chan struct{}, 1)
	go coalesce(ctx, changes, over, soon)
	w, err := start(path)
	if err != nil {
		go poll(ctx, changes, log, path, err)
		return over, soon
	}
	go w.run(ctx, changes, log)
	return over, soon
}

// coalesce turns every burst of changes into one signal, sent when the burst is
// over or has lasted for longest, with one to early before.
func coalesce(ctx context.Context, changes <-chan struct{}, signals, early chan<- struct{}) {
	defer close(signals)
	var deadline time.Time // of the burst; zero between bursts
	var due, soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			if deadline.IsZero() {
				deadline = time.Now().Add(longest)
			}
			soon, due = time.After(brief), time.After(min(quiet, time.Until(deadline)))
		case <-soon:
			soon = nil
			notify(early)
		case <-due:
			deadline, due = time.Time{}, nil
			notify(signals)
		}
	}
}

// poll takes the place of watching, which cause has made impossible.
func poll(ctx context.Context, changes chan<- struct{}, log *slog.Logger, path string, cause error) {
	log.Warn("cannot watch for changes, looking every two seconds instead; on Linux raise fs.inotify.max_user_instances and max_user_watches",
		"path", path, "err", cause)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			notify(changes)
		}
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is waiting already
	}
}

// A watcher keeps the system's watches where the path leads at the moment.
type watcher struct {
	path string // absolute
	fs   *fsnotify.Watcher
	dirs plan // what is watched now
}

func start(path string) (*watcher, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{path: path, fs: fs}
	if err := w.follow(); err != nil {
		fs.Close()
		return nil, err
	}
	return w, nil
}

// follow moves the watches to where the path leads now. It looks again after it
// has added some, since what came between looking and watching was not seen.
func (w *watcher) follow() error {
	for {
		next := resolve(w.path)
		if next.same(w.dirs) {
			return nil
		}
		for dir := range w.dirs {
			if _, ok := next[dir]; !ok {
				_ = w.fs.Remove(dir) // it may be gone, and its watch with it
			}
		}
		w.dirs = next
		for dir := range next {
			if err := w.fs.Add(dir); err != nil && exists(dir) {
				return err
			}
		}
	}
}

// run passes on what concerns the path until ctx is done.
func (w *watcher) run(ctx context.Context, changes chan<- struct{}, log *slog.Logger) {
	for {
		var err error
		select {
		case <-ctx.Done():
			w.fs.Close()
			return
		case e := <-w.fs.Events:
			if !w.dirs.concerns(e.Name) {
				continue
			}
			err = w.see(e)
		case <-w.fs.Errors: // such as more changes than the system's queue holds
			err = w.refollow(w.path)
		}
		notify(changes)
		if err != nil {
			w.fs.Close()
			poll(ctx, changes, log, w.path, err)
			return
		}
	}
}

// see follows the path anew when entries came or went.
func (w *watcher) see(e fsnotify.Event) error {
	if e.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename) {
		return w.refollow(e.Name)
	}
	return nil
}

// refollow follows the path after the entry at name came or went. A directory may
// have been replaced by another of its name, so its watches are set anew.
func (w *watcher) refollow(name string) error {
	for dir := range w.dirs {
		if dir == name || strings.HasPrefix(dir, name+string(filepath.Separator)) {
			_ = w.fs.Remove(dir) // it may be gone, and its watch with it
			delete(w.dirs, dir)
		}
	}
	return w.follow()
}
