// Command atlas serves the sample service of maps.
package main

import (
	"os"

	"github.com/bindery-dev/bindery/examples/internal/run"
	"github.com/bindery-dev/bindery/examples/maps/atlas"
)

func main() {
	os.Exit(run.Sample("atlas", "127.0.0.1:9012", atlas.New("maps", "maps-password")))
}
