package main

import (
	"testing"

	"github.com/bindery-dev/bindery/cmd/internal/linktest"
)

// TestDeps keeps what only tests and other stores need out of the command.
func TestDeps(t *testing.T) {
	linktest.Check(t, map[string]string{
		"go.etcd.io/etcd": "an embedded etcd ends the process on a full disk; the store is bbolt",
		"github.com/rogpeppe/go-internal/testscript": "test helpers do not belong in the binary",
		"testing":           "test helpers do not belong in the binary",
		"net/http/httptest": "test helpers do not belong in the binary",
		"net/http/pprof":    "importing it registers handlers that nobody asked for",
	})
}
