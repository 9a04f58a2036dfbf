package main

import (
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/linktest"
)

// TestDeps keeps a node deployable on its own: it runs what the compiler produced
// and must be able neither to compile nor to decide.
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
	linktest.Check(t, banned)
}
