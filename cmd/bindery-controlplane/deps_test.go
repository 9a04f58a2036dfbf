package main

import (
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/linktest"
)

// TestDeps keeps a control plane to what it is for: it compiles, stores and
// delivers, and answers no agent.
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
	linktest.Check(t, banned)
}
