package trial

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/dataplane/upstream"
)

// received is a request as the upstream got it.
type received struct {
	line   string // "GET /books?limit=1"
	header map[string]string
	body   []byte
}

// RoundTrip is the connection: what is written to it is read as a server would, and
// what the case has the upstream answer is read as a client would. Cases do not state
// requests for tokens.
func (s *stage) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.tokens[r.URL.String()] && r.Method == http.MethodPost {
		return issue(r)
	}
	got, err := transmit(r)
	if err != nil {
		return nil, err
	}
	s.got = append(s.got, got)
	if len(s.got) > len(s.playing.Exchanges) {
		return nil, errors.New("the case states no such request")
	}
	return play(r, s.playing.Exchanges[len(s.got)-1].Response)
}

// transmit writes r and returns what a server reads.
func transmit(r *http.Request) (*received, error) {
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		return nil, err
	}
	read, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		return nil, err
	}
	return receive(read)
}

// receive takes a request apart as a server has it.
func receive(r *http.Request) (*received, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	got := &received{line: r.Method + " " + r.RequestURI, header: map[string]string{}, body: body}
	for name, values := range r.Header {
		if name != "Content-Length" { // it follows from the body
			got.header[name] = strings.Join(values, ", ")
		}
	}
	return got, nil
}

func play(r *http.Request, answer cases.Response) (*http.Response, error) {
	switch answer.Failure {
	case cases.Unreachable:
		return nil, errors.New("played")
	case cases.TLS:
		return nil, &tls.CertificateVerificationError{Err: errors.New("played")}
	case cases.Timeout:
		return nil, fmt.Errorf("played: %w", upstream.ErrTimeout)
	}
	resp := &http.Response{StatusCode: answer.Status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}
	if answer.Body != nil {
		if !answer.Body.Exact {
			resp.Header.Set("Content-Type", "application/json")
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(answer.Body.Data)), int64(len(answer.Body.Data))
	}
	for name, value := range answer.Header {
		resp.Header.Set(name, value)
	}
	var wire bytes.Buffer
	if err := resp.Write(&wire); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(&wire), r)
}

// usual are the headers that every request has; a case need not state them.
var usual = map[string]string{"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "bindery"}

// expected returns the headers that a request must have.
func expected(want cases.Request) map[string]string {
	header := maps.Clone(usual)
	if want.Body != nil && len(want.Body.Data) > 0 {
		header["Content-Type"] = "application/json"
	}
	maps.Copy(header, want.Header)
	return header
}
