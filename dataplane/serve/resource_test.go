package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestResources has clients of both eras list resources and templates, and read all that
// there is.
func TestResources(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Shelving(upstream(t, librarytest.Upstream())))
	book := func(id string) string {
		return `"text":"{\"title\":\"Go \u0026 more\", \"id\":\"` + id + `\", \"price\":10.50, \"big\":9007199254740993}"`
	}
	reads := map[string]string{
		"library://page":         `{"uri":"library://page","mimeType":"text/html+skybridge","text":"\u003cp\u003eRules \u0026 \"hours\"\u003c/p\u003e\n","_meta":{"openai/widgetDescription":"The rules."}}`,
		"library://picture":      `{"uri":"library://picture","mimeType":"image/png","blob":"iVBORwD/"}`,
		"library://best":         `{"uri":"library://best","mimeType":"application/json",` + book("1") + `}`,
		"library://cover":        `{"uri":"library://cover","mimeType":"image/png","blob":"iVBORwD/"}`,
		"books://7":              `{"uri":"books://7","mimeType":"application/json",` + book("7") + `}`,
		"books://%61%2F%C3%BC":   `{"uri":"books://%61%2F%C3%BC","mimeType":"application/json",` + book("a/ü") + `}`,
		"media://txt":            `{"uri":"media://txt","mimeType":"text/plain","text":"A \"text\".\n"}`,
		"media://book":           `{"uri":"media://book","mimeType":"application/vnd.book+json","text":"{\"n\": 1.50}"}`,
		"media://empty":          `{"uri":"media://empty"}`, // the library leaves an empty text out
		"notes://%22Ada%22":      `{"uri":"notes://%22Ada%22","mimeType":"text/plain","text":"Dear \"Ada\"!"}`,
		"cards://%22%5C%0A/1815": `{"uri":"cards://%22%5C%0A/1815","mimeType":"application/json","text":"{\"name\":\"\\\"\\\\\\n\",\"year\":\"1815\"}","_meta":{"example.com/a":1}}`,
	}
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			session := connect(t, url+"/library", era, nil)
			list, err := session.ListResources(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var uris []string
			for _, r := range list.Resources {
				uris = append(uris, r.URI+" "+r.Name)
			}
			if want := []string{"library://best best", "library://cover cover", "library://page page", "library://picture picture"}; !slices.Equal(uris, want) {
				t.Errorf("resources are %q, want %q", uris, want)
			}
			page := list.Resources[2]
			if page.Title != "Rules" || page.Description != "The rules." || page.MIMEType != "text/html+skybridge" || page.Size != int64(len(librarytest.Page)) ||
				page.Annotations.Priority != 0.5 || page.Annotations.LastModified == "" || len(page.Annotations.Audience) != 2 || page.Meta["openai/widgetDescription"] != "The rules." {
				t.Errorf("the entry is %+v", page)
			}
			templates, err := session.ListResourceTemplates(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			uris = nil
			for _, r := range templates.ResourceTemplates {
				uris = append(uris, r.URITemplate+" "+r.Name)
			}
			if want := []string{"books://{id} book", "cards://{name}/{year} card", "media://{id} media", "notes://{name} note"}; !slices.Equal(uris, want) {
				t.Errorf("templates are %q, want %q", uris, want)
			}
			for uri, want := range reads {
				got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if err != nil {
					t.Errorf("%s: %v", uri, err)
					continue
				}
				content, err := json.Marshal(got.Contents)
				if err != nil || string(content) != "["+want+"]" {
					t.Errorf("%s reads as\n%s, %v; want\n[%s]", uri, content, err, want)
				}
				if got.Meta[metaRevision] != float64(1) {
					t.Errorf("%s is of revision %v", uri, got.Meta[metaRevision])
				}
			}
		})
	}
}

