package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// MaxBatch is how many messages one request of HTTP can carry.
const MaxBatch = 100

// IsBatch reports whether a body, a valid JSON value, is a batch.
func IsBatch(body []byte) bool {
	return bytes.TrimLeft(body, " \t\r\n")[0] == '['
}

// OpenBatch returns the messages of a batch that came with the header h, or why it is
// not answered.
func OpenBatch(h http.Header, body []byte) (messages []json.RawMessage, refused *Refusal) {
	version, refused := VersionOf(h)
	if refused != nil {
		return nil, refused
	}
	messages = Elements(body, MaxBatch+1)
	switch {
	case version >= withoutBatches:
		return nil, notARequest("is a batch, which this revision of the protocol does not have")
	case len(messages) == 0:
		return nil, notARequest("is a batch of nothing")
	case len(messages) > MaxBatch:
		return nil, notARequest(fmt.Sprintf("is a batch of more than %d messages", MaxBatch))
	}
	return messages, nil
}

// Elements returns those of data, a valid JSON array, but at most n.
func Elements(data []byte, n int) []json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(data))
	_, _ = d.Token() // the bracket
	var all []json.RawMessage
	for len(all) < n && d.More() {
		var one json.RawMessage
		_ = d.Decode(&one) // a valid value always decodes
		all = append(all, one)
	}
	return all
}

// IsAnswered reports whether data, an element of a batch, gets an answer: so does what
// is no message.
func IsAnswered(data []byte) bool {
	m, refused := Open(data)
	return refused != nil || m.IsRequest()
}
