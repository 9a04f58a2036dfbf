package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// eras are a protocol revision without and one with a handshake.
var eras = []string{"2026-07-28", "2025-11-25"}

// patience is how long a test waits for what should come at once.
const patience = 10 * time.Second

// upstream starts the library and returns where it is, as host:port.
func upstream(t *testing.T, h http.Handler) (authority string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// build returns revision number of bindings.
func build(t *testing.T, number uint64, prev *table.Table, bindings ...*irv1.Binding) *table.Table {
	t.Helper()
	c := librarytest.Content(t, bindings...)
	gen := &discoveryv1.Generation{Epoch: 1, Number: number, Digest: c.Digest[:]}
	next, err := table.Build(c, gen, prev, table.Deps{Secrets: secret.New("", librarytest.Env)})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// serving returns a server of bindings, as revision 1, and the URL it is at.
func serving(t *testing.T, cfg Config, bindings ...*irv1.Binding) (*Server, string) {
	t.Helper()
	s := New(cfg)
	if len(bindings) > 0 {
		s.Swap(build(t, 1, nil, bindings...))
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.EndStreams()
		h.Close()
	})
	return s, h.URL
}

// connect returns a session of the SDK's client with the endpoint at url. changed,
// unless nil, is called when the server says that its tools changed.
func connect(t *testing.T, url, version string, changed func()) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{}
	if changed != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { changed() }
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("protocol version is %s, want %s", got, version)
	}
	return session
}

// post sends one JSON-RPC request as a client of version does and returns status
// and body of the answer.
func post(t *testing.T, url, version, method, params string) (int, string) {
	t.Helper()
	return send(t, posted(t, url, version, method, params))
}

// posted returns the HTTP request that post sends.
func posted(t *testing.T, url, version, method, params string) *http.Request {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	if version >= message.Modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}`
		body = strings.Replace(body, `"params":{`, `"params":{`+meta+`,`, 1)
		body = strings.Replace(body, `,}`, `}`, 1)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var named struct{ Name, URI string }
	_ = json.Unmarshal([]byte(params), &named) // "" when it has none
	r.Header.Set("Mcp-Protocol-Version", version)
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", named.Name+named.URI)
	return r
}

// send sends r with what every MCP request has, unless it has it already.
func send(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	resp, body := exchange(t, r)
	return resp.StatusCode, body
}

// exchange is send for who needs the header of the answer, too.
func exchange(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// soon waits for a signal.
func soon[T any](t *testing.T, what string, signal <-chan T) T {
	t.Helper()
	select {
	case v := <-signal:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain: %s", what)
		panic("unreachable")
	}
}
