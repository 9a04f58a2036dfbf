package secret_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/secret"
)

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		name    string
		file    string // "" for none
		env     string // "" for none
		want    string
		missing bool
	}{
		{name: "file", file: "value", want: "value"},
		{name: "newlines at the end go", file: "value\r\n\n", want: "value"},
		{name: "other space stays", file: " va lue \n", want: " va lue "},
		{name: "variable", env: "value", want: "value"},
		{name: "variable with a newline", env: "value\n", want: "value"},
		{name: "file before variable", file: "file", env: "variable", want: "file"},
		{name: "empty file, variable", file: "\n", env: "variable", want: "variable"},
		{name: "nothing", missing: true},
		{name: "empty file", file: "\n", missing: true},
		{name: "empty variable", env: "\n", missing: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "" {
				write(t, filepath.Join(dir, "shop-token.v2"), tt.file)
			}
			s := secret.New(dir, environment(map[string]string{"BINDERY_SECRET_SHOP_TOKEN_V2": tt.env}))
			got, err := s.Lookup("shop-token.v2")
			if got != tt.want || errors.Is(err, secret.ErrMissing) != tt.missing || (err != nil) != tt.missing {
				t.Errorf("Lookup = %q, %v; want %q, missing %t", got, err, tt.want, tt.missing)
			}
		})
	}
}

func TestMissingNamesBothWays(t *testing.T) {
	_, err := secret.New("/run/secrets", nil).Lookup("shop-token")
	want := `secret is missing: "shop-token": write it to /run/secrets/shop-token or set BINDERY_SECRET_SHOP_TOKEN`
	if err == nil || err.Error() != want {
		t.Errorf("error is %q, want %q", err, want)
	}
	_, err = secret.New("", nil).Lookup("shop-token")
	if err == nil || !strings.Contains(err.Error(), "set BINDERY_SECRET_SHOP_TOKEN") {
		t.Errorf("error without a directory is %q", err)
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "outside"), "leaked")
	inner := filepath.Join(dir, "secrets")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	s := secret.New(inner, nil)
	for _, name := range []string{"", ".", "..", "../outside", "a/b", `a\b`, ".hidden", "-x", "a b", "a\x00", "é", strings.Repeat("a", 254)} {
		if v, err := s.Lookup(name); err == nil || errors.Is(err, secret.ErrMissing) {
			t.Errorf("Lookup(%q) = %q, %v; want a refusal of the name", name, v, err)
		}
	}
	for _, name := range []string{"a", "A1", "shop-token", "shop_token.v2", strings.Repeat("a", 253)} {
		if !secret.ValidName(name) {
			t.Errorf("%q is refused", name)
		}
	}
}

// A rotated secret is in force with the next call, also when the file system's
// clock does not tell the two writes apart.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	s := secret.New(filepath.Dir(path), nil)
	for i := range 50 {
		want := fmt.Sprintf("value-%02d", i)
		write(t, path, want)
		if got, err := s.Lookup("token"); got != want {
			t.Fatalf("after write %d Lookup = %q, %v", i, got, err)
		}
	}
	old := time.Now().Add(-time.Hour)
	chtimes(t, path, old)
	want(t, s, "value-49")
	write(t, path, "value-50")
	want(t, s, "value-50")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup("token"); !errors.Is(err, secret.ErrMissing) {
		t.Errorf("a vanished secret gives %v", err)
	}
	write(t, path, "back")
	want(t, s, "back")
}

// Kubernetes replaces a directory of files by renaming a symbolic link.
func TestSymlinkSwap(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, version := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, ".."+version), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, ".."+version, "token")
		write(t, path, version)
		chtimes(t, path, old) // the same stamp and the same size
	}
	symlink(t, "..one", filepath.Join(dir, "..data"))
	symlink(t, filepath.Join("..data", "token"), filepath.Join(dir, "token"))
	s := secret.New(dir, nil)
	want(t, s, "one")
	symlink(t, "..two", filepath.Join(dir, "..data_tmp"))
	if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	want(t, s, "two")
}

func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "large"), strings.Repeat("marker", 20<<10))
	s := secret.New(dir, nil)
	for _, name := range []string{"folder", "pipe", "large"} {
		v, err := s.Lookup(name)
		if err == nil || errors.Is(err, secret.ErrMissing) || strings.Contains(err.Error(), "marker") {
			t.Errorf("Lookup(%q) = %.20q, %v; want a refusal", name, v, err)
		}
	}
}

// A store that ends up in a log by accident says nothing.
func TestStoreHidesValues(t *testing.T) { later(t, testStoreHidesValues) }

func testStoreHidesValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, "hidden")
	chtimes(t, path, time.Now().Add(-time.Hour))
	s := secret.New(filepath.Dir(path), environment(map[string]string{"BINDERY_SECRET_OTHER": "hidden"}))
	want(t, s, "hidden")
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(format, s); strings.Contains(out, "hidden") {
			t.Errorf("%s prints %s", format, out)
		}
	}
}

// A file that has been as it is for long, as this package's has.
func BenchmarkLookup(b *testing.B) {
	s := secret.New(".", nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Lookup("secret.go"); err != nil {
			b.Fatal(err)
		}
	}
}

// later runs test when all files have been as they are for long.
func later(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(100 * 365 * 24 * time.Hour) // a bubble begins in 2000
		test(t)
	})
}

func want(t *testing.T, s *secret.Store, value string) {
	t.Helper()
	if got, err := s.Lookup("token"); got != value {
		t.Fatalf("Lookup = %q, %v; want %q", got, err, value)
	}
}

func write(t *testing.T, path, value string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
}

func chtimes(t *testing.T, path string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}
