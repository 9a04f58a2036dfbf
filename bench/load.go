package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A target answers one request, always alike.
type target struct {
	addr    string   // host:port
	request []byte   // as it goes over the wire
	want    [][]byte // the bodies that an answer may have
}

// newTarget returns the target that answers a POST to url; headers are "Name: value"
// lines. It asks once, and accepts the answer if ok finds no fault with it.
func newTarget(addr, path string, headers []string, request []byte, ok func([]byte) error) (*target, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, addr, len(request))
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(request)
	t := &target{addr: addr, request: b.Bytes()}
	c, err := dial(t)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	body, err := c.ask()
	if err != nil {
		return nil, err
	}
	t.want = [][]byte{bytes.Clone(body)}
	return t, ok(t.want[0])
}

// A client is one connection to a target. It does as little as a client can, so that
// what is measured is the other side.
type client struct {
	net.Conn
	target *target
	r      *bufio.Reader
	body   []byte
}

func dial(t *target) (*client, error) {
	conn, err := net.Dial("tcp", t.addr)
	if err != nil {
		return nil, err
	}
	return &client{Conn: conn, target: t, r: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// ask sends the request and returns the body of the answer, which is valid until the
// next one. The error says what the answer has in place of what the target wants; a
// target that wants nothing in particular takes any.
func (c *client) ask() ([]byte, error) {
	if _, err := c.Write(c.target.request); err != nil {
		return nil, err
	}
	status, length, err := c.head()
	if err != nil {
		return nil, err
	}
	if err := c.read(length); err != nil {
		return nil, err
	}
	switch {
	case status != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d: %.300s", status, c.body)
	case len(c.target.want) > 0 && !slices.ContainsFunc(c.target.want, func(w []byte) bool { return bytes.Equal(w, c.body) }):
		return nil, fmt.Errorf("another answer than before: %.300s", c.body)
	}
	return c.body, nil
}

// head reads the status and headers; length is -1 for a chunked body.
func (c *client) head() (status, length int, err error) {
	for first := true; ; first = false {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case first && len(line) >= 12:
			status, err = strconv.Atoi(string(line[9:12]))
		case first:
			err = errors.New("no HTTP response")
		case len(line) == 0:
			return status, length, nil
		case strings.EqualFold(string(name), "Content-Length"):
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		case strings.EqualFold(string(name), "Transfer-Encoding"):
			length = -1
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// read reads a body of length bytes into c.body.
func (c *client) read(length int) error {
	c.body = c.body[:0]
	if length >= 0 {
		return c.append(length)
	}
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(bytes.TrimRight(line, "\r\n")), 16, 31)
		if err != nil {
			return err
		}
		if err := c.append(int(n)); err != nil {
			return err
		}
		if _, err := c.r.Discard(2); err != nil || n == 0 {
			return err
		}
	}
}

func (c *client) append(n int) error {
	had := len(c.body)
	c.body = slices.Grow(c.body, n)[:had+n]
	_, err := io.ReadFull(c.r, c.body[had:])
	return err
}

// A sample is what one slice of load measured.
type sample struct {
	took    time.Duration
	latency []time.Duration // of each call, sorted
}

func (s sample) perSecond() float64 { return float64(len(s.latency)) / s.took.Seconds() }

// quantile returns the latency that the share q of calls had at most.
func (s sample) quantile(q float64) time.Duration {
	if len(s.latency) == 0 {
		return 0
	}
	return s.latency[min(int(q*float64(len(s.latency))), len(s.latency)-1)]
}

// load asks t over n connections for d. Every answer is checked; the first wrong one
// is the error.
func load(ctx context.Context, t *target, n int, d time.Duration) (sample, error) {
	clients := make([]*client, n)
	for i := range clients {
		c, err := dial(t)
		if err != nil {
			return sample{}, err
		}
		defer c.Close()
		clients[i] = c
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	var (
		mu    sync.Mutex
		all   sample
		first error
		wg    sync.WaitGroup
	)
	began := time.Now()
	for _, c := range clients {
		wg.Go(func() {
			latency, err := c.hammer(ctx)
			mu.Lock()
			defer mu.Unlock()
			all.latency = append(all.latency, latency...)
			if err != nil && first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	all.took = time.Since(began)
	slices.Sort(all.latency)
	return all, first
}

// hammer asks until ctx is done.
func (c *client) hammer(ctx context.Context) (latency []time.Duration, err error) {
	for ctx.Err() == nil {
		began := time.Now()
		if _, err := c.ask(); err != nil {
			return latency, err
		}
		latency = append(latency, time.Since(began))
	}
	return latency, nil
}
