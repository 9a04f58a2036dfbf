package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// extended is a result with a member that the SDK's client does not know.
type extended struct {
	*mcp.CallToolResult
	Shelf string `json:"shelf"`
}

// MarshalJSON puts both into one object.
func (e extended) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(e.CallToolResult)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"shelf":%q,%s`, e.Shelf, body[1:]), nil
}

// library is an MCP server with three tools: borrow answers with its arguments,
// fail with an error result, refuse with a JSON-RPC error.
func library(t *testing.T, options *mcp.StreamableHTTPOptions) *httptest.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	answers := map[string]func(args json.RawMessage) (*mcp.CallToolResult, error){
		"borrow": func(args json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(args)}}}, nil
		},
		"fail": func(json.RawMessage) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, IsError: true}, nil
		},
		"refuse": func(json.RawMessage) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: -32000, Message: "lent out", Data: json.RawMessage(`{"until":"tomorrow"}`)}
		},
	}
	for name, answer := range answers {
		tool := &mcp.Tool{Name: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		server.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(req.Params.Arguments)
		})
	}
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if r, ok := res.(*mcp.CallToolResult); ok && err == nil {
				return extended{r, "B7"}, nil
			}
			return res, err
		}
	})
	ts := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options))
	t.Cleanup(ts.Close)
	return ts
}

// TestSession calls servers of every kind: both protocol eras, answers as JSON and
// as a stream of events.
func TestSession(t *testing.T) {
	tests := []struct {
		name     string
		options  mcp.StreamableHTTPOptions
		protocol string
	}{
		{"stateless events", mcp.StreamableHTTPOptions{Stateless: true}, "2026-07-28"},
		{"stateless JSON", mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}, "2026-07-28"},
		{"stateful events", mcp.StreamableHTTPOptions{}, "2025-11-25"},
		{"stateful JSON", mcp.StreamableHTTPOptions{JSONResponse: true}, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Connect(t.Context(), library(t, &tt.options).URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Protocol() != tt.protocol {
				t.Errorf("protocol %s, want %s", s.Protocol(), tt.protocol)
			}
			tools, err := s.Tools(t.Context())
			if err != nil || len(tools) != 3 || !strings.Contains(string(tools[0]), `"name":"borrow"`) {
				t.Errorf("Tools() = %s, %v; want borrow, fail, refuse", tools, err)
			}
			checkCalls(t, s)
		})
	}
}

func checkCalls(t *testing.T, s *Session) {
	t.Helper()
	var calls sync.WaitGroup
	for i := range 8 { // each call sees its own answer
		calls.Go(func() {
			res, err := s.Call(t.Context(), "borrow", json.RawMessage(fmt.Sprintf(`{"book":%d}`, i)))
			var body struct {
				Shelf   string
				Content []struct{ Text string }
			}
			if err != nil || json.Unmarshal(res.JSON, &body) != nil || res.IsError {
				t.Errorf("borrow = %+v, %v", res, err)
			} else if body.Shelf != "B7" || body.Content[0].Text != fmt.Sprintf(`{"book":%d}`, i) {
				t.Errorf("borrow %d = %s", i, res.JSON)
			}
		})
	}
	calls.Wait()
	if res, err := s.Call(t.Context(), "fail", nil); err != nil || !res.IsError {
		t.Errorf("fail = %+v, %v; want an error result", res, err)
	}
	_, err := s.Call(t.Context(), "refuse", nil)
	refusal := (*jsonrpc.Error)(nil)
	if !errors.As(err, &refusal) || refusal.Code != -32000 || refusal.Message != "lent out" || string(refusal.Data) != `{"until":"tomorrow"}` {
		t.Errorf("refuse: %#v, want the server's error", err)
	}
	_, err = s.Call(t.Context(), "nosuch", nil)
	if !errors.As(err, &refusal) || refusal.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("unknown tool: %#v, want %d", err, jsonrpc.CodeInvalidParams)
	}
	if res, err := s.Call(t.Context(), "borrow", nil); err != nil {
		t.Errorf("borrow after errors = %+v, %v", res, err)
	}
}

func TestConnectFails(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://example.com/", http.StatusFound))
	defer moved.Close()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"nothing to serve yet"}}`)
	}))
	defer empty.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"nothing is served here"}}`)
	}))
	defer elsewhere.Close()
	tests := []struct{ name, url, want string }{
		{"another path of a server", elsewhere.URL, "HTTP 404 Not Found: no MCP endpoint has this path; that of a node is /mcp"},
		{"nothing there yet", empty.URL, "HTTP 503: nothing to serve yet"},
		{"nobody listens", gone.URL, "connection refused"},
		{"no MCP there", missing.URL, "HTTP 404 Not Found"},
		{"redirect", moved.URL, "HTTP 302 Found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Connect(t.Context(), tt.url, nil)
			failure := (*TransportError)(nil)
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), tt.url) != 1 {
				t.Errorf("Connect(%s): %v; want a TransportError with %q", tt.url, err, tt.want)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	seen := make(chan string, 100)
	next := library(t, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("X-Branch")
		next.Config.Handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	s, err := Connect(t.Context(), server.URL, http.Header{"X-Branch": {"north"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Call(t.Context(), "borrow", nil); err != nil {
		t.Fatal(err)
	}
	close(seen)
	n := 0
	for branch := range seen {
		if n++; branch != "north" {
			t.Errorf("request %d came with X-Branch %q, want north", n, branch)
		}
	}
	if n < 2 {
		t.Errorf("%d requests, want those of connecting and calling", n)
	}
}