// TestResourceErrors has reads that cannot be done.
func TestResourceErrors(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Shelving(upstream(t, librarytest.Upstream()))
	_, url := serving(t, Config{}, b)
	notFound := func(uri string) string {
		return fmt.Sprintf(`"error":{"code":%%d,"message":"resource not found","data":{"uri":%q}}`, uri)
	}
	tests := []struct {
		name, params string
		status       int // for a modern client
		want         string
	}{
		{"unknown", `{"uri":"library://none"}`, 400, notFound("library://none")},
		{"unknown, escaped", `{"uri":"library:\/\/\u006eone"}`, 400, notFound("library://none")},
		{"no URI", `{"uri":"best"}`, 400, notFound("best")},
		{"nothing", `{"uri":""}`, 400, `"error":{"code":%d,"message":"%s"}`},
		{"too long", `{"uri":"books://` + strings.Repeat("a", irv1.MaxURI) + `"}`, 400, `"error":{"code":%d,"message":"resource not found"}`},
		{"of no template", `{"uri":"books://a/b"}`, 400, notFound("books://a/b")},
		{"an upstream that has none", `{"uri":"books://missing"}`, 400, notFound("books://missing")},
		{"an upstream that fails", `{"uri":"books://busy"}`, 200, `"error":{"code":-32000,"message":"There is a queue.","data":{"code":"busy","message":"There is a queue."}}`},
		{"an answer that cannot be used", `{"uri":"media://odd"}`, 200, `"result":{"contents":[{"uri":"media://odd","mimeType":"application/json","text":"[1]"}]`},
		{"an argument that the tool does not take", `{"uri":"books://.."}`, 400, `"error":{"code":-32602,"message":"argument \"id\"`},
		{"no parameters", `{}`, 400, `"error":{"code":%d,"message":"%s"}`},
		{"a URI that is no text", `{"uri":7}`, 400, `"error":{"code":-32602,"message":"params are not those that resources/read takes"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, era := range eras {
				want, code := tt.want, -32002
				if era >= message.Modern {
					code = -32602
				}
				switch {
				case strings.Contains(want, "%s") && era >= message.Modern: // there is nothing that a header could name
					want = fmt.Sprintf(want, mcp.CodeHeaderMismatch, "the header Mcp-Name must say once what the body says")
				case strings.Contains(want, "%s"):
					want = fmt.Sprintf(want, code, "resource not found")
				case strings.Contains(want, "%d"):
					want = fmt.Sprintf(want, code)
				}
				status, body := post(t, url+"/library", era, "resources/read", tt.params)
				if wantStatus := map[bool]int{true: tt.status, false: 200}[era >= message.Modern]; status != wantStatus || !strings.Contains(body, want) {
					t.Errorf("%s: answer is %d %.200s", era, status, body)
				}
			}
		})
	}
	r := posted(t, url+"/library", message.Modern, "resources/read", `{"uri":"library://page"}`)
	r.Header.Set("Mcp-Name", "library://picture")
	if status, body := send(t, r); status != 400 || !strings.Contains(body, `"code":-32020`) {
		t.Errorf("another URI in the header is answered with %d %s", status, body)
	}
}

// TestResourceSecrets reads what is not there of a binding that hides something: the URI
// may have it, and is not repeated.
func TestResourceSecrets(t *testing.T) {
	b := librarytest.Shelving(upstream(t, librarytest.Upstream()))
	b.Redact = []*irv1.Place{{Side: irv1.Side_SIDE_REQUEST, Steps: []*irv1.Step{{Kind: &irv1.Step_Token{Token: "id"}}}}}
	_, url := serving(t, Config{}, b)
	for _, era := range eras {
		if _, body := post(t, url+"/library", era, "resources/read", `{"uri":"books://missing"}`); !strings.Contains(body, `"resource not found"}`) {
			t.Errorf("%s: answer is %s", era, body)
		}
	}
}

// TestReadMeta reads what a tool gives with "_meta" of its response.
func TestReadMeta(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Shelving(upstream(t, librarytest.Upstream()))
	for _, tool := range b.Tools {
		tool.ResultMeta = []*irv1.ResultMeta{{Key: "example.com/type", Source: &irv1.ResultMeta_Header{Header: "Content-Type"}}}
	}
	_, url := serving(t, Config{}, b)
	for _, era := range eras {
		if _, body := post(t, url+"/library", era, "resources/read", `{"uri":"media://png"}`); !strings.Contains(body, `"example.com/type":"image/png"`) {
			t.Errorf("%s: answer is %s", era, body)
		}
	}
}

// TestResourceCodes has an endpoint with codes of its own for resources.
func TestResourceCodes(t *testing.T) {
	proof.Ran(t)
	b := librarytest.Shelving(upstream(t, librarytest.Upstream()))
	b.Errors.ResourceCodes = &irv1.Codes{NotFound: -32042, Failed: -32043}
	_, url := serving(t, Config{}, b)
	for _, era := range eras {
		for uri, want := range map[string]string{"library://none": `"code":-32042`, "books://missing": `"code":-32042`, "books://busy": `"code":-32043`} {
			if _, body := post(t, url+"/library", era, "resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(body, want) {
				t.Errorf("%s: %s: answer is %s", era, uri, body)
			}
		}
	}
}

// TestResourceRevisions holds that each revision of the protocol gets the fields of
// resources that it has.
func TestResourceRevisions(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Shelving(upstream(t, librarytest.Upstream())))
	fields := map[string]string{ // the first revision that has them
		`"uri":"library://page","name":"page"`: "", `"annotations":{"audience":["user","assistant"],"priority":0.5`: "", fmt.Sprintf(`"size":%d`, len(librarytest.Page)): "",
		`"title":"Rules"`: message.Structured, `"lastModified":`: message.Structured, `"_meta":{"openai/widgetDescription":`: message.Structured, `"title":"A book"`: message.Structured,
		`"text":"<p>Rules & \"hours\"</p>\n","_meta":{"openai/`: message.Structured, `\"year\":\"2\"}","_meta":{"example.com/a":1}`: message.Structured,
		`"icons":[{`: "2025-11-25", `"resultType":"complete"`: message.Modern, `"ttlMs":1500,"cacheScope":"private"`: message.Modern, `"ttlMs":0,"cacheScope":"public"`: message.Modern,
	}
	for _, version := range mcp.SupportedProtocolVersions() {
		said := ""
		for _, ask := range [][2]string{{"resources/list", `{}`}, {"resources/templates/list", `{}`}, {"resources/read", `{"uri":"library://page"}`}, {"resources/read", `{"uri":"cards://1/2"}`}} {
			_, body := post(t, url+"/library", version, ask[0], ask[1])
			said += body
		}
		for field, since := range fields {
			if strings.Contains(said, field) != (version >= since) {
				t.Errorf("%s: %t that there is %s in\n%s", version, version < since, field, said)
			}
		}
	}
}

// TestResourcePages reads long lists page by page.
func TestResourcePages(t *testing.T) {
	b := librarytest.Shelving("127.0.0.1:9")
	one := b.Resources[3]
	b.Resources = nil
	for i := range 1500 {
		r := proto.CloneOf(one)
		r.Name, r.Uri = fmt.Sprintf("r%d", i), fmt.Sprintf("library://%04d", i)
		b.Resources = append(b.Resources, r)
	}
	_, url := serving(t, Config{}, b)
	session := connect(t, url+"/library", eras[0], nil)
	n := 0
	for r, err := range session.Resources(t.Context(), nil) {
		if err != nil || r.URI != fmt.Sprintf("library://%04d", n) {
			t.Fatalf("resource %d is %+v, %v", n, r, err)
		}
		n++
	}
	if n != 1500 {
		t.Errorf("there are %d", n)
	}
}

// TestTemplateCompletion completes variables of templates.
func TestTemplateCompletion(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Shelving("127.0.0.1:9"))
	for _, era := range eras {
		for params, want := range map[string]string{
			`{"ref":{"type":"ref/resource","uri":"books://{id}"},"argument":{"name":"id","value":"1"}}`:   `"values":["1","12"]`,
			`{"ref":{"type":"ref/resource","uri":"media://{id}"},"argument":{"name":"id","value":"1"}}`:   `"values":[]`,
			`{"ref":{"type":"ref/resource","uri":"books://{isbn}"},"argument":{"name":"id","value":"1"}}`: `"code":-32602,"message":"there is no resource template of this URI"`,
		} {
			if _, body := post(t, url+"/library", era, "completion/complete", params); !strings.Contains(body, want) {
				t.Errorf("%s: answer is %s, want %s", era, body, want)
			}
		}
	}
}

// TestCaching has bindings that share an endpoint say how long its lists may be kept.
func TestCaching(t *testing.T) {
	proof.Ran(t)
	one, two := librarytest.Shelving("127.0.0.1:9"), librarytest.Shelving("127.0.0.1:9")
	two.Name, two.Resources, two.Templates = "two", nil, nil
	for _, tool := range two.Tools {
		tool.Name += "_too"
	}
	ms := func(n int32) *durationpb.Duration { return &durationpb.Duration{Nanos: n * 1_000_000} }
	private, public := irv1.CacheScope_CACHE_SCOPE_PRIVATE, irv1.CacheScope_CACHE_SCOPE_PUBLIC
	one.Caching = &irv1.Caching{
		Tools: &irv1.Cache{Ttl: ms(500), Scope: &public}, Resources: &irv1.Cache{Ttl: ms(300)}, Templates: &irv1.Cache{Scope: &private},
		Prompts: &irv1.Cache{Ttl: ms(7)}, Discover: &irv1.Cache{Ttl: ms(900), Scope: &private},
	}
	two.Caching = &irv1.Caching{Tools: &irv1.Cache{Ttl: ms(200)}, Resources: &irv1.Cache{Ttl: ms(400), Scope: &private}, Prompts: &irv1.Cache{Ttl: ms(0)}}
	_, url := serving(t, Config{}, one, two)
	for method, want := range map[string]string{
		"tools/list":               `"ttlMs":200,"cacheScope":"public"`,
		"resources/list":           `"ttlMs":300,"cacheScope":"private"`,
		"resources/templates/list": `"ttlMs":0,"cacheScope":"private"`,
		"prompts/list":             `"ttlMs":0,"cacheScope":"public"`,
		"server/discover":          `"ttlMs":900,"cacheScope":"private"`,
	} {
		if status, body := post(t, url+"/library", message.Modern, method, `{}`); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: answer is %d %s, want %s", method, status, body, want)
		}
	}
	for uri, want := range map[string]string{
		"library://picture": `"ttlMs":0,"cacheScope":"public"`, "library://page": `"ttlMs":1500,"cacheScope":"private"`, "cards://1/2": `"ttlMs":0,"cacheScope":"public"`,
	} {
		if _, body := post(t, url+"/library", message.Modern, "resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(body, want) {
			t.Errorf("%s: answer is %s, want %s", uri, body, want)
		}
	}
}

// TestResourceAsks reads what takes an answer of the user first, in both eras.
func TestResourceAsks(t *testing.T) {
	proof.Ran(t)
	b := lender(upstream(t, &desk{}))
	variable := []*irv1.TextPart{{Kind: &irv1.TextPart_Variable{Variable: "book"}}}
	b.Templates = []*irv1.ResourceTemplate{{
		Name: "loan", Uri: &irv1.Text{Parts: append([]*irv1.TextPart{{Kind: &irv1.TextPart_Literal{Literal: "loans://"}}}, variable...)},
		Body: &irv1.ResourceTemplate_Use{Use: &irv1.Use{Tool: "lend_book", Arguments: []*irv1.UseArgument{
			{Name: "book", Value: &irv1.UseArgument_Text{Text: &irv1.Text{Parts: variable}}},
		}}},
	}}
	_, url := serving(t, Config{Stateful: true}, b)
	for _, era := range eras {
		session := reader(t, url+"/library", era, "accept")
		for book, want := range map[string]string{"plain": `{"book":"plain"}`, "days": `{"book":"days","days":7}`, "signed": `{"loan":"17","signed":true}`} {
			got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "loans://" + book})
			if err != nil || len(got.Contents) != 1 || got.Contents[0].Text != want {
				t.Errorf("%s, %s: %+v, %v; want %s", era, book, got, err, want)
			}
		}
		if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "loans://for%20ever"}); err == nil {
			t.Errorf("%s: a service that asks for ever is asked for ever", era)
		}
	}
}
