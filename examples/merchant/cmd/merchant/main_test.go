package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  map[string]string
		code int
		says string
	}{
		{"help", []string{"--help"}, nil, 0, "Usage:\n  BINDERY_SECRET_MERCHANT_TOKEN"},
		{"unknown flag", []string{"--bogus"}, nil, 2, "flag provided but not defined"},
		{"no token", nil, nil, 1, "merchant: $BINDERY_SECRET_MERCHANT_TOKEN is empty"},
		{"address", []string{"--listen", "127.0.0.1:99999"}, map[string]string{"BINDERY_SECRET_MERCHANT_TOKEN": "t"}, 1, "merchant: listen tcp"},
		{"no redeem secret", []string{"--psp", "http://127.0.0.1:1"}, map[string]string{"BINDERY_SECRET_MERCHANT_TOKEN": "t"}, 1, "$BINDERY_SECRET_REDEEM is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			code := command(t.Context(), tt.args, func(name string) string { return tt.env[name] }, &out)
			if code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("exit %d, want %d; printed %s", code, tt.code, &out)
			}
		})
	}
}

// TestServe starts the command on a free port, asks it something and stops it.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		env := func(string) string { return "secret" }
		exit <- command(ctx, []string{"--listen", "127.0.0.1:0", "--psp", "http://127.0.0.1:1"}, env, w)
		w.Close()
	}()
	url := ""
	lines := bufio.NewScanner(r)
	for url == "" && lines.Scan() {
		url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	go io.Copy(io.Discard, r)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/checkout_sessions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), "missing_api_version") {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
	stop()
	if code := <-exit; code != 0 {
		t.Errorf("exit %d after a stop", code)
	}
}
