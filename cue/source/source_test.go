package source_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/source"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err)
	}
}

func read(t *testing.T, dir string) []string {
	t.Helper()
	s, err := source.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.GetFiles() {
		got = append(got, f.GetPath()+"="+string(f.GetData()))
	}
	return got
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.cue": "1", "a/b.cue": "2", "a/b.json": "3", "cue.mod/module.cue": "4", "cue.mod/pkg/x.example/x.cue": "5",
		"README.md": "", ".hidden.cue": "", ".git/x.cue": "", "_old/x.cue": "", "a/.idea/x.json": "", "node_modules/x/package.json": "",
		"a.cue.orig": "", "a/CUE": "", "a/files/page.html": "6", "a/files/.env": "", "key.pem": "",
	})
	want := []string{"a.cue=1", "a/b.cue=2", "a/b.json=3", "a/files/page.html=6", "cue.mod/module.cue=4", "cue.mod/pkg/x.example/x.cue=5"}
	if got := read(t, dir); !slices.Equal(got, want) {
		t.Errorf("files are %q, want %q", got, want)
	}
}

// TestReadConfigMap reads a directory as Kubernetes mounts one: links to files in a
// directory that is replaced at once, and to directories in it where paths have some.
func TestReadConfigMap(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"..2026/a.cue": "1", "..2026/cue.mod/module.cue": "2"})
	link(t, "..2026", filepath.Join(dir, "..data"))
	link(t, filepath.Join("..data", "a.cue"), filepath.Join(dir, "a.cue"))
	link(t, filepath.Join("..data", "cue.mod"), filepath.Join(dir, "cue.mod"))
	if got := read(t, dir); !slices.Equal(got, []string{"a.cue=1", "cue.mod/module.cue=2"}) {
		t.Errorf("files are %q", got)
	}
}

// TestReadLinkedDirectory: what lies in a directory that is a link is not left out in
// silence.
func TestReadLinkedDirectory(t *testing.T) {
	outside := t.TempDir()
	tests := []struct {
		name, target string
		refused      bool
	}{
		{"carts", "_teams/carts", true},
		{"teams/carts", "../_teams/carts", true},
		{"carts", outside, true},
		{"carts.cue", "_teams/carts", true},
		{"files/carts", "../_teams/carts", true},
		{"..data/carts", "../_teams/carts", false},
		{".carts", "_teams/carts", false},
		{"_carts", "_teams/carts", false},
		{"node_modules", outside, false},
		{"loop", "loop", false},
		{"dangling", "nowhere", false},
		{"README", "_teams/carts/a.cue", false},
		{"deep/carts", "..data/carts", true},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		write(t, dir, map[string]string{"_teams/carts/a.cue": "1", "deep/..data/carts/a.cue": "1"})
		name := filepath.Join(dir, filepath.FromSlash(tt.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		link(t, tt.target, name)
		s, err := source.Read(dir)
		if errors.Is(err, source.ErrLinked) != tt.refused || err != nil && !strings.Contains(err.Error(), tt.name+" is a link to a directory") {
			t.Errorf("%s -> %s: %v, %v; refused should be %t", tt.name, tt.target, s, err, tt.refused)
		}
	}
}

func TestReadThroughLink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"v1/a.cue": "1"})
	link(t, "v1", filepath.Join(dir, "current"))
	if got := read(t, filepath.Join(dir, "current")); !slices.Equal(got, []string{"a.cue=1"}) {
		t.Errorf("files are %q", got)
	}
}

func TestReadDoesNotEscape(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret.json": "{}"})
	for target, want := range map[string]string{
		filepath.Join(outside, "secret.json"):                      "a.json is a symbolic link to an absolute path: make it relative, or copy the file",
		filepath.Join("..", filepath.Base(outside), "secret.json"): "a.json is a symbolic link that leads out of the module: copy the file",
		filepath.Join("sub", "b.json"):                             "a.json is a symbolic link that leads out of the module: copy the file",
		filepath.Join("sub", "gone.json"):                          "a.json is a symbolic link to nothing: there is no sub/gone.json",
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"sub/c.json": "{}"})
		link(t, target, filepath.Join(dir, "a.json"))
		link(t, filepath.Join("..", "..", filepath.Base(outside), "secret.json"), filepath.Join(dir, "sub", "b.json"))
		if s, err := source.Read(dir); err == nil || err.Error() != dir+": "+want {
			t.Errorf("a link to %s gives %v, %v; want %s", target, s, err, want)
		}
	}
}

func TestReadLimits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.json": ""})
	if err := os.Truncate(filepath.Join(dir, "a.json"), source.MaxBytes); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Read(dir); err != nil {
		t.Errorf("at the limit of bytes: %v", err)
	}
	write(t, dir, map[string]string{"b.json": "1"})
	if _, err := source.Read(dir); !errors.Is(err, source.ErrTooLarge) {
		t.Errorf("above the limit of bytes: %v", err)
	}
	dir = t.TempDir()
	for i := range source.MaxFiles {
		write(t, dir, map[string]string{fmt.Sprintf("%d.json", i): ""})
	}
	if _, err := source.Read(dir); err != nil {
		t.Errorf("at the limit of files: %v", err)
	}
	write(t, dir, map[string]string{"more.cue": ""})
	if _, err := source.Read(dir); !errors.Is(err, source.ErrTooLarge) {
		t.Errorf("above the limit of files: %v", err)
	}
}

func TestReadMissing(t *testing.T) {
	if _, err := source.Read(filepath.Join(t.TempDir(), "no")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	s := &sourcev1.Sources{Files: []*sourcev1.File{{Path: "a.cue", Data: []byte("1")}, {Path: "b/c/d.json", Data: []byte("2")}}}
	for range 2 { // the second time over itself
		if err := source.Write(dir, s); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir); !slices.Equal(got, []string{"a.cue=1", "b/c/d.json=2"}) {
		t.Errorf("files are %q", got)
	}
	for _, name := range []string{"../x.cue", "/x.cue", "a/../../x.cue"} {
		if err := source.Write(dir, &sourcev1.Sources{Files: []*sourcev1.File{{Path: name}}}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"a.cue": true, "a/b.json": true, "cue.mod/module.cue": true,
		"files/a.html": true, "a/files/b/c.png": true, "files/LICENSE": true, "files/.env": false, "files/.git/a": false, "files/_old/a.png": false,
		"a/myfiles/b.html": false, "files": false, "files.html": false, "node_modules/files/a.js": false,
		"a.yaml": false, ".a.cue": false, ".git/a.cue": false, "a/_b/c.cue": false, "node_modules/a.json": false, "a": false,
	} {
		if got := source.Named(name); got != want {
			t.Errorf("Named(%q) = %t", name, got)
		}
	}
}
