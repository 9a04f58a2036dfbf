// Command gosdk is a client of MCP made of the Go SDK, which another program plays: a
// question is a line of JSON at its standard input, and the answer a line at its
// standard output. A line {"changed":true} says, at any time, that tools changed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gosdk URL REVISION")
		os.Exit(2)
	}
	if err := play(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "gosdk: %v\n", err)
		os.Exit(1)
	}
}

// A question is "list", "call" with a tool and its arguments, "prompt" with a prompt
// and its arguments, or "read" with a URI.
type question struct {
	Method    string          `json:"method"`
	Tool      string          `json:"tool"`
	Prompt    string          `json:"prompt"`
	URI       string          `json:"uri"`
	Arguments json.RawMessage `json:"arguments"`
}

// An answer has one of its members.
type answer struct {
	Result  any            `json:"result,omitempty"`
	Error   *jsonrpc.Error `json:"error,omitempty"`
	Changed bool           `json:"changed,omitempty"`
}

// play answers questions until the input ends.
func play(ctx context.Context, url, revision string) error {
	var mu sync.Mutex // guards out
	out := json.NewEncoder(os.Stdout)
	write := func(a answer) error {
		mu.Lock()
		defer mu.Unlock()
		return out.Encode(a)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler:     fillIn,
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { _ = write(answer{Changed: true}) },
	})
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer s.Close()
	if got := s.InitializeResult().ProtocolVersion; got != revision {
		return fmt.Errorf("the server speaks %s", got)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return err
		}
		if err := write(ask(ctx, s, q)); err != nil {
			return err
		}
	}
	return in.Err()
}

// fillIn answers a question to the user.
func fillIn(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
}

func ask(ctx context.Context, s *mcp.ClientSession, q question) answer {
	var result any
	var err error
	switch q.Method {
	case "list":
		result, err = s.ListTools(ctx, nil)
	case "call":
		result, err = s.CallTool(ctx, &mcp.CallToolParams{Name: q.Tool, Arguments: q.Arguments})
	case "prompt":
		p := &mcp.GetPromptParams{Name: q.Prompt}
		if err = json.Unmarshal(q.Arguments, &p.Arguments); err == nil {
			result, err = s.GetPrompt(ctx, p)
		}
	case "read":
		result, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: q.URI})
	default:
		err = fmt.Errorf("no such question: %s", q.Method)
	}
	if err == nil {
		return answer{Result: result}
	}
	if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) {
		return answer{Error: rpc}
	}
	return answer{Error: &jsonrpc.Error{Message: err.Error()}}
}
