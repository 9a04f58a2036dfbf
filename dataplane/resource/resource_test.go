package resource_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/resource"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// shelf returns the endpoint of a library that is at authority.
func shelf(t *testing.T, authority string) *table.Endpoint {
	t.Helper()
	next, err := table.Build(librarytest.Content(t, librarytest.Shelving(authority)), &discoveryv1.Generation{}, nil,
		table.Deps{Secrets: secret.New("", librarytest.Env)})
	if err != nil {
		t.Fatal(err)
	}
	return next.Endpoint(librarytest.Endpoint)
}

// TestContent reads what is the bundle's, for clients with and without "_meta".
func TestContent(t *testing.T) {
	at := shelf(t, "127.0.0.1:9")
	tests := []struct{ uri, version, want string }{
		{"library://picture", "2024-11-05", `{"uri":"library://picture","mimeType":"image/png","blob":"iVBORwD/"}`},
		{"library://page", "2025-03-26", `{"uri":"library://page","mimeType":"text/html+skybridge","text":"<p>Rules & \"hours\"</p>\n"}`},
		{"library://page", "2025-06-18", `{"uri":"library://page","mimeType":"text/html+skybridge","text":"<p>Rules & \"hours\"</p>\n","_meta":{"openai/widgetDescription":"The rules."}}`},
		{"cards://a/b", "2025-03-26", `{"uri":"cards://a/b","mimeType":"application/json","text":"{\"name\":\"a\",\"year\":\"b\"}"}`},
		{"cards://%22/%5C%22%2C", "2026-07-28", `{"uri":"cards://%22/%5C%22%2C","mimeType":"application/json","text":"{\"name\":\"\\\"\",\"year\":\"\\\\\\\",\"}","_meta":{"example.com/a":1}}`},
		{"notes://%7Bname%7D", "2026-07-28", `{"uri":"notes://%7Bname%7D","mimeType":"text/plain","text":"Dear {name}!"}`},
	}
	for _, tt := range tests {
		hit := resource.Find(at, tt.uri)
		if hit == nil || hit.Use != nil {
			t.Errorf("%s leads to %+v", tt.uri, hit)
			continue
		}
		got := string(hit.Content(tt.version))
		if got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%s for %s is\n%s, want\n%s", tt.uri, tt.version, got, tt.want)
		}
	}
	for _, uri := range []string{"", "library://", "library://none", "books://", "books://a/b", "notes://a b", "notes://\x00", "notes://%FF"} {
		if hit := resource.Find(at, uri); hit != nil {
			t.Errorf("%q leads to %s", uri, hit.Name)
		}
	}
	if hit := resource.Find(&table.Endpoint{}, "library://page"); hit != nil {
		t.Error("an endpoint without anything has something")
	}
}

// TestReceived reads what tools give.
func TestReceived(t *testing.T) {
	s := httptest.NewServer(librarytest.Upstream())
	defer s.Close()
	at := shelf(t, strings.TrimPrefix(s.URL, "http://"))
	tests := []struct {
		uri, want string
		class     call.Class
		absent    bool
	}{
		{uri: "media://png", class: call.OK, want: `{"uri":"media://png","mimeType":"image/png","blob":"iVBORwD/"}`},
		{uri: "media://txt", class: call.OK, want: `{"uri":"media://txt","mimeType":"text/plain","text":"A \"text\".\n"}`},
		{uri: "media://book", class: call.OK, want: `{"uri":"media://book","mimeType":"application/vnd.book+json","text":"{\"n\": 1.50}"}`},
		{uri: "media://odd", class: call.OK, want: `{"uri":"media://odd","mimeType":"application/json","text":"[1]"}`},
		{uri: "media://empty", class: call.OK, want: `{"uri":"media://empty","text":""}`},
		{uri: "media://none", class: call.UpstreamError, absent: true},
		{uri: "books://missing", class: call.UpstreamError, absent: true},
		{uri: "books://busy", class: call.UpstreamError},
		{uri: "books://..", class: call.InvalidParams},
	}
	for _, tt := range tests {
		hit := resource.Find(at, tt.uri)
		if hit == nil || hit.Use == nil {
			t.Fatalf("%s leads to %+v", tt.uri, hit)
		}
		o := call.Do(t.Context(), hit.Use.Tool, hit.Request(call.Request{}))
		got := hit.Received(o, "2026-07-28")
		refusal := hit.Refusal(at, o, "2026-07-28")
		absent := refusal != nil && refusal.Message == "resource not found" && string(refusal.Data) == `{"uri":"`+tt.uri+`"}`
		if string(got) != tt.want || o.Class != tt.class || absent != tt.absent || (refusal == nil) != (got != nil) {
			t.Errorf("%s: %s, %s; want %s, %s", tt.uri, got, o.Class, tt.want, tt.class)
		}
	}
}

