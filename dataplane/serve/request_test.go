package serve

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestRefusals is what requests get that never become calls. Every answer is a
// JSON-RPC error, and none repeats what a client sent in a body.
func TestRefusals(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{MaxBody: 1000}, librarytest.Binding("127.0.0.1:9"))
	_, empty := serving(t, Config{})
	tests := []struct {
		name         string
		method, url  string
		header, body string
		accept       string
		contentType  string
		status       int
		want         string
	}{
		{name: "no such endpoint", url: url + "/libraries", body: `{}`, status: 404, want: `"id":null`},
		{name: "a page of the endpoint", url: url + "/library/", body: `{}`, status: 404, want: `no MCP endpoint at \"/library/\"`},
		{name: "no table yet", url: empty + "/library", body: `{}`, status: 503, want: `nothing to serve yet`},
		{name: "method", method: http.MethodDelete, url: url + "/library", status: 405, want: `takes GET, POST`},
		{name: "GET of a modern client", method: http.MethodGet, header: eras[0], url: url + "/library", status: 405, want: `takes POST`},
		{name: "GET of an unknown client", method: http.MethodGet, header: "2020-01-01", url: url + "/library", status: 400, want: `unsupported protocol version`},
		{name: "GET of a browser", method: http.MethodGet, header: eras[1], accept: "text/html,*/*", url: url + "/library", status: 406, want: `accept text/event-stream`},
		{name: "too large", url: url + "/library", body: `{"secret-marker":"` + strings.Repeat("x", 1000) + `"}`, status: 413, want: `larger than 1000 bytes`},
		{name: "no JSON", url: url + "/library", body: `{"secret-marker":`, status: 400, want: `"code":-32700`},
		{name: "two values", url: url + "/library", body: `{}{"secret-marker":1}`, status: 400, want: `"code":-32700`},
		{name: "nothing", url: url + "/library", body: ``, status: 400, want: `"code":-32700`},
		{name: "no message", url: url + "/library", body: `"secret-marker"`, status: 400, want: `"code":-32600`},
		{name: "no JSON type", url: url + "/library", contentType: "text/plain", body: `{}`, status: 415, want: `Content-Type must be`},
		{name: "no stream accepted", url: url + "/library", accept: "application/json", body: `{}`, status: 406, want: `Accept must have`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = http.MethodPost
			}
			r, err := http.NewRequest(tt.method, tt.url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Mcp-Protocol-Version", tt.header)
			r.Header.Set("Accept", tt.accept)
			if tt.contentType != "" {
				r.Header.Set("Content-Type", tt.contentType)
			}
			status, body := send(t, r)
			if status != tt.status || !strings.Contains(body, `"jsonrpc":"2.0"`) || !strings.Contains(body, tt.want) || strings.Contains(body, "secret-marker") {
				t.Errorf("%d %s; want %d with %s", status, body, tt.status, tt.want)
			}
		})
	}
}

// TestForbidden checks that the guard stands in front of everything else.
func TestForbidden(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	r, err := http.NewRequest(http.MethodPost, url+"/library", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.example"
	if status, body := send(t, r); status != http.StatusForbidden || !strings.Contains(body, "--allowed-host rebound.example") {
		t.Errorf("%d %s", status, body)
	}
}

// TestBrokenBody has a client that goes away in the middle of its request.
func TestBrokenBody(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/library", io.MultiReader(strings.NewReader(`{"a`), brokenReader{}))
	_, refused := readBody(httptest.NewRecorder(), r, 1000)
	if refused == nil || refused.Status != http.StatusBadRequest {
		t.Errorf("refused is %+v", refused)
	}
}

// TestSlowBody has clients that announce a body and do not send it, whether or not the
// server wants it: each is answered in time, and its connection ends.
func TestSlowBody(t *testing.T) {
	proof.Ran(t)
	s := New(Config{})
	s.bodyTimeout = 20 * time.Millisecond
	s.Swap(build(t, 1, nil, librarytest.Binding("127.0.0.1:9")))
	host := upstream(t, s)
	const sized, chunked = "Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
	tests := []struct{ name, line, header, body, status string }{
		{name: "to the endpoint", line: "POST /library", body: sized, status: "400"},
		{name: "of no stated length", line: "POST /library", body: chunked, status: "400"},
		{name: "to nothing", line: "POST /nothing", body: sized, status: "404"},
		{name: "of no stated length, to nothing", line: "POST /nothing", body: chunked, status: "404"},
		{name: "of a method that is not taken", line: "PUT /library", body: sized, status: "405"},
		{name: "of a method without a body", line: "GET /library", body: sized, status: "406"},
		{name: "of another's page", line: "POST /library", header: "Origin: https://evil.example\r\n", body: sized, status: "403"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\n%s%s", tt.line, host, tt.header, tt.body); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+tt.status) {
				t.Errorf("%q, %v", answer, err)
			}
		})
	}
}

// TestLongCall has a call that takes longer than its body could have.
func TestLongCall(t *testing.T) {
	s := New(Config{})
	s.bodyTimeout = 100 * time.Millisecond
	s.Swap(build(t, 1, nil, librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * s.bodyTimeout) // the bound is over
		librarytest.Upstream().ServeHTTP(w, r)
	})))))
	url := "http://" + upstream(t, s) + "/library"
	for _, era := range eras {
		if status, body := post(t, url, era, "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`); status != http.StatusOK {
			t.Errorf("%s: %d %s", era, status, body)
		}
	}
}

// TestStatedLength has bodies of each length that is stated: each is read as it is, and
// costs no more than a few times what arrives.
func TestStatedLength(t *testing.T) {
	const limit = DefaultMaxBody
	for _, n := range []int{0, 1, maxAhead - 1, maxAhead, maxAhead + 1, 3 * maxAhead, limit} {
		want := strings.Repeat("x", n)
		r := httptest.NewRequest(http.MethodPost, "/library", strings.NewReader(want))
		if got, refused := readBody(httptest.NewRecorder(), r, limit); refused != nil || string(got) != want {
			t.Errorf("%d bytes: %d arrived, %+v", n, len(got), refused)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/library", strings.NewReader("{"))
	r.ContentLength = limit
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, refused := readBody(httptest.NewRecorder(), r, limit)
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; refused == nil || cost > 4*maxAhead {
		t.Errorf("refused is %+v, and it took %d bytes", refused, cost)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestLastEventID has a client that wants to go on from an event of a stream: it gets
// a new stream, for events have no ids here.
func TestLastEventID(t *testing.T) {
	proof.Ran(t)
	s, url := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/library", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-Id", "M4RK3R")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	until(t, func() bool { return listening(t, s) == 1 })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}
