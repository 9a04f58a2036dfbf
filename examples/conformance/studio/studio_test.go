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

// asked posts body to a form that then asks for something, and returns the sheet.
func asked(t *testing.T, h http.Handler, form, body, want string) string {
	t.Helper()
	status, got := post(t, h, "/v1/forms/"+form, body)
	before, sheet, _ := strings.Cut(got, `"sheet":"`)
	sheet, after, _ := strings.Cut(sheet, `"`)
	if status != http.StatusPreconditionRequired || before+after != want {
		t.Fatalf("%s: %d %s", body, status, got)
	}
	return sheet
}

// TestForm fills in a form of two steps: what was said in the first is on the sheet.
func TestForm(t *testing.T) {
	h := studio.New(&studio.Shelves{})
	first := `{"questions":{"step1":null},,"step":1}`
	asked(t, h, "travel", ``, first)
	asked(t, h, "travel", `{}`, first)
	asked(t, h, "travel", `{"answers":{"step1":12345}}`, first)
	asked(t, h, "travel", `{"answers":{"other":{}}}`, first)
	sheet := asked(t, h, "travel", `{"answers":{"step1":{"name":"Ada"}}}`, `{"questions":{"step2":null},,"step":2}`)
	const path = "/v1/forms/travel"
	status, got := post(t, h, path, `{"sheet":"`+sheet+`","answers":{"step2":{"color":"blue"}}}`)
	if want := `You said: {"step1":{"name":"Ada"},"step2":{"color":"blue"}}`; status != http.StatusOK || got != want {
		t.Errorf("%d %s", status, got)
	}
	for _, body := range []string{`no JSON`, `{"sheet":"no sheet"}`} {
		if status, _ := post(t, h, path, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d", body, status)
		}
	}
	if status, _ := post(t, h, "/v1/forms/none", `{}`); status != http.StatusNotFound {
		t.Errorf("no form: %d", status)
	}
}

// TestWords holds that words stand in questions as text, and that one answer of some
// can be enough.
func TestWords(t *testing.T) {
	h := studio.New(&studio.Shelves{})
	asked(t, h, "prompt", `{"words":{"prompt":"\"Hello\""}}`, `{"questions":{"answer":{"method":"sampling/createMessage",`+
		`"params":{"messages":[{"role":"user","content":{"type":"text","text":"\"Hello\""}}],"maxTokens":100}}},,"step":1}`)
	if status, got := post(t, h, "/v1/forms/either", `{"answers":{"greeting":{}}}`); status != http.StatusOK || got != `You said: {"greeting":{}}` {
		t.Errorf("%d %s", status, got)
	}
	if status, _ := post(t, h, "/v1/forms/all", `{"answers":{"greeting":{}}}`); status != http.StatusPreconditionRequired {
		t.Errorf("%d", status)
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
