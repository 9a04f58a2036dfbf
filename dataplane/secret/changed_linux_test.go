package secret_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/secret"
)

// A file that is written in place, with as many bytes and its old stamp, as by cp -p, is
// another secret.
func TestSameStamp(t *testing.T) {
	later(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		put := func(value string) {
			write(t, path, value)
			chtimes(t, path, time.Unix(1, 0))
		}
		s := secret.New(filepath.Dir(path), nil)
		put("old-token")
		want(t, s, "old-token")
		for range 1000 { // until the file system's clock ticks
			put("new-token")
			if v, _ := s.Lookup("token"); v == "new-token" {
				return
			}
		}
		want(t, s, "new-token")
	})
}

// A file that takes the place of another one while that is looked up is not taken for it.
func TestSwapDuringLookup(t *testing.T) {
	later(t, func(t *testing.T) {
		dir := t.TempDir()
		current, next := filepath.Join(dir, "current"), filepath.Join(dir, "next")
		for _, v := range []string{"one", "two"} {
			if err := os.Mkdir(filepath.Join(dir, v), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, v, "token"), v)
			chtimes(t, filepath.Join(dir, v, "token"), time.Unix(1, 0))
		}
		flip := func(to string) {
			symlink(t, to, next)
			if err := os.Rename(next, current); err != nil {
				t.Fatal(err)
			}
		}
		flip("one")
		for range 500 {
			s, done := secret.New(current, nil), make(chan struct{})
			go func() { defer close(done); _, _ = s.Lookup("token") }()
			flip("two")
			<-done
			flip("one")
			want(t, s, "one")
		}
	})
}
