package watch

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through, as on Linux.
const maxLinks = 40

// A plan says which directories to watch, and for which names in each: nil means
// all but hidden ones.
type plan map[string]map[string]bool

// resolve follows the absolute path through symbolic links and returns what to
// watch so that every change of where it leads, and of what is there, is seen.
//
// Each link is watched for in its directory. A file is watched for by name in its
// directory, since watches of files do not survive their replacement. Of a path
// that does not exist, the first missing entry is watched for.
func resolve(path string) plan {
	p := plan{}
	for range maxLinks {
		link, target := firstLink(path)
		if link == "" {
			break
		}
		p.name(link)
		path = target
	}
	for !exists(path) && path != filepath.Dir(path) {
		if parent := filepath.Dir(path); exists(parent) {
			p.name(path)
			return p
		}
		path = filepath.Dir(path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		p.name(path)
		return p
	}
	p.tree(path)
	return p
}

// firstLink returns the first symbolic link on the way along the absolute path and
// the path with that link replaced by what it points to; "" when there is none.
func firstLink(path string) (link, target string) {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at := root
	rest := strings.Split(strings.TrimPrefix(path, root), string(filepath.Separator))
	for i, name := range rest {
		at = filepath.Join(at, name)
		to, err := os.Readlink(at)
		if err != nil {
			continue // no link; one that vanishes meanwhile makes no difference
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		return at, filepath.Join(append([]string{to}, rest[i+1:]...)...)
	}
	return "", ""
}

// name adds the entry at path. Names are added before trees, which take in all.
func (p plan) name(path string) {
	dir := filepath.Dir(path)
	if p[dir] == nil {
		p[dir] = map[string]bool{}
	}
	p[dir][filepath.Base(path)] = true
}

// tree adds all that is in and below dir, except what is hidden.
func (p plan) tree(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil // what cannot be read now is seen when it changes
		case path != dir && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		}
		p[path] = nil
		return nil
	})
}

// concerns reports whether a change of the entry at path is one to look at. The
// names ..data and the like, under which Kubernetes swaps a volume, are not
// hidden in this respect.
func (p plan) concerns(path string) bool {
	if _, ok := p[path]; ok {
		return true
	}
	names, ok := p[filepath.Dir(path)]
	base := filepath.Base(path)
	switch {
	case !ok:
		return false
	case names == nil:
		return !strings.HasPrefix(base, ".") || strings.HasPrefix(base, "..")
	}
	return names[base]
}

func (p plan) same(q plan) bool { return maps.EqualFunc(p, q, maps.Equal) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
