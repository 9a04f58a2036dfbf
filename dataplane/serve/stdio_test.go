package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// A process is a server as a client at its stdin and stdout sees it.
type process struct {
	in    *io.PipeWriter
	out   *io.PipeReader
	said  *record // all that it wrote
	stop  context.CancelFunc
	ended chan struct{}
}

// serveStdio has s serve the endpoint at path to a client at streams.
func serveStdio(t *testing.T, s *Server, path string) *process {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p := &process{in: toServer, out: fromServer, said: &record{}, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		s.ServeStdio(ctx, Stdio{In: in, Out: io.MultiWriter(p.said, out), Endpoint: path, Patience: patience})
		out.Close()
	}()
	t.Cleanup(func() {
		stop()
		toServer.Close()
		fromServer.Close()
	})
	return p
}

// A record is what was written, in lines that are JSON-RPC messages.
type record struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.Write(p)
}

// check holds every line to be one message, written whole.
func (r *record) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.bytes.String()) {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" || !strings.HasSuffix(line, "\n") {
			t.Errorf("stdout has the line %q", line)
		}
	}
}

// client returns a session of the SDK's client with p, as connect does over HTTP.
func (p *process) client(t *testing.T, version string, changed func()) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{}
	if changed != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { changed() }
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: p.out, Writer: p.in}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("protocol version is %s, want %s", got, version)
	}
	return session
}

// TestStdio is what the SDK's client sees over stdio: what it sees over HTTP.
func TestStdio(t *testing.T) {
	proof.Ran(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			book := librarytest.Binding(upstream(t, librarytest.Upstream()))
			s, _ := serving(t, Config{Version: "v1"}, book)
			p := serveStdio(t, s, "")
			changed := make(chan string, 10)
			session := p.client(t, era, func() { changed <- "" })
			testTools(t, session)
			testCall(t, session, s.Table().Digest())
			testError(t, session, "get_book", map[string]any{"id": "missing"}, jsonrpc.Error{
				Code: -32000, Message: "There is no such book.", Data: json.RawMessage(`{"code":"no_book","message":"There is no such book."}`),
			})
			testError(t, session, "burn_book", nil, jsonrpc.Error{Code: -32602, Message: `unknown tool "burn_book"`})

			if era >= message.Modern {
				until(t, func() bool { return listening(t, s) == 1 })
			}
			book.Endpoint = "/moved" // it is the only one wherever it is
			s.Swap(build(t, 2, s.Table(), book))
			if res, err := session.CallTool(t.Context(), getBook()); err != nil || res.Meta[metaRevision] != 2.0 {
				t.Errorf("result is %+v, %v", res, err)
			}
			book.Tools[0].Description = "Adds a book at the end."
			s.Swap(build(t, 3, s.Table(), book))
			soon(t, "the tools changed", changed)
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Tools[0].Description; got != "Adds a book at the end." {
				t.Errorf("description is %q", got)
			}
			if len(changed) > 0 {
				t.Error("the client was told twice")
			}
			session.Close()
			soon(t, "the server ends with its input", p.ended)
			p.said.check(t)
		})
	}
}

