package compile_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/source"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// compileDir, in the environment, makes the test binary compile that directory and
// print the digest.
const compileDir = "BINDERY_TEST_COMPILE_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(compileDir); dir != "" {
		os.Exit(printDigest(dir))
	}
	os.Exit(m.Run())
}

func printDigest(dir string) int {
	sources, err := source.Read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	digests, err := digestsOf(sources)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(digests)
	return 0
}

// digestsOf returns the digest of the bundle and one of all that is compiled.
func digestsOf(sources *sourcev1.Sources) (string, error) {
	compiled, err := compile.Module(context.Background(), sources)
	if err != nil {
		return "", err
	}
	if compiled.GetBundle() == nil {
		return "", fmt.Errorf("no bundle: %v", compiled.GetDiagnostics())
	}
	all, err := irv1.Marshal(compiled)
	return fmt.Sprintln(irv1.DigestOf(compiled.GetBundle().GetManifest()), irv1.DigestOf(all)), err
}

// TestDigest compiles a module in two processes, in two directories, with one and
// with four processors, its files created in opposite orders: all that is compiled
// is equal, byte for byte.
func TestDigest(t *testing.T) {
	files := manyPackages()
	first := digestIn(t, files, "GOMAXPROCS=1")
	slices.Reverse(files)
	second := digestIn(t, files, "GOMAXPROCS=4")
	if first != second {
		t.Errorf("digests are %s and %s", first, second)
	}
	files[0].Data = append(files[0].Data, "\n\n// Moves nothing.\n"...)
	if third := digestIn(t, files, "GOMAXPROCS=4"); third != second {
		t.Errorf("a comment changes the digest from %s to %s", second, third)
	}
}

// TestDigestOfWarnings compiles a module in which layers have no effect on some bindings,
// which is a warning, with different numbers of processors: what a layer says holds
// for the others, and all that is compiled is equal.
func TestDigestOfWarnings(t *testing.T) {
	first := digestIn(t, warnedFiles(), "GOMAXPROCS=1")
	for _, env := range []string{"GOMAXPROCS=2", "GOMAXPROCS=4", "GOMAXPROCS=16"} {
		if other := digestIn(t, warnedFiles(), env); other != first {
			t.Errorf("digests are %s and, with %s, %s", first, env, other)
		}
	}
	compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: warnedFiles()})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(compiled.GetDiagnostics()); n != 2 {
		t.Errorf("there are %d warnings, want one for each layer: %v", n, compiled.GetDiagnostics())
	}
	bundle, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	patched := 0
	for _, schema := range bundle.Schemas {
		patched += strings.Count(string(schema), `"shelf"`)
	}
	if patched != 1 { // all bindings that use it have the same schema
		t.Errorf("the patch of the root is in %d schemas, want 1", patched)
	}
}

// TestDigestFollowsContent holds that a moved line changes no digest, and that a
// changed word does.
func TestDigestFollowsContent(t *testing.T) {
	bundle := func(edit func(s string) string) string {
		files := manyPackages()
		for _, f := range files {
			f.Data = []byte(edit(string(f.Data)))
		}
		digests, err := digestsOf(&sourcev1.Sources{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(digests)[0]
	}
	same := bundle(func(s string) string { return s })
	if moved := bundle(func(s string) string { return strings.ReplaceAll(s, "bindings: shelf", "\n\nbindings: shelf") }); moved != same {
		t.Errorf("moved lines change the digest from %s to %s", same, moved)
	}
	if changed := bundle(func(s string) string { return strings.ReplaceAll(s, "List books", "List all books") }); changed == same {
		t.Error("a changed description does not change the digest")
	}
}

func digestIn(t *testing.T, files []*sourcev1.File, env string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.GetPath()))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.GetData(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), compileDir+"="+dir, env)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// manyPackages returns a module with a package in each of several directories,
// which share what the root says.
func manyPackages() []*sourcev1.File {
	files := []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "shared.cue", Data: []byte(sharedFile)},
		{Path: "common.json", Data: []byte(`{"$defs": {"Book": {"properties": {"author": {"$ref": "#/$defs/Author"}}}, "Author": {"type": "object"}}}`)},
	}
	for i := range 12 {
		dir := fmt.Sprintf("shelf%d", i)
		files = append(files, &sourcev1.File{Path: path.Join(dir, "shelf.cue"), Data: fmt.Appendf(nil, shelfFile, i, i)})
	}
	return proto.CloneOf(&sourcev1.Sources{Files: files}).GetFiles()
}

// warnedFiles returns a module whose root says what has no effect on every second of its
// bindings.
func warnedFiles() []*sourcev1.File {
	files := []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "policy.cue", Data: []byte(layerFile)},
		{Path: "common.json", Data: []byte(`{"$defs": {"Book": {"type": "object", "additionalProperties": false}}}`)},
	}
	for i := range 6 {
		name := fmt.Sprintf("shelf%d", i)
		files = append(files, &sourcev1.File{Path: path.Join(name, "shelf.cue"), Data: fmt.Appendf(nil, warnedFile, i, i, []string{"GET", "PUT"}[i%2])})
		if i%2 == 1 {
			files = append(files, &sourcev1.File{Path: path.Join(name, "book.cue"), Data: fmt.Appendf(nil, warnedBookFile, i)})
		}
	}
	return files
}

const layerFile = `package bindings

bindings: [string]: {
	schema: "/common.json"
	patches: Book: properties: shelf: type: "integer"
	tools: [string]: retry: attempts: 3
}
`

const warnedFile = `package bindings

import "bindery.dev/bind"

bindings: shelf%d: bind.#Binding & {
	endpoint: "/shelf%d"
	upstream: url: "https://api.library.example"
	tools: renew: {description: "Renew.", http: "%s /books"}
}
`

const warnedBookFile = `package bindings

bindings: shelf%d: {
	errors: rules: all: {status: ["3xx", "4xx", "5xx"], failure: ["unreachable", "timeout", "unusable"], retry: true}
	tools: renew: payload: "Book"
}
`

const sharedFile = `package bindings

import "bindery.dev/bind"

#Shared: bind.#Binding & {
	schema: "/common.json"
	meta: {request_id: {}, lang: header: "Accept-Language", trace: {}}
	errors: rules: {
		gone: {status: ["410", "404"], body: {"/kind": ["b", 1, "a", true], "/code": "gone"}, headers: {b: "B", a: "A"}, set: {kind: "gone", after: 1}}
		broken: {status: ["5xx", "4xx", "3xx"], failure: ["unusable", "timeout", "unreachable"], body: {}, fallback: {kind: "broken"}}
	}
}
`

const shelfFile = `package bindings

bindings: shelf%d: #Shared & {
	endpoint: "/shelf%d"
	upstream: {url: "https://api.library.example", headers: {"X-B": "b", "X-A": "a"}}
	tools: {
		list: {description: "List books.", http: "GET /books", args: {z: {in: "query", description: "Z."}, a: {in: "query", description: "A."}}}
		add: {description: "Add a book.", http: "POST /books", payload: "Book"}
	}
}
`
