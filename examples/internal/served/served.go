// Package served runs the module of an example for its tests: the directory of a
// module comes in, and the URL of a node's own parts that serve it goes out, which
// the SDK's client talks to in both eras of the protocol.
package served

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/format"
	"github.com/bindery-dev/bindery/cue/scaffold"
	"github.com/bindery-dev/bindery/cue/source"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// Module serves the module in dir, compiled with tags, to which nothing is to be
// said: no diagnostic, no file that is not formatted, no copy of the language that is
// not the one of this tree. secrets are by name. It returns the URL of the node,
// without the path of an endpoint.
func Module(t *testing.T, dir string, secrets map[string]string, tags ...string) string {
	t.Helper()
	content := compiled(t, dir, tags)
	find := func(variable string) (string, bool) {
		for name, value := range secrets {
			if secret.Variable(name) == variable {
				return value, true
			}
		}
		return "", false
	}
	tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", find)})
	if err != nil {
		t.Fatal(err)
	}
	node := serve.New(serve.Config{})
	node.Swap(tab)
	server := httptest.NewServer(node)
	t.Cleanup(server.Close)
	return server.URL
}

func compiled(t *testing.T, dir string, tags []string) *irv1.Content {
	t.Helper()
	sources, err := source.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	sources.Tags = tags
	holdFiles(t, sources)
	c, err := compile.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := diag.Print(&said, c.GetDiagnostics()); err != nil || said.Len() > 0 {
		t.Fatalf("the module is told:\n%s%v", said.String(), err)
	}
	content, err := irv1.Open(c.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func holdFiles(t *testing.T, sources *sourcev1.Sources) {
	t.Helper()
	files := map[string]string{}
	for _, f := range sources.GetFiles() {
		files[f.GetPath()] = string(f.GetData())
		if !strings.HasSuffix(f.GetPath(), ".cue") {
			continue
		}
		if formatted, problems := format.Source(f.GetPath(), f.GetData()); len(problems) > 0 || string(formatted) != string(f.GetData()) {
			t.Errorf("%s is not formatted: %v", f.GetPath(), problems)
		}
	}
	for _, f := range scaffold.Language() {
		if files[f.GetPath()] != string(f.GetData()) {
			t.Errorf("%s is not the language of this tree: go generate ./examples", f.GetPath())
		}
	}
}

// Eras runs do with a session of the endpoint at url in each era of the protocol.
func Eras(t *testing.T, url string, do func(t *testing.T, s *mcp.ClientSession)) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) { do(t, Connect(t, url, version)) })
	}
}

// Connect opens a session with the endpoint at url in a version of the protocol.
func Connect(t *testing.T, url, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if got := s.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("protocol version is %s, want %s", got, version)
	}
	return s
}

// Call calls a tool with args, a JSON object.
func Call(t *testing.T, s *mcp.ClientSession, tool, args string) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	return result
}

// Hold holds structured content to want, JSON or "" for none. Where there is any, it is
// also the text that older clients read.
func Hold(t *testing.T, got *mcp.CallToolResult, want string) {
	t.Helper()
	if want == "" {
		if got.StructuredContent != nil {
			t.Errorf("result is %v, want none", got.StructuredContent)
		}
		return
	}
	var value any
	if err := json.Unmarshal([]byte(want), &value); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.StructuredContent, value) {
		have, _ := json.Marshal(got.StructuredContent)
		t.Errorf("result is\n%s\nwant\n%s", have, want)
	}
}
