package acp_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/internal/held"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// record has the tests that ran: documents name some.
var record held.Record

func TestMain(m *testing.M) { os.Exit(record.Main(m)) }

// TestConformanceList checks that every test that docs/acp-conformance.md names exists
// and runs, and that it names every row of TestWire.
func TestConformanceList(t *testing.T) {
	_, names := record.Read(t, "../..", "docs/acp-conformance.md", "examples/acp", true)
	listed := map[string]bool{}
	for _, n := range names {
		listed[n.Test] = true
	}
	for _, row := range wire {
		if name := "TestWire/" + row.name; !listed[name] {
			t.Errorf("%s holds a rule that the list does not name", name)
		}
	}
}

// TestNewHeader adds a header that the protocol does not have yet, as a layer in CUE:
// the field is shown, and arrives.
func TestNewHeader(t *testing.T) {
	record.Ran(t)
	sources := module(t)
	layer := `package bindings

#ACP: meta: agent_run: {header: "Agent-Run", description: "The run of the agent."}
`
	sources.Files = append(sources.Files, &sourcev1.File{Path: "header.cue", Data: []byte(layer)})
	s := openModule(t, sources)
	if list := s.rpc(t, true, "/mcp", "tools/list", "", "{"); !bytes.Contains(list.Result, []byte(`"agent_run"`)) {
		t.Error("no tool shows the field")
	}
	s.status, s.answer = 200, session
	s.rpc(t, true, "/mcp", "tools/call", "get_checkout_session", `{"name":"get_checkout_session","arguments":{"meta":{"api_version":"2026-04-17","agent_run":"run-7"},"id":"cs_1"}`)
	if len(s.got) != 1 || s.got[0].header.Get("Agent-Run") != "run-7" {
		t.Errorf("the merchant got %v", s.got)
	}
}

// TestConsumer is a client that has to look into data to understand an error.
func TestConsumer(t *testing.T) {
	record.Ran(t)
	s := open(t)
	s.status, s.answer = 404, acpErr
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "get_checkout_session", Arguments: map[string]any{"meta": map[string]any{"api_version": "2026-04-17"}, "id": "x"},
	})
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`"type":"invalid_request"`, `"code":"session_not_found"`} {
		if !strings.Contains(string(failure.Data), want) {
			t.Errorf("data is %s, without %s", failure.Data, want)
		}
	}
}
