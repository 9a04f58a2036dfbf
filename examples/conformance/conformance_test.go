package conformance_test

import (
	"bytes"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/examples/conformance/studio"
	"github.com/bindery-dev/bindery/examples/internal/served"
)

// open serves the module on a studio.
func open(t *testing.T) string {
	t.Helper()
	upstream := httptest.NewServer(studio.New(&studio.Shelves{}))
	t.Cleanup(upstream.Close)
	return served.Module(t, ".", map[string]string{"studio-state": "a key that a test may know: 0123456789"}, "studio_url="+upstream.URL+"/v1") + "/mcp"
}

// TestTools calls the tools of the module, served by a node, on a studio.
func TestTools(t *testing.T) {
	served.Eras(t, open(t), func(t *testing.T, s *mcp.ClientSession) {
		if _, err := s.ListTools(t.Context(), nil); err != nil { // the client learns what it says in headers
			t.Fatal(err)
		}
		first := func(t *testing.T, tool string) mcp.Content { return served.Call(t, s, tool, `{}`).Content[0] }
		if got, ok := first(t, "test_simple_text").(*mcp.TextContent); !ok || got.Text == "" {
			t.Errorf("the text is %+v", got)
		}
		if got := served.Call(t, s, "get_text", `{"region":"eu"}`).Content[0]; got.(*mcp.TextContent).Text == "" {
			t.Errorf("the text is %+v", got)
		}
		if got, ok := first(t, "test_image_content").(*mcp.ImageContent); !ok || got.MIMEType != "image/png" || !bytes.HasPrefix(got.Data, []byte("\x89PNG")) {
			t.Errorf("the picture is %+v", got)
		}
		if got, ok := first(t, "test_audio_content").(*mcp.AudioContent); !ok || got.MIMEType != "audio/wav" || !bytes.HasPrefix(got.Data, []byte("RIFF")) {
			t.Errorf("the sound is %+v", got)
		}
		if got := served.Call(t, s, "test_error_handling", `{}`); !got.IsError {
			t.Errorf("the failure is %+v", got)
		}
	})
}

// TestNoCodeKnowsTheSuite holds that the suite's names are said in CUE only: no
// program has one of them.
func TestNoCodeKnowsTheSuite(t *testing.T) {
	files, err := filepath.Glob("*.cue")
	if err != nil {
		t.Fatal(err)
	}
	var names [][]byte
	for _, name := range files {
		module, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, regexp.MustCompile(`\btest_\w+|\btest://[\w-]+`).FindAll(module, -1)...)
	}
	if len(files) < 5 || len(names) < 20 {
		t.Fatalf("the module has only %d names in %d files", len(names), len(files))
	}
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".." && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		program := regexp.MustCompile(`\.(go|mjs)$`).MatchString(path) && filepath.Base(path) != "conformance_test.go"
		if !program {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, name := range names {
			if bytes.Contains(text, name) {
				t.Errorf("%s has %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
