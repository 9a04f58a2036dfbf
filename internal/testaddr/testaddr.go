// Package testaddr has addresses for what a test starts in a process of its own, where
// the test cannot open the listener itself.
package testaddr

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports that systems give to nobody who does not name them: those for connections, and
// for listeners at port 0, are above them. A port of those can be gone again before it is
// used, in the middle of a run of all tests.
const (
	first = 20_000
	last  = 30_000
)

// Free returns an address, host:port, on this machine at which nothing listens. Whoever
// else picks at random may pick it too, once in thousands of times.
func Free(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.N(last-first)))
		l, err := net.Listen("tcp", addr)
		if err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatalf("no port from %d to %d is free", first, last)
	return ""
}
