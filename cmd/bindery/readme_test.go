package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestReadme compiles the binding that README.md shows, and misspells it as README.md
// does: what is printed then is what README.md says.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, binding, _ := strings.Cut(string(readme), "```cue\n")
	binding, _, ok := strings.Cut(binding, "```")
	if !ok {
		t.Fatal("README.md shows no binding")
	}
	if got := vetted(t, binding); got != "" {
		t.Errorf("the binding of README.md:\n%s", got)
	}
	_, want, _ := strings.Cut(string(readme), "$ bindery vet\n")
	want, _, _ = strings.Cut(want, "```")
	if got := vetted(t, strings.Replace(binding, "\t\tdescription:", "\t\tdesription:", 1)); got != want {
		t.Errorf("misspelt, it gives\n%s\nREADME.md says\n%s", got, want)
	}
}

// TestReadmeServes starts what README.md and `bindery init` say to start, as it is
// printed, on the module of init in a directory whose name has spaces: it serves.
func TestReadmeServes(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	t.Chdir(t.TempDir())
	said, code := printed(t, "init", "my shop")
	_, next, ok := strings.Cut(said, "next: ")
	if code != exitOK || !ok {
		t.Fatalf("init prints %s", said)
	}
	named := strings.NewReplacer("bin/bindery ", "bindery ", "dev shop ", "dev 'my shop' ")
	secrets := lineWith(t, readme, "secrets/library-token")
	for name, line := range map[string]string{
		"init":    next,
		"README":  named.Replace(lineWith(t, readme, "bin/bindery dev shop")),
		"secrets": "bindery dev 'my shop' --secrets-dir secrets",
		"desktop": desktopLine(t, readme),
	} {
		t.Run(name, func(t *testing.T) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			if strings.Contains(line, "bindery dev") {
				line += " --listen 127.0.0.1:0"
			}
			serves(t, secrets+"\n"+strings.Replace(line, "bindery dev", "exec bindery dev", 1))
		})
	}
}

// serves runs lines of a shell until what they started says that it serves.
func serves(t *testing.T, lines string) {
	var said said
	cmd := exec.Command("sh", "-c", lines)
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe() // is that of a client at stdin, which stays
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.await(t, "revision 1 of example.com/my-shop@v0 is served")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v: %s", err, said.String())
	}
}

// lineWith returns the line of README.md that has part.
func lineWith(t *testing.T, readme, part string) string {
	for line := range strings.SplitSeq(readme, "\n") {
		if strings.Contains(line, part) {
			return line
		}
	}
	t.Fatalf("README.md is without %s", part)
	return ""
}

// desktopLine returns what a desktop client runs that has README.md's configuration.
func desktopLine(t *testing.T, readme string) string {
	_, text, _ := strings.Cut(readme, "```json\n")
	text, _, _ = strings.Cut(text, "```")
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	shop := config.Servers["shop"]
	if len(shop.Args) != 2 || filepath.Base(shop.Args[1]) != "shop" {
		t.Fatalf("README.md's desktop starts %q", shop.Args)
	}
	line := "exec env"
	for name, value := range shop.Env {
		line += " " + name + "=" + term.Word(value)
	}
	return line + " " + filepath.Base(shop.Command) + " " + shop.Args[0] + " 'my shop'"
}

// vetted returns what vet prints of a module with this binding.
func vetted(t *testing.T, binding string) string {
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte(binding)},
		{Path: "library.json", Data: []byte(`{"$defs":{"Book":{"type":"object"}}}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := diag.Print(&out, compiled.GetDiagnostics()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
