package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// limit is the bound of a line in tests.
const limit = 200

// FuzzConn writes anything to a connection whose requests are all answered. Every
// line that goes out is one message, or one batch; there is one for each line that
// came in, except for those without a request.
func FuzzConn(f *testing.F) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, seed := range []string{
		call, call + "\n" + call + "\r\n", "", "\n\n", "{}", "[]", "[1]", "[" + call + "]", "[" + call + "," + call + "]",
		`{"jsonrpc":"2.0","id":"a","method":"x"}`, `{"jsonrpc":"2.0","method":"n"}`, `[{"jsonrpc":"2.0","method":"n"}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":{}}`, `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, strings.Repeat("x", limit+1) + "\n" + call, "\xff",
		`[` + call + `,{"jsonrpc":"2.0","id":"2","method":"x"}]` + "\n" + call,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		c := New(Config{In: bytes.NewReader(in), Out: &out, Max: limit})
		for {
			m, err := c.Read(t.Context())
			if err != nil {
				break
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				if err := c.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{}`)}); err != nil {
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

// isAnswer reports whether a line is a response or a batch of them.
func isAnswer(line string) bool {
	type response struct {
		JSONRPC       string
		Result, Error json.RawMessage
	}
	var all []response
	if !strings.HasPrefix(line, "[") {
		line = "[" + line + "]"
	}
	if json.Unmarshal([]byte(line), &all) != nil || len(all) == 0 {
		return false
	}
	for _, r := range all {
		if r.JSONRPC != "2.0" || (r.Result == nil) == (r.Error == nil) {
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
		if len(line) > limit {
			n++
			continue
		}
		if len(text) == 0 {
			continue
		}
		var messages []jsonrpc.Message
		isMessage := false
		if json.Valid(text) {
			var refused *Refusal
			messages, _, refused = decode(text)
			isMessage = refused == nil
		}
		calls := 0
		for _, m := range messages {
			if r, isRequest := m.(*jsonrpc.Request); isRequest && r.IsCall() {
				calls++
			}
		}
		if !isMessage || calls > 0 {
			n++
		}
	}
	return n
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
