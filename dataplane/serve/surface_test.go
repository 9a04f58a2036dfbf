package serve

import (
	"os"
	"testing"

	"github.com/bindery-dev/bindery/internal/held"
)

// proof has the tests that ran: docs/mcp-surface.md names some.
var proof held.Record

func TestMain(m *testing.M) { os.Exit(proof.Main(m)) }

// TestSurfaceList checks that every test that docs/mcp-surface.md names exists and runs.
func TestSurfaceList(t *testing.T) {
	proof.Read(t, "../..", "docs/mcp-surface.md", "dataplane/serve", true)
}
