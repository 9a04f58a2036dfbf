package worker

import (
	"runtime"
	"runtime/debug"
)

// CollectLate lets the heap of this process grow to what a small module takes before
// garbage is collected for the first time: a process that compiles one has ended by
// then. From there on it is collected as often as a large module needs, to stay small.
func CollectLate() {
	debug.SetGCPercent(64 / 4 * 100) // Go's heap is 4 MiB at 100
	runtime.AddCleanup(new([4]uint64), func(percent int) { debug.SetGCPercent(percent) }, 100)
}
