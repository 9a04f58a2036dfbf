package main

import (
	"strings"
	"testing"
)

// TestUsage: what no command can mean exits 2, before anybody is asked, and says where
// to read on.
func TestUsage(t *testing.T) {
	const nobody = "http://127.0.0.1:1/mcp"
	tests := []struct {
		args string // separated by spaces; _ is a space in one
		want string
	}{
		{"nodes --control-plane 127.0.0.1", `--control-plane "127.0.0.1" is not host:port, such as 127.0.0.1:7700 (see bindery nodes --help)`},
		{"status --control-plane=", `--control-plane "" is not host:port`},
		{"revisions --control-plane 127.0.0.1:grpc", `--control-plane "127.0.0.1:grpc" is not host:port`},
		{"rollback --control-plane 127.0.0.1:0", `--control-plane "127.0.0.1:0" is not host:port`},
		{"revisions show 1 --control-plane a:b:1", `--control-plane "a:b:1" is not host:port`},
		{"apply ../../examples/acp --control-plane 127.0.0.1:70000", `--control-plane "127.0.0.1:70000" is not host:port`},
		{"apply --timeout -1s", `invalid argument "-1s" for "--timeout" flag: it has to be more than 0s: --no-wait does not wait (see bindery apply --help)`},
		{"apply --timeout 0s", "it has to be more than 0s"},
		{"rollback --timeout soon", `invalid argument "soon" for "--timeout" flag`},
		{"apply --group a_b", `invalid argument "a b" for "--group" flag: "a b" is no name: use up to 128 letters`},
		{"rollback --group=", `invalid argument "" for "--group" flag: is empty`},
		{"revisions --group a/b", `"a/b" is no name`},
		{"revisions show 1 --group -", `"-" is no name`},
		{"nodes --group a_b", `"a b" is no name`},
		{"tools " + nobody + " --header X", "--header takes K=V (see bindery tools --help)"},
		{"tools " + nobody + " --header =v", "--header : no header has such a name"},
		{"call " + nobody + " t --header X_Y=v", "--header X Y: no header has such a name"},
		{"call " + nobody + " t --header X=a\nb", "--header X: no header has such a value"},
		{"call " + nobody + " t --header host=example.com", "--header host: it follows from the URL and the body and cannot be chosen"},
	}
	for _, tt := range tests {
		args := strings.Split(tt.args, " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		if got, code := printed(t, args...); code != exitUsage || !strings.HasPrefix(got, "bindery: ") || !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("bindery %s: exit code %d, %s", tt.args, code, got)
		}
	}
}
