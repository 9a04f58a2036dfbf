package psp_test

import (
	"os"
	"testing"

	"github.com/bindery-dev/bindery/internal/held"
)

// record has the tests that ran: documents name some.
var record held.Record

func TestMain(m *testing.M) { os.Exit(record.Main(m)) }

// TestConformanceList checks that every test of this package that
// docs/acp-conformance.md names exists and runs.
func TestConformanceList(t *testing.T) {
	record.Read(t, "../..", "docs/acp-conformance.md", "examples/psp", false)
}
