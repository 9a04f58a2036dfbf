package serve

import (
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const wellKnown = "/.well-known/library.json"

func document(json string) *irv1.Document {
	return &irv1.Document{Path: wellKnown, Json: []byte(json), MediaType: "application/json", MaxAge: durationpb.New(2 * time.Hour)}
}

// ask sends a request for the document at url, with headers as name, value, ....
func ask(t *testing.T, method, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url+wellKnown, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestDocument is what browsers and others see of a document.
func TestDocument(t *testing.T) {
	book := librarytest.Binding("127.0.0.1:9")
	book.Documents = []*irv1.Document{document(`{"a":1}`)}
	_, url := serving(t, Config{}, book)
	first, body := ask(t, http.MethodGet, url)
	if first.StatusCode != 200 || body != `{"a":1}` {
		t.Fatalf("answer is %d %s", first.StatusCode, body)
	}
	etag := first.Header.Get("Etag")
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "public, max-age=7200", "Access-Control-Allow-Origin": "*",
		"X-Content-Type-Options": "nosniff", "Content-Length": "7",
	} {
		if got := first.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	tests := []struct {
		name    string
		method  string
		headers []string
		status  int
		body    string
	}{
		{"head", http.MethodHead, nil, 200, ""},
		{"not changed", http.MethodGet, []string{"If-None-Match", etag}, 304, ""},
		{"changed", http.MethodGet, []string{"If-None-Match", `"x"`}, 200, `{"a":1}`},
		{"a page of another site", http.MethodGet, []string{"Origin", "https://evil.example"}, 200, `{"a":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := ask(t, tt.method, url, tt.headers...)
			if resp.StatusCode != tt.status || body != tt.body || resp.Header.Get("Etag") != etag || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("answer is %d %s %v", resp.StatusCode, body, resp.Header)
			}
		})
	}
	if resp, _ := ask(t, http.MethodPost, url); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", resp.StatusCode, resp.Header)
	}
	if resp, _ := ask(t, http.MethodGet, url, "Host", "evil.example"); resp.StatusCode != 403 {
		t.Errorf("a rebound name: %d", resp.StatusCode)
	}
}

// TestDocumentSwap has a document that changes, moves to another binding and goes.
func TestDocumentSwap(t *testing.T) {
	book := librarytest.Binding("127.0.0.1:9")
	s, url := serving(t, Config{}, book)
	var etags []string
	for i, json := range []string{`{"a":1}`, `{"a":2}`, `{"a":2}`, ``} {
		next := librarytest.Binding("127.0.0.1:9")
		next.Title = string(rune('a' + i)) // the binding is another one each time
		want := 404
		if json != "" {
			next.Documents, want = []*irv1.Document{document(json)}, 200
		}
		s.Swap(build(t, uint64(i+2), s.Table(), next))
		resp, body := ask(t, http.MethodGet, url)
		if resp.StatusCode != want || want == 200 && body != json {
			t.Errorf("answer %d is %d %s", i, resp.StatusCode, body)
		}
		etags = append(etags, resp.Header.Get("Etag"))
	}
	if etags[0] == etags[1] || etags[1] != etags[2] {
		t.Errorf("tags are %q", etags)
	}
}
