package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
)

// asNode makes the test binary be bindery-node.
const asNode = "BINDERY_TEST_AS_NODE"

func TestMain(m *testing.M) {
	if os.Getenv(asNode) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestCommandLine(t *testing.T) {
	const bundle = "--bundle=nowhere.bundle"
	tests := []struct {
		name string
		args []string
		code int
		want string // on stderr
	}{
		{"nothing to serve", nil, daemon.ExitUsage, "give --control-plane ADDR or --bundle FILE"},
		{"two sources", []string{bundle, "--control-plane", "127.0.0.1:7700"}, daemon.ExitUsage, "exclude each other"},
		{"group of a bundle", []string{bundle, "--group", "blue"}, daemon.ExitUsage, "leave them out with --bundle"},
		{"label of a bundle", []string{bundle, "--label", "zone=a"}, daemon.ExitUsage, "leave them out with --bundle"},
		{"bad group", []string{"--control-plane", "127.0.0.1:7700", "--group", "a b"}, daemon.ExitUsage, `--group "a b" is no name`},
		{"bad id", []string{"--control-plane", "127.0.0.1:7700", "--id", "-"}, daemon.ExitUsage, `--id "-" is no name`},
		{"bad label", []string{"--control-plane", "127.0.0.1:7700", "--label", "zone"}, daemon.ExitUsage, "zone must be formatted as key=value"},
		{"control plane without port", []string{"--control-plane", "127.0.0.1"}, daemon.ExitUsage, `--control-plane "127.0.0.1" is not host:port`},
		{"control plane with a port that is no number", []string{"--control-plane", "127.0.0.1:grpc"}, daemon.ExitUsage, `--control-plane "127.0.0.1:grpc" is not host:port`},
		{"control plane with no such port", []string{"--control-plane", "127.0.0.1:7700,127.0.0.1:70000"}, daemon.ExitUsage, `--control-plane "127.0.0.1:70000" is not host:port`},
		{"control plane without address", []string{"--control-plane", ""}, daemon.ExitUsage, "give --control-plane ADDR or --bundle FILE"},
		{"control plane elsewhere", []string{"--control-plane", "127.0.0.1:7700,192.0.2.1:7700"}, daemon.ExitUsage, "--control-plane 192.0.2.1:7700 is another machine"},
		{"control plane of that name", []string{"--control-plane", "plane:7700"}, daemon.ExitUsage, "add --insecure"},
		{"listener for everybody", []string{bundle, "--listen", "0.0.0.0:0"}, daemon.ExitUsage, "--listen 0.0.0.0:0 is reachable from other machines"},
		{"listener without host", []string{bundle, "--listen", ":0"}, daemon.ExitUsage, "--listen :0 is reachable from other machines"},
		{"admin listener for everybody", []string{bundle, "--listen", "127.0.0.1:0", "--admin", "[::]:0"}, daemon.ExitUsage, "--admin [::]:0 is reachable"},
		{"no address", []string{bundle, "--listen", "8080"}, daemon.ExitUsage, "--listen 8080 is not host:port"},
		{"address that is not ours", []string{bundle, "--listen", "192.0.2.1:0", "--insecure"}, daemon.ExitInput, "choose another address"},
		{"host with port", []string{bundle, "--allowed-host", "tools.example:80"}, daemon.ExitUsage, `--allowed-host "tools.example:80" is not a host name`},
		{"host with wildcard", []string{bundle, "--allowed-host", "*.example"}, daemon.ExitUsage, "without scheme, port and wildcard"},
		{"origin without scheme", []string{bundle, "--allowed-origin", "tools.example"}, daemon.ExitUsage, "give scheme://host[:port]"},
		{"origin with path", []string{bundle, "--allowed-origin", "https://tools.example/"}, daemon.ExitUsage, "give scheme://host[:port]"},
		{"public URL without scheme", []string{bundle, "--public-url", "tools.example"}, daemon.ExitUsage, "give https://host[:port][/path]"},
		{"public URL with password", []string{bundle, "--public-url", "https://a:b@tools.example"}, daemon.ExitUsage, "give https://host[:port][/path]"},
		{"negative delay", []string{bundle, "--drain-delay", "-1s"}, daemon.ExitUsage, "--drain-delay cannot be negative"},
		{"no requests at all", []string{bundle, "--max-request-bytes", "0"}, daemon.ExitUsage, "--max-request-bytes 0 is not from 1 to 67108864"},
		{"requests without end", []string{bundle, "--max-request-bytes", "67108865"}, daemon.ExitUsage, "--max-request-bytes 67108865 is not from 1"},
		{"fast path", []string{bundle, "--fast-path", "maybe"}, daemon.ExitUsage, `--fast-path is on or off, not "maybe"`},
		{"stdio and a listener", []string{bundle, "--stdio", "--listen", "127.0.0.1:0"}, daemon.ExitUsage, "--listen and --stdio exclude each other"},
		{"stdio and sessions", []string{bundle, "--stdio", "--stateful"}, daemon.ExitUsage, "--stateful is for clients over HTTP"},
		{"endpoint of a listener", []string{bundle, "--endpoint", "/mcp"}, daemon.ExitUsage, "--endpoint is for --stdio"},
		{"level", []string{bundle, "--log-level", "loud"}, daemon.ExitUsage, "--log-level loud is none of"},
		{"format", []string{bundle, "--log-format", "xml"}, daemon.ExitUsage, "--log-format xml is neither"},
		{"unknown flag", []string{"--cache", "x"}, daemon.ExitUsage, "unknown flag: --cache: see bindery-node --help"},
		{"argument", []string{"serve"}, daemon.ExitUsage, `unexpected argument "serve"`},
		{"bundle that is none", []string{"--bundle=main_test.go", "--listen=127.0.0.1:0", "--admin=127.0.0.1:0"}, daemon.ExitInput, "main_test.go is not a bundle: write one with bindery compile --out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), tt.args, &stdout, &stderr)
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			last := lines[len(lines)-1]
			if code != tt.code || !strings.HasPrefix(last, "bindery-node: ") || !strings.Contains(last, tt.want) || stdout.Len() > 0 {
				t.Errorf("run() = %d, stderr %q; want %d, %q", code, last, tt.code, tt.want)
			}
		})
	}
}

