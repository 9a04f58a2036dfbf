package serve

import "sync"

// maxKept is how large a buffer is at most that is used again, in bytes.
const maxKept = 64 << 10

// buffers are those of answers that have been sent: an answer is a third of what a call
// takes of memory. They are safe for concurrent use.
type buffers struct{ free sync.Pool } // of *[]byte

// take returns an empty buffer with room for n bytes.
func (b *buffers) take(n int) []byte {
	if kept, _ := b.free.Get().(*[]byte); kept != nil && cap(*kept) >= n {
		return (*kept)[:0]
	}
	return make([]byte, 0, n)
}

// give takes a buffer that nobody uses any more.
func (b *buffers) give(buffer []byte) {
	if cap(buffer) <= maxKept {
		b.free.Put(&buffer)
	}
}
