package worker

import (
	"runtime"
	"syscall"
)

// largePages has the system back the next size bytes of the heap by large pages, if it
// has any: to be given one of 4 KiB after the other takes a fifth of the time that a
// small module takes.
func largePages(size int) {
	heap := make([]byte, size)
	_ = syscall.Madvise(heap, syscall.MADV_HUGEPAGE) // without, it is only slower
	runtime.GC()                                     // the advice stays with what becomes free
}