// TestStdioLines writes lines that no library would: each gets one answer, and the
// client can go on.
func TestStdioLines(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, _ := serving(t, Config{MaxBody: 1000}, book)
	p := serveStdio(t, s, "/library")
	p.handshake(t)
	const badID = "id is neither a string of Unicode characters nor an integer of at most 15 digits"
	tests := []struct{ name, line, want string }{
		{"no JSON", `{"jsonrpc":"2.0","secret`, `{"error":{"code":-32700,"message":"line is not one JSON value"},"id":null,"jsonrpc":"2.0"}`},
		{"two values", `{} {}`, `{"error":{"code":-32700,"message":"line is not one JSON value"},"id":null,"jsonrpc":"2.0"}`},
		{"too long", `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("x", 10_000) + `"}}`, `{"error":{"code":-32600,"message":"line is longer than 1000 bytes"},"id":null,"jsonrpc":"2.0"}`},
		{"no message", `{"id":3}`, `{"error":{"code":-32600,"message":"the message does not say \"jsonrpc\": \"2.0\""},"id":3,"jsonrpc":"2.0"}`},
		{"a text", `"hello"`, `{"error":{"code":-32600,"message":"the message is no object in which each member stands once"},"id":null,"jsonrpc":"2.0"}`},
		{"bad id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"error":{"code":-32600,"message":"the message has an id that is neither a string nor a number"},"id":null,"jsonrpc":"2.0"}`},
		{"no batch", `[]`, `{"error":{"code":-32600,"message":"batch is empty"},"id":null,"jsonrpc":"2.0"}`},
		{"id that would not come back", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"error":{"code":-32600,"message":"` + badID + `"},"id":9007199254740993,"jsonrpc":"2.0"}`},
		{"id with half a character", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `{"error":{"code":-32600,"message":"` + badID + `"},"id":"\ud800","jsonrpc":"2.0"}`},
		{"id with a character in two halves", `{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"ping"}`, `{"jsonrpc":"2.0","id":"😀","result":{}}`},
		{"one id twice", `[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]`, `[{"error":{"code":-32600,"message":"id is that of a request that is not answered yet"},"id":null,"jsonrpc":"2.0"},{"jsonrpc":"2.0","id":4,"result":{}}]`},
		{"bad call", `{"jsonrpc":"2.0","id":"5","method":"tools/call","params":{"name":"get_book","arguments":["secret"],"_meta":7}}`, `{"error":{"code":-32602,"message":"params are not those that tools/call takes"},"id":"5","jsonrpc":"2.0"}`},
		{"unknown method", `{"jsonrpc":"2.0","id":6,"method":"books/burn"}`, `{"error":{"code":-32601,"message":"this endpoint has no such method in this revision of the protocol"},"id":6,"jsonrpc":"2.0"}`},
		{"listen of an older client", `{"jsonrpc":"2.0","id":18,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`, `{"error":{"code":-32601,"message":"this endpoint has no such method in this revision of the protocol"},"id":18,"jsonrpc":"2.0"}`},
		{"odd listen", `{"jsonrpc":"2.0","id":12,"method":"subscriptions/listen","params":{"\ud800":1,` + modernMeta + `}}`, `{"jsonrpc":"2.0","id":12,"error":{"code":-32602,"message":"invalid params: missing required 'notifications' field"}}`},
		{"ping of a modern client", `{"jsonrpc":"2.0","id":19,"method":"ping","params":{` + modernMeta + `}}`, `{"error":{"code":-32601,"message":"this endpoint has no such method in this revision of the protocol"},"id":19,"jsonrpc":"2.0"}`},
		{"revision that there is not", `{"jsonrpc":"2.0","id":20,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01` + strings.Repeat("x", 100) + `"}}}`, `{"error":{"code":-32022,"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01xxxxxxxxxxxxxxxxxxxxxx"},"message":"unsupported protocol version"},"id":20,"jsonrpc":"2.0"}`},
		{"notification with an id", `{"jsonrpc":"2.0","id":21,"method":"notifications/cancelled","params":{"_meta":"4242424242424242"}}`, `{"error":{"code":-32601,"message":"this endpoint has no such method in this revision of the protocol"},"id":21,"jsonrpc":"2.0"}`},
		{"initialize again", `{"jsonrpc":"2.0","id":22,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`, `{"jsonrpc":"2.0","id":22,"error":{"code":-32600,"message":"the client has met this endpoint already"}}`},
		{"odd cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"\ud800":1,"requestId":[7]}}` + "\n" + `{"jsonrpc":"2.0","id":13,"method":"ping"}`, `{"jsonrpc":"2.0","id":13,"result":{}}`},
		{"carriage return", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r", `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{"after empty lines", "\n \n{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}", `{"jsonrpc":"2.0","id":8,"result":{}}`},
		{"batch", `[{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`, `[{"jsonrpc":"2.0","id":9,"result":{}}]`},
		{"batch with a bad call", `[{"jsonrpc":"2.0","id":14,"method":"ping"},{"jsonrpc":"2.0","id":15,"method":"tools/call"}]`, `[{"error":{"code":-32602,"message":"params are not those that tools/call takes"},"id":15,"jsonrpc":"2.0"},{"jsonrpc":"2.0","id":14,"result":{}}]`},
		{"batch with no message", `[["x"],{"jsonrpc":"2.0","id":16,"method":"ping"}]`, `[{"error":{"code":-32600,"message":"the message is no object in which each member stands once"},"id":null,"jsonrpc":"2.0"},{"jsonrpc":"2.0","id":16,"result":{}}]`},
		{"batch with a bad id", `[{"jsonrpc":"2.0","id":17,"method":"ping"},{"jsonrpc":"2.0","id":1.5,"method":"ping"}]`, `[{"error":{"code":-32600,"message":"` + badID + `"},"id":1.5,"jsonrpc":"2.0"},{"jsonrpc":"2.0","id":17,"result":{}}]`},
		{"batch of nothing good", `[1,{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`, `[{"error":{"code":-32600,"message":"the message is no object in which each member stands once"},"id":null,"jsonrpc":"2.0"}]`},
		{"batch of too many", `[` + strings.Repeat("1,", 100) + `1]`, `{"error":{"code":-32600,"message":"batch has more than 100 messages"},"id":null,"jsonrpc":"2.0"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.send(t, tt.line)
			if got := p.next(t); got != tt.want {
				t.Errorf("answer is %s, want %s", got, tt.want)
			}
		})
	}
	p.send(t, `{"jsonrpc":"2.0","id":10,"method":"tools/list"}`)
	if got := p.next(t); !strings.Contains(got, `"get_book"`) {
		t.Errorf("tools are %s", got)
	}
}

func (p *process) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// next returns the next line that the server writes, without its newline.
func (p *process) next(t *testing.T) string {
	t.Helper()
	var line []byte
	for c := make([]byte, 1); c[0] != '\n'; {
		if _, err := p.out.Read(c); err != nil {
			t.Fatalf("after %q: %v", line, err)
		}
		line = append(line, c[0])
	}
	return strings.TrimSuffix(string(line), "\n")
}

// handshake is what a client of the older revisions begins with.
func (p *process) handshake(t *testing.T) {
	t.Helper()
	p.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`)
	if got := p.next(t); !strings.Contains(got, `"protocolVersion":"2025-03-26"`) {
		t.Fatalf("initialize is answered with %s", got)
	}
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

const callBook = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"}}}`

// TestStdioFirstTable has a client that is faster than the first table: it hears of
// nothing before it has asked, and its call waits.
func TestStdioFirstTable(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s := New(Config{})
	p := serveStdio(t, s, "")
	p.handshake(t)
	p.send(t, callBook)
	s.Swap(build(t, 1, nil, book))
	if got := p.next(t); !strings.Contains(got, `"bindery.dev/revision":1`) {
		t.Errorf("the call is answered with %s", got)
	}

	early := serveStdio(t, s, "")
	book.Tools[0].Description = "Adds a book at the end."
	s.Swap(build(t, 2, s.Table(), book))
	time.Sleep(50 * time.Millisecond) // silence cannot be awaited; the SDK is to speak after 10 ms
	early.handshake(t)                // fails if there was a notice before it
}

// TestStdioWithoutTable has nothing to serve for longer than a client shall wait. It
// is told so, and told again when there is.
func TestStdioWithoutTable(t *testing.T) {
	proof.Ran(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := New(Config{})
		p := serveStdio(t, s, "")
		p.handshake(t)
		p.send(t, callBook)
		if got := p.next(t); !strings.Contains(got, `"code":-32603,"message":"there is nothing to serve yet`) {
			t.Errorf("answer is %s", got)
		}
		if waited := time.Since(began); waited != meeting+firstTable {
			t.Errorf("waited %s", waited)
		}
		s.Swap(build(t, 1, nil, librarytest.Binding("127.0.0.1:9")))
		if got := p.next(t); !strings.Contains(got, `"notifications/tools/list_changed"`) {
			t.Errorf("the client is told %s", got)
		}
		p.in.Close()
		<-p.ended
	})
}

// TestStdioEnds ends the input, or tells the server to stop, while a call is held and
// a client listens: both are answered.
func TestStdioEnds(t *testing.T) {
	proof.Ran(t)
	ends := map[string]func(*process){
		"input ends": func(p *process) { p.in.Close() },
		"told to":    func(p *process) { p.stop() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			asked, answer := make(chan struct{}), make(chan struct{})
			book := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				<-answer
				librarytest.Upstream().ServeHTTP(w, r)
			})))
			s, _ := serving(t, Config{}, book)
			p := serveStdio(t, s, "")
			const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
			p.send(t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}`)
			if got := p.next(t); !strings.Contains(got, `"notifications/subscriptions/acknowledged"`) {
				t.Fatalf("listening begins with %s", got)
			}
			p.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},`+meta+`}}`)
			soon(t, "the upstream is called", asked)
			end(p)
			if got := p.next(t); !strings.Contains(got, `"id":1,"result":`) {
				t.Errorf("listening ends with %s", got)
			}
			select {
			case <-p.ended:
				t.Fatal("the server ends before the call does")
			default:
			}
			close(answer)
			if got := p.next(t); !strings.Contains(got, `"title":"Go & more"`) {
				t.Errorf("the call is answered with %s", got)
			}
			soon(t, "the server ends", p.ended)
			p.said.check(t)
		})
	}
}

// TestStdioImpatience tells the server to stop while a call takes longer than it can
// wait.
func TestStdioImpatience(t *testing.T) {
	proof.Ran(t)
	gone := make(chan struct{})
	asked := make(chan struct{})
	book := librarytest.Binding(upstream(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(gone)
	})))
	s, _ := serving(t, Config{}, book)
	in, toServer := io.Pipe()
	defer toServer.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.ServeStdio(ctx, Stdio{In: in, Out: io.Discard, Patience: time.Millisecond})
	}()
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`, callBook} {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	soon(t, "the upstream is called", asked)
	stop()
	soon(t, "the server ends", ended)
	soon(t, "the call is canceled", gone)
}

// TestStdioGivenUp tells the server to stop while an order is under way: the client hears
// that nobody waited for its answer, within the patience that there is.
func TestStdioGivenUp(t *testing.T) {
	proof.Ran(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	s, _ := serving(t, Config{}, librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		_, _ = io.WriteString(w, `{"id":"1"}`)
	}))))
	defer close(answer)
	in, toServer := io.Pipe()
	defer toServer.Close()
	out, toClient := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer toClient.Close()
		s.ServeStdio(ctx, Stdio{In: in, Out: toClient, Patience: time.Second})
	}()
	go func() {
		_, _ = io.WriteString(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`+"\n"+`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add_book","arguments":{"payload":{"title":"Emma"}}}}`+"\n")
		<-asked
		stop()
	}()
	said, err := io.ReadAll(out)
	if err != nil || strings.Count(string(said), `"id":7`) != 1 || !strings.Contains(string(said), "a call may have been carried out") {
		t.Errorf("the client got %s, %v", said, err)
	}
	soon(t, "the server ends", ended)
}

