//go:build unix

package http1

import (
	"errors"
	"net"
	"syscall"
)

// Looks says whether a kept connection can be looked at on this system before it is
// used. Without, whether a service has closed it is known only once a request is sent,
// so there a transport is better that always reads, as net/http's does.
const Looks = true

// A look finds out what a connection that waits for nothing has become, without
// waiting itself.
type look struct {
	raw    syscall.RawConn
	read   func(fd uintptr) bool
	buf    [1]byte
	silent bool
}

// newLook returns nil for a connection that cannot be looked at.
func newLook(c net.Conn) *look {
	sys, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return nil
	}
	l := &look{raw: raw}
	l.read = func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), l.buf[:])
		l.silent = n < 0 && (errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK))
		return true
	}
	return l
}

// isSilent reports whether the connection is open and nothing has come on it.
func (l *look) isSilent() bool {
	return l != nil && l.raw.Read(l.read) == nil && l.silent
}
