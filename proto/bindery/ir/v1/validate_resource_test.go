package irv1_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const page = "<p>"

// shelves returns a binding without problems that has resources and templates of all
// kinds.
func shelves() *irv1.Binding {
	b := library()
	b.Tools[0].Annotations = &irv1.Annotations{ReadOnly: true}
	priority, size, scope := 0.5, uint64(7), irv1.CacheScope_CACHE_SCOPE_PRIVATE
	b.Resources = []*irv1.Resource{
		{
			Name: "best", Uri: "library://best", Size: &size, Body: &irv1.Resource_Use{Use: &irv1.Use{
				Tool: "get_book", Arguments: []*irv1.UseArgument{{Name: "id", Value: &irv1.UseArgument_Json{Json: []byte(`"1"`)}}},
			}},
		},
		{
			Name: "page", Uri: "ui://page.html", MediaType: "text/html+skybridge", Body: &irv1.Resource_File{File: &irv1.File{Sha256: digest(page)}},
			Annotations: &irv1.ContentAnnotations{Audience: []irv1.Role{irv1.Role_ROLE_USER}, Priority: &priority, LastModified: "2026-11-22T10:00:00Z"},
			EntryMeta:   []*irv1.Member{{Name: "openai/widgetDescription", Json: []byte(`"A page."`)}},
			Cache:       &irv1.Cache{Ttl: durationpb.New(time.Minute), Scope: &scope},
			Icons:       []*irv1.Icon{{Src: "https://library.example/a.png", Theme: irv1.IconTheme_ICON_THEME_ANY}},
		},
	}
	b.Templates = []*irv1.ResourceTemplate{
		{
			Name: "book", Uri: template("books://{id}"), Body: &irv1.ResourceTemplate_Use{Use: getBook("id")},
			Completions: []*irv1.VariableCompletion{{Variable: "id", Completion: &irv1.Completion{Kind: &irv1.Completion_Use{Use: &irv1.CompletionUse{
				Use: getBook("id"), At: place(irv1.Side_SIDE_RESPONSE),
			}}}}},
		},
		{
			Name: "card", Uri: template("cards:{name}/{year}"), MediaType: "application/json",
			Body: &irv1.ResourceTemplate_Text{Text: &irv1.FilledText{Text: template(`["{name}"]`), Json: true}},
		},
	}
	b.Caching = &irv1.Caching{Tools: &irv1.Cache{Ttl: durationpb.New(0)}, Discover: &irv1.Cache{Scope: &scope}}
	return b
}

func shelved(t *testing.T, bindings ...*irv1.Binding) []irv1.Problem {
	t.Helper()
	sealed, err := irv1.Parts{Bindings: bindings, Schemas: [][]byte{[]byte(schema)}, Files: [][]byte{[]byte(page), {0xff}}}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	c, err := irv1.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	return c.Validate()
}

