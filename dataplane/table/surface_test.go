package table_test

import (
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// What a tool says beside what MCP has always had words for is in the entries of the
// revisions that have it, as the author wrote it.
func TestEntrySurface(t *testing.T) {
	b := shop()
	tool := b.bindings[0].Tools[0]
	tool.Icons = []*irv1.Icon{{Src: "https://pets.example/<a>.png", MediaType: "image/png", Sizes: []string{"any"}, Theme: irv1.IconTheme_ICON_THEME_DARK}, {Src: "data:image/png;base64,AAAA", Theme: irv1.IconTheme_ICON_THEME_ANY}}
	tool.SecuritySchemes = []*irv1.SecurityScheme{
		{Kind: &irv1.SecurityScheme_NoAuth{NoAuth: &irv1.NoAuthScheme{}}},
		{Kind: &irv1.SecurityScheme_Oauth2{Oauth2: &irv1.OAuth2Scheme{Scopes: []string{"read"}}}},
	}
	tool.EntryMeta = []*irv1.Member{{Name: "example.com/a", Json: []byte("{\n\"n\": 1.50}")}, {Name: "openai/widgetAccessible", Json: []byte("true")}}
	built := b.build(t, nil, table.Deps{}).Endpoint("/mcp").Tool(tool.GetName())
	const (
		schemes = `[{"type":"noauth"},{"type":"oauth2","scopes":["read"]}]`
		meta    = `,"securitySchemes":` + schemes + `,"_meta":{"example.com/a":{"n":1.50},"openai/widgetAccessible":true,"securitySchemes":` + schemes + `}`
		icons   = `,"icons":[{"src":"https://pets.example/<a>.png","mimeType":"image/png","sizes":["any"],"theme":"dark"},{"src":"data:image/png;base64,AAAA"}]`
	)
	for version, want := range map[string]string{"2025-03-26": "", "2025-06-18": meta, "2025-11-25": meta + icons, "2026-07-28": meta + icons} {
		got := string(built.AppendListed(nil, version))
		hints := strings.LastIndex(got, `"openWorldHint":false}`)
		if hints >= 0 {
			got = got[hints+len(`"openWorldHint":false}`):]
		} else if got = strings.TrimPrefix(got, string(built.AppendListed(nil, "2024-11-05"))[:len(built.AppendListed(nil, "2024-11-05"))-1]); got == "" {
			t.Fatalf("the entry is %s", built.JSON)
		}
		if got != want+"}" {
			t.Errorf("%s: the entry ends with\n%s, want\n%s", version, got, want)
		}
	}
	if again := shop().build(t, nil, table.Deps{}); again.Endpoint("/mcp").Surface == b.build(t, nil, table.Deps{}).Endpoint("/mcp").Surface {
		t.Error("clients do not hear that it is there")
	}
}

// The icons of an endpoint are those of the binding that has any.
func TestEndpointIcons(t *testing.T) {
	b := shop()
	b.bindings[1].Icons = []*irv1.Icon{{Src: "https://pets.example/a.png", Theme: irv1.IconTheme_ICON_THEME_ANY}}
	tab := b.build(t, nil, table.Deps{})
	if got := tab.Endpoint("/mcp").Icons; len(got) != 1 || got[0].GetSrc() != "https://pets.example/a.png" {
		t.Errorf("icons are %v", got)
	}
	if got := tab.Endpoint("/a/mcp").Icons; got != nil {
		t.Errorf("icons are %v", got)
	}
}
