package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
)

// A record keeps the last HTTP exchange that was made for one request of a
// session. The SDK decodes a result into the members it knows; the record has all
// of them.
type record struct {
	mu     sync.Mutex
	err    error // of the exchange
	status int
	media  string
	body   bytes.Buffer
}

type recordKey struct{}

// in returns a context whose exchanges go into r.
func (r *record) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// result returns the result member of the response.
func (r *record) result() (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for message := range r.messages() {
		var response struct {
			Result json.RawMessage
			Method string // of a notification that came before
		}
		if json.Unmarshal(message, &response) == nil && response.Method == "" && response.Result != nil {
			return response.Result, nil
		}
	}
	return nil, errors.New("the response holds no result")
}

// messages yields the JSON-RPC messages of the response: one, or those of a stream
// of server-sent events, each of which the SDK has accepted already.
func (r *record) messages() func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		if r.media != "text/event-stream" {
			yield(r.body.Bytes())
			return
		}
		var data []byte
		lines := bufio.NewScanner(bytes.NewReader(r.body.Bytes()))
		lines.Buffer(nil, r.body.Len()+1)
		for lines.Scan() {
			if rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
			} else if len(lines.Bytes()) == 0 && data != nil {
				if !yield(data) {
					return
				}
				data = nil
			}
		}
		if data != nil {
			yield(data)
		}
	}
}

// failure returns why the exchange was none with an MCP server; nil when it was,
// as far as HTTP tells.
func (r *record) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.status >= 300 && !json.Valid(r.body.Bytes()):
		return fmt.Errorf("the answer is HTTP %d %s, not MCP: is the path right?", r.status, http.StatusText(r.status))
	case r.status >= 500:
		return fmt.Errorf("HTTP %d: %s", r.status, message(r.body.Bytes()))
	}
	return nil
}

// absent returns why nothing serves MCP where a session was to begin; nil when something
// does. A server of MCP may have this status for a method, or for a session that it
// does not know, but not for the request that begins one.
func (r *record) absent() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status != http.StatusNotFound && r.status != http.StatusMethodNotAllowed {
		return nil
	}
	return fmt.Errorf("the answer is HTTP %d %s: no MCP endpoint has this path; that of a node is /mcp unless a binding says otherwise", r.status, http.StatusText(r.status))
}

// message returns that of a JSON-RPC error, or what there is instead.
func message(body []byte) string {
	var m struct{ Error struct{ Message string } }
	if err := json.Unmarshal(body, &m); err != nil || m.Error.Message == "" {
		return "an answer without a reason"
	}
	return m.Error.Message
}

// recorder adds headers to requests and keeps each exchange in the record of the
// request's context.
type recorder struct {
	headers http.Header
	next    http.RoundTripper
}

func (t *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range t.headers {
		req.Header[name] = values
	}
	res, err := t.next.RoundTrip(req)
	r, ok := req.Context().Value(recordKey{}).(*record)
	if !ok {
		return res, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.body.Reset()
	r.status, r.media, r.err = 0, "", withoutURL(err)
	if err != nil {
		return nil, err
	}
	r.status = res.StatusCode
	r.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode >= 300 {
		return res, r.keep(res)
	}
	res.Body = &tee{ReadCloser: res.Body, record: r}
	return res, nil
}

// maxRefusal bounds what is kept of the body of an answer other than 2xx, in bytes.
const maxRefusal = 1 << 20

// keep reads the body of res now: the SDK does not read all of those that say why a
// server refused. The caller holds the lock.
func (r *record) keep(res *http.Response) error {
	defer res.Body.Close()
	if _, err := io.Copy(&r.body, io.LimitReader(res.Body, maxRefusal)); err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(bytes.Clone(r.body.Bytes())))
	return nil
}

// withoutURL takes off what [TransportError] says already.
func withoutURL(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// tee copies what is read of a body into a record.
type tee struct {
	io.ReadCloser
	record *record
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.record.mu.Lock()
	t.record.body.Write(p[:n])
	t.record.mu.Unlock()
	return n, err
}