func TestValidateResources(t *testing.T) {
	if problems := shelved(t, shelves()); problems != nil {
		t.Fatalf("problems are %q", problems)
	}
	onlyStatic := shelves()
	onlyStatic.Tools, onlyStatic.Resources, onlyStatic.Templates = nil, onlyStatic.Resources[1:], nil
	if problems := shelved(t, onlyStatic); problems != nil {
		t.Fatalf("problems are %q", problems)
	}
	tests := []struct {
		name   string
		change func(best, page *irv1.Resource, b *irv1.Binding)
		want   string
	}{
		{"name", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.Name = "a b" }, "resources.a b: the resource has no name of its own"},
		{"name twice", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.Name = "page" }, "resources.page: the resource has no name of its own"},
		{"URI", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.Uri = "best" }, "resources.best.uri: it is not the URI of a resource"},
		{"URI twice", func(best, page *irv1.Resource, _ *irv1.Binding) { page.Uri = best.Uri }, `resources.page.uri: endpoint /mcp has another resource of this URI, in binding "library"`},
		{"size", func(best, _ *irv1.Resource, _ *irv1.Binding) { *best.Size = math.MaxUint64 }, "resources.best.size: it is more than clients can count"},
		{"media type", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.MediaType = "a\nb" }, `resources.best.mimeType: "a\nb" is not a media type`},
		{"no body", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.Body = nil }, "resources: body is not set"},
		{"no file", func(_, page *irv1.Resource, _ *irv1.Binding) { page.GetFile().Sha256 = digest("else") }, "resources.page: the bundle lacks the file"},
		{"no digest", func(_, page *irv1.Resource, _ *irv1.Binding) { page.GetFile().Sha256 = nil }, "resources.page: the bundle lacks the file"},
		{"no text", func(_, page *irv1.Resource, _ *irv1.Binding) { page.GetFile().Sha256 = digest("\xff") }, "resources.page: the file is not UTF-8"},
		{"no tool", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.GetUse().Tool = "x" }, `resources.best.tool: the binding has no tool "x"`},
		{"variable of a resource", func(best, _ *irv1.Resource, _ *irv1.Binding) { best.Body = &irv1.Resource_Use{Use: getBook("id")} },
			`resources.best.with.id: there is no "id" to take a value from`},
		{"audience", func(_, page *irv1.Resource, _ *irv1.Binding) { page.Annotations.Audience[0] = 9 }, "resources.page.annotations.audience: 9 is nobody"},
		{"audience twice", func(_, page *irv1.Resource, _ *irv1.Binding) { page.Annotations.Audience = []irv1.Role{1, 1} }, "resources.page.annotations.audience: one stands twice"},
		{"priority", func(_, page *irv1.Resource, _ *irv1.Binding) { *page.Annotations.Priority = math.NaN() }, "resources.page.annotations.priority: it is not from 0 to 1"},
		{"last modified", func(_, page *irv1.Resource, _ *irv1.Binding) { page.Annotations.LastModified = "today" }, `resources.page.annotations.lastModified: "today" is not`},
		{"meta", func(_, page *irv1.Resource, _ *irv1.Binding) { page.EntryMeta[0].Json = []byte("{") }, "resources.page._meta: member"},
		{"cache", func(_, page *irv1.Resource, _ *irv1.Binding) { page.Cache.Ttl = durationpb.New(-1) }, "resources.page.cache.ttl: it must be at most"},
		{"scope", func(_, page *irv1.Resource, _ *irv1.Binding) { *page.Cache.Scope = 0 }, "resources.cache.scope: scope is not set"},
		{"icon", func(_, page *irv1.Resource, _ *irv1.Binding) { page.Icons[0].Src = "x" }, "icons: a source is neither"},
		{"caching", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Caching.Tools.Ttl.Nanos = -1 }, "caching.tools.ttl: it must be at most"},
		{"template's name", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[0].Name = "card" }, "templates.card: the template has no name of its own"},
		{"template", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[0].Uri = template("books://") }, "templates.book.uriTemplate: there is no variable"},
		{"no template", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[0].Uri = nil }, "templates.book.uriTemplate: there is no variable"},
		{"overlap", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[1].Uri = template("books://x{name}") },
			`templates.card.uriTemplate: a URI can be of template "book" of binding "library", too`},
		{"unknown variable", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[1].GetText().Text = template(`["{x}"]`) }, `templates.card: there is no "x" to take a value from`},
		{"no JSON", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[1].GetText().Text = template(`[{name}]`) }, "templates.card: it is not JSON"},
		{"completion", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[0].Completions[0].Variable = "x" }, `templates.book.complete.x: there is no "x"`},
		{"no completion", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Templates[0].Completions[0].Completion = nil }, "templates.book.complete.id: there is none"},
		{"completion of a tool", func(_, _ *irv1.Resource, b *irv1.Binding) { b.Tools[0].Annotations.ReadOnly = false }, `templates.book.complete.id.tool: tool "get_book" is not read-only`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := shelves()
			tt.change(b.Resources[0], b.Resources[1], b)
			problems := shelved(t, b)
			for _, p := range problems {
				if strings.HasPrefix(p.String(), `binding "library": `+tt.want) {
					return
				}
			}
			t.Errorf("problems are %q, want one like %q", problems, tt.want)
		})
	}
}

// Resources of two bindings are one list where they share an endpoint.
func TestValidateShelves(t *testing.T) {
	other := shelves()
	other.Name, other.Tools[0].Name, other.Documents = "other", "get_other", nil
	for _, u := range []*irv1.Use{other.Resources[0].GetUse(), other.Templates[0].GetUse(), other.Templates[0].Completions[0].Completion.GetUse().GetUse()} {
		u.Tool = "get_other"
	}
	other.Endpoint = "/other"
	if problems := shelved(t, shelves(), other); problems != nil {
		t.Errorf("problems are %q", problems)
	}
	other.Endpoint = "/mcp"
	if problems := shelved(t, shelves(), other); len(problems) != 4 {
		t.Errorf("problems are %q", problems)
	}
	many := library()
	for i := range irv1.MaxTemplates + 1 {
		many.Templates = append(many.Templates, &irv1.ResourceTemplate{
			Name: fmt.Sprint("t", i), Uri: template(fmt.Sprintf("t%d:{x}", i)), Body: &irv1.ResourceTemplate_Text{Text: &irv1.FilledText{Text: template("{x}")}},
		})
	}
	if problems := shelved(t, many); len(problems) != 1 || !strings.Contains(problems[0].Message, "at most 1000 can share one") {
		t.Errorf("problems are %q", problems)
	}
}
