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
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
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

// A Refusal is why a line, or a message of a batch, is not taken.
type Refusal struct {
	Code    int64
	Message string          // repeats nothing of the line
	Data    json.RawMessage // nil for none
	ID      json.RawMessage // of the request; nil when none was recognised
}

// json returns the answer that r is.
func (r *Refusal) json() []byte {
	failed := map[string]any{"code": r.Code, "message": r.Message}
	if r.Data != nil {
		failed["data"] = r.Data
	}
	// Strings and a number always marshal, and what is raw came as JSON.
	data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": failed})
	return data
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

// accept queues the messages of a line, and answers what is none.
func (c *Conn) accept(l line) {
	parts, of, refused := c.split(l)
	if refused != nil {
		c.refuse(refused.json())
		return
	}
	for _, part := range parts {
		m, refused := c.message(part, of)
		switch {
		case refused == nil:
			c.queue = append(c.queue, m)
		case of == nil:
			c.refuse(refused.json())
		default:
			c.mu.Lock()
			of.answers = append(of.answers, refused.json())
			c.mu.Unlock()
		}
	}
	if of == nil {
		return
	}
	if whole := c.release(of); whole != nil {
		c.refuse(whole)
	}
}

// release lets a batch that has been read be answered. It returns the answer if that is
// whole, and nil if there is none or requests are open.
func (c *Conn) release(of *batch) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of.left--; of.left > 0 || len(of.answers) == 0 {
		return nil
	}
	return of.json()
}

// split returns what a line has in the place of messages, and the batch that they are,
// which is nil for one by itself; or why it does not.
func (c *Conn) split(l line) ([]json.RawMessage, *batch, *Refusal) {
	text := bytes.TrimSpace(l.text)
	switch {
	case l.tooLong:
		return nil, nil, invalid("line is longer than %d bytes", c.cfg.Max)
	case len(text) == 0:
		return nil, nil, nil
	case !json.Valid(text):
		return nil, nil, &Refusal{Code: jsonrpc.CodeParseError, Message: "line is not one JSON value"}
	case text[0] != '[':
		return []json.RawMessage{text}, nil, nil
	}
	switch parts := message.Elements(text, c.cfg.MaxBatch+1); len(parts) {
	case 0:
		return nil, nil, invalid("batch is empty")
	case c.cfg.MaxBatch + 1:
		return nil, nil, invalid("batch has more than %d messages", c.cfg.MaxBatch)
	default:
		return parts, &batch{left: 1}, nil
	}
}

// invalid is the refusal of what is no request.
func invalid(format string, args ...any) *Refusal {
	return &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// message returns the message that data, a valid JSON value, is, or why it is none. A
// request is open from now on, as a part of a batch, nil for none.
func (c *Conn) message(data []byte, of *batch) (jsonrpc.Message, *Refusal) {
	if c.cfg.Take != nil {
		var refused *Refusal
		if data, refused = c.cfg.Take(data); refused != nil {
			return nil, refused
		}
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, invalid("this is not a JSON-RPC message")
	}
	r, isRequest := m.(*jsonrpc.Request)
	switch {
	case !isRequest || !r.IsCall():
	case !comesBack(idOf(data)):
		refused := invalid("id is neither a string of Unicode characters nor an integer of at most %d digits", maxIDDigits)
		refused.ID = idOf(data)
		return nil, refused
	case !c.begin(r.ID, of):
		return nil, invalid("id is that of a request that is not answered yet")
	}
	return m, nil
}

// idOf returns the id of a message as it was written.
func idOf(message []byte) json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(message, &m) // it was decoded
	return m["id"]
}

// maxIDDigits is how many digits of an integer come back as they were sent.
const maxIDDigits = 15

// comesBack reports whether an id comes back as it was sent. The SDK keeps numbers as
// float64 reads them, less their fraction, and U+FFFD for half of a surrogate pair.
func comesBack(id []byte) bool {
	v, err := rawjson.Parse(id, 1)
	if err != nil || v.Kind() != rawjson.Number {
		return err == nil
	}
	digits := strings.TrimPrefix(string(id), "-")
	return len(digits) <= maxIDDigits && strings.Trim(digits, "0123456789") == ""
}

// begin notes a request as open. It reports false if another has its ID.
func (c *Conn) begin(id jsonrpc.ID, of *batch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, isOpen := c.open[id]; isOpen {
		return false
	}
	c.open[id] = of
	if of != nil {
		of.left++
	}
	return true
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

// answer writes the response to a request, or the batch that it completes.
func (c *Conn) answer(id jsonrpc.ID, data []byte) error {
	if data = c.complete(id, data); data == nil {
		return nil
	}
	err := c.writeLine(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing--
	c.settle()
	return err
}

// complete returns what is to be written once a request has data for its answer; nil if
// others of its batch have none yet, or if it has been given up. The client may use the ID
// again.
func (c *Conn) complete(id jsonrpc.ID, data []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, isOpen := c.open[id]
	if !isOpen {
		return nil
	}
	delete(c.open, id)
	if of != nil {
		of.answers = append(of.answers, data)
		if of.left--; of.left > 0 {
			return nil
		}
		data = of.json()
	}
	c.writing++
	return data
}

// refuse answers a line that has no request. A stream that is broken needs no answer.
func (c *Conn) refuse(answer []byte) { _ = c.writeLine(answer) }

// A batch is messages that came as one array, as clients of MCP 2025-03-26 may send
// them: the answers go back as one, too.
type batch struct {
	left    int // requests that are not answered yet, and one while the batch is read
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
