// Package stdio carries MCP over two streams, as a process does over its stdin and
// stdout: lines come in, JSON-RPC messages go out, and back.
//
// What is no message is answered with a JSON-RPC error and never ends a connection,
// and the end of the input ends it only when every request that was read is answered.
package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config says what a connection is made of.
type Config struct {
	In  io.Reader
	Out io.Writer // gets whole lines, one write each, and nothing but messages
	// Max bounds a line that comes in, in bytes.
	Max int
	// Take returns what stands for a message, or a batch of messages, that is valid JSON,
	// with the same IDs, or why it is refused; nil takes all as they are.
	Take func([]byte) ([]byte, *Refusal)
	// Patience is how long requests may go on after [Conn.Stop].
	Patience time.Duration
	// Ended is called once, when no more is read; nil for nothing.
	Ended func()
}

// A Refusal is why a line is not taken.
type Refusal struct {
	Code    int64
	Message string          // repeats nothing of the line
	ID      json.RawMessage // of the request; nil when none was recognised
}

// A Conn is a connection and the [mcp.Transport] that connects it, once. Its methods
// may be called concurrently, except Read.
type Conn struct {
	cfg    Config
	lines  chan line         // closed at the end of the input
	queue  []jsonrpc.Message // read and not returned by Read yet
	stop   func()
	closed func()

	stopped, gone <-chan struct{} // closed by stop and closed

	mu       sync.Mutex // held by who writes
	spoken   bool       // something was written
	open     map[jsonrpc.ID]*batch
	ended    bool          // no more requests are read
	answered chan struct{} // closed when ended and none is open
}

// New returns a connection and starts to read. What is blocked in a read of In when
// the connection is closed stays so until that returns.
func New(cfg Config) *Conn {
	c := &Conn{cfg: cfg, lines: make(chan line), open: map[jsonrpc.ID]*batch{}, answered: make(chan struct{})}
	c.stopped, c.stop = signal()
	c.gone, c.closed = signal()
	go c.follow()
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

// Stop ends the connection: no more is read, and requests have Config.Patience to be
// answered.
func (c *Conn) Stop() { c.stop() }

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
			if refused := c.accept(l); refused != nil {
				c.refuse(refused)
			}
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

// end waits for requests to be answered and returns [io.EOF].
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
	case <-c.stopped:
		select {
		case <-c.answered:
		case <-c.gone:
		case <-time.After(c.cfg.Patience):
		}
	}
	return io.EOF
}

// settle lets end know when there is nothing to wait for. c.mu is held.
func (c *Conn) settle() {
	if c.ended && len(c.open) == 0 {
		select {
		case <-c.answered:
		default:
			close(c.answered)
		}
	}
}

// accept queues the messages of a line, or returns why it does not.
func (c *Conn) accept(l line) *Refusal {
	text := bytes.TrimSpace(l.text)
	switch {
	case l.tooLong:
		return &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("line is longer than %d bytes", c.cfg.Max)}
	case len(text) == 0:
		return nil
	case !json.Valid(text):
		return &Refusal{Code: jsonrpc.CodeParseError, Message: "line is not one JSON value"}
	}
	if c.cfg.Take != nil {
		var refused *Refusal
		if text, refused = c.cfg.Take(text); refused != nil {
			return refused
		}
	}
	messages, of, refused := decode(text)
	if refused != nil {
		return refused
	}
	if !c.begin(messages, of) {
		return &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "id is that of a request that is not answered yet"}
	}
	c.queue = messages
	return nil
}

// decode returns the messages of a line, and the batch that they are, which is nil for
// one by itself; or why it cannot.
func decode(text []byte) ([]jsonrpc.Message, *batch, *Refusal) {
	parts := []json.RawMessage{text}
	var of *batch
	if text[0] == '[' {
		of, parts = &batch{}, nil
		_ = json.Unmarshal(text, &parts) // a valid array always unmarshals
	}
	var messages []jsonrpc.Message
	for _, part := range parts {
		m, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			return nil, nil, &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "line is not a JSON-RPC message"}
		}
		if !comesBack(part) {
			return nil, nil, &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "id is neither a string nor an integer of at most 15 digits"}
		}
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return nil, nil, &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "batch is empty"}
	}
	return messages, of, nil
}

// comesBack reports whether the id of a message, if it has one, comes back as it was
// sent: the SDK keeps numbers as float64 reads them, less their fraction.
func comesBack(message []byte) bool {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(message, &m) != nil {
		return false
	}
	id := strings.TrimPrefix(string(m.ID), "-")
	isNumber := id != "" && '0' <= id[0] && id[0] <= '9'
	return !isNumber || len(id) <= 15 && strings.Trim(id, "0123456789") == ""
}

// begin notes the requests among messages as open. It reports false, and notes none,
// if one has the id of another.
func (c *Conn) begin(messages []jsonrpc.Message, of *batch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := map[jsonrpc.ID]*batch{}
	for _, m := range messages {
		r, isRequest := m.(*jsonrpc.Request)
		if !isRequest || !r.IsCall() {
			continue
		}
		_, isOpen := c.open[r.ID]
		_, isFresh := fresh[r.ID]
		if isOpen || isFresh {
			return false
		}
		fresh[r.ID] = of
	}
	for id := range fresh {
		c.open[id] = of
	}
	if of != nil {
		of.left = len(fresh)
	}
	return true
}

// Write writes a message as a line. A notice of change is dropped while a client has
// heard nothing: it knows of nothing that could have changed.
func (c *Conn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Response:
		return c.answer(m.ID, data)
	case *jsonrpc.Request:
		if !c.spoken && strings.HasSuffix(m.Method, "/list_changed") {
			return nil
		}
	}
	return c.writeLine(data)
}

// answer writes the response to a request, or the batch that it completes. c.mu is
// held.
func (c *Conn) answer(id jsonrpc.ID, data []byte) error {
	of := c.open[id]
	delete(c.open, id)
	defer c.settle()
	if of != nil {
		of.answers = append(of.answers, data)
		if of.left--; of.left > 0 {
			return nil
		}
		data = of.json()
	}
	return c.writeLine(data)
}

// refuse answers a line that is no message. A stream that is broken needs no answer.
func (c *Conn) refuse(r *Refusal) {
	// Strings and a number always marshal, and an id came as JSON.
	data, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": r.ID,
		"error": map[string]any{"code": r.Code, "message": r.Message},
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.writeLine(data)
}

// writeLine writes data, which has no newline, as a line. c.mu is held.
func (c *Conn) writeLine(data []byte) error {
	c.spoken = true
	_, err := c.cfg.Out.Write(append(data, '\n'))
	return err
}

// A batch is requests that came as one array, as clients of MCP 2025-03-26 may send
// them: their answers go back as one, too.
type batch struct {
	left    int // not answered yet
	answers []json.RawMessage
}

func (b *batch) json() []byte {
	var data bytes.Buffer
	data.WriteByte('[')
	for i, a := range b.answers {
		if i > 0 {
			data.WriteByte(',')
		}
		data.Write(a)
	}
	data.WriteByte(']')
	return data.Bytes()
}
