package irv1_test

import (
	"strings"
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Bindings of one endpoint that have icons have the same.
func TestSharedIcons(t *testing.T) {
	loans, rooms, silent := library(), library(), library()
	loans.Name, rooms.Name, silent.Name, rooms.Endpoint = "loans", "rooms", "silent", "/rooms"
	loans.Tools[0].Name, silent.Tools[0].Name = "get_loan", "get_nothing"
	loans.Documents, rooms.Documents, silent.Documents = nil, nil, nil
	rooms.Icons[0].Src, silent.Icons = "https://library.example/rooms.png", nil
	if problems := open(t, library(), loans, rooms, silent).Validate(); problems != nil {
		t.Errorf("problems are %q", problems)
	}
	loans.Icons[0].Theme = irv1.IconTheme_ICON_THEME_LIGHT
	problems := open(t, library(), loans, rooms, silent).Validate()
	if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), `binding "loans": icons: endpoint /mcp has others`) {
		t.Errorf("problems are %q", problems)
	}
}

// Bindings of one endpoint have the same locales, or none has any.
func TestSharedLocales(t *testing.T) {
	loans, rooms := library(), library()
	loans.Name, rooms.Name, rooms.Endpoint = "loans", "rooms", "/rooms"
	loans.Tools[0].Name, loans.Documents, rooms.Documents = "get_loan", nil, nil
	rooms.Locales.Fallback = "de"
	if problems := open(t, library(), loans, rooms).Validate(); problems != nil {
		t.Errorf("problems are %q", problems)
	}
	loans.Locales.Fallback = "de"
	problems := open(t, library(), loans, rooms).Validate()
	if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), `binding "loans": locales: endpoint /mcp has others`) {
		t.Errorf("problems are %q", problems)
	}
}
