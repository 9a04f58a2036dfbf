package table

import (
	"encoding/json"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// An icon is a picture, in the words of MCP.
type icon struct {
	Src      string   `json:"src"`
	MimeType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
}

var themes = map[irv1.IconTheme]string{irv1.IconTheme_ICON_THEME_LIGHT: "light", irv1.IconTheme_ICON_THEME_DARK: "dark"}

func icons(source []*irv1.Icon) []icon {
	var all []icon
	for _, i := range source {
		all = append(all, icon{i.GetSrc(), i.GetMediaType(), i.GetSizes(), themes[i.GetTheme()]})
	}
	return all
}

// A securityScheme is a way to be allowed to call a tool, in the words of the Apps SDK.
type securityScheme struct {
	Type   string   `json:"type"`
	Scopes []string `json:"scopes,omitempty"`
}

func securitySchemes(source []*irv1.SecurityScheme) []securityScheme {
	var all []securityScheme
	for _, s := range source {
		if o := s.GetOauth2(); o != nil {
			all = append(all, securityScheme{"oauth2", o.GetScopes()})
		} else {
			all = append(all, securityScheme{Type: "noauth"})
		}
	}
	return all
}

// entryMeta returns the "_meta" of an entry as a JSON object, nil for none.
func entryMeta(members []*irv1.Member, schemes []securityScheme) json.RawMessage {
	var all []Member
	for _, m := range members {
		all = append(all, Member{m.GetName(), rawjson.Value(m.GetJson())})
	}
	if len(schemes) > 0 {
		data, _ := json.Marshal(schemes) // texts always marshal
		all = append(all, Member{"securitySchemes", data})
	}
	if len(all) == 0 {
		return nil
	}
	return json.RawMessage(Object(all))
}
