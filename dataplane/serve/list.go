package serve

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// A page of a list ends when it has this many entries, or before the entry with which
// it would have more than this many bytes.
const (
	pageEntries = 1000
	pageBytes   = 1 << 20
)

// An entry is what a list has, which is sorted by key.
type entry interface {
	Key() string
	// Size returns how long the entry is at most, in bytes.
	Size() int
	// AppendListed appends the entry for a client that speaks a revision of MCP.
	AppendListed(dst []byte, version string) []byte
}

// listTools answers a tools/list by t.
func (e *endpoint) listTools(t *table.Table, req *mcp.ListToolsRequest) (mcp.Result, error) {
	at := e.orNone(t)
	p := cmp.Or(req.Params, &mcp.ListToolsParams{})
	return list(t, spoken(req.ProtocolVersion(), p.Meta), "tools", at.Listed, p.Cursor, at.Caching.Tools)
}

// list answers a request of a client that speaks version for entries of t, as the
// member of that name: for the page at cursor.
func list[E entry](t *table.Table, version, member string, entries []E, cursor string, cache table.Cache) (mcp.Result, error) {
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor"}
		}
		entries = after(entries, string(last))
	}
	members := appendPage(nil, member, entries, version)
	if version >= message.Modern {
		members = cache.AppendMembers(members)
	}
	return newAnswer(t, version, members), nil
}

// after returns the entries behind the one whose key is last, which need not exist any
// more: a cursor outlives the table it was made from.
func after[E entry](entries []E, last string) []E {
	i, found := slices.BinarySearchFunc(entries, last, func(e E, key string) int { return strings.Compare(e.Key(), key) })
	if found {
		i++
	}
	return entries[i:]
}

// appendPage appends the first page of entries, as the member of that name and as a
// client that speaks version knows them, and, when it is not the last, the cursor of
// the next.
func appendPage[E entry](dst []byte, member string, entries []E, version string) []byte {
	n := pageLen(entries)
	dst = append(dst, `"`+member+`":[`...)
	for i, e := range entries[:n] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.AppendListed(dst, version)
	}
	dst = append(dst, ']')
	if n < len(entries) {
		dst = append(dst, `,"nextCursor":`...)
		dst = append(dst, rawjson.Quote(base64.RawURLEncoding.EncodeToString([]byte(entries[n-1].Key())))...)
	}
	return dst
}

// pageLen returns how many of entries make the first page: at least one if there is
// one.
func pageLen[E entry](entries []E) int {
	size := 0
	for i, e := range entries {
		size += e.Size()
		if i == pageEntries || i > 0 && size > pageBytes {
			return i
		}
	}
	return len(entries)
}