// TestReceivedTypes has an author say what an upstream does not.
func TestReceivedTypes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Application/Problem+JSON; charset=utf-8")
		_, _ = io.WriteString(w, `{}`)
	}))
	defer s.Close()
	at := shelf(t, strings.TrimPrefix(s.URL, "http://"))
	for uri, want := range map[string]string{"library://best": "application/problem+json", "books://1": "application/json"} {
		hit := resource.Find(at, uri)
		got := hit.Received(call.Do(t.Context(), hit.Use.Tool, hit.Request(call.Request{})), "2026-07-28")
		if !strings.Contains(string(got), `"mimeType":"`+want+`"`) {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}

// TestReceivedParts reads what a tool makes parts of: each is a content, but for links.
func TestReceivedParts(t *testing.T) {
	body := `{"cover":"iVBORw==","title":"Emma"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) }))
	defer s.Close()
	b := librarytest.Shelving(strings.TrimPrefix(s.URL, "http://"))
	const mimeType, uri = irv1.PartField_PART_FIELD_MIME_TYPE, irv1.PartField_PART_FIELD_URI
	at := func(f irv1.PartField, name string) *irv1.PartMember {
		return &irv1.PartMember{Field: f, Source: &irv1.PartMember_Body{Body: &irv1.Pointer{Tokens: []string{name}}}}
	}
	is := func(f irv1.PartField, json string) *irv1.PartMember {
		return &irv1.PartMember{Field: f, Source: &irv1.PartMember_Json{Json: []byte(json)}}
	}
	link := &irv1.ContentPart{Kind: irv1.PartKind_PART_KIND_LINK, Members: []*irv1.PartMember{is(uri, `"books://2"`), is(irv1.PartField_PART_FIELD_NAME, `"more"`)}}
	b.Tools[1].Result = irv1.ResultMode_RESULT_MODE_MCP
	b.Tools[1].Content = []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_IMAGE, Members: []*irv1.PartMember{at(irv1.PartField_PART_FIELD_DATA, "cover"), is(mimeType, `"image/png"`)}},
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{at(irv1.PartField_PART_FIELD_TEXT, "title")}},
		{Kind: irv1.PartKind_PART_KIND_RESOURCE, Members: []*irv1.PartMember{is(uri, `"titles://1"`), is(mimeType, `"text/plain"`), at(irv1.PartField_PART_FIELD_TEXT, "title")}},
		link,
	}
	read := func() string {
		t.Helper()
		next, err := table.Build(librarytest.Content(t, b), &discoveryv1.Generation{}, nil, table.Deps{Secrets: secret.New("", librarytest.Env)})
		if err != nil {
			t.Fatal(err)
		}
		hit := resource.Find(next.Endpoint(librarytest.Endpoint), "library://best")
		return string(hit.Received(call.Do(t.Context(), hit.Use.Tool, hit.Request(call.Request{})), "2026-07-28"))
	}
	want := `{"uri":"library://best","mimeType":"image/png","blob":"iVBORw=="},{"uri":"library://best","text":"Emma"},{"uri":"titles://1","mimeType":"text/plain","text":"Emma"}`
	if got := read(); got != want {
		t.Errorf("parts read as\n%s, want\n%s", got, want)
	}
	b.Tools[1].Content = []*irv1.ContentPart{link}
	if got := read(); !strings.Contains(got, `"mimeType":"application/json","text":"{\"cover\"`) {
		t.Errorf("without parts to read it is %s", got)
	}
}
