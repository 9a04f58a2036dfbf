package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The bounds of a line in tests.
const (
	limit    = 200 // in bytes
	maxBatch = 5   // in messages
)

// FuzzConn writes anything to a connection whose requests are all answered. Every
// line that goes out is one message, or one batch; there is one for each line that
// came in, except for those that have neither a request nor anything that is no message.
func FuzzConn(f *testing.F) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, seed := range []string{
		call, call + "\n" + call + "\r\n", "", "\n\n", "{}", "[]", "[1]", "[" + call + "]", "[" + call + "," + call + "]",
		`{"jsonrpc":"2.0","id":"a","method":"x"}`, `{"jsonrpc":"2.0","method":"n"}`, `[{"jsonrpc":"2.0","method":"n"}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":{}}`, `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, strings.Repeat("x", limit+1) + "\n" + call, "\xff",
		`[` + call + `,{"jsonrpc":"2.0","id":"2","method":"x"}]` + "\n" + call, "[1," + call + "]", "[1,2,3,4,5,6]", `{"jsonrpc":"2.0","id":"\ud800","method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		c := New(Config{In: bytes.NewReader(in), Out: &out, Max: limit, MaxBatch: maxBatch})
		defer c.Close()
		for {
			m, err := c.Read(t.Context())
			if err != nil {
				break
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				answer := &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{}`)}
				if r.Method == "x" {
					answer = &jsonrpc.Response{ID: r.ID, Error: errors.New("an error of the SDK's")}
				}
				if err := c.Write(t.Context(), answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := strings.Count(out.String(), "\n")
		for line := range strings.Lines(out.String()) {
			if !isAnswer(line) {
				t.Errorf("a line of the output is %q", line)
			}
		}
		if want := wantAnswers(in); got != want {
			t.Errorf("%q has %d answers, want %d:\n%s", in, got, want, out.String())
		}
	})
}

// isAnswer reports whether a line is a response, whose error has a code, or a batch of them.
func isAnswer(line string) bool {
	type response struct {
		JSONRPC string
		Result  json.RawMessage
		Error   *struct{ Code int }
	}
	var all []response
	if !strings.HasPrefix(line, "[") {
		line = "[" + line + "]"
	}
	if json.Unmarshal([]byte(line), &all) != nil || len(all) == 0 {
		return false
	}
	for _, r := range all {
		if r.JSONRPC != "2.0" || (r.Result == nil) == (r.Error == nil) || r.Error != nil && r.Error.Code == 0 {
			return false
		}
	}
	return true
}

// wantAnswers counts the lines that are to be answered.
func wantAnswers(in []byte) int {
	n := 0
	for line := range bytes.SplitSeq(in, []byte("\n")) {
		text := bytes.TrimSpace(line)
		switch {
		case len(line) > limit:
			n++
		case len(text) > 0 && (!json.Valid(text) || isAnswered(text)):
			n++
		}
	}
	return n
}

// isAnswered reports whether a line of JSON is to be answered: it has a request, or what
// is no message.
func isAnswered(text []byte) bool {
	parts := []json.RawMessage{text}
	if text[0] == '[' {
		_ = json.Unmarshal(text, &parts) // an array always unmarshals
	}
	return len(parts) == 0 || len(parts) > maxBatch || slices.ContainsFunc(parts, func(part json.RawMessage) bool {
		m, err := jsonrpc.DecodeMessage(part)
		r, isRequest := m.(*jsonrpc.Request)
		return err != nil || isRequest && r.IsCall()
	})
}

// TestReadLine reads lines around the bound, and around the size of the buffer.
func TestReadLine(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader(strings.Join([]string{
		"", "short", strings.Repeat("a", limit), strings.Repeat("b", limit+1), strings.Repeat("c", 100*limit), "last",
	}, "\n")), 16)
	for i, want := range []line{{}, {text: []byte("short")}, {text: bytes.Repeat([]byte("a"), limit)}, {tooLong: true}, {tooLong: true}, {text: []byte("last")}} {
		got, err := readLine(in, limit)
		if string(got.text) != string(want.text) || got.tooLong != want.tooLong || (err == io.EOF) != (i == 5) {
			t.Errorf("line %d is %q, %t, %v", i, got.text, got.tooLong, err)
		}
	}
}

// TestStopTwice stops a connection twice while requests are open and the client does not
// read.
func TestStopTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"x"}` + "\n"
		_, out := io.Pipe()
		c := New(Config{In: strings.NewReader(in), Out: out, Max: limit, MaxBatch: maxBatch, Patience: time.Second})
		for range 2 {
			if _, err := c.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.Stop()
		c.Stop()
		<-c.GivenUp()
		out.Close()
		if _, err := c.Read(t.Context()); err != io.EOF {
			t.Errorf("error is %v", err)
		}
	})
}
