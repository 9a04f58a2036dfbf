package librarytest

import (
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Page and Picture are files of every bundle.
const (
	Page    = "<p>Rules & \"hours\"</p>\n"
	Picture = "\x89PNG\x00\xff"
)

// Shelving returns [Binding] with a hidden tool, get_media, and resources: page and
// picture are the bundle's, best and cover are from tools; and with templates: book and
// media are from tools, card and note are the bundle's.
func Shelving(authority string) *irv1.Binding {
	b := Binding(authority)
	get := irv1.DigestOf([]byte(getSchema))
	b.Tools = append(b.Tools, &irv1.Tool{
		Name: "get_media", Title: "Get media", Description: "Gets media.", Hidden: true,
		Method: irv1.Method_METHOD_GET, Path: []*irv1.PathPart{literal("/media/"), {Kind: &irv1.PathPart_Argument{Argument: "id"}}},
		Arguments:   b.Tools[1].GetArguments(),
		InputSchema: get[:], Timeout: durationpb.New(10 * time.Second),
		Annotations: &irv1.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}, Result: irv1.ResultMode_RESULT_MODE_MCP,
		Produces: []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_IMAGE}, {Kind: irv1.PartKind_PART_KIND_TEXT}},
	})
	priority, private := 0.5, irv1.CacheScope_CACHE_SCOPE_PRIVATE
	size := func(n uint64) *uint64 { return &n }
	b.Resources = []*irv1.Resource{
		{Name: "best", Title: "The best book", Description: "A book.", Uri: "library://best", Body: &irv1.Resource_Use{Use: useOf("get_book", "1")}},
		{Name: "cover", Uri: "library://cover", Body: &irv1.Resource_Use{Use: useOf("get_media", "png")}},
		{
			Name: "page", Title: "Rules", Description: "The rules.", Uri: "library://page", MediaType: "text/html+skybridge", Size: size(uint64(len(Page))),
			Annotations: &irv1.ContentAnnotations{Audience: []irv1.Role{irv1.Role_ROLE_USER, irv1.Role_ROLE_ASSISTANT}, Priority: &priority, LastModified: "2026-11-22T10:00:00Z"},
			EntryMeta:   []*irv1.Member{{Name: "openai/widgetDescription", Json: []byte(`"The rules."`)}},
			Icons:       []*irv1.Icon{{Src: "https://library.example/a.png", Theme: irv1.IconTheme_ICON_THEME_ANY}},
			Cache:       &irv1.Cache{Ttl: durationpb.New(1500 * time.Millisecond), Scope: &private},
			Body:        &irv1.Resource_File{File: fileOf(Page, false)},
		},
		{Name: "picture", Uri: "library://picture", MediaType: "image/png", Size: size(uint64(len(Picture))), Body: &irv1.Resource_File{File: fileOf(Picture, true)}},
	}
	b.Templates = []*irv1.ResourceTemplate{
		{
			Name: "book", Title: "A book", Description: "Any book.", Uri: text("books://", "$id"), MediaType: "application/json",
			Body: &irv1.ResourceTemplate_Use{Use: useOf("get_book", "$id")},
			Completions: []*irv1.VariableCompletion{{Variable: "id", Completion: &irv1.Completion{
				Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: []string{"1", "12", "2"}}},
			}}},
		},
		{
			Name: "card", Uri: text("cards://", "$name", "/", "$year"), MediaType: "application/json",
			EntryMeta: []*irv1.Member{{Name: "example.com/a", Json: []byte(`1`)}},
			Body:      &irv1.ResourceTemplate_Text{Text: &irv1.FilledText{Text: text(`{"name":"`, "$name", `","year":"`, "$year", `"}`), Json: true}},
		},
		{Name: "media", Uri: text("media://", "$id"), Body: &irv1.ResourceTemplate_Use{Use: useOf("get_media", "$id")}},
		{
			Name: "note", Uri: text("notes://", "$name"), MediaType: "text/plain",
			Body: &irv1.ResourceTemplate_Text{Text: &irv1.FilledText{Text: text("Dear ", "$name", "!")}},
		},
	}
	return b
}

// useOf returns a call of a tool with an id.
func useOf(tool, id string) *irv1.Use {
	return &irv1.Use{Tool: tool, Arguments: []*irv1.UseArgument{{Name: "id", Value: &irv1.UseArgument_Text{Text: text(id)}}}}
}

func fileOf(data string, binary bool) *irv1.File {
	digest := irv1.DigestOf([]byte(data))
	return &irv1.File{Sha256: digest[:], Binary: binary}
}

// media answers with something of the kind that is asked for.
func media(w http.ResponseWriter, r *http.Request) {
	kinds := map[string]struct{ media, body string }{
		"png": {"image/png", Picture}, "txt": {"text/plain; charset=utf-8", "A \"text\".\n"}, "book": {"application/vnd.book+json; v=1", `{"n": 1.50}`},
		"odd": {"text/html", `[1]`}, "empty": {},
	}
	kind, ok := kinds[r.PathValue("id")]
	switch {
	case !ok:
		answer(w, http.StatusNotFound, `{"code":"no_media","message":"There is none."}`)
	case kind.body == "":
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", kind.media)
		_, _ = w.Write([]byte(kind.body)) // a node that is gone needs no answer
	}
}
