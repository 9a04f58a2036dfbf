// Package secret looks secrets up by name: a name comes in, and the value that
// this machine holds for it now goes out.
//
// Secrets are files of one directory or environment variables. A file counts
// before a variable and is read again when it changed, so that a rotated secret
// needs neither a restart nor a new revision. Values are never part of an error.
package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrMissing is wrapped by the error of [Store.Lookup] when there is neither a file
// nor a variable for a secret, or when what is there is empty.
var ErrMissing = errors.New("secret is missing")

// maxSize is the size, in bytes, up to which a file can be a secret.
const maxSize = 64 << 10

// settled is how long a file must not have changed before its stamps are
// trusted: within the clock tick of a file system two writes look the same.
const settled = 2 * time.Second

// envPrefix begins the name of every environment variable that is a secret.
const envPrefix = "BINDERY_SECRET_"

// A Store finds secrets. It is safe for concurrent use and caches what it read.
type Store struct {
	dir string
	env func(string) (string, bool)

	mu    sync.RWMutex
	files map[string]file // by name; only those that settled
}

// file is what a file held when it looked like info.
type file struct {
	info  fs.FileInfo
	value string
}

// New returns a store of the files in dir, none when dir is "", and of the
// variables that env finds, such as [os.LookupEnv]; nil finds none.
func New(dir string, env func(string) (string, bool)) *Store {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &Store{dir: dir, env: env, files: map[string]file{}}
}

// String says where secrets are looked for, and nothing about them.
func (s *Store) String() string { return fmt.Sprintf("secrets in %q", s.dir) }

// GoString is String: the cache never gets printed.
func (s *Store) GoString() string { return s.String() }

// Lookup returns the value of the secret called name, without newlines at its end.
// The error wraps [ErrMissing], or says what is wrong with the name or the file; it
// never holds a value.
func (s *Store) Lookup(name string) (string, error) {
	if !ValidName(name) {
		return "", fmt.Errorf("%q cannot be the name of a secret", name)
	}
	value, err := s.fromFile(name)
	if err != nil {
		return "", err
	}
	if value == "" {
		value = s.fromEnv(name)
	}
	if value == "" {
		return "", fmt.Errorf("%w: %q: %s", ErrMissing, name, s.Hint(name))
	}
	return value, nil
}

// Hint says how to provide the secret called name.
func (s *Store) Hint(name string) string {
	if s.dir == "" {
		return fmt.Sprintf("set %s, or name a directory with a file %s as the directory of secrets", Variable(name), name)
	}
	return fmt.Sprintf("write it to %s or set %s", filepath.Join(s.dir, name), Variable(name))
}

// Variable returns the name of the environment variable that holds the secret
// called name: what is neither a letter nor a digit becomes "_".
func Variable(name string) string {
	return envPrefix + strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

// ValidName reports whether name can be that of a secret: letters, digits, "-",
// "_" and ".", a letter or digit first, at most 253 (as in Kubernetes).
func ValidName(name string) bool {
	for i, r := range name {
		if !isWord(r) && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return name != "" && len(name) <= 253
}

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// fromEnv returns the value in the variable of name; "" when there is none.
func (s *Store) fromEnv(name string) string {
	value, ok := s.env(Variable(name))
	if !ok {
		return ""
	}
	return strings.TrimRight(value, "\r\n")
}

// fromFile returns the value in the file of name; "" when there is no file.
func (s *Store) fromFile(name string) (string, error) {
	if s.dir == "" {
		return "", nil
	}
	path := filepath.Join(s.dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", unreadable(name, err)
	}
	s.mu.RLock()
	known, ok := s.files[name]
	s.mu.RUnlock()
	if ok && sameFile(known.info, info) {
		return known.value, nil
	}
	if !info.Mode().IsRegular() { // opening a pipe waits
		return "", unreadable(name, errNoFile)
	}
	found, err := read(path)
	if err != nil {
		return "", unreadable(name, err)
	}
	if time.Since(changed(found.info)) > settled {
		s.mu.Lock()
		s.files[name] = found
		s.mu.Unlock()
	}
	return found.value, nil
}

// unreadable leaves out the path of err: Hint has it, and a log should not repeat
// it for every call.
func unreadable(name string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("secret %q cannot be read: %w", name, err)
}

// sameFile reports whether a file looks as it did. Replacing the target of a
// symbolic link, as Kubernetes does, changes the file.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changed(a).Equal(changed(b))
}

var errNoFile = errors.New("it is not a file")

// read reads the file that is at path now, which may be another one than a moment ago,
// and how that looked before it was read.
func read(path string) (file, error) {
	f, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, errNoFile
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return file{}, err
	}
	if len(data) > maxSize {
		return file{}, fmt.Errorf("it is larger than %d bytes", maxSize)
	}
	return file{info: info, value: strings.TrimRight(string(data), "\r\n")}, nil
}