// TestGoodCommandLine has everything that a node off loopback is given.
func TestGoodCommandLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the node starts and ends
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{
		"--control-plane", "plane-0.example:7700,plane-1.example:7700", "--insecure", "--group", "blue", "--id", "node-1",
		"--label", "zone=a", "--label", "rack=7", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--secrets-dir", t.TempDir(), "--public-url", "https://tools.example.com/agents", "--allowed-host", "tools.internal",
		"--allowed-host", "::1", "--allowed-origin", "https://console.example:8443", "--drain-delay", "0s", "--drain-timeout", "1s", "--fast-path", "off", "--stateful", "--max-request-bytes", "1024",
		"--log-format", "json", "--log-level", "warn",
	}, &stdout, &stderr)
	if code != daemon.ExitOK || stdout.Len() > 0 || stderr.Len() > 0 {
		t.Errorf("run() = %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// TestVersion: a word asks for what the flag of its name does.
func TestVersion(t *testing.T) {
	for _, word := range []string{"version", "help"} {
		var flag, plain, stderr bytes.Buffer
		if code := run(t.Context(), []string{"--" + word}, &flag, &stderr); code != daemon.ExitOK || flag.Len() == 0 {
			t.Errorf("--%s: exit code %d, %s", word, code, stderr.String())
		}
		if code := run(t.Context(), []string{word}, &plain, &stderr); code != daemon.ExitOK || plain.String() != flag.String() {
			t.Errorf("%s: exit code %d, %s%s", word, code, plain.String(), stderr.String())
		}
	}
}

// TestHelp holds that every flag of the reference is offered, and none that does
// nothing.
func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &stdout, &stderr); code != daemon.ExitOK || stderr.Len() > 0 {
		t.Fatalf("run() = %d, stderr %q", code, stderr.String())
	}
	for _, want := range []string{
		"Examples:", "--control-plane", "--group", "--id", "--label", "--bundle", "--listen", "--admin", "--secrets-dir",
		"--public-url", "--allowed-host", "--allowed-origin", "--drain-delay", "--drain-timeout", "--max-request-bytes", "--fast-path", "--insecure", "--stdio", "--endpoint",
		"--stateful",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help is without %s", want)
		}
	}
	for _, absent := range []string{"--cache", "tls"} {
		if strings.Contains(stdout.String(), absent) {
			t.Errorf("help offers %s", absent)
		}
	}
}
