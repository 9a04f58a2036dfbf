package main

import (
	"os"
	"runtime/debug"
)

// collectAt is how much a node's heap grows, in percent of what is live, before
// garbage is collected. A call leaves tens of kilobytes behind and nothing stays, so
// that what is live is small and Go's default of 100 has the collector run all the
// time. At 400 a heap of 10 MB peaks at 50.
const collectAt = 400

// setMemory sets how garbage is collected, unless the environment says so. With
// GOMEMLIMIT set, Go collects sooner when that is near: a node in a container is
// best given one.
func setMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