// TestStdioStuck tells the server to stop while its client does not read what it is
// answered: the server ends once its patience is over.
func TestStdioStuck(t *testing.T) {
	proof.Ran(t)
	tests := map[string]string{
		"an answer":  `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"a refusal":  `{}`,
		"two of all": `[{"jsonrpc":"2.0","id":1,"method":"ping"},{}]` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n{}",
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Config{})
				s.Swap(build(t, 1, nil, librarytest.Binding("127.0.0.1:9")))
				out, toClient := io.Pipe()
				in, toServer := io.Pipe()
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					s.ServeStdio(ctx, Stdio{In: in, Out: toClient, Patience: patience})
				}()
				go io.WriteString(toServer, sent+"\n")
				synctest.Wait()
				began := time.Now()
				stop()
				<-ended
				if waited := time.Since(began); waited != patience {
					t.Errorf("it ended after %s, want %s", waited, patience)
				}
				toServer.Close()
				out.Close()
			})
		})
	}
}

// TestStdioUnmet has a client ask for what takes an initialize before there was one, and
// fail at that, too: it can go on.
func TestStdioUnmet(t *testing.T) {
	proof.Ran(t)
	s, _ := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	p := serveStdio(t, s, "")
	unmet := `"error":{"code":-32600,"message":"the message comes before the client is initialized"}`
	initialize := `{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`
	for _, tt := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, unmet},
		{`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, unmet},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		{fmt.Sprintf(initialize, `1`, `7`), `"code":-32602`},
		{fmt.Sprintf(initialize, `1.5`, `"2025-11-25"`), `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, unmet},
		{fmt.Sprintf(initialize, `1`, `"2025-11-25"`), `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"tools":[`},
	} {
		p.send(t, tt.line)
		if got := p.next(t); !strings.Contains(got, tt.want) {
			t.Errorf("%s is answered with %s, want %s", tt.line, got, tt.want)
		}
	}
}

// TestStdioModern has a client that says its revision with every request: that takes no
// initialize, and one that comes later changes nothing.
func TestStdioModern(t *testing.T) {
	proof.Ran(t)
	s, _ := serving(t, Config{}, librarytest.Binding("127.0.0.1:9"))
	p := serveStdio(t, s, "")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	for _, tt := range []struct{ line, want string }{
		{list, `"tools":[`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`, `"code":-32600`},
		{list, `"tools":[`},
	} {
		p.send(t, tt.line)
		if got := p.next(t); !strings.Contains(got, tt.want) {
			t.Errorf("%s is answered with %s, want %s", tt.line, got, tt.want)
		}
	}
}

// oddMethods are all methods of MCP, of clients and of servers, and some that are none.
var oddMethods = []string{
	"initialize", "ping", "logging/setLevel", "server/discover", "subscriptions/listen", "tools/list", "tools/call", "prompts/list", "prompts/get",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete",
	"tasks/get", "tasks/list", "tasks/cancel", "tasks/result", "roots/list", "sampling/createMessage", "elicitation/create",
	"notifications/cancelled", "notifications/initialized", "notifications/progress", "notifications/roots/list_changed",
	"rpc.x", "", "tools/call" + longText,
}

// longText is more than an answer may repeat of a name.
var longText = strings.Repeat("M4RK3R", 20)

// oddParams are parameters that some method takes, and that none does; "" for none. A URI
// may come back whole: MCP has that in the error for a resource that there is not.
var oddParams = []string{
	``, `null`, `{}`, `[]`, `"secret-marker"`, `5`, `{"secret-marker":1,"secret-marker":1}`,
	`{"name":5}`, `{"name":null}`, `{"name":""}`, `{"name":"` + longText + `"}`, `{"name":"get_book"}`, `{"name":"get_book","arguments":[]}`, `{"name":"get_book","arguments":null}`,
	`{"name":"get_book","arguments":{"id":"secret-marker","id":1}}`, `{"name":"get_book","arguments":{"id":{"secret-marker":1}}}`, `{"name":"discuss","arguments":{"book":7}}`, `{"name":"search","arguments":7}`,
	`{"cursor":5}`, `{"cursor":null}`, `{"cursor":""}`, `{"cursor":"secret-marker"}`,
	`{"uri":5}`, `{"uri":""}`, `{"uri":"library:none"}`, `{"uri":"library://books/none"}`,
	`{"level":"secret-marker"}`, `{"level":"info"}`, `{"level":5}`,
	`{"ref":{"type":"ref/prompt","name":"` + longText + `"},"argument":{"name":"a","value":"b"}}`, `{"ref":{"type":"secret-marker"},"argument":{"name":"a","value":"b"}}`,
	`{"ref":null}`, `{"ref":{"type":"ref/resource","uri":"` + longText + `"},"argument":{"name":"secret-marker","value":"b"}}`, `{"ref":{"type":"ref/prompt","name":"discuss"},"argument":"secret-marker"}`,
	`{"protocolVersion":5}`, `{"protocolVersion":"2026-07-28"}`, `{"protocolVersion":"secret-marker","capabilities":"secret-marker"}`, `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":7}}`,
	`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, `{"protocolVersion":"secret-marker","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
	`{"_meta":5}`, `{"_meta":"secret-marker"}`, `{"_meta":{"progressToken":{"secret-marker":1}}}`, `{"_meta":{"progressToken":1.5},"name":"get_book","arguments":{"id":"1"}}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"3` + longText + `"}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"secret-marker"}}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":"secret-marker"}}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":["secret-marker"]}}`,
	`{` + modernMeta + `}`, `{"name":"get_book","arguments":{"id":"1"},` + modernMeta + `}`, `{"notifications":{"toolsListChanged":true},` + modernMeta + `}`,
	`{"notifications":{"toolsListChanged":"secret-marker"},` + modernMeta + `}`, `{"notifications":["secret-marker"],` + modernMeta + `}`, `{"notifications":{"resourceSubscriptions":["secret-marker"]},` + modernMeta + `}`,
	`{"requestState":5,"name":"get_book"}`, `{"requestState":"secret-marker","name":"get_book",` + modernMeta + `}`, `{"inputResponses":5,"name":"get_book"}`, `{"inputResponses":{"a":"secret-marker"},"name":"get_book"}`,
	`{"inputResponses":{"a":{"action":"secret-marker"}},"name":"get_book",` + modernMeta + `}`, `{"taskId":"secret-marker"}`, `{"task":{"ttl":1},"name":"get_book"}`, `{"requestId":"secret-marker"}`, `{"requestId":[]}`,
}

// TestStdioOddRequests has clients ask for every method with parameters of every kind,
// before they are initialized and after. Each request has its answer, which is one of
// JSON-RPC and repeats nothing but as much of a name as is bounded; nothing panics, and
// nothing is an error that nobody foresaw.
func TestStdioOddRequests(t *testing.T) {
	proof.Ran(t)
	log := &lines{}
	b := librarytest.Prompting(upstream(t, librarytest.Upstream()))
	s, _ := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil))}, b)
	for _, met := range []string{"", "2024-11-05", message.LastHandshake} {
		for _, method := range oddMethods {
			sent := make([]string, len(oddParams))
			for i, params := range oddParams {
				if params != "" {
					params = `,"params":` + params
				}
				sent[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, i, method, params)
			}
			for i, got := range askAll(t, s, met, sent) {
				if problem := oddAnswer(got); problem != "" {
					t.Errorf("met %q: %s is answered with %s: %s", met, sent[i], got, problem)
				}
			}
		}
	}
	for _, line := range log.all() {
		if strings.Contains(line, "panicked") || strings.Contains(line, "request failed") || strings.Contains(line, "secret-marker") {
			t.Errorf("the log has %s", line)
		}
	}
}

