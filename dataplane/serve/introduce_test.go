package serve

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// helloOf returns the request with which a client that speaks version meets an
// endpoint, with more params.
func helloOf(version, more string) inbound {
	if version >= message.Modern {
		return askOf(version, "server/discover", "", strings.TrimPrefix(more, ","))
	}
	return askOf(version, "initialize", "", `"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}`+more)
}

// TestIntroduction has a client see the icons of an endpoint when it meets it, if its
// revision has them, and not again with every answer.
func TestIntroduction(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Binding("library.example")
	b.Icons = []*irv1.Icon{{Src: "https://library.example/a.png", MediaType: "image/png", Sizes: []string{"any"}, Theme: irv1.IconTheme_ICON_THEME_LIGHT}}
	b.Tools[0].Icons = b.Icons
	pair := twinsOf(t, librarytest.Upstream(), b)
	const icons = `"icons":[{"src":"https://library.example/a.png","mimeType":"image/png","sizes":["any"],"theme":"light"}]`
	for _, version := range mcp.SupportedProtocolVersions() {
		hello, call := helloOf(version, `,"x":1`), callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
		pair.hold(t, hello)
		pair.hold(t, call)
		said := string(readAll(t, hello.to(pair.fast)))
		if strings.Contains(said, icons) != (version >= illustrated) || !strings.Contains(said, `"name":"bindery"`) {
			t.Errorf("%s: the endpoint says %s", version, said)
		}
		if said := string(readAll(t, call.to(pair.fast))); strings.Contains(said, `"icons"`) {
			t.Errorf("%s: a result is %s", version, said)
		}
	}
}
