package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitCompiles: what init writes compiles, or init writes nothing and says why.
func TestInitCompiles(t *testing.T) {
	tests := []struct {
		dir, module string
		code        int
		want        string // in what a refusal says
	}{
		{dir: "shop", module: "example.com/shop@v0"},
		{dir: "shop", module: "shop.example"},
		{dir: "v2"},
		{dir: "my shop ünï"},
		{dir: "shop", module: "bad module", code: exitUsage, want: "a path is like example.com/shop@v0 (see bindery init --help)"},
		{dir: "shop", module: "shop", code: exitUsage, want: "missing dot"},
		{dir: "shop", module: "example.com/shop@latest", code: exitUsage, want: "--module: "},
		{dir: "con", code: exitInvalid, want: "give one with --module"},
		{dir: "ü", code: exitInvalid, want: "give one with --module"},
	}
	for _, tt := range tests {
		dir := filepath.Join(t.TempDir(), tt.dir)
		got, code := printed(t, "init", dir, "--module", tt.module)
		if code != tt.code || !strings.Contains(got, tt.want) {
			t.Errorf("init %s --module %q: exit code %d, %s", tt.dir, tt.module, code, got)
		}
		if _, err := os.Stat(dir); (err == nil) != (tt.code == exitOK) {
			t.Errorf("init %s --module %q: the directory: %v", tt.dir, tt.module, err)
		}
		if code != exitOK {
			continue
		}
		if got, code := printed(t, "vet", dir); code != exitOK || got != "" {
			t.Errorf("init %s --module %q makes what does not compile: %s", tt.dir, tt.module, got)
		}
	}
}

// TestInitWithinModule: a new module breaks no module that it would be a part of.
func TestInitWithinModule(t *testing.T) {
	outer := filepath.Join(t.TempDir(), "outer")
	printed(t, "init", outer)
	for name, code := range map[string]int{"loans": exitInvalid, "a/b/c": exitInvalid, "_teams/loans": exitOK, ".cache/loans": exitOK} {
		got, is := printed(t, "init", filepath.Join(outer, name))
		if is != code || code != exitOK && !strings.Contains(got, "within the module "+outer) {
			t.Errorf("init %s: exit code %d, %s", name, is, got)
		}
		if got, code := printed(t, "vet", outer); code != exitOK {
			t.Errorf("after init %s: %s", name, got)
		}
	}
}

// TestModuleDir: a directory that is no module's says which to name.
func TestModuleDir(t *testing.T) {
	t.Chdir(t.TempDir())
	printed(t, "init", "shop")
	for _, dir := range []string{"shop/team/library", "my team"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ dir, want string }{
		{"shop/team/library", "shop/team/library is a directory of the module shop: name that one\n"},
		{"shop/cue.mod", "shop/cue.mod is a directory of the module shop: name that one\n"},
		{"shop/library.json", "shop/library.json is no directory: name that of a module\n"},
		{"her team", "there is no directory her team: name that of a module, or make one with bindery init 'her team'\n"},
	}
	for _, tt := range tests {
		for _, command := range []string{"vet", "test", "compile", "apply", "dev"} {
			if got, code := printed(t, command, tt.dir); code != exitInvalid || got != "bindery: "+command+": "+tt.want {
				t.Errorf("%s %s: exit code %d, %s", command, tt.dir, code, got)
			}
		}
	}
	if got, code := printed(t, "vet", "my team"); code != exitInvalid || !strings.Contains(got, "run `bindery init` to make a module here") {
		t.Errorf("vet of an empty directory: exit code %d, %s", code, got)
	}
	t.Chdir("shop/team")
	if got, _ := printed(t, "vet"); !strings.Contains(got, ". is a directory of the module ..: name that one") {
		t.Errorf("vet prints %s", got)
	}
}
