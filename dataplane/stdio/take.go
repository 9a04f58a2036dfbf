package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

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
