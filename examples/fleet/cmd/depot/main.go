// Command depot serves the sample service of a fleet.
package main

import (
	"os"

	"github.com/bindery-dev/bindery/examples/fleet/depot"
	"github.com/bindery-dev/bindery/examples/internal/run"
)

func main() {
	os.Exit(run.Sample("depot", "127.0.0.1:9013", depot.New("bindery", "depot-secret")))
}
