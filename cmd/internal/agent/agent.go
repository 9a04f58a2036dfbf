// Package agent is an MCP client: the URL of an endpoint and calls come in, what
// the server answered goes out, byte for byte.
//
// It speaks protocol revision 2026-07-28 and falls back to 2025-11-25 and older
// by itself.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/cmd/internal/build"
)

// A Session is a connection to one endpoint. It is safe for concurrent use.
type Session struct {
	url  string
	mcp  *mcp.ClientSession
	http *http.Transport
}

// TransportError says that no answer of an MCP server came from URL.
type TransportError struct {
	URL string
	Err error
}

func (e *TransportError) Error() string { return fmt.Sprintf("%s: %v", e.URL, e.Err) }
func (e *TransportError) Unwrap() error { return e.Err }

// Connect opens a session with the endpoint at url. The headers go with every
// request and never to another host. The error is a *[TransportError], or a
// *[jsonrpc.Error] when the server refused.
func Connect(ctx context.Context, url string, headers http.Header) (*Session, error) {
	s := &Session{url: url, http: http.DefaultTransport.(*http.Transport).Clone()}
	s.http.MaxIdleConnsPerHost = 64
	client := mcp.NewClient(&mcp.Implementation{Name: "bindery", Version: build.Version()}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
	})
	transport := &mcp.StreamableClientTransport{
		Endpoint:             url,
		DisableStandaloneSSE: true,
		MaxRetries:           -1,
		HTTPClient: &http.Client{
			Transport:     &recorder{headers: headers, next: s.http},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	rec := &record{}
	var err error
	if s.mcp, err = client.Connect(rec.in(ctx), transport, nil); err != nil {
		s.http.CloseIdleConnections()
		if absent := rec.absent(); absent != nil && ctx.Err() == nil {
			return nil, &TransportError{url, absent}
		}
		return nil, s.failure(ctx, rec, err)
	}
	return s, nil
}

// Close ends the session.
func (s *Session) Close() error {
	defer s.http.CloseIdleConnections()
	return s.mcp.Close()
}

// URL is the endpoint's.
func (s *Session) URL() string { return s.url }

// Protocol is the protocol revision that client and server agreed on.
func (s *Session) Protocol() string { return s.mcp.InitializeResult().ProtocolVersion }

// Tools returns the endpoint's tools as the server listed them, in its order. The
// errors are those of [Connect].
func (s *Session) Tools(ctx context.Context) ([]json.RawMessage, error) {
	var tools []json.RawMessage
	for cursor := ""; ; {
		rec := &record{}
		res, err := s.mcp.ListTools(rec.in(ctx), &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, s.failure(ctx, rec, err)
		}
		result, err := rec.result()
		if err != nil {
			return nil, &TransportError{s.url, err}
		}
		var page struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, &TransportError{s.url, err}
		}
		tools = append(tools, page.Tools...)
		if cursor = res.NextCursor; cursor == "" {
			return tools, nil
		}
	}
}

// A Result is the answer to a call that the server did not refuse.
type Result struct {
	JSON    json.RawMessage // the whole result, as the server sent it
	IsError bool            // the tool says that it failed
}

// Call calls a tool with args, one JSON object; nil is an empty one. The errors
// are those of [Connect].
func (s *Session) Call(ctx context.Context, tool string, args json.RawMessage) (Result, error) {
	params := &mcp.CallToolParams{Name: tool}
	if args != nil {
		params.Arguments = args
	}
	rec := &record{}
	res, err := s.mcp.CallTool(rec.in(ctx), params)
	if err != nil {
		return Result{}, s.failure(ctx, rec, err)
	}
	raw, err := rec.result()
	if err != nil {
		return Result{}, &TransportError{s.url, err}
	}
	return Result{JSON: raw, IsError: res.IsError}, nil
}

// failure tells a server that refused from one that did not answer as an MCP
// server does.
func (s *Session) failure(ctx context.Context, rec *record, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if cause := rec.failure(); cause != nil {
		return &TransportError{s.url, cause}
	}
	if refusal := (*jsonrpc.Error)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return &TransportError{s.url, err}
}
