package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

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
