package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
)

// asControlPlane makes the test binary be bindery-controlplane.
const asControlPlane = "BINDERY_TEST_AS_CONTROLPLANE"

func TestMain(m *testing.M) {
	if os.Getenv(asControlPlane) != "" || len(os.Args) > 1 && os.Args[1] == worker.Arg {
		main()
	}
	os.Exit(m.Run())
}

func TestCommandLine(t *testing.T) {
	data := "--data=" + t.TempDir()
	tests := []struct {
		name string
		args []string
		code int
		want string // on stderr
	}{
		{"no data", []string{"--data", ""}, daemon.ExitUsage, "no place for revisions: give --data DIR"},
		{"listener for everybody", []string{data, "--listen", "0.0.0.0:0"}, daemon.ExitUsage, "--listen 0.0.0.0:0 is reachable from other machines"},
		{"listener without host", []string{data, "--listen", ":0"}, daemon.ExitUsage, "--listen :0 is reachable from other machines"},
		{"HTTP for everybody", []string{data, "--listen", "127.0.0.1:0", "--http", "[::]:0"}, daemon.ExitUsage, "--http [::]:0 is reachable"},
		{"no address", []string{data, "--listen", "7700"}, daemon.ExitUsage, "--listen 7700 is not host:port"},
		{"address that is not ours", []string{data, "--listen", "192.0.2.1:0", "--insecure"}, daemon.ExitInput, "choose another address"},
		{"source without directory", []string{data, "--source", "shop"}, daemon.ExitUsage, "--source shop names no directory: give GROUP[:TAG,...]=DIR"},
		{"source with an empty directory", []string{data, "--source", "shop="}, daemon.ExitUsage, "names no directory"},
		{"source without group", []string{data, "--source", "=dir"}, daemon.ExitUsage, "group is empty"},
		{"source with a bad group", []string{data, "--source", "a/b=dir"}, daemon.ExitUsage, `"a/b" is no name`},
		{"source with an empty tag", []string{data, "--source", "shop:prod,=dir"}, daemon.ExitUsage, "has an empty tag"},
		{"two sources of a group", []string{data, "--source", "shop=a", "--source", "shop:prod=b"}, daemon.ExitUsage, `group "shop" has a directory already`},
		{"level", []string{data, "--log-level", "loud"}, daemon.ExitUsage, "--log-level loud is none of"},
		{"format", []string{data, "--log-format", "xml"}, daemon.ExitUsage, "--log-format xml is neither"},
		{"flag of later", []string{"--etcd", "x"}, daemon.ExitUsage, "unknown flag: --etcd: see bindery-controlplane --help"},
		{"argument", []string{"serve"}, daemon.ExitUsage, `unexpected argument "serve"`},
		{"data that is a file", []string{"--data=main_test.go", "--listen=127.0.0.1:0", "--http=127.0.0.1:0"}, daemon.ExitInput, "data directory: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), tt.args, &stdout, &stderr)
			lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
			last := lines[len(lines)-1]
			if code != tt.code || !strings.HasPrefix(last, "bindery-controlplane: ") || !strings.Contains(last, tt.want) || stdout.Len() > 0 {
				t.Errorf("run() = %d, stderr %q; want %d, %q", code, last, tt.code, tt.want)
			}
		})
	}
}

// TestGoodCommandLine has everything that a control plane is given.
func TestGoodCommandLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // it starts and ends
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{
		"--data", t.TempDir(), "--listen", "0.0.0.0:0", "--http", "127.0.0.1:0", "--insecure",
		"--log-format", "json", "--log-level", "error",
	}, &stdout, &stderr)
	if code != daemon.ExitOK || stdout.Len() > 0 || stderr.Len() > 0 {
		t.Errorf("run() = %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

func TestParseSource(t *testing.T) {
	tests := []struct {
		text, group, dir string
		tags             []string
	}{
		{"shop=/etc/shop", "shop", "/etc/shop", nil},
		{"shop:prod=/etc/shop", "shop", "/etc/shop", []string{"prod"}},
		{"shop:prod,region=eu=shop", "shop", "shop", []string{"prod", "region=eu"}},
		{"shop=C:/shop", "shop", "C:/shop", nil},
	}
	for _, tt := range tests {
		s, err := parseSource(tt.text)
		if err != nil || s.Group != tt.group || s.Dir != tt.dir || !slices.Equal(s.Tags, tt.tags) {
			t.Errorf("parseSource(%q) = %+v, %v", tt.text, s, err)
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
	for _, want := range []string{"Examples:", "--listen", "--http", "--data", "--source", "--insecure"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help is without %s", want)
		}
	}
	for _, later := range []string{"--etcd", "--policy", "--tls", "--operators"} {
		if strings.Contains(stdout.String(), later) {
			t.Errorf("help offers %s, which does nothing", later)
		}
	}
}
