package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/bindery-dev/bindery/dataplane/message"
)

// batch answers the messages of a batch one after the other, each as if it had come
// alone, and sends the answers together.
func (s *Server) batch(e *endpoint, w http.ResponseWriter, r *http.Request, body []byte) {
	messages, refused := message.OpenBatch(r.Header, body)
	if refused != nil {
		refuse(w, *refused)
		return
	}
	answers, wait := []json.RawMessage{}, 0
	alone := withoutSession(r) // a session would answer a request with a stream
	for _, m := range messages {
		p, from := &part{header: http.Header{}}, r
		if message.IsAnswered(m) {
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
