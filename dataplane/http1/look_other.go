//go:build !unix

package http1

import "net"

// Looks says whether a kept connection can be looked at on this system before it is
// used. Without, whether a service has closed it is known only once a request is sent,
// so there a transport is better that always reads, as net/http's does.
const Looks = false

type look struct{}

func newLook(net.Conn) *look { return nil }

func (*look) isSilent() bool { return false }
