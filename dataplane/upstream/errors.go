package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

// What can become of an exchange that ends without a response. Every error of
// [Client.Do] wraps one of them.
var (
	// ErrUnreachable: no connection, or one that broke before the response was
	// complete, or a response that is not HTTP.
	ErrUnreachable = errors.New("unreachable")
	// ErrTLS: no secure connection, because its handshake failed or a certificate. The
	// service has read nothing of the request.
	ErrTLS = errors.New("no secure connection")
	// ErrTimeout: the time for the exchange was up.
	ErrTimeout = errors.New("timed out")
	// ErrCanceled: the caller gave up.
	ErrCanceled = errors.New("canceled")
	// ErrTooLarge: the response's body is longer than allowed. What was read of it
	// is dropped.
	ErrTooLarge = errors.New("response body too large")
)

// errStatus ends an exchange whose response is none: its status is 101, or not three
// digits of which the first is at least a 2.
var errStatus = errors.New("its response has no final status of HTTP")

// An Error is a failed exchange. It can be logged: it names the authority of the
// upstream, and neither path, query, header nor anything that the upstream sent.
type Error struct {
	Authority string
	Kind      error  // one of the Err variables
	Cause     string // more words, from a closed list; may be ""
}

// Error names the upstream, the kind of failure and its cause.
func (e *Error) Error() string {
	text := "upstream " + e.Authority + ": " + e.Kind.Error()
	if e.Cause != "" {
		text += ": " + e.Cause
	}
	return text
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// fail classifies err, which ended an exchange under ctx.
func (c *Client) fail(ctx context.Context, err error) error {
	e := &Error{Authority: c.origin.Authority}
	switch {
	case errors.Is(err, ErrTooLarge):
		e.Kind = ErrTooLarge
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind = ErrCanceled
	case ctx.Err() != nil, errors.Is(err, ErrTimeout):
		e.Kind = ErrTimeout
	default:
		e.Kind, e.Cause = ErrUnreachable, cause(err)
		if isTLS(err) {
			e.Kind = ErrTLS
		}
	}
	return e
}

// isTLS reports whether err is about what a node brings to a handshake, or from
// crypto/tls or crypto/x509 before there was a connection. Some of theirs have no type
// that says so: an alert is a net.OpError of the operation "remote error" or "local
// error", others have a text that does.
func isTLS(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		op     *net.OpError
	)
	if errors.Is(err, errUnderWay) {
		return false
	}
	if errors.Is(err, errOwnTLS) || errors.As(err, &verify) || errors.As(err, &record) {
		return true
	}
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") {
		return true
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return strings.HasPrefix(err.Error(), "tls: ")
}

// Alerts about a client's certificate (RFC 8446, section 6).
var certificateAlerts = []tls.AlertError{
	42,  // bad_certificate
	43,  // unsupported_certificate
	44,  // certificate_revoked
	45,  // certificate_expired
	46,  // certificate_unknown
	48,  // unknown_ca
	49,  // access_denied
	116, // certificate_required
}

// refusesCertificate reports whether err is the service's alert about the node's
// certificate. With TLS 1.3 it comes when the node has begun to send, and the service
// reads nothing of that. Over HTTP/2 net/http may have another error for it.
func refusesCertificate(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return false
	}
	return slices.ContainsFunc(certificateAlerts, func(a tls.AlertError) bool { return op.Err.Error() == a.Error() })
}

// cause puts a transport error into words. The error's own text may quote what the
// upstream sent.
func cause(err error) string {
	var (
		dns     *net.DNSError
		errno   syscall.Errno
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   *net.OpError
		timeout net.Error
	)
	begun := errors.Is(err, errUnderWay)
	switch {
	case errors.Is(err, errOwnTLS):
		return err.Error()
	case errors.Is(err, errAgain):
		return errAgain.Error()
	case errors.Is(err, errStatus):
		return errStatus.Error()
	case errors.As(err, &dns):
		return "the host name does not resolve"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &unknown):
		return "its certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "its certificate is not valid"
	case errors.As(err, &record) && !begun:
		return "it does not speak TLS"
	case errors.As(err, &alert) && alert.Op == "remote error" && !begun: // crypto/tls: an alert that came
		return "it refused the TLS handshake"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the response was complete"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no connection in time"
	}
	return "the exchange failed"
}
