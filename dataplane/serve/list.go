package serve

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// A page of tools/list ends when it has this many tools, or before the tool with
// which it would have more than this many bytes.
const (
	pageTools = 1000
	pageBytes = 1 << 20
)

// listTools answers a tools/list by t.
func (e *endpoint) listTools(t *table.Table, req *mcp.ListToolsRequest) (mcp.Result, error) {
	var tools []*table.Tool
	if at := e.at(t); at != nil {
		tools = at.Listed
	}
	if req.Params != nil && req.Params.Cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(req.Params.Cursor)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor"}
		}
		tools = after(tools, string(last))
	}
	var meta mcp.Meta
	if req.Params != nil {
		meta = req.Params.Meta
	}
	version := spoken(req.ProtocolVersion(), meta)
	members := appendPage(nil, tools, version)
	if version >= modern {
		members = append(members, `,"ttlMs":0,"cacheScope":"public"`...)
	}
	return newAnswer(t, version, members), nil
}

// after returns the tools behind the one called last, which need not exist any
// more: a cursor outlives the table it was made from.
func after(tools []*table.Tool, last string) []*table.Tool {
	i, found := slices.BinarySearchFunc(tools, last, func(t *table.Tool, name string) int { return strings.Compare(t.Name, name) })
	if found {
		i++
	}
	return tools[i:]
}

// appendPage appends the first page of tools, as a client that speaks version knows
// them, and, when it is not the last, the cursor of the next.
func appendPage(dst []byte, tools []*table.Tool, version string) []byte {
	n := pageLen(tools)
	dst = append(dst, `"tools":[`...)
	for i, tool := range tools[:n] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = tool.AppendListed(dst, version)
	}
	dst = append(dst, ']')
	if n < len(tools) {
		dst = append(dst, `,"nextCursor":`...)
		dst = append(dst, rawjson.Quote(base64.RawURLEncoding.EncodeToString([]byte(tools[n-1].Name)))...)
	}
	return dst
}

// pageLen returns how many of tools make the first page: at least one if there is
// one.
func pageLen(tools []*table.Tool) int {
	size := 0
	for i, tool := range tools {
		size += len(tool.JSON)
		if i == pageTools || i > 0 && size > pageBytes {
			return i
		}
	}
	return len(tools)
}
