package table_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// shelves returns a bundle of a binding with resources and templates.
func shelves() *bundle {
	b := &bundle{files: [][]byte{[]byte("<p>"), []byte("other")}}
	pets := b.binding("pets", "/mcp", "pets.example")
	b.tool(pets, "add_pet", `{"type":"object"}`)
	b.tool(pets, "wash_pet", `{"type":"object"}`).Hidden = true
	page := irv1.DigestOf([]byte("<p>"))
	variable := func(name string) *irv1.TextPart { return &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name}} }
	words := func(s string) *irv1.TextPart { return &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: s}} }
	use := &irv1.Use{Tool: "wash_pet", Arguments: []*irv1.UseArgument{{Name: "payload", Value: &irv1.UseArgument_Json{Json: []byte(`{}`)}}}}
	private := irv1.CacheScope_CACHE_SCOPE_PRIVATE
	pets.Resources = []*irv1.Resource{
		{Name: "clean", Uri: "pets:clean", Body: &irv1.Resource_Use{Use: use}},
		{Name: "page", Uri: "pets:page", MediaType: "text/html", Body: &irv1.Resource_File{File: &irv1.File{Sha256: page[:]}}, EntryMeta: []*irv1.Member{{Name: "a", Json: []byte("1")}}},
	}
	pets.Templates = []*irv1.ResourceTemplate{
		{
			Name: "pet", Uri: &irv1.Text{Parts: []*irv1.TextPart{words("pets://"), variable("id")}},
			Body:        &irv1.ResourceTemplate_Text{Text: &irv1.FilledText{Text: &irv1.Text{Parts: []*irv1.TextPart{words(`"`), variable("id"), words(`"`)}}, Json: true}},
			Completions: []*irv1.VariableCompletion{{Variable: "id", Completion: &irv1.Completion{Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: []string{"1"}}}}}},
		},
		{Name: "tag", Uri: &irv1.Text{Parts: []*irv1.TextPart{words("pets://"), variable("id"), words("/tag")}}, Body: &irv1.ResourceTemplate_Use{Use: use}},
	}
	pets.Caching = &irv1.Caching{Resources: &irv1.Cache{Ttl: durationpb.New(time.Second), Scope: &private}}
	return b
}

func TestResources(t *testing.T) {
	e := shelves().build(t, nil, table.Deps{}).Endpoint("/mcp")
	if len(e.Resources) != 2 || e.Resources[0].URI != "pets:clean" || e.Resource("pets:page") != e.Resources[1] || e.Resource("pets:pag") != nil {
		t.Errorf("resources are %+v", e.Resources)
	}
	if clean := e.Resources[0]; clean.Use == nil || clean.Use.Tool != e.Tool("wash_pet") || !clean.Cache.Private || clean.Binding != "pets" {
		t.Errorf("resource is %+v", clean)
	}
	if page := e.Resources[1]; page.Use != nil || page.Cache.Private || string(page.Meta) != `{"a":1}` {
		t.Errorf("resource is %+v", page)
	}
	pet, values := e.Template("pets://%41")
	if pet == nil || pet.Name != "pet" || values["id"] != "A" || pet.Completion("id") == nil || pet.Completion("x") != nil || !e.Completes() {
		t.Errorf("template is %+v with %q", pet, values)
	}
	if tag, _ := e.Template("pets://1/tag"); tag == nil || tag.Name != "tag" || e.TemplateAs("pets://{id}/tag") != tag {
		t.Errorf("template is %+v", tag)
	}
	if other, _ := e.Template("pets://1/2"); other != nil || e.TemplateAs("pets://{x}") != nil {
		t.Errorf("template is %+v", other)
	}
}

