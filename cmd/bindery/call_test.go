package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// foreign returns the URL of an MCP server that is not ours. answer has, by method, the
// members of what it answers with beside the id.
func foreign(t *testing.T, answer map[string]string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		members := answer[m.Method]
		switch {
		case m.Method == "initialize":
			members = `"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "foreign", "version": "1"}}`
		case members == "":
			members = `"error": {"code": -32601, "message": "no such method"}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, %s}`, m.ID, members)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestForeignWords: what a foreign server says is shown, and does nothing to a terminal.
func TestForeignWords(t *testing.T) {
	url := foreign(t, map[string]string{
		"tools/list": `"result": {"tools": [{"name": "t", "description": "ok\r\u001b[2Kspoofed\u009b31m\nmore", "inputSchema": {"type": "object"}}]}`,
		"tools/call": `"error": {"code": -32000, "message": "\u001b]0;title\u0007\nbindery: all is well", "data": {"a": "` + "\u009b" + `31m"}}`,
	})
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"tools", url}, exitOK, "TOOL  TITLE  DESCRIPTION\nt            ok\\r\\x1b[2Kspoofed\\u009b31m\n"},
		{[]string{"call", url, "t"}, exitInvalid, "bindery: call: error -32000: \\x1b]0;title\\a\\nbindery: all is well\n{\"a\":\"\\u009b31m\"}\n"},
	}
	for _, tt := range tests {
		if got, code := printed(t, tt.args...); code != tt.code || got != tt.want {
			t.Errorf("%s: exit code %d, %q; want %q", tt.args[0], code, got, tt.want)
		}
	}
	got, _ := printed(t, "tools", url, "-o", "json")
	var tools struct {
		Tools []struct{ Description string }
	}
	if err := json.Unmarshal([]byte(got), &tools); err != nil || len(tools.Tools) != 1 || tools.Tools[0].Description != "ok\r\x1b[2Kspoofed\u009b31m\nmore" {
		t.Errorf("-o json says %+v, %v", tools, err)
	}
	if strings.ContainsAny(got, "\x1b\u009b\r") {
		t.Errorf("-o json prints %q", got)
	}
}
