package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/protobuf/proto"
)

// TestReplaceFile: what is written is where the name leads, which stays as it was in
// all but its content.
func TestReplaceFile(t *testing.T) {
	tests := []struct {
		name  string
		setup func(dir string) error // makes dir/out
		at    string                 // the file that has the content
		mode  fs.FileMode
	}{
		{"nothing is there", func(string) error { return nil }, "out", 0o644},
		{"a file", func(dir string) error { return os.WriteFile(dir+"/out", nil, 0o600) }, "out", 0o600},
		{"a script", func(dir string) error { return os.WriteFile(dir+"/out", nil, 0o755) }, "out", 0o755},
		{"a link", func(dir string) error {
			return cmp.Or(os.Mkdir(dir+"/real", 0o777), os.WriteFile(dir+"/real/file", nil, 0o640), os.Symlink("real/file", dir+"/out"))
		}, "real/file", 0o640},
		{"a link to nothing", func(dir string) error { return os.Symlink("later", dir+"/out") }, "later", 0o644},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.setup(dir); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(dir + "/out")
			if err := replaceFile(dir+"/out", []byte("new")); err != nil {
				t.Fatal(err)
			}
			if after, err := os.Lstat(dir + "/out"); err != nil || before != nil && after.Mode().Type() != before.Mode().Type() {
				t.Errorf("the name is of another kind: %v, %v", after.Mode(), err)
			}
			file := filepath.Join(dir, tt.at)
			data, err := os.ReadFile(file)
			if err != nil || string(data) != "new" {
				t.Errorf("%s has %q, %v", tt.at, data, err)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != tt.mode {
				t.Errorf("mode is %v, %v; want %v", info.Mode(), err, tt.mode)
			}
			if left, _ := filepath.Glob(dir + "/.bindery-*"); left != nil {
				t.Errorf("%q stays behind", left)
			}
		})
	}
}

// TestReplacePipe: what is no file takes what is written, and stays what it is.
func TestReplacePipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	name := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	if err := replaceFile(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if n, err := r.Read(got); string(got[:n]) != "new" {
		t.Errorf("the pipe has %q, %v", got[:n], err)
	}
	if err := replaceFile(t.TempDir(), nil); err == nil {
		t.Error("a directory takes a bundle")
	}
}

// TestCompileToStdout: stdout has the bundle and nothing else.
func TestCompileToStdout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	printed(t, "init", dir)
	var out, said bytes.Buffer
	p := &program{out: term.NewScreen(&out), err: term.NewScreen(&said)}
	if code := p.execute(t.Context(), []string{"compile", dir, "--out", "-"}); code != exitOK || !strings.HasPrefix(said.String(), "wrote -: 1 binding") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
	b := &irv1.Bundle{}
	if err := proto.Unmarshal(out.Bytes(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := irv1.Open(b); err != nil {
		t.Error(err)
	}
	if got, code := printed(t, "compile", dir, "--out", "-", "-o", "json"); code != exitUsage {
		t.Errorf("with -o json it prints %s", got)
	}
}

// TestFmtKeepsLinksAndModes: a module's files are what they were, but formatted.
func TestFmtKeepsLinksAndModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	printed(t, "init", dir)
	ugly, neat := "package bindings\n\n_x:   1\n", "package bindings\n\n_x: 1\n"
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "_shared"), 0o777), os.WriteFile(filepath.Join(dir, "_shared", "common.cue"), []byte(ugly), 0o600),
		os.Symlink("_shared/common.cue", filepath.Join(dir, "common.cue")), os.WriteFile(filepath.Join(dir, "private.cue"), []byte(ugly), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, code := printed(t, "fmt", dir); code != exitOK || got != "common.cue\nprivate.cue\n" {
		t.Errorf("fmt prints %s", got)
	}
	if !isLink(filepath.Join(dir, "common.cue")) {
		t.Error("the link has become a file")
	}
	for _, name := range []string{"_shared/common.cue", "private.cue"} {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 || string(data) != neat {
			t.Errorf("%s has mode %v and %q, %v", name, info.Mode(), data, err)
		}
	}
}
