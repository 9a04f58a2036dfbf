package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDeps keeps a node deployable on its own: it runs what the compiler produced
// and must be able neither to compile nor to decide.
//
// The test lives beside main, not above the packages it guards, so that the test
// cache notices when any of them changes.
func TestDeps(t *testing.T) {
	banned := map[string]string{
		"cuelang.org/go":                                     "sources are compiled before they reach a node",
		"github.com/bindery-dev/bindery/cue":                 "the compiler reaches a node only as IR",
		"github.com/bindery-dev/bindery/cmd/internal/worker": "a node has nothing to compile",
		"github.com/bindery-dev/bindery/controlplane":        "a node talks to a control plane over gRPC only",
		"github.com/bindery-dev/bindery/proto/bindery/admin": "operators talk to the control plane, not to nodes",
		"go.etcd.io":        "a node keeps no store",
		"testing":           "test helpers do not belong in the binary",
		"net/http/httptest": "test helpers do not belong in the binary",
		"net/http/pprof":    "importing it registers handlers that nobody asked for",
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
				t.Errorf("bindery-node links %s: %s", dep, reason)
			}
		}
	}
}
