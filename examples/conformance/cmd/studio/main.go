// Command studio serves the sample service of a studio.
package main

import (
	"os"

	"github.com/bindery-dev/bindery/examples/conformance/studio"
	"github.com/bindery-dev/bindery/examples/internal/run"
)

func main() {
	// A module that says its editions has them in the file that this names.
	shelves := &studio.Shelves{File: os.Getenv("STUDIO_SHELVES")}
	os.Exit(run.Sample("studio", "127.0.0.1:9014", studio.New(shelves)))
}
