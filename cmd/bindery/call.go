package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/term"
)

func (p *program) tools() *cobra.Command {
	var headers *[]string
	var out *output
	c := command("tools URL [--header K=V]... [-o json]", "List the tools of an MCP endpoint", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		return withSession(c, args[0], *headers, func(ctx context.Context, s *agent.Session) error {
			tools, err := s.Tools(ctx)
			if err != nil {
				return err
			}
			if *out == jsonOut {
				return p.printJSON(toolsView{append([]json.RawMessage{}, tools...)})
			}
			return p.toolTable(tools)
		})
	})
	c.Long = "List the tools that an MCP server, any that speaks Streamable HTTP, offers at URL."
	c.Example = `  bindery tools http://127.0.0.1:8080/mcp
  bindery tools http://127.0.0.1:8080/mcp -o json | jq '.tools[0].inputSchema'`
	headers, out = headersFlag(c), outputFlag(c)
	return c
}

func (p *program) toolTable(tools []json.RawMessage) error {
	var rows [][]term.Cell
	for _, raw := range tools {
		var t struct{ Name, Title, Description string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		first = strings.TrimSpace(first)
		rows = append(rows, []term.Cell{{Text: t.Name, Style: term.Bold}, {Text: t.Title}, {Text: first}})
	}
	p.out.Table([]string{"TOOL", "TITLE", "DESCRIPTION"}, rows)
	return nil
}

func (p *program) call() *cobra.Command {
	var headers *[]string
	var arguments string
	c := command("call URL TOOL [--args JSON|@FILE|@-] [--header K=V]...", "Call a tool of an MCP endpoint", cobra.ExactArgs(2), func(c *cobra.Command, args []string) error {
		object, err := p.arguments(c, arguments)
		if err != nil {
			return err
		}
		return withSession(c, args[0], *headers, func(ctx context.Context, s *agent.Session) error {
			result, err := s.Call(ctx, args[1], object)
			if err != nil {
				return err
			}
			if err := p.printRaw(result.JSON); err != nil {
				return err
			}
			if result.IsError {
				return errors.New("the tool says that it failed: see its result")
			}
			return nil
		})
	})
	c.Long = `Call a tool of the MCP server at URL and print its result, as JSON and as the
server sent it. A call that the server refuses prints code, message and data on
stderr and exits 1, as does a result that is an error; a server that does not
answer exits 3.`
	c.Example = `  bindery call http://127.0.0.1:8080/mcp get_checkout_session --args '{"meta":{"api_version":"2026-04-17"},"id":"cs_1"}'
  bindery call http://127.0.0.1:8080/mcp create_checkout_session --args @create.json
  jq .request saved.json | bindery call http://127.0.0.1:8080/mcp create_checkout_session --args @-`
	headers = headersFlag(c)
	c.Flags().StringVar(&arguments, "args", "{}", "the arguments: a `JSON` object, @FILE to read it from, @- for stdin")
	return c
}

// arguments returns the object that the flag --args means.
func (p *program) arguments(c *cobra.Command, value string) (json.RawMessage, error) {
	data := []byte(value)
	var err error
	switch name, isFile := strings.CutPrefix(value, "@"); {
	case value == "@-":
		data, err = io.ReadAll(p.in)
	case isFile:
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("--args: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return nil, usagef(c, "--args is no JSON object")
	}
	return data, nil
}

func (p *program) printRaw(data json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := p.out.Write(term.JSON(b.Bytes()))
	return err
}

func headersFlag(c *cobra.Command) *[]string {
	return c.Flags().StringArray("header", nil, "send this HTTP header with every request, `K=V`; may be repeated")
}

// withSession runs do with a session of the MCP endpoint at address.
func withSession(c *cobra.Command, address string, headers []string, do func(context.Context, *agent.Session) error) error {
	if u, err := url.Parse(address); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return usagef(c, "%q is no URL of an MCP endpoint, such as http://127.0.0.1:8080/mcp", address)
	}
	h := http.Header{}
	for _, kv := range headers {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return usagef(c, "--header takes K=V")
		}
		if err := checkHeader(k, v); err != nil {
			return usagef(c, "--header %s: %v", k, err)
		}
		h.Add(k, v)
	}
	s, err := agent.Connect(c.Context(), address, h)
	if refusal := (*jsonrpc.Error)(nil); errors.As(err, &refusal) {
		return remotef("%s refuses to talk MCP: %w", address, described(refusal))
	} else if err != nil {
		return err
	}
	defer s.Close()
	err = do(c.Context(), s)
	if refusal := (*jsonrpc.Error)(nil); errors.As(err, &refusal) {
		return &failure{exitInvalid, described(refusal)}
	}
	return err
}

// checkHeader returns why a header cannot go with every request as it is given.
func checkHeader(name, value string) error {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Trailer": // net/http sends its own or none
		return errors.New("it follows from the URL and the body and cannot be chosen")
	}
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		return errors.New("no header has such a name")
	case !httpguts.ValidHeaderFieldValue(value):
		return errors.New("no header has such a value")
	}
	return nil
}

// described returns an error with all that e says: its message on a line, and its data
// on another.
func described(e *jsonrpc.Error) error {
	message := term.OneLine(e.Message)
	if len(e.Data) == 0 {
		return fmt.Errorf("error %d: %s", e.Code, message)
	}
	var data bytes.Buffer
	if err := json.Compact(&data, e.Data); err != nil {
		return fmt.Errorf("error %d: %s\n%s", e.Code, message, term.OneLine(string(e.Data)))
	}
	return fmt.Errorf("error %d: %s\n%s", e.Code, message, term.JSON(data.Bytes()))
}
