// Command tracker serves the sample issue tracker.
package main

import (
	"os"

	"github.com/bindery-dev/bindery/examples/internal/run"
	"github.com/bindery-dev/bindery/examples/issues/tracker"
)

func main() {
	os.Exit(run.Sample("tracker", "127.0.0.1:9011", tracker.New("tracker-key")))
}
