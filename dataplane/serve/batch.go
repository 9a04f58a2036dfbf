package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// maxBatch is how many messages one request can carry.
const maxBatch = 100

// withoutBatches is the first revision of the protocol without batches.
const withoutBatches = "2025-06-18"

// isBatch reports whether a body, a valid JSON value, is a batch.
func isBatch(body []byte) bool {
	return bytes.TrimLeft(body, " \t\r\n")[0] == '['
}

// batch answers the messages of a batch one after the other, each as if it had come
// alone, and sends the answers together.
func (s *Server) batch(e *endpoint, w http.ResponseWriter, r *http.Request, body []byte) {
	messages, refused := openBatch(r.Header, body)
	if refused != nil {
		refuse(w, *refused)
		return
	}
	answers, wait := []json.RawMessage{}, 0
	alone := withoutSession(r) // a session would answer a request with a stream
	for _, m := range messages {
		p, from := &part{header: http.Header{}}, r
		if isRequest(m) {
			from = alone
		}
		s.answer(e, p, from, m)
		if p.body.Len() > 0 {
			answers = append(answers, p.body.Bytes())
		}
		seconds, _ := strconv.Atoi(p.header.Get("Retry-After")) // 0 for none
		wait = max(wait, seconds)
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	_, _ = w.Write(joined(answers)) // a client that is gone needs no answer
}

// openBatch returns the messages of a batch, or why it is not answered.
func openBatch(h http.Header, body []byte) (messages []json.RawMessage, refused *refusal) {
	version, refused := versionOf(h)
	if refused != nil {
		return nil, refused
	}
	_ = json.Unmarshal(body, &messages) // an array always unmarshals
	switch {
	case version >= withoutBatches:
		return nil, notARequest("is a batch, which this revision of the protocol does not have")
	case len(messages) == 0:
		return nil, notARequest("is a batch of nothing")
	case len(messages) > maxBatch:
		return nil, notARequest(fmt.Sprintf("is a batch of more than %d messages", maxBatch))
	}
	return messages, nil
}

// isRequest reports whether data, an element of a batch, is to be answered.
func isRequest(data []byte) bool {
	m, refused := openMessage(data)
	return refused != nil || m.id != nil && !m.answer
}

// joined returns values as the elements of an array.
func joined(values []json.RawMessage) []byte {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// A part is the answer to one message of a batch.
type part struct {
	header http.Header
	body   bytes.Buffer
}

func (p *part) Header() http.Header { return p.header }

// WriteHeader does nothing: a part has no status of its own.
func (p *part) WriteHeader(int) {}

func (p *part) Write(b []byte) (int, error) { return p.body.Write(b) }
