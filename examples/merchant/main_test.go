package merchant_test

import (
	"os"
	"testing"

	"github.com/bindery-dev/bindery/internal/held"
)

// record has the tests that ran: documents name some.
var record held.Record

func TestMain(m *testing.M) { os.Exit(record.Main(m)) }

// TestNegotiationList checks that every test of this package that
// docs/acp-conformance.md names exists and runs, and that it names every line of the
// checklist.
func TestNegotiationList(t *testing.T) {
	_, names := record.Read(t, "../..", "docs/acp-conformance.md", "examples/merchant", false)
	listed := map[string]bool{}
	for _, n := range names {
		listed[n.Test] = true
	}
	for _, l := range checklist {
		if name := "TestNegotiation10/" + l.line; !listed[name] {
			t.Errorf("%s holds a line that the list does not name", name)
		}
	}
}
