package studio_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/examples/conformance/studio"
)

// post sends body to path and returns the status and the body of the answer.
func post(t *testing.T, h http.Handler, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	got, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, strings.TrimSpace(string(got))
}

// TestForm fills in a form of two steps: what was said in the first is on the sheet.
func TestForm(t *testing.T) {
	h := studio.New(&studio.Shelves{})
	const path = "/v1/forms/steps"
	asked := func(body, want string) string {
		t.Helper()
		status, got := post(t, h, path, body)
		before, sheet, _ := strings.Cut(got, `"sheet":"`)
		sheet, after, _ := strings.Cut(sheet, `"`)
		if status != http.StatusPreconditionRequired || before+after != want {
			t.Fatalf("%s: %d %s", body, status, got)
		}
		return sheet
	}
	first := `{"missing":["step1"],,"step":1}`
	asked(`{}`, first)
	asked(`{"answers":{"step1":12345}}`, first)
	asked(`{"answers":{"other":{}}}`, first)
	sheet := asked(`{"answers":{"step1":{"name":"Ada"}}}`, `{"missing":["step2"],,"step":2}`)
	status, got := post(t, h, path, `{"sheet":"`+sheet+`","answers":{"step2":{"color":"blue"},"step1":{"name":"Eve"}}}`)
	if want := `You said: {"step1":{"name":"Eve"},"step2":{"color":"blue"}}`; status != http.StatusOK || got != want {
		t.Errorf("%d %s", status, got)
	}
	for _, body := range []string{`no JSON`, `{"sheet":"no sheet"}`} {
		if status, _ := post(t, h, path, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d", body, status)
		}
	}
}

// TestShelves publishes to two shelves, which a module finds as CUE.
func TestShelves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "editions.cue")
	h := studio.New(&studio.Shelves{File: file})
	for _, shelf := range []string{"tools", "tools", "prompts"} {
		if status, got := post(t, h, "/v1/shelves/"+shelf, ""); status != http.StatusCreated {
			t.Fatalf("%d %s", status, got)
		}
	}
	got, err := os.ReadFile(file)
	if want := "package bindings\n\neditions: {\"prompts\":1,\"tools\":2}\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