// What is visible of resources, and what changed of what is read, are two things.
func TestResourceChanges(t *testing.T) {
	before := shelves().build(t, nil, table.Deps{})
	other := irv1.DigestOf([]byte("other"))
	tests := []struct {
		name    string
		change  func(b *irv1.Binding)
		visible bool
		changed []string
	}{
		{"nothing", func(*irv1.Binding) {}, false, nil},
		{"a description", func(b *irv1.Binding) { b.Resources[1].Description = "New." }, true, []string{"pets:page"}},
		{"a file", func(b *irv1.Binding) { b.Resources[1].GetFile().Sha256 = other[:] }, false, []string{"pets:page"}},
		{"the tool behind one", func(b *irv1.Binding) { b.Tools[1].Timeout.Seconds++ }, false, []string{"pets:clean"}},
		{"another tool", func(b *irv1.Binding) { b.Tools[0].Timeout.Seconds++ }, false, nil},
		{"one that is gone", func(b *irv1.Binding) { b.Resources = b.Resources[1:] }, true, []string{"pets:clean"}},
		{"all are gone", func(b *irv1.Binding) { b.Resources, b.Templates = nil, nil }, true, []string{"pets:clean", "pets:page"}},
		{"a template", func(b *irv1.Binding) { b.Templates[0].Title = "A pet" }, true, nil},
		{"a template that is gone", func(b *irv1.Binding) { b.Templates = b.Templates[:1] }, true, nil},
		{"what a template reads", func(b *irv1.Binding) { b.Templates[0].GetText().Json = false }, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := shelves()
			tt.change(b.bindings[0])
			next := b.build(t, before, table.Deps{})
			was, is := before.Endpoint("/mcp"), next.Endpoint("/mcp")
			if visible := was.Surface.Resources != is.Surface.Resources; visible != tt.visible || was.Surface.Tools != is.Surface.Tools {
				t.Errorf("visible: %t, want %t", visible, tt.visible)
			}
			if got := was.Changed(is); !slices.Equal(got, tt.changed) {
				t.Errorf("changed are %q, want %q", got, tt.changed)
			}
		})
	}
	if got := before.Endpoint("/mcp").Changed(nil); len(got) != 2 {
		t.Errorf("changed are %q when there is no endpoint", got)
	}
}

// TestCache has two bindings say how long lists may be kept, of which one has most of it
// unsaid.
func TestCache(t *testing.T) {
	b := shelves()
	food := b.binding("food", "/mcp", "food.example")
	b.tool(food, "buy_food", `{"type":"object"}`)
	public := irv1.CacheScope_CACHE_SCOPE_PUBLIC
	food.Caching = &irv1.Caching{
		Resources: &irv1.Cache{Ttl: durationpb.New(1234567 * time.Microsecond), Scope: &public}, Tools: &irv1.Cache{Ttl: durationpb.New(1234567 * time.Microsecond)},
	}
	c := b.build(t, nil, table.Deps{}).Endpoint("/mcp").Caching
	for got, want := range map[string]string{
		string(c.Tools.AppendMembers(nil)):     `,"ttlMs":1234,"cacheScope":"public"`,
		string(c.Resources.AppendMembers(nil)): `,"ttlMs":1000,"cacheScope":"private"`,
		string(c.Prompts.AppendMembers(nil)):   `,"ttlMs":0,"cacheScope":"public"`,
	} {
		if got != want {
			t.Errorf("members are %s, want %s", got, want)
		}
	}
}

// readResources has all resources and templates listed, found and filled.
func readResources(t *testing.T, e *table.Endpoint) {
	for _, r := range e.Resources {
		if !json.Valid(r.AppendListed(nil, "2026-07-28")) || r.Use == nil && !json.Valid(r.AppendContent(nil, "2024-11-05")) {
			t.Errorf("resource %q is no JSON", r.Name)
		}
		if e.Resource(r.URI) == nil || r.Use != nil && (r.Use.Tool == nil || !json.Valid(fill.Arguments(r.Use.Arguments, nil))) {
			t.Errorf("resource %q cannot be read", r.Name)
		}
	}
	for _, tmpl := range e.Templates {
		values := fill.Values{}
		for _, name := range tmpl.Pattern.Variables() {
			values[name] = "\"\\\n" + name
		}
		uri := tmpl.Pattern.Expand(values)
		if found, _ := e.Template(uri); len(uri) <= irv1.MaxURI && found != tmpl || e.TemplateAs(tmpl.Key()) != tmpl || !json.Valid(tmpl.AppendListed(nil, "2025-03-26")) {
			t.Errorf("template %q is not found by %s", tmpl.Name, uri)
		}
		switch {
		case tmpl.Use != nil && (tmpl.Use.Tool == nil || !json.Valid(fill.Arguments(tmpl.Use.Arguments, values))):
			t.Errorf("template %q calls nothing, or with no JSON", tmpl.Name)
		case tmpl.Use == nil && tmpl.Text.GetJson() && !json.Valid([]byte(fill.JSON(tmpl.Text.GetText(), values))):
			t.Errorf("template %q is no JSON", tmpl.Name)
		}
	}
}
