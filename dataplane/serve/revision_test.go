package serve

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestRevisions holds that each revision of the protocol gets the fields that it has,
// both ways of answering.
func TestRevisions(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Binding("library.example")
	get := b.GetTools()[1]
	get.Output = &irv1.Output{Schema: get.GetInputSchema(), Shown: true, Check: irv1.Check_CHECK_OFF}
	pair := twinsOf(t, librarytest.Upstream(), b)
	fields := map[string]string{ // the first revision that has them
		`"inputSchema":`: "", `"content":[`: "", `{"title":"Go & more"`: "", `"bindery.dev/revision":7`: "",
		`"annotations":{"`:     "2025-03-26",
		`"title":"Get a book"`: "2025-06-18", `"outputSchema":{`: "2025-06-18", `"structuredContent":{`: "2025-06-18", `"title":"Bindery"`: "2025-06-18",
		`"resultType":"complete"`: message.Modern, `"ttlMs":0`: message.Modern, `"cacheScope":`: message.Modern,
	}
	for _, version := range mcp.SupportedProtocolVersions() {
		call := callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
		list := callOf(version, `"cursor":""`)
		list.body = strings.Replace(list.body, "tools/call", "tools/list", 1)
		hello := callOf(version, `"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
		hello.body = strings.Replace(hello.body, "tools/call", "initialize", 1)
		if version >= message.Modern {
			list.header.Set("Mcp-Method", "tools/list")
			hello.body = strings.Replace(hello.body, "initialize", "server/discover", 1)
			hello.header.Set("Mcp-Method", "server/discover")
		}
		said := ""
		for _, in := range []inbound{call, list, hello} {
			pair.hold(t, in)
			said += string(readAll(t, in.to(pair.fast)))
		}
		for field, since := range fields {
			if strings.Contains(said, field) != (version >= since) {
				t.Errorf("%s: %t that there is %s in\n%s", version, version < since, field, said)
			}
		}
	}
}

// TestSpoken has clients that met the server with a revision that there is not, or
// that is not agreed on so.
func TestSpoken(t *testing.T) {
	proof.Ran(t)
	modernRequest := mcp.Meta{message.KeyVersion: message.Modern}
	tests := []struct {
		asked string
		meta  mcp.Meta
		want  string
	}{
		{message.Modern, modernRequest, message.Modern},
		{"2025-03-26", nil, "2025-03-26"},
		{message.Modern, nil, "2025-11-25"},
		{"2099-01-01", nil, "2025-11-25"},
		{"1999-01-01", nil, "2025-11-25"},
		{"", nil, "2025-11-25"},
	}
	for _, tt := range tests {
		if got := spoken(tt.asked, tt.meta); got != tt.want {
			t.Errorf("spoken(%q, %v) = %s, want %s", tt.asked, tt.meta, got, tt.want)
		}
	}
}
