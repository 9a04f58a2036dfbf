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

// FilesDir is the name of directories of which everything belongs to a module, not only
// what is CUE or JSON. Nothing else that lies in a module is read: no key, no archive
// gets to a control plane for being there.
const FilesDir = "files"

// Read reads the CUE files and JSON documents of dir and everything below it, and
// all that is in directories called [FilesDir] or below them. Directories whose name
// begins with "." or "_" are left out, as CUE does, and so is node_modules; so are files
// whose name begins with ".". Tags are empty.
//
// A symbolic link is followed when what it names lies inside dir and refused
// otherwise; one that names a directory is skipped. The errors are [ErrTooLarge], those
// of the file system, and what is wrong with a link that cannot be followed.
func Read(dir string) (*sourcev1.Sources, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := reader{root: root, sources: &sourcev1.Sources{}}
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
	root    *os.Root
	sources *sourcev1.Sources
	size    int
}

func (r *reader) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case entry.IsDir() && name != "." && skipped(entry.Name()):
		return fs.SkipDir
	case entry.IsDir() || !Named(name):
		return nil
	}
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
