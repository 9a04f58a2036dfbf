package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestBatch has several messages in one request, as older revisions allow.
func TestBatch(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Binding(upstream(t, librarytest.Upstream())))
	call := func(id, book string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"get_book","arguments":{"id":%q}}}`, id, book)
	}
	const notification, answer = `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":9,"result":{}}`
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tests := []struct {
		name, body, version string
		status              int
		want                []string // parts of the answers, in their order
	}{
		{name: "each has its answer", body: `[` + call(`1`, "1") + `,` + call(`"b"`, "missing") + `,{"jsonrpc":"2.0","id":2.5,"method":"tools/list"}]`, status: 200, want: []string{`[{"jsonrpc":"2.0","id":1,"result":`, `,{"jsonrpc":"2.0","id":"b","error":`, `,{"jsonrpc":"2.0","id":2.5,"result":`}},
		{name: "what wants no answer gets none", body: `[` + notification + `,` + ping + `,` + answer + `]`, status: 200, want: []string{`[{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{name: "nothing wants an answer", body: `[` + notification + `,` + answer + `]`, status: 202},
		{name: "two of an id", body: `[` + ping + `,` + ping + `]`, status: 200, want: []string{`[{"jsonrpc":"2.0","id":1,"result":{}}`, `,{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{name: "no messages", body: `[["secret-marker"],` + ping + `]`, status: 200, want: []string{`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600`, `"id":1,"result":{}}]`}},
		{name: "nothing", body: ` [] `, status: 400, want: []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600`}},
		{name: "too many", body: `[` + strings.Repeat(ping+`,`, message.MaxBatch) + ping + `]`, status: 400, want: []string{`"code":-32600`, `more than 100 messages`}},
		{name: "a revision without batches", version: "2025-06-18", body: `[` + ping + `]`, status: 400, want: []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600`}},
		{name: "an unknown revision", version: "1999-01-01", body: `[` + ping + `]`, status: 400, want: []string{`"code":-32022`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			proof.Ran(t)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/library", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Mcp-Protocol-Version", tt.version)
			status, body := send(t, r)
			if status != tt.status || (len(tt.want) == 0) != (body == "") || strings.Contains(body, "secret-marker") {
				t.Errorf("%d %s; want %d", status, body, tt.status)
			}
			rest := body
			for _, part := range tt.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Errorf("%s\nis without, or not in its place, %s", body, part)
				}
				rest = after
			}
		})
	}
}

// TestBatchNotices has calls in a batch whose client wants to hear of them: it hears
// nothing, and has all the answers in one list.
func TestBatchNotices(t *testing.T) {
	proof.Ran(t)
	release := make(chan struct{})
	close(release)
	for _, stateful := range []bool{false, true} {
		_, url := serving(t, Config{Stateful: stateful}, slow(t, release))
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},"_meta":{"progressToken":"p","io.modelcontextprotocol/logLevel":"info"}}}`
		r := withBody(t, posted(t, url+"/library", "2025-03-26", "x", `{}`), `[`+call+`,{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
		if stateful {
			id, _ := met(t, url+"/library", "2025-03-26")
			r = within(r, id)
		}
		resp, body := exchange(t, r)
		var answers []struct {
			ID     int
			Result struct{ Title string }
		}
		if err := json.Unmarshal([]byte(body), &answers); err != nil || resp.Header.Get("Content-Type") != "application/json" || len(answers) != 2 || answers[0].Result.Title == "" || answers[1].ID != 2 {
			t.Errorf("stateful %t: %v %s", stateful, resp.Header, body)
		}
	}
}

// TestBatchWait has two upstreams that ask to wait: the longer counts.
func TestBatchWait(t *testing.T) {
	proof.Ran(t)
	waits := make(chan string, 2)
	waits <- "3"
	waits <- "2"
	_, url := serving(t, Config{}, librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", <-waits)
		w.WriteHeader(http.StatusTooManyRequests)
	}))))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/library", strings.NewReader(`[`+call+`,`+call+`]`))
	if err != nil {
		t.Fatal(err)
	}
	if resp, body := exchange(t, r); resp.Header.Get("Retry-After") != "3" {
		t.Errorf("%v %s", resp.Header, body)
	}
}
