package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bindery-dev/bindery/internal/testaddr"
)

// TestExamples runs the session of each example's README, line by line: what follows
// a line as a comment is in what it prints. It also runs the example's offline cases,
// which exercise all of it.
func TestExamples(t *testing.T) {
	readmes, err := filepath.Glob("../../examples/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, readme := range readmes {
		text, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		lines := sessionIn(string(text))
		if lines == nil {
			continue
		}
		played++
		dir, name := filepath.Dir(readme), filepath.Base(filepath.Dir(readme))
		addresses := []string{"127.0.0.1:8080", testaddr.Free(t)}
		if address := regexp.MustCompile(`127\.0\.0\.1:90[0-9]+`).FindString(allOf(t, dir)); address != "" {
			addresses = append(addresses, address, testaddr.Free(t))
		}
		moved := strings.NewReplacer(addresses...)
		script := filepath.Join(t.TempDir(), name+".txtar")
		if err := os.WriteFile(script, []byte(moved.Replace(scriptOf(name, lines, addresses[len(addresses)-1]))), 0o666); err != nil {
			t.Fatal(err)
		}
		testscript.Run(t, testscript.Params{
			Files:               []string{script},
			RequireExplicitExec: true,
			Setup: func(e *testscript.Env) error {
				return copyModule(dir, filepath.Join(e.WorkDir, "examples", name), moved)
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
		})
	}
	if played == 0 {
		t.Error("no README has a session")
	}
}

// sessionIn returns the lines of the first block of commands that starts a sample
// service; nil for none.
func sessionIn(readme string) []string {
	for block := range strings.SplitSeq(readme, "```sh\n") {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "go run ./examples/") {
			return strings.Split(strings.TrimSpace(block), "\n")
		}
	}
	return nil
}

var sampleCommand = regexp.MustCompile(`go run \./examples/\w+/cmd/(\w+)`)

// scriptOf returns the archive of a session on the example called name, with the
// sample service at addr.
func scriptOf(name string, lines []string, addr string) string {
	var script, files strings.Builder
	awaited := false
	for i, line := range lines {
		if said, ok := strings.CutPrefix(line, "# "); ok {
			fmt.Fprintf(&script, "stdout '%s'\n", quoted(said))
			continue
		}
		line = sampleCommand.ReplaceAllString(line, "exec $1 --listen "+addr)
		command, background := strings.CutSuffix(line, " &")
		switch {
		case background && strings.Contains(command, "bindery dev"):
			command = strings.Replace(command, "bindery dev", "exec bindery dev", 1) + " --listen 127.0.0.1:8080"
			fmt.Fprintf(&script, "exec sh %d.sh &b%d&\nawait TOOL bindery tools http://127.0.0.1:8080/mcp\n", i, i)
		case background:
			fmt.Fprintf(&script, "exec sh %d.sh &b%d&\n", i, i)
		default:
			if said, _ := strings.CutPrefix(lines[i+1], "# "); !awaited { // the sample service may still be starting
				fmt.Fprintf(&script, "await '%s' sh %d.sh\n", quoted(said), i)
				awaited = true
			}
			fmt.Fprintf(&script, "exec sh %d.sh\n", i)
			command += " || true" // what it prints says how it ended
		}
		fmt.Fprintf(&files, "-- %d.sh --\n%s\n", i, command)
	}
	fmt.Fprintf(&script, "exec bindery test examples/%s --coverage\nstdout '^coverage: 100%% '\n", name)
	return script.String() + files.String()
}

// quoted returns a regular expression for text, as a script takes it.
func quoted(text string) string { return strings.ReplaceAll(regexp.QuoteMeta(text), "'", "''") }

// allOf returns the CUE files of a module.
func allOf(t *testing.T, dir string) string {
	files, err := filepath.Glob(dir + "/*.cue")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// copyModule copies the module in from to to, with addresses moved.
func copyModule(from, to string, moved *strings.Replacer) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	files, err := filepath.Glob(to + "/*.cue")
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(f, []byte(moved.Replace(string(data))), 0o666); err != nil {
			return err
		}
	}
	return nil
}
