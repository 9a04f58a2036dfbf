// Package upstream exchanges HTTP messages with REST services: a request without a
// host comes in, and the whole response of the one service that a [Client] knows
// goes out.
//
// A request cannot leave its origin: a client holds scheme and authority, follows
// no redirect and, on purpose, no proxy of the environment, since what is in a
// bundle alone decides where a credential travels to.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client exchanges messages with one origin over connections that it keeps. It is
// safe for concurrent use.
type Client struct {
	// Retries is what may be sent to the origin for a second time.
	Retries Budget

	origin    Origin
	transport http.RoundTripper
}

// New returns a client for origin whose requests transport carries, such as
// [Transport]; no connection is opened before the first request. A transport that
// keeps time itself says that it is up by an error that wraps [ErrTimeout].
func New(origin Origin, transport http.RoundTripper) *Client {
	return &Client{origin: origin, transport: transport}
}

// Origin returns the service that the client is for.
func (c *Client) Origin() Origin { return c.origin }

// Close closes the connections that no exchange is using; the others are closed
// when theirs ends. The client can still be used.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// A Request is what a client sends.
type Request struct {
	Method string
	// Target is the escaped path, which begins with a slash, with the query.
	Target string
	// Header belongs to the client until the exchange ends, which only adds to it. It
	// needs no Host and no Content-Length.
	Header http.Header
	// Body is sent as it is; empty sends none.
	Body []byte
	// Timeout is from dialing to the last byte of the response's body.
	Timeout time.Duration
	// MaxBody is the number of bytes that the response's body may have.
	MaxBody int64
}

// A Response is what an upstream answered, whole.
type Response struct {
	Status int // 200..999; what is more than 599 is none of HTTP's
	Header http.Header
	Body   []byte // nil when empty
}

// Do sends r and reads the whole response. A response with any final status is a success:
// what a status means is up to the binding. Redirects are not followed and bodies
// are not decompressed.
//
// If an error comes after the response's header, both are returned, and the
// response has no body.
//
// The error is an [*Error]. It wraps [ErrCanceled] when ctx was canceled,
// [ErrTimeout] when time was up, [ErrTooLarge], or else [ErrUnreachable]; also when
// the connection ended before the response was complete.
//
// Do is one attempt, with one exception, which is that of [Transport]: when a
// connection that was kept turns out to be closed before a byte of the response, the
// request goes out again on another one, once, if none of it had been written, or if it is
// a GET or has an Idempotency-Key. Over HTTP/2 any request does, and only there, that the
// service says it did not look at (RFC 9113, section 8.7). On a new connection of HTTP/1.1
// that does not happen, and it counts for no budget: it makes up for a connection that was
// gone already.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	if sooner(ctx, r.Timeout) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	defer resp.Body.Close()
	if !isFinal(resp.StatusCode) {
		return nil, c.fail(ctx, errStatus)
	}
	whole := &Response{Status: resp.StatusCode, Header: resp.Header}
	if whole.Body, err = readBody(resp, r.MaxBody); err != nil {
		return whole, c.fail(ctx, fmt.Errorf("%w: %w", errUnderWay, err))
	}
	return whole, nil
}

// sooner reports whether d from now is before ctx would end.
func sooner(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return !ok || d < time.Until(deadline)
}

func (c *Client) request(ctx context.Context, r *Request) (*http.Request, error) {
	target, err := url.ParseRequestURI(r.Target)
	if err != nil || !strings.HasPrefix(r.Target, "/") || strings.HasPrefix(r.Target, "//") {
		return nil, errors.New("bad request target")
	}
	target.Scheme, target.Host = c.origin.Scheme, c.origin.Authority
	req := (&http.Request{
		Method:     r.Method,
		URL:        target,
		Host:       c.origin.Authority,
		Header:     r.Header,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header["Accept-Encoding"] = []string{"identity"}
	if len(r.Body) == 0 {
		return req, nil
	}
	req.ContentLength = int64(len(r.Body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
	req.Body, err = req.GetBody()
	return req, err
}

// isFinal reports whether status is three digits that can end an exchange. One that asks
// for no other protocol does not end with 101 (RFC 9110, section 15.2.2).
func isFinal(status int) bool { return 200 <= status && status <= 999 }

// readBody reads at most limit bytes.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, ErrTooLarge
	}
	if n := resp.ContentLength; n > 0 {
		body := make([]byte, n)
		if _, err := io.ReadFull(resp.Body, body); err != nil {
			return nil, err
		}
		return body, nil
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case n > limit:
		return nil, ErrTooLarge
	case n == 0:
		return nil, nil
	}
	return buf.Bytes(), nil
}
