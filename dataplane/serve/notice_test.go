package serve

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// slow returns a library whose get_book tells of itself, at an upstream that answers
// when release is closed.
func slow(t *testing.T, release <-chan struct{}) *irv1.Binding {
	t.Helper()
	b := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		librarytest.Upstream().ServeHTTP(w, r)
	})))
	b.Tools[1].Notices = &irv1.Notices{
		Every: durationpb.New(5 * time.Millisecond), Progress: &irv1.ProgressNotice{Message: "Looking."},
		Log: &irv1.LogNotice{Level: irv1.LogLevel_LOG_LEVEL_INFO, Logger: "library", Message: "Still looking."},
	}
	return b
}

// heard is what a client hears of a call.
type heard struct {
	mu       sync.Mutex
	progress []*mcp.ProgressNotificationParams
	logs     []*mcp.LoggingMessageParams
	enough   func()
}

func (h *heard) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.progress = append(h.progress, r.Params)
			h.check()
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.logs = append(h.logs, r.Params)
			h.check()
		},
	}
}

func (h *heard) check() {
	if len(h.progress) >= 3 || len(h.logs) >= 3 {
		h.enough()
	}
}

// TestNotices has a client hear of a call that takes its time: in a session, and in
// each era without.
func TestNotices(t *testing.T) {
	proof.Ran(t)
	for _, tt := range []struct {
		name, version  string
		stateful, logs bool
	}{
		{"modern", message.Modern, false, false}, {"modern logs", message.Modern, false, true},
		{"older", "2025-11-25", false, false}, {"session", "2025-11-25", true, false}, {"session logs", "2025-11-25", true, true},
	} {
		release := make(chan struct{})
		h := &heard{enough: sync.OnceFunc(func() { close(release) })}
		_, url := serving(t, Config{Stateful: tt.stateful}, slow(t, release))
		client := mcp.NewClient(&mcp.Implementation{Name: "a", Version: "1"}, h.options())
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url + "/library"}, &mcp.ClientSessionOptions{ProtocolVersion: tt.version})
		if err != nil {
			t.Fatal(err)
		}
		params := getBook()
		switch {
		case !tt.logs:
			params.SetProgressToken("token 1")
		case tt.stateful:
			if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
				t.Fatal(err)
			}
		default:
			params.Meta = mcp.Meta{keyLogLevel: "debug"}
		}
		res, err := session.CallTool(t.Context(), params)
		if err != nil || res.StructuredContent == nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		h.mu.Lock()
		for i, p := range h.progress {
			if p.ProgressToken != "token 1" || p.Message != "Looking." || i > 0 && p.Progress <= h.progress[i-1].Progress {
				t.Errorf("%s: progress %d is %+v", tt.name, i, p)
			}
		}
		for _, l := range h.logs {
			if l.Level != "info" || l.Logger != "library" || l.Data != "Still looking." {
				t.Errorf("%s: a log is %+v", tt.name, l)
			}
		}
		if got := len(h.progress) > 0; got == tt.logs || len(h.logs) > 0 != tt.logs {
			t.Errorf("%s: %d notices of progress, %d logs", tt.name, len(h.progress), len(h.logs))
		}
		h.mu.Unlock()
		session.Close()
	}
}

// TestNoNotices has calls of which nobody asks to hear: their answers are JSON.
func TestNoNotices(t *testing.T) {
	proof.Ran(t)
	release := make(chan struct{})
	close(release)
	for _, noFastPath := range []bool{false, true} {
		_, url := serving(t, Config{NoFastPath: noFastPath}, slow(t, release))
		for _, version := range eras {
			resp, body := exchange(t, posted(t, url+"/library", version, message.MethodCall, `{"name":"get_book","arguments":{"id":"7"}}`))
			if resp.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, `"result"`) {
				t.Errorf("%s: %s: %s", version, resp.Header, body)
			}
		}
	}
}

// TestProgressTokens has tokens of every form: they come back as they were sent, also those
// that no double is.
func TestProgressTokens(t *testing.T) {
	proof.Ran(t)
	for _, token := range []string{`7`, `9007199254740993`, `-12345678901234567890`, `1e2`, `"a"`, `"\u0041<&>"`} {
		for _, version := range eras {
			release := make(chan struct{})
			_, url := serving(t, Config{}, slow(t, release))
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_book","arguments":{"id":"1"},"_meta":{"progressToken":` + token + `}}}`
			if version >= message.Modern {
				body = strings.Replace(body, `"_meta":{`, strings.TrimSuffix(modernMeta, "}")+`,`, 1)
			}
			r := withBody(t, posted(t, url+"/library", version, message.MethodCall, `{"name":"get_book"}`), body)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			notice := make([]byte, 1<<10)
			n, err := resp.Body.Read(notice)
			if err != nil || !strings.Contains(string(notice[:n]), `"progressToken":`+token+`,`) {
				t.Errorf("%s: %s: %d %v %s", version, token, resp.StatusCode, err, notice[:n])
			}
			close(release)
			resp.Body.Close()
		}
	}
}

// TestLateError has a call fail after its client heard of it, with an error that would
// have a status of its own.
func TestLateError(t *testing.T) {
	proof.Ran(t)
	release := make(chan struct{})
	b := slow(t, release)
	b.Errors.Rules[0].Code = new(int32)
	*b.Errors.Rules[0].Code = -32602
	_, url := serving(t, Config{}, b)
	r := posted(t, url+"/library", message.Modern, message.MethodCall, `{"name":"get_book","arguments":{"id":"missing"}}`)
	body := make([]byte, r.ContentLength)
	_, _ = r.Body.Read(body)
	r = withBody(t, r, strings.Replace(string(body), `"_meta":{`, `"_meta":{"progressToken":7,`, 1))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := make([]byte, 1)
	if _, err := resp.Body.Read(begun); err != nil {
		t.Fatal(err)
	}
	close(release)
	all := string(begun) + string(readAll(t, resp))
	last := all[strings.LastIndex(strings.TrimSpace(all), "\n")+1:]
	if resp.StatusCode != http.StatusOK || !strings.Contains(all, `"progressToken":7`) || !strings.HasPrefix(last, `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602`) {
		t.Errorf("%d %s", resp.StatusCode, all)
	}
}

// TestSetLevel sets the level of logs where there are some, and where there are none.
func TestSetLevel(t *testing.T) {
	proof.Ran(t)
	loud, silent := slow(t, nil), librarytest.Binding("127.0.0.1:1")
	for _, tt := range []struct {
		name     string
		stateful bool
		binding  *irv1.Binding
		level    string
		want     string
	}{
		{"in a session", true, loud, "info", `"result":{}`},
		{"no level", true, loud, "loud", `"code":-32602`},
		{"without a session", false, loud, "info", `"code":-32601`},
		{"nothing logs", true, silent, "info", `"code":-32601`},
	} {
		_, url := serving(t, Config{Stateful: tt.stateful}, tt.binding)
		id, body := met(t, url+"/library", "2025-11-25")
		if got := strings.Contains(body, `"logging":{}`); got != (tt.stateful && tt.binding == loud) {
			t.Errorf("%s: initialize says %s", tt.name, body)
		}
		r := posted(t, url+"/library", "2025-11-25", message.MethodSetLevel, `{"level":"`+tt.level+`"}`)
		if id != "" {
			r = within(r, id)
		}
		if _, body := send(t, r); !strings.Contains(body, tt.want) {
			t.Errorf("%s: %s", tt.name, body)
		}
	}
}
