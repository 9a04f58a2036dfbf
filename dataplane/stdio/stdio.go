// Package stdio carries MCP over two streams, as a process does over its stdin and
// stdout: lines come in, JSON-RPC messages go out, and back.
//
// What is no message is answered with a JSON-RPC error and never ends a connection,
// and the end of the input ends it only when every request that was read is answered.
package stdio

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
)

// Config says what a connection is made of.
type Config struct {
	In  io.Reader
	Out io.Writer // gets whole lines, one write each, and nothing but messages
	// Max bounds a line that comes in, in bytes, and MaxBatch the messages of one.
	Max, MaxBatch int
	// Take returns what stands for a message that is valid JSON, with the same ID, or why
	// it is refused; nil takes all as they are. It is called in the course of Read, with
	// one message after the other.
	Take func([]byte) ([]byte, *Refusal)
	// Patience is how long requests may go on after [Conn.Stop].
	Patience time.Duration
	// Ended is called once, when no more is read; nil for nothing.
	Ended func()
}

// A Conn is a connection and the [mcp.Transport] that connects it, once. Its methods
// may be called concurrently, except Read.
type Conn struct {
	cfg   Config
	lines chan line         // closed at the end of the input
	out   chan outgoing     // what is to be written
	queue []jsonrpc.Message // read and not returned by Read yet

	stop, gaveUp, closed   func()
	stopped, givenUp, gone <-chan struct{} // closed by stop, gaveUp and closed

	mu       sync.Mutex // never held by who waits for the client
	spoken   bool       // something was written, or is about to be
	open     map[jsonrpc.ID]*batch
	writing  int           // answers that are no longer open and not written yet
	ended    bool          // no more requests are read
	answered chan struct{} // closed when ended, and every answer is written
}

// New returns a connection and starts to read. What is blocked in a read of In, or in a
// write of Out, when the connection is closed stays so until that returns.
func New(cfg Config) *Conn {
	c := &Conn{cfg: cfg, lines: make(chan line), out: make(chan outgoing), open: map[jsonrpc.ID]*batch{}, answered: make(chan struct{})}
	c.stopped, c.stop = signal()
	c.givenUp, c.gaveUp = signal()
	c.gone, c.closed = signal()
	go c.follow()
	go c.say()
	return c
}

// signal returns a channel and what closes it, any number of times.
func signal() (<-chan struct{}, func()) {
	done := make(chan struct{})
	return done, sync.OnceFunc(func() { close(done) })
}

// Connect returns c.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID returns "": there is one client.
func (c *Conn) SessionID() string { return "" }

// Stop ends the connection: no more is read, and requests have most of Config.Patience to
// be answered. Those that are not are answered with an error that says so, for which there
// is the rest of it. Then it is closed, even if the client takes no answers.
func (c *Conn) Stop() {
	c.stop()
	time.AfterFunc(c.cfg.Patience/10*9, c.giveUp)
	time.AfterFunc(c.cfg.Patience, c.closed)
}

// GivenUp returns a channel that is closed when requests were given up after Stop, and
// answered.
func (c *Conn) GivenUp() <-chan struct{} { return c.givenUp }

// giveUp answers the requests that are open.
func (c *Conn) giveUp() {
	c.mu.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	if len(open) == 0 {
		return
	}
	for _, id := range open {
		// An ID and an error that is the same for all always marshal.
		data, _ := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: errGivenUp})
		_ = c.answer(id, data) // a client that is gone needs no answer
	}
	c.gaveUp()
}

// errGivenUp is what becomes of a request that is given up.
var errGivenUp = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server was stopped before there was an answer: a call may have been carried out"}

// Close ends the connection at once.
func (c *Conn) Close() error {
	c.closed()
	return nil
}

// Read returns the next message. The error is [io.EOF] at the end of the input or
// after Stop, once requests are answered or their time is up, and after Close.
func (c *Conn) Read(context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case l, ok := <-c.lines:
			if !ok {
				return nil, c.end()
			}
			c.accept(l)
		case <-c.stopped:
			return nil, c.end()
		case <-c.gone:
			return nil, io.EOF
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// end waits for requests to be answered, or for the connection to be closed, and returns
// [io.EOF].
func (c *Conn) end() error {
	c.mu.Lock()
	c.ended = true
	c.settle()
	c.mu.Unlock()
	if c.cfg.Ended != nil {
		c.cfg.Ended()
	}
	select {
	case <-c.answered:
	case <-c.gone:
	}
	return io.EOF
}

// settle lets end know when there is nothing to wait for. c.mu is held.
func (c *Conn) settle() {
	if c.ended && len(c.open) == 0 && c.writing == 0 {
		select {
		case <-c.answered:
		default:
			close(c.answered)
		}
	}
}

// Write writes a message as a line. A notice of change is dropped while a client has
// heard nothing: it knows of nothing that could have changed. An error without a code of
// JSON-RPC, such as the SDK has for a request that is cancelled before it is looked at, is
// written as an internal one: its text may repeat anything.
func (c *Conn) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok && r.Error != nil && !message.IsCoded(r.Error) {
		m = &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}}
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		return c.answer(m.ID, data)
	case *jsonrpc.Request:
		if strings.HasSuffix(m.Method, "/list_changed") && !c.hasSpoken() {
			return nil
		}
	}
	return c.writeLine(data)
}

func (c *Conn) hasSpoken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spoken
}
