package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDeps keeps a control plane to what it is for: it compiles, stores and
// delivers, and answers no agent.
//
// The test lives beside main, not above the packages it guards, so that the test
// cache notices when any of them changes.
func TestDeps(t *testing.T) {
	banned := map[string]string{
		"github.com/bindery-dev/bindery/dataplane":         "what nodes do they do on their own, also when the control plane is of another build",
		"github.com/bindery-dev/bindery/cmd/internal/node": "a node is another process",
		"github.com/bindery-dev/bindery/examples":          "samples do not belong in the binary",
		"github.com/modelcontextprotocol":                  "MCP is spoken by nodes only: no agent reaches what can change every node",
		"go.etcd.io/etcd":                                  "an embedded etcd ends the process on a full disk; the store is bbolt",
		"testing":                                          "test helpers do not belong in the binary",
		"net/http/httptest":                                "test helpers do not belong in the binary",
		"net/http/pprof":                                   "importing it registers handlers that nobody asked for",
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Fatalf("only %d packages are listed", len(deps))
	}
	for _, dep := range deps {
		for prefix, reason := range banned {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("bindery-controlplane links %s: %s", dep, reason)
			}
		}
	}
}
