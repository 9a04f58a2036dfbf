package run

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string { return map[string]string{"SET": "from-env"}[name] }
	tests := []struct{ file, variable, want, wantErr string }{
		{"", "SET", "from-env", ""},
		{file, "SET", "from-file", ""},
		{"", "UNSET", "", "$UNSET is empty: set UNSET, or name a file with a flag"},
		{file + "x", "SET", "", "read a secret: open "},
	}
	for _, tt := range tests {
		got, err := Secret(tt.file, tt.variable, env)
		if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), tt.wantErr) {
			t.Errorf("Secret(%q, %q) = %q, %v; want %q, %q", tt.file, tt.variable, got, err, tt.want, tt.wantErr)
		}
	}
}

// TestServe stops a server while a request is in flight: the request ends, and
// the log has its path but nothing that came in headers or bodies.
func TestServe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stop()
		w.WriteHeader(http.StatusTeapot)
	})
	var log bytes.Buffer
	served := make(chan error)
	go func() { served <- Serve(ctx, l, h, &log) }()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+l.Addr().String()+"/path?q=SECRET", strings.NewReader("SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer SECRET")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusTeapot {
		t.Errorf("%d, %v", res.StatusCode, err)
	}
	res.Body.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, "path=/path status=418") || !strings.Contains(got, "stopped") || strings.Contains(got, "SECRET") {
		t.Errorf("log: %s", got)
	}
}
