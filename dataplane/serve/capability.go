package serve

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/table"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// offered are the capabilities of an endpoint that has everything.
func offered() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools:       &mcp.ToolCapabilities{ListChanged: true},
		Prompts:     &mcp.PromptCapabilities{ListChanged: true},
		Completions: &mcp.CompletionCapabilities{},
		Logging:     &mcp.LoggingCapabilities{},
		Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
	}
}

// limit takes out of caps what the endpoint does not have in t, or a client that speaks
// version does not know. Lists stay, be they empty: a client asks for capabilities once,
// and a reload may bring what is listed. Before the first table, t nil, anything may come.
func (e *endpoint) limit(caps *mcp.ServerCapabilities, t *table.Table, version string) {
	if version < "2025-03-26" {
		caps.Completions = nil
	}
	if t == nil {
		return
	}
	at := e.at(t)
	if at == nil || !at.Logs {
		caps.Logging = nil
	}
	if at == nil || !at.Completes() {
		caps.Completions = nil
	}
}
