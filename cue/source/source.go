// Package source reads a module's directory into Sources, and writes Sources back
// as a directory.
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// MaxFiles is how many files a module may have.
const MaxFiles = 5000

// MaxBytes is the size, in bytes, that the files of a module together may have.
const MaxBytes = 32 << 20

// ErrTooLarge is returned, wrapped, by [Read] for a directory with more than
// [MaxFiles] or [MaxBytes].
var ErrTooLarge = errors.New("module is too large")

// ErrLinked is returned, wrapped, by [Read] for a link to a directory.
var ErrLinked = errors.New("is a link to a directory, and such links are not followed")

// FilesDir is the name of directories of which everything belongs to a module, not only
// what is CUE or JSON. Nothing else that lies in a module is read: no key, no archive
// gets to a control plane for being there.
const FilesDir = "files"

// Read reads the CUE files and JSON documents of dir and everything below it, and
// all that is in directories called [FilesDir] or below them. Directories whose name
// begins with "." or "_" are left out, as CUE does, and so is node_modules; so are files
// whose name begins with ".". Tags are empty.
//
// A symbolic link to a file is followed when the file lies inside dir and refused
// otherwise. One to a directory is refused: plain cue does not follow it either, and
// what lies there would be missing without a word. Kubernetes makes such links in the
// root of a mounted ConfigMap, to what is below ..data, and they are followed. The
// errors are those of the file system, [ErrTooLarge], [ErrLinked], and what is wrong with
// a link that cannot be followed.
func Read(dir string) (*sourcev1.Sources, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := reader{dir: dir, root: root, sources: &sourcev1.Sources{}}
	if err := fs.WalkDir(root.FS(), ".", r.visit); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	slices.SortFunc(r.sources.Files, func(a, b *sourcev1.File) int { return cmp.Compare(a.GetPath(), b.GetPath()) })
	return r.sources, nil
}

// Named reports whether the file at path, slash-separated and relative to the
// module's root, is one that [Read] reads.
func Named(name string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if part != "." && skipped(part) {
			return false
		}
	}
	base := path.Base(name)
	return !strings.HasPrefix(base, ".") && (path.Ext(base) == ".cue" || path.Ext(base) == ".json" || IsFile(name))
}

// IsFile reports whether the path is that of something in a directory called [FilesDir]
// or below one.
func IsFile(name string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), FilesDir)
}

func skipped(dir string) bool {
	return strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_") || dir == "node_modules"
}

type reader struct {
	dir     string
	root    *os.Root // of dir
	sources *sourcev1.Sources
	size    int
}

func (r *reader) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir() && name != "." && skipped(entry.Name()):
		return fs.SkipDir
	case r.linked(name, entry):
		return r.visitLinked(name)
	case entry.IsDir() || !Named(name):
		return nil
	}
	return r.read(name, entry)
}

// linked reports whether the entry is a link to a directory, inside dir or not, that
// would be read if it were one. Only that it is a directory is looked at.
func (r *reader) linked(name string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 || skipped(entry.Name()) {
		return false
	}
	info, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

func (r *reader) visitLinked(name string) error {
	target, err := r.root.Readlink(name)
	if err == nil && !strings.Contains(name, "/") && strings.HasPrefix(target, "..data/") {
		return fs.WalkDir(r.root.FS(), name, r.visit)
	}
	return fmt.Errorf("%s %w: put the directory itself there, or leave it out with a name that begins with _", name, ErrLinked)
}

// read adds the file, or the file that the link names.
func (r *reader) read(name string, entry fs.DirEntry) error {
	info, err := r.root.Stat(name)
	if err != nil && entry.Type()&fs.ModeSymlink != 0 {
		return r.link(name, err)
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	if len(r.sources.Files) == MaxFiles {
		return fmt.Errorf("%w: it has more than %d files", ErrTooLarge, MaxFiles)
	}
	if int64(r.size)+info.Size() > MaxBytes {
		return fmt.Errorf("%w: its files have more than %d MiB", ErrTooLarge, MaxBytes>>20)
	}
	data, err := r.root.ReadFile(name)
	if err != nil {
		return err
	}
	r.size += len(data)
	r.sources.Files = append(r.sources.Files, &sourcev1.File{Path: name, Data: data})
	return nil
}

// link returns what to say of a symbolic link that cannot be followed, for which the file
// system says err.
func (r *reader) link(name string, err error) error {
	const most = 40 // links in a row, as Linux has it
	at := name
	for range most {
		target, unread := r.root.Readlink(at)
		if unread != nil {
			break
		}
		if filepath.IsAbs(target) {
			return fmt.Errorf("%s is a symbolic link to an absolute path: make it relative, or copy the file", name)
		}
		if at = path.Join(path.Dir(at), filepath.ToSlash(target)); !filepath.IsLocal(at) {
			return fmt.Errorf("%s is a symbolic link that leads out of the module: copy the file", name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is a symbolic link to nothing: there is no %s", name, at)
	}
	return err
}

// Write writes the files of s below dir, which it makes where needed; existing
// files are replaced. A path that leads out of dir is an error.
func Write(dir string, s *sourcev1.Sources) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range s.GetFiles() {
		if err := root.MkdirAll(path.Dir(f.GetPath()), 0o777); err != nil {
			return err
		}
		if err := root.WriteFile(f.GetPath(), f.GetData(), 0o666); err != nil {
			return err
		}
	}
	return nil
}
