package worker

import (
	"runtime"
	"runtime/debug"
)

// PrepareHeap fits the heap of this process to compiling one module. What a small one
// takes is had at once, in large pages, and garbage is collected for the first time
// beyond it, when the process of a small one has ended. From there on it is collected
// as often as by default: a large module is to stay small. It goes on while the process
// begins.
func PrepareHeap() {
	const small = 64 << 20
	debug.SetGCPercent(small / (4 << 20) * 100) // Go's heap is 4 MiB at 100
	go func() {
		largePages(small / 4 * 3)
		// What is garbage at once is cleaned up after the first collection from here on.
		runtime.AddCleanup(new([4]uint64), func(percent int) { debug.SetGCPercent(percent) }, 100)
	}()
}