// askAll has a client that is initialized with version, "" for not at all, send requests
// whose ids are their indexes, and returns the answers.
func askAll(t *testing.T, s *Server, version string, requests []string) []string {
	t.Helper()
	p := serveStdio(t, s, "")
	if version != "" {
		p.send(t, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`)
		p.next(t)
	}
	go func() {
		_, _ = io.WriteString(p.in, strings.Join(requests, "\n")+"\n") // who does not take them has no answers
		p.in.Close()
	}()
	said, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(requests))
	for line := range strings.Lines(string(said)) {
		var m struct{ ID *int }
		if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil {
			answers[*m.ID] += line
		}
	}
	return answers
}

// oddAnswer returns what is wrong with the answer to a request; "" for nothing.
func oddAnswer(answer string) string {
	var m struct {
		JSONRPC string
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
		}
	}
	switch err := json.Unmarshal([]byte(answer), &m); {
	case err != nil || m.JSONRPC != "2.0" || (m.Result == nil) == (m.Error == nil):
		return "it is not one of JSON-RPC"
	case m.Error != nil && (m.Error.Code == 0 || m.Error.Message == ""):
		return "it has no code or no message"
	case m.Error != nil && m.Error.Code == jsonrpc.CodeInternalError:
		return "nobody foresaw it"
	case strings.Contains(answer, "secret-marker") || strings.Contains(answer, longText[:70]):
		return "it repeats the request"
	case strings.Contains(answer, "Go struct") || strings.Contains(answer, "json:"):
		return "it says how the server is made"
	}
	return ""
}

// TestStdioPanic has a call panic: it is answered, stdout keeps to the protocol, and
// the log has nothing of the request.
func TestStdioPanic(t *testing.T) {
	proof.Ran(t)
	log := &lines{}
	s, _ := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil))}, librarytest.Binding("127.0.0.1:9"))
	p := serveStdio(t, s, "")
	p.handshake(t)
	s.live.Store(&live{}) // a table that is nil makes every call panic
	p.send(t, callBook)
	if got, want := p.next(t), `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error"}}`; got != want {
		t.Errorf("answer is %s, want %s", got, want)
	}
	p.send(t, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := p.next(t); !strings.Contains(got, `"id":3,"result"`) {
		t.Errorf("answer is %s", got)
	}
	p.said.check(t)
}

// TestCheckEndpoint chooses among endpoints.
func TestCheckEndpoint(t *testing.T) {
	tests := []struct {
		path    string
		known   []string
		wantErr string
	}{
		{"", []string{"/mcp"}, ""},
		{"/mcp", []string{"/mcp", "/payments/mcp"}, ""},
		{"", []string{"/mcp", "/payments/mcp"}, "there are several endpoints: choose one of /mcp, /payments/mcp"},
		{"/other", []string{"/mcp", "/payments/mcp"}, `no endpoint is at "/other": there is /mcp, /payments/mcp`},
		{"", nil, ""},
		{"/mcp", nil, `no endpoint is at "/mcp": there is none`},
	}
	for _, tt := range tests {
		err := CheckEndpoint(tt.path, tt.known)
		msg := ""
		if unknown := (*EndpointError)(nil); errors.As(err, &unknown) {
			msg = unknown.Error()
		}
		if msg != tt.wantErr {
			t.Errorf("CheckEndpoint(%q, %q): %q, want %q", tt.path, tt.known, msg, tt.wantErr)
		}
	}
}
