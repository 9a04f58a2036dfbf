package compile

import (
	"encoding/base64"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// surface reads what the entry of the tool t, at v, says beside what MCP has always
// had words for.
func (rd *reading) surface(t *irv1.Tool, v value) {
	t.Icons = rd.icons(v.get("icons"))
	t.SecuritySchemes = rd.securitySchemes(v.get("securitySchemes"))
	t.EntryMeta = rd.entryMeta(v)
}

var iconThemes = map[string]irv1.IconTheme{
	"": irv1.IconTheme_ICON_THEME_ANY, "light": irv1.IconTheme_ICON_THEME_LIGHT, "dark": irv1.IconTheme_ICON_THEME_DARK,
}

// icons reads a list of icons.
func (rd *reading) icons(v value) []*irv1.Icon {
	var all []*irv1.Icon
	for _, e := range v.elements() {
		e.note()
		icon := &irv1.Icon{
			MediaType: e.get("mimeType").text(),
			Sizes:     e.get("sizes").texts(),
			Theme:     iconThemes[e.get("theme").text()],
		}
		rd.iconSource(icon, e)
		rd.checkIcon(icon, e)
		all = append(all, icon)
	}
	if len(all) > irv1.MaxIcons {
		rd.tooManyIcons(v, len(all))
	}
	return all
}

// iconSource reads where an icon, at v, is: in src, or in a file of the module, which
// becomes part of it.
func (rd *reading) iconSource(icon *irv1.Icon, v value) {
	src, file := v.get("src"), v.get("file")
	switch {
	case src.exists() == file.exists():
		rd.oneIcon(v)
	case src.exists():
		icon.Src = src.text()
	default:
		data, ok := rd.file(file)
		if icon.MediaType == "" {
			icon.MediaType = typeOfFile(file.quiet())
		}
		if ok && !strings.HasPrefix(icon.GetMediaType(), "image/") {
			rd.noPicture(file)
		}
		icon.Src = "data:" + icon.GetMediaType() + ";base64," + base64.StdEncoding.EncodeToString(data)
		if len(icon.GetSrc()) > irv1.MaxIcon {
			rd.largeIcon(file, len(icon.GetSrc()))
		}
	}
}

// checkIcon reports what keeps an icon, at v, from being shown.
func (rd *reading) checkIcon(icon *irv1.Icon, v value) {
	if n := len(icon.GetSrc()); n > irv1.MaxIcon && v.get("src").exists() {
		rd.largeIcon(v.get("src"), n)
	}
	inline, isInline := strings.CutPrefix(icon.GetSrc(), "data:")
	media, _, _ := strings.Cut(inline, ";")
	if isInline && icon.GetMediaType() != "" && media != icon.GetMediaType() {
		rd.otherIconType(v.get("mimeType"), media)
	}
}

// securitySchemes reads the ways to be allowed to call a tool.
func (rd *reading) securitySchemes(v value) []*irv1.SecurityScheme {
	var all []*irv1.SecurityScheme
	for _, e := range v.elements() {
		e.note()
		scheme, scopes := &irv1.SecurityScheme{}, e.get("scopes")
		switch e.get("type").text() {
		case "oauth2":
			scheme.Kind = &irv1.SecurityScheme_Oauth2{Oauth2: &irv1.OAuth2Scheme{Scopes: unique(scopes.texts())}}
		case "noauth":
			scheme.Kind = &irv1.SecurityScheme_NoAuth{NoAuth: &irv1.NoAuthScheme{}}
			if scopes.exists() {
				rd.scopesOfNoAuth(scopes)
			}
		default:
			continue // what is wrong with it has been reported
		}
		if slices.ContainsFunc(all, func(s *irv1.SecurityScheme) bool { return equal(s, scheme) }) {
			rd.schemeTwice(e)
		}
		all = append(all, scheme)
	}
	return all
}

// unique returns texts sorted, each once.
func unique(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// entryMeta reads the "_meta" of v, which becomes an entry of a list.
func (rd *reading) entryMeta(v value) []*irv1.Member {
	meta := v.get("_meta")
	if v.hides("_meta") {
		rd.hiddenMeta(meta)
	}
	fields := meta.fields()
	var all []*irv1.Member
	for _, key := range sorted(fields) {
		f := fields[key]
		f.note()
		switch {
		case key == "securitySchemes":
			rd.schemesInMeta(f)
		case irv1.ReservedMetaKey(key):
			rd.reservedMetaKey(f, key)
		}
		if data := f.json(); data != nil { // what is wrong otherwise has been reported
			all = append(all, &irv1.Member{Name: key, Json: data})
		}
	}
	return all
}

// hides reports whether v has a field of that name which CUE hides: one that is not
// written in quotes.
func (v value) hides(name string) bool {
	if !v.author().Down(name).Exists() || !v.exists() { // to ask is cheaper than to look
		return false
	}
	it, err := v.cue.Fields(cue.Hidden(true))
	for err == nil && it.Next() {
		if it.Selector().LabelType() == cue.HiddenLabel && it.Selector().String() == name {
			return true
		}
	}
	return false
}
