package table_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// bundle is one in the making: bindings, the schemas that their tools name, and files.
type bundle struct {
	bindings []*irv1.Binding
	schemas  [][]byte
	files    [][]byte
}

// binding adds a binding called name whose upstream is at authority.
func (b *bundle) binding(name, endpoint, authority string) *irv1.Binding {
	binding := &irv1.Binding{
		Name:     name,
		Endpoint: endpoint,
		Upstream: &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: authority, MaxRequestBytes: 1, MaxResponseBytes: 1},
		Errors:   &irv1.Errors{Style: irv1.ErrorStyle_ERROR_STYLE_TOOL, Code: -32000, Payload: &irv1.PayloadError{Code: -32602}},
	}
	b.bindings = append(b.bindings, binding)
	return binding
}

// tool adds a tool called name to binding, with a payload whose schema is payload.
func (b *bundle) tool(binding *irv1.Binding, name, payload string) *irv1.Tool {
	schema := []byte(fmt.Sprintf(`{"type":"object","properties":{"payload":%s}}`, payload))
	b.schemas = append(b.schemas, schema)
	digest := irv1.DigestOf(schema)
	tool := &irv1.Tool{
		Name: name, Description: "It is " + name + ".", Method: irv1.Method_METHOD_POST,
		Path:        []*irv1.PathPart{{Kind: &irv1.PathPart_Literal{Literal: "/" + name}}},
		Payload:     &irv1.Payload{Check: irv1.Check_CHECK_ENFORCE},
		InputSchema: digest[:], Timeout: durationpb.New(time.Second), Result: irv1.ResultMode_RESULT_MODE_MCP,
	}
	binding.Tools = append(binding.Tools, tool)
	return tool
}

func (b *bundle) content(t testing.TB) *irv1.Content {
	t.Helper()
	sealed, err := irv1.Parts{Bindings: b.bindings, Schemas: b.schemas, Files: b.files}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	c, err := irv1.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *bundle) build(t testing.TB, prev *table.Table, deps table.Deps) *table.Table {
	t.Helper()
	if deps.Secrets == nil {
		deps.Secrets = secret.New("", nil)
	}
	tab, err := table.Build(b.content(t), &discoveryv1.Generation{Number: 7}, prev, deps)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// shop is a bundle of two bindings at one endpoint and one at another.
func shop() *bundle {
	b := &bundle{}
	pets := b.binding("pets", "/mcp", "pets.example")
	b.tool(pets, "add_pet", `{"type":"object"}`)
	b.tool(pets, "wash_pet", `{"type":"object","required":["soap"]}`)
	food := b.binding("food", "/mcp", "food.example")
	b.tool(food, "buy_food", `{"type":"object"}`)
	vets := b.binding("vets", "/a/mcp", "vets.example")
	b.tool(vets, "call_vet", `{}`)
	return b
}

func TestBuild(t *testing.T) {
	b := shop()
	tab := b.build(t, nil, table.Deps{})
	if tab.Generation().GetNumber() != 7 || tab.Digest() != b.content(t).Digest {
		t.Errorf("table is of generation %v and bundle %s", tab.Generation(), tab.Digest())
	}
	if got, want := tab.Endpoints(), []string{"/a/mcp", "/mcp"}; !slices.Equal(got, want) {
		t.Errorf("endpoints are %q, want %q", got, want)
	}
	if got, want := names(tab.Endpoint("/mcp")), []string{"add_pet", "buy_food", "wash_pet"}; !slices.Equal(got, want) {
		t.Errorf("tools are %q, want %q", got, want)
	}
	if tab.Endpoint("/other") != nil || tab.Endpoint("/mcp").Tool("call_vet") != nil {
		t.Error("a tool is where it does not belong")
	}
	tool := tab.Endpoint("/a/mcp").Tool("call_vet")
	if tool == nil || tool.Binding != "vets" || tool.Method != "POST" || tool.Template != "/call_vet" || tool.Timeout != time.Second {
		t.Errorf("tool is %+v", tool)
	}
}

// prompting returns a shop with prompts: three at one endpoint, of two bindings.
func prompting() *bundle {
	b := shop()
	pets, food := b.bindings[0], b.bindings[1]
	pets.Tools[0].Annotations = &irv1.Annotations{ReadOnly: true}
	use := &irv1.Use{Tool: "add_pet", Arguments: []*irv1.UseArgument{{Name: "payload", Value: &irv1.UseArgument_Json{Json: []byte(`{}`)}}}}
	text := &irv1.PromptMessages{Messages: []*irv1.PromptMessage{{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Text{Text: &irv1.Text{}}}}}
	pets.Prompts = []*irv1.Prompt{
		{Name: "adopt", Description: "Adopt.", Kind: &irv1.Prompt_Messages{Messages: text}, Arguments: []*irv1.PromptArgument{
			{Name: "age", Description: "How old."},
			{Name: "kind", Description: "What kind.", Completion: &irv1.Completion{Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: []string{"Cat"}}}}},
			{Name: "name", Title: "A name", Description: "What it is called.", Required: true, Completion: &irv1.Completion{Kind: &irv1.Completion_Use{
				Use: &irv1.CompletionUse{Use: use, At: &irv1.Place{Side: irv1.Side_SIDE_RESPONSE}}}}},
		}},
		{Name: "walk", Title: "Walk", Description: "Walk.", Kind: &irv1.Prompt_Use{Use: &irv1.PromptUse{Use: use}}},
	}
	food.Prompts = []*irv1.Prompt{{Name: "feed", Description: "Feed.", Kind: &irv1.Prompt_Messages{Messages: text}}}
	return b
}

func TestPrompts(t *testing.T) {
	b := prompting()
	tab := b.build(t, nil, table.Deps{})
	e := tab.Endpoint("/mcp")
	var listed []string
	for _, p := range e.Prompts {
		listed = append(listed, p.Name)
	}
	if want := []string{"adopt", "feed", "walk"}; !slices.Equal(listed, want) || !e.Completes() || tab.Endpoint("/a/mcp").Completes() {
		t.Errorf("prompts are %q, want %q", listed, want)
	}
	adopt, walk := e.Prompt("adopt"), e.Prompt("walk")
	if !slices.Equal(adopt.Required, []string{"name"}) || adopt.Binding != "pets" || len(adopt.Messages) != 1 || adopt.Use != nil {
		t.Errorf("prompt is %+v", adopt)
	}
	if walk.Use.Tool != e.Tool("add_pet") || walk.Messages != nil || walk.At != nil || e.Prompt("run") != nil {
		t.Errorf("prompt is %+v", walk)
	}
	kind, name := adopt.Completion("kind"), adopt.Completion("name")
	if kind.Use != nil || !slices.Equal(kind.Values, []table.Value{{Text: "Cat", Folded: "cat"}}) || name.Use.Tool != e.Tool("add_pet") || adopt.Completion("age") != nil {
		t.Errorf("completions are %+v, %+v, %+v", kind, name, adopt.Completion("age"))
	}
	for version, want := range map[string]string{
		"2025-03-26": `{"name":"adopt","description":"Adopt.","arguments":[{"name":"name","description":"What it is called.","required":true},` +
			`{"name":"age","description":"How old."},{"name":"kind","description":"What kind."}]}`,
		"2025-06-18": `{"name":"adopt","description":"Adopt.","arguments":[{"name":"name","title":"A name","description":"What it is called.","required":true},` +
			`{"name":"age","description":"How old."},{"name":"kind","description":"What kind."}]}`,
	} {
		if got := string(adopt.AppendListed(nil, version)); got != want {
			t.Errorf("%s: entry is %s, want %s", version, got, want)
		}
	}

	b.bindings[1].Prompts[0].Description = "Feed it."
	next := b.build(t, tab, table.Deps{})
	if next.Endpoint("/mcp").Prompt("walk") != walk || next.Endpoint("/mcp").Prompt("feed") == e.Prompt("feed") {
		t.Error("a table shares prompts of a binding that changed, or not those of one that did not")
	}
	was, is := e.Surface, next.Endpoint("/mcp").Surface
	if was.Prompts == is.Prompts || was.Tools != is.Tools || tab.Endpoint("/a/mcp").Surface.Prompts != (irv1.Digest{}) {
		t.Errorf("surfaces are %v and %v", was, is)
	}
}

// A hidden tool is there for who knows its name, and in no list.
func TestHidden(t *testing.T) {
	b := shop()
	b.bindings[0].Tools[1].Hidden = true
	e := b.build(t, nil, table.Deps{}).Endpoint("/mcp")
	if tool := e.Tool("wash_pet"); tool == nil || !tool.Hidden {
		t.Errorf("tool is %+v", tool)
	}
	var listed []string
	for _, tool := range e.Listed {
		listed = append(listed, tool.Name)
	}
	if want := []string{"add_pet", "buy_food"}; !slices.Equal(listed, want) {
		t.Errorf("listed are %q, want %q", listed, want)
	}
}

func names(e *table.Endpoint) []string {
	var all []string
	for _, t := range e.Tools {
		all = append(all, t.Name)
	}
	return all
}

func TestDepsHaveDefaults(t *testing.T) {
	deps := shop().build(t, nil, table.Deps{}).Endpoint("/mcp").Tool("add_pet").Deps()
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if one, two := deps.UUID(), deps.UUID(); !uuid.MatchString(one) || one == two {
		t.Errorf("UUIDs are %q and %q", one, two)
	}
	if deps.UserAgent != "bindery" || time.Since(deps.Now()) > time.Minute {
		t.Errorf("defaults are %q, %v", deps.UserAgent, deps.Now())
	}
}

// The entry of a tool is what MCP has in tools/list, on one line, its schema as
// the bundle has it.
func TestToolJSON(t *testing.T) {
	b := &bundle{}
	binding := b.binding("pets", "/mcp", "pets.example")
	tool := b.tool(binding, "add_pet", "{\n\t\"type\": \"object\",\r\n \"maximum\": 12345678901234567890, \"pattern\": \"<&>\"}")
	tool.Title = "Add a pet"
	tool.Annotations = &irv1.Annotations{Idempotent: true}
	plain := b.tool(binding, "feed_pet", `{}`)
	endpoint := b.build(t, nil, table.Deps{}).Endpoint("/mcp")
	got := endpoint.Tool(tool.GetName()).JSON
	first := `{"name":"add_pet","description":"It is add_pet.","inputSchema":{"type":"object","properties":{"payload":` +
		`{"type":"object","maximum":12345678901234567890,"pattern":"<&>"}}}`
	hinted := first + `,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	newest := hinted + `,"title":"Add a pet"}`
	if string(got) != newest {
		t.Errorf("JSON is\n%s, want\n%s", got, newest)
	}
	for version, want := range map[string]string{"2024-11-05": first + `}`, "2025-03-26": hinted + `}`, "2025-06-18": newest, "2026-07-28": newest} {
		if got := endpoint.Tool(tool.GetName()).AppendListed(nil, version); string(got) != want {
			t.Errorf("%s: the entry is\n%s, want\n%s", version, got, want)
		}
	}
	var entry map[string]any
	if err := json.Unmarshal(endpoint.Tool(plain.GetName()).JSON, &entry); err != nil {
		t.Fatal(err)
	}
	if _, ok := entry["title"]; ok || entry["annotations"] != nil {
		t.Errorf("entry has what the tool has not: %v", entry)
	}
	if got, want := endpoint.Tool(plain.GetName()).AppendListed(nil, "2024-11-05"), endpoint.Tool(plain.GetName()).JSON; string(got) != string(want) {
		t.Errorf("the entry is %s, want %s", got, want)
	}
}

// What is shown of results is the document that they are held to, and changes what
// clients see; what is only checked does not.
func TestOutput(t *testing.T) {
	make := func(output *irv1.Output, schema string) *bundle {
		b := shop()
		b.schemas = append(b.schemas, []byte(schema))
		digest := irv1.DigestOf([]byte(schema))
		output.Schema = digest[:]
		b.bindings[0].Tools[0].Output = output
		return b
	}
	const list = "{\n\"type\":\"object\",\"properties\":{\"value\":{\"type\":\"array\"}}}"
	plain := shop().build(t, nil, table.Deps{})
	checked := make(&irv1.Output{Wrapped: true, Check: irv1.Check_CHECK_WARN}, list).build(t, plain, table.Deps{})
	shown := make(&irv1.Output{Wrapped: true, Shown: true, Check: irv1.Check_CHECK_OFF}, list).build(t, checked, table.Deps{})
	tool := func(tab *table.Table) *table.Tool { return tab.Endpoint("/mcp").Tool("add_pet") }
	if out := tool(checked).Output; out == nil || out.Schema == nil || out.Check != irv1.Check_CHECK_WARN || string(tool(checked).JSON) != string(tool(plain).JSON) {
		t.Errorf("an output that is checked is %+v, shown as %s", out, tool(checked).JSON)
	}
	if tool(shown).Output != nil || !strings.Contains(string(tool(shown).JSON), `,"outputSchema":{"type":"object","properties":{"value":{"type":"array"}}}`) {
		t.Errorf("an output that is shown is %+v, shown as %s", tool(shown).Output, tool(shown).JSON)
	}
	same := make(&irv1.Output{Wrapped: true, Check: irv1.Check_CHECK_WARN}, list)
	same.bindings[0].Title = "changed"
	if again := same.build(t, checked, table.Deps{}); tool(again).Output.Schema != tool(checked).Output.Schema {
		t.Error("an equal output schema is compiled again")
	}
	kept := make(&irv1.Output{Wrapped: true, Check: irv1.Check_CHECK_WARN}, list)
	kept.bindings[1].Title = "changed"
	after := kept.build(t, checked, table.Deps{})
	if again := same.build(t, after, table.Deps{}); tool(again).Output.Schema != tool(checked).Output.Schema {
		t.Error("a table that keeps a binding forgets its output schema")
	}
	for _, bad := range []*bundle{
		make(&irv1.Output{Shown: true, Check: irv1.Check_CHECK_OFF}, `{"type":"array"}`),
		make(&irv1.Output{Check: irv1.Check_CHECK_WARN}, `{"pattern":"("}`),
	} {
		if r := refused(t, bad, plain, secret.New("", nil)); r.Retryable || r.Reasons[0].GetField() != "output" || r.Reasons[0].GetTool() != "add_pet" {
			t.Errorf("refusal is %v", r)
		}
	}
}

// What nobody is to check is not checked.
func TestUncheckedPayload(t *testing.T) {
	b := shop()
	b.bindings[0].Tools[0].Payload.Check = irv1.Check_CHECK_OFF
	if tab := b.build(t, nil, table.Deps{}); tab.Endpoint("/mcp").Tool("add_pet").Schema != nil {
		t.Error("there is a schema to check")
	}
}

func TestSurface(t *testing.T) {
	before := shop().build(t, nil, table.Deps{})
	changes := []struct {
		name    string
		change  func(b *bundle)
		visible bool
	}{
		{"nothing", func(*bundle) {}, false},
		{"path", func(b *bundle) {
			b.bindings[0].Tools[0].Path[0] = &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: "/v2"}}
		}, false},
		{"upstream", func(b *bundle) { b.bindings[0].Upstream.Authority = "other.example" }, false},
		{"tool of another endpoint", func(b *bundle) { b.bindings[2].Tools[0].Description = "New." }, false},
		{"description", func(b *bundle) { b.bindings[0].Tools[0].Description = "New." }, true},
		{"hint", func(b *bundle) { b.bindings[0].Tools[0].Annotations = &irv1.Annotations{} }, true},
		{"tool gone", func(b *bundle) { b.bindings[0].Tools = b.bindings[0].Tools[:1] }, true},
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			b := shop()
			tt.change(b)
			after := b.build(t, before, table.Deps{})
			if changed := after.Endpoint("/mcp").Surface != before.Endpoint("/mcp").Surface; changed != tt.visible {
				t.Errorf("surface changed: %t, want %t", changed, tt.visible)
			}
		})
	}
}

// Of 1,000 tools with a schema each, one changed: one schema is compiled, and the
// tools of bindings that did not change are the same.
func TestBuildCostsWhatChanged(t *testing.T) {
	make1000 := func(changed string) *bundle {
		b := &bundle{}
		for i := range 10 {
			binding := b.binding(fmt.Sprintf("b%d", i), "/mcp", "pets.example")
			for j := range 100 {
				payload := fmt.Sprintf(`{"type":"object","maxProperties":%d}`, 1000*i+j)
				if name := fmt.Sprintf("t%d_%d", i, j); name == changed {
					b.tool(binding, name, `{"type":"array"}`)
				} else {
					b.tool(binding, name, payload)
				}
			}
		}
		return b
	}
	before := make1000("").build(t, nil, table.Deps{})
	after := make1000("t3_14").build(t, before, table.Deps{})
	compiled, tools := 0, 0
	for i, tool := range after.Endpoint("/mcp").Tools {
		old := before.Endpoint("/mcp").Tools[i]
		if tool.Schema != old.Schema {
			compiled++
		}
		if tool != old {
			tools++
		}
	}
	if compiled != 1 || tools != 100 {
		t.Errorf("%d schemas compiled and %d tools made, want 1 and 100", compiled, tools)
	}
	for _, same := range [][2]*table.Table{{after, make1000("t3_14").build(t, after, table.Deps{})}, {before, make1000("").build(t, after, table.Deps{})}} {
		if same[0].Endpoint("/mcp").Surface != same[1].Endpoint("/mcp").Surface {
			t.Error("what is shared differs from what is made")
		}
	}
}

// Two tools with one schema have it compiled once, also in the first table.
func TestSchemasAreCompiledOnce(t *testing.T) {
	tab := shop().build(t, nil, table.Deps{})
	a, b := tab.Endpoint("/mcp").Tool("add_pet"), tab.Endpoint("/mcp").Tool("buy_food")
	if a.Schema == nil || a.Schema != b.Schema {
		t.Error("an equal schema is compiled twice")
	}
}

// transports counts how often the one for an origin was made and closed.
type transports struct {
	made   map[string]int
	closed map[string]int
}

func (s *transports) deps() table.Deps {
	return table.Deps{Transport: func(o upstream.Origin) http.RoundTripper {
		s.made[o.Authority]++
		return &transport{closed: func() { s.closed[o.Authority]++ }}
	}}
}

type transport struct {
	http.RoundTripper
	closed func()
}

func (t *transport) CloseIdleConnections() { t.closed() }

func TestConnectionsSurviveReloads(t *testing.T) {
	s := &transports{made: map[string]int{}, closed: map[string]int{}}
	first := shop().build(t, nil, s.deps())
	if s.made["pets.example"] != 1 || s.made["food.example"] != 1 {
		t.Errorf("made %v", s.made)
	}
	b := shop()
	b.bindings[0].Upstream.Headers = []*irv1.Header{{Name: "X-New", Value: "1"}}
	b.bindings[1].Upstream.Authority = "other.example"
	second := b.build(t, first, s.deps())
	first.Retire(second)
	if s.made["pets.example"] != 1 || s.made["vets.example"] != 1 || s.made["other.example"] != 1 {
		t.Errorf("made %v, want each once", s.made)
	}
	if len(s.closed) != 1 || s.closed["food.example"] != 1 {
		t.Errorf("closed %v, want only food.example", s.closed)
	}
	// With a client goes what is left of its budget for retries.
	if one, two := client(first, "add_pet"), client(second, "add_pet"); one != two {
		t.Error("a binding that changed has another client")
	}
	third := b.build(t, second, s.deps())
	second.Retire(third)
	if len(s.closed) != 1 {
		t.Errorf("closed %v by a reload that changed nothing", s.closed)
	}
	third.Retire(nil)
	if len(s.closed) != 4 {
		t.Errorf("closed %v at the end", s.closed)
	}
}

func client(t *table.Table, tool string) *upstream.Client {
	return t.Endpoint("/mcp").Tool(tool).Service.Client
}

func refused(t *testing.T, b *bundle, prev *table.Table, secrets *secret.Store) *discoveryv1.Refused {
	t.Helper()
	tab, err := table.Build(b.content(t), &discoveryv1.Generation{}, prev, table.Deps{Secrets: secrets})
	r, ok := err.(*discoveryv1.Refused)
	if tab != nil || !ok || len(r.Reasons) == 0 {
		t.Fatalf("Build = %v, %v; want a refusal with reasons", tab, err)
	}
	return r
}

func TestMissingSecret(t *testing.T) {
	b := shop()
	b.bindings[0].Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: "pet-token"}}}
	b.bindings[1].Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Basic{Basic: &irv1.BasicCredential{User: "u", Secret: "food-token"}}}
	b.bindings[2].Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{Name: "X-Key", Secret: "vet-token"}}}
	have := map[string]string{"BINDERY_SECRET_VET_TOKEN": ""}
	secrets := secret.New("/run/none", func(name string) (string, bool) { v, ok := have[name]; return v, ok })
	r := refused(t, b, nil, secrets)
	want := []*discoveryv1.Reason{
		{Code: "missing-secret", Binding: "food", Field: "upstream.auth.basic.secret", Message: `secret "food-token" is missing on this node`,
			Hint: "write it to /run/none/food-token or set BINDERY_SECRET_FOOD_TOKEN"},
		{Code: "missing-secret", Binding: "pets", Field: "upstream.auth.bearer.secret", Message: `secret "pet-token" is missing on this node`,
			Hint: "write it to /run/none/pet-token or set BINDERY_SECRET_PET_TOKEN"},
		{Code: "missing-secret", Binding: "vets", Field: "upstream.auth.header.secret", Message: `secret "vet-token" is missing on this node`,
			Hint: "write it to /run/none/vet-token or set BINDERY_SECRET_VET_TOKEN"},
	}
	if !r.Retryable || !slices.EqualFunc(r.Reasons, want, func(a, b *discoveryv1.Reason) bool { return proto.Equal(a, b) }) {
		t.Errorf("refusal is retryable %t: %v", r.Retryable, r.Reasons)
	}
	for _, name := range []string{"PET", "FOOD", "VET"} {
		have["BINDERY_SECRET_"+name+"_TOKEN"] = "x"
	}
	b.build(t, nil, table.Deps{Secrets: secrets})
}

// A secret is looked for in every build, also for a binding that is shared.
func TestSecretOfASharedBinding(t *testing.T) {
	b := shop()
	b.bindings[0].Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: "pet-token"}}}
	there := true
	secrets := secret.New("", func(string) (string, bool) { return "x", there })
	before := b.build(t, nil, table.Deps{Secrets: secrets})
	there = false
	if r := refused(t, b, before, secrets); !r.Retryable {
		t.Errorf("refusal is final: %v", r)
	}
}

// oauth2 returns a credential whose token is issued at authority.
func oauth2(authority string) *irv1.Credential {
	return &irv1.Credential{Kind: &irv1.Credential_Oauth2{Oauth2: &irv1.OAuth2Credential{
		Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: authority, ClientId: "node", Secret: "client", ClientAuth: irv1.ClientAuth_CLIENT_AUTH_BASIC,
		Tls: &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2, Ca: "ca"},
	}}}
}

func TestMissingSecretsOfOneBinding(t *testing.T) {
	b := shop()
	b.bindings[0].Upstream.Credential = oauth2("login.example")
	b.bindings[0].Upstream.Tls = &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_3, Certificate: "cert", Key: "key"}
	have := map[string]string{}
	secrets := secret.New("", func(name string) (string, bool) { v, ok := have[name]; return v, ok })
	fields := func(code string) string {
		r := refused(t, b, nil, secrets)
		var all []string
		for _, reason := range r.Reasons {
			if !r.Retryable || reason.GetCode() != code || reason.GetBinding() != "pets" {
				t.Errorf("retryable %t: %v", r.Retryable, reason)
			}
			all = append(all, strings.TrimPrefix(reason.GetField(), "upstream."))
		}
		return strings.Join(all, " ")
	}
	if got, want := fields("missing-secret"), "auth.oauth2.secret auth.oauth2.tls.ca tls.certificate tls.key"; got != want {
		t.Errorf("missing are %s, want %s", got, want)
	}
	for _, name := range []string{"CLIENT", "CA", "CERT", "KEY"} {
		have["BINDERY_SECRET_"+name] = "s3cr3t"
	}
	if got, want := fields("unreadable-secret"), "auth.oauth2.tls tls"; got != want {
		t.Errorf("unreadable are %s, want %s", got, want)
	}
}

// issuers answers every request for a token with one more, and every other with {}.
type issuers struct{ issued int }

func (i *issuers) deps() table.Deps {
	return table.Deps{
		Secrets: secret.New("", func(name string) (string, bool) { return "x", name == "BINDERY_SECRET_CLIENT" }),
		Transport: func(o upstream.Origin) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				i.issued++
				body := fmt.Sprintf(`{"access_token":"%s-%d","expires_in":3600}`, o.Authority, i.issued)
				return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}, nil
			})
		},
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A token outlives reloads that do not change its credential, also when they change
// its binding; equal credentials share one, and a changed one fetches its own.
func TestTokensSurviveReloads(t *testing.T) {
	i := &issuers{}
	authorization := func(tab *table.Table, tool string) string {
		t.Helper()
		h := http.Header{}
		if err := tab.Endpoint("/mcp").Tool(tool).Service.Credential.Authorize(t.Context(), h, time.Second); err != nil {
			t.Fatal(err)
		}
		return h.Get("Authorization")
	}
	secured := func() *bundle {
		b := shop()
		for _, binding := range b.bindings[:2] {
			binding.Upstream.Credential = oauth2("login.example")
			binding.Upstream.Credential.GetOauth2().Tls = nil
		}
		return b
	}
	first := secured().build(t, nil, i.deps())
	b := secured()
	b.bindings[0].Upstream.Authority = "other.example"
	second := b.build(t, first, i.deps())
	for _, tab := range []*table.Table{first, second} {
		for _, tool := range []string{"add_pet", "buy_food"} {
			if got := authorization(tab, tool); got != "Bearer login.example-1" {
				t.Errorf("%s: Authorization is %q", tool, got)
			}
		}
	}
	b.bindings[0].Upstream.Credential.GetOauth2().Scopes = []string{"read"}
	third := b.build(t, second, i.deps())
	if got := authorization(third, "add_pet") + ", " + authorization(third, "buy_food"); got != "Bearer login.example-2, Bearer login.example-1" {
		t.Errorf("tokens are %s", got)
	}
}

// Connections are not shared between upstreams that are secured in other ways.
func TestConnectionsAreSharedByTLS(t *testing.T) {
	s := &transports{made: map[string]int{}, closed: map[string]int{}}
	b := shop()
	for i, min := range []irv1.TLSVersion{irv1.TLSVersion_TLS_VERSION_1_2, irv1.TLSVersion_TLS_VERSION_1_3, irv1.TLSVersion_TLS_VERSION_1_3} {
		b.bindings[i].Upstream.Authority, b.bindings[i].Upstream.Tls = "pets.example", &irv1.TLS{Min: min}
	}
	first := b.build(t, nil, s.deps())
	b.bindings[2].Upstream.Tls = nil
	second := b.build(t, first, s.deps())
	first.Retire(second)
	if s.made["pets.example"] != 2 || len(s.closed) != 0 {
		t.Errorf("made %v, closed %v", s.made, s.closed)
	}
	b.bindings[1].Upstream.Tls = nil
	second.Retire(b.build(t, second, s.deps()))
	if s.made["pets.example"] != 2 || s.closed["pets.example"] != 1 {
		t.Errorf("made %v, closed %v", s.made, s.closed)
	}
}

func TestBadBundle(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(b *bundle)
		want  string // in one of the reasons
	}{
		{"invalid", func(b *bundle) { b.bindings[0].Upstream.Authority = "a/b" }, `invalid-bundle: binding "pets": upstream.url: "a/b" is not a host`},
		{"schema that does not compile", func(b *bundle) { b.tool(b.bindings[0], "x", `{"pattern":"("}`) }, `bad-schema: binding "pets": tool "x": payload: the input schema does not compile`},
		{"schema that refers outside", func(b *bundle) { b.tool(b.bindings[0], "x", `{"$ref":"file:///etc/passwd"}`) }, `bad-schema: binding "pets": tool "x": payload: the input schema does not compile`},
		{"schema that is no JSON", func(b *bundle) { b.tool(b.bindings[0], "x", `{"a":1,"a":2}`) }, `bad-schema: binding "pets": tool "x": payload: the input schema is not JSON: duplicate member name`},
		{"schema of no object", func(b *bundle) {
			tool := b.tool(b.bindings[0], "x", `{}`)
			schema := []byte(`{"type":"array"}`)
			digest := irv1.DigestOf(schema)
			b.schemas, tool.InputSchema = append(b.schemas, schema), digest[:]
		}, `bad-schema: binding "pets": tool "x": payload: the input schema is not that of an object`},
		{"duplicate in a member", func(b *bundle) {
			b.bindings[0].Errors.Payload.Data = []*irv1.Member{{Name: "m", Json: []byte(`{"a":1,"a":2}`)}}
		}, `invalid-bundle: binding "pets": errors: member "m": duplicate member name`},
	}
	before := shop().build(t, nil, table.Deps{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := shop()
			// A secret that is missing too does not make a bad bundle worth a retry.
			b.bindings[1].Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: "none"}}}
			tt.spoil(b)
			r := refused(t, b, before, secret.New("", nil))
			if r.Retryable || !slices.ContainsFunc(r.Reasons, func(reason *discoveryv1.Reason) bool {
				return strings.HasPrefix(reason.GetCode()+": "+reason.Text(), tt.want)
			}) {
				t.Errorf("refusal is retryable %t: %v; want one like %s", r.Retryable, r.Reasons, tt.want)
			}
		})
	}
}

func TestReasonsAreBounded(t *testing.T) {
	b := shop()
	for i := range 500 {
		b.tool(b.bindings[0], fmt.Sprintf("t%d", i), `{"pattern":"("}`)
	}
	if r := refused(t, b, nil, secret.New("", nil)); len(r.Reasons) != 100 {
		t.Errorf("%d reasons", len(r.Reasons))
	}
}

// FuzzBuild holds that whatever Validate accepts Build takes or refuses, and that
// what Validate refuses Build refuses. The rule for any failure can be looked for in
// what was built.
func FuzzBuild(f *testing.F) {
	seeds := shop().bindings
	class := []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 4}}}
	seeds[0].Errors.Rules = []*irv1.ErrorRule{
		{Name: "a", Conditions: class, Body: []*irv1.BodyCondition{{At: &irv1.Pointer{Tokens: []string{"a", "0"}}, Values: []*irv1.Scalar{
			{Kind: &irv1.Scalar_Text{Text: "x"}}, {Kind: &irv1.Scalar_Number{Number: 1}}, {Kind: &irv1.Scalar_Truth{Truth: true}}}}}},
		{Name: "b", Conditions: class, MediaType: "text/html", Headers: []*irv1.HeaderMember{{Name: "a", Header: "A"}}},
		{Name: "c", Conditions: append(class, failure(irv1.Failure_FAILURE_TLS))},
	}
	for _, b := range seeds {
		data, err := irv1.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, shop().schemas[0])
		b.Tools[0].Output = &irv1.Output{Wrapped: len(b.Tools) > 1, Shown: true, Check: irv1.Check_CHECK_WARN}
		if data, err = irv1.Marshal(b); err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(`{"type":"object","properties":{"value":{"type":"array"}}}`))
		b.Upstream.Credential = oauth2("login.example")
		b.Upstream.Tls = &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2, Certificate: "cert", Key: "key"}
		if data, err = irv1.Marshal(b); err != nil {
			f.Fatal(err)
		}
		f.Add(data, shop().schemas[0])
	}
	prompts, err := irv1.Marshal(prompting().bindings[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(prompts, prompting().schemas[0])
	shelved, err := irv1.Marshal(shelves().bindings[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shelved, shelves().schemas[0])
	heard := prompting().bindings[0]
	file := &irv1.File{Binary: true}
	words := &irv1.Text{Parts: []*irv1.TextPart{{Kind: &irv1.TextPart_Variable{Variable: "age"}}}}
	heard.Prompts[0].Kind = &irv1.Prompt_Messages{Messages: &irv1.PromptMessages{Messages: []*irv1.PromptMessage{
		{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Audio{Audio: &irv1.Medium{File: file, MediaType: "audio/wav"}}, Annotations: &irv1.ContentAnnotations{LastModified: "2026-01-01T00:00:00Z"}},
		{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{Uri: words, MediaType: "a/b", Body: &irv1.PromptResource_File{File: file}}}},
	}}}
	if prompts, err = irv1.Marshal(heard); err != nil {
		f.Fatal(err)
	}
	f.Add(prompts, prompting().schemas[0])
	shaped := shop().bindings[0]
	shaped.Locales = &irv1.Locales{Supported: []string{"de", "en"}, Fallback: "en"}
	shaped.Tools[0].Result = irv1.ResultMode_RESULT_MODE_MCP
	shaped.Tools[0].Icons = []*irv1.Icon{{Src: "https://pets.example/a.png", Theme: irv1.IconTheme_ICON_THEME_DARK}}
	shaped.Tools[0].EntryMeta = []*irv1.Member{{Name: "a", Json: []byte(" {\n}")}}
	shaped.Tools[0].Moved = []*irv1.Pointer{{Tokens: []string{"a"}}}
	shapedData, err := irv1.Marshal(shaped)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shapedData, shop().schemas[0])
	argued, err := irv1.Marshal(withArgument(`{}`).bindings[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(argued, []byte(`{"type":"object","properties":{"size":{"maximum":3}}}`))
	f.Fuzz(func(t *testing.T, data, schema []byte) {
		b := &irv1.Binding{}
		if proto.Unmarshal(data, b) != nil {
			return
		}
		digest := irv1.DigestOf(schema)
		for _, tool := range b.GetTools() {
			tool.InputSchema = digest[:]
			if tool.Output != nil {
				tool.Output.Schema = digest[:]
			}
		}
		for _, r := range b.GetResources() {
			if r.GetFile() != nil {
				r.GetFile().Sha256 = digest[:]
			}
		}
		for _, p := range b.GetPrompts() {
			for _, m := range p.GetMessages().GetMessages() {
				for _, f := range []*irv1.File{m.GetImage().GetFile(), m.GetAudio().GetFile(), m.GetResource().GetFile()} {
					if f != nil {
						f.Sha256 = digest[:]
					}
				}
			}
		}
		sealed, err := irv1.Parts{Bindings: []*irv1.Binding{b}, Schemas: [][]byte{schema}, Files: [][]byte{schema}}.Seal()
		if err != nil {
			return
		}
		c, err := irv1.Open(sealed)
		if err != nil {
			return
		}
		tab, err := table.Build(c, &discoveryv1.Generation{}, nil, table.Deps{Secrets: secret.New("", func(string) (string, bool) { return "x", true })})
		if err != nil {
			return
		}
		if c.Validate() != nil {
			t.Errorf("a bad bundle became a table")
		}
		for _, tool := range tab.Endpoint(b.GetEndpoint()).Tools {
			if !json.Valid(tool.JSON) {
				t.Errorf("the entry of tool %q is no JSON", tool.Name)
			}
			findRules(tool.Errors)
		}
		makePrompts(t, tab.Endpoint(b.GetEndpoint()))
		readResources(t, tab.Endpoint(b.GetEndpoint()))
	})
}

// whole returns a message as one text.
func whole(m *table.Message, version string) []byte {
	var b []byte
	for _, p := range m.Pieces(version) {
		if b = append(b, p.JSON...); p.Text != nil {
			b = rawjson.AppendQuote(b, fill.Text(p.Text, fill.Values{"x": "<x>"}))
		}
	}
	return b
}

// makePrompts has the messages, the calls and the entries of all prompts made.
func makePrompts(t *testing.T, e *table.Endpoint) {
	for _, p := range e.Prompts {
		if !json.Valid(p.AppendListed(nil, "2026-07-28")) {
			t.Errorf("the entry of prompt %q is no JSON", p.Name)
		}
		for _, m := range p.Messages {
			for _, version := range []string{"2024-11-05", "2026-07-28"} {
				if !json.Valid(whole(m, version)) {
					t.Errorf("a message of prompt %q is no JSON: %s", p.Name, whole(m, version))
				}
			}
		}
		if p.Use != nil && (p.Use.Tool == nil || !json.Valid(fill.Arguments(p.Use.Arguments, fill.Values{}))) {
			t.Errorf("prompt %q calls nothing, or with no JSON", p.Name)
		}
	}
}

// findRules looks for the rule of every failure.
func findRules(e *table.Errors) {
	for status := range 1000 {
		e.Response(status, "text/html", rawjson.Value(`{"a":[1,"x"],"b":{"c":true}}`))
	}
	for f := range irv1.Failure_name {
		e.Failure(irv1.Failure(f), "text/html")
	}
}

func BenchmarkBuild(b *testing.B) {
	bundle := &bundle{}
	binding := bundle.binding("pets", "/mcp", "pets.example")
	for i := range 1000 {
		bundle.tool(binding, fmt.Sprintf("t%d", i), fmt.Sprintf(`{"type":"object","maxProperties":%d}`, i))
	}
	content := bundle.content(b)
	deps := table.Deps{Secrets: secret.New("", nil)}
	first := bundle.build(b, nil, deps)
	binding.Title = "changed"
	changed := bundle.content(b)
	for _, bb := range []struct {
		name    string
		content *irv1.Content
		prev    *table.Table
	}{{"cold", content, nil}, {"unchanged", content, first}, {"binding changed", changed, first}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := table.Build(bb.content, &discoveryv1.Generation{}, bb.prev, deps); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMessage has messages of all kinds for the revisions of MCP.
func TestMessage(t *testing.T) {
	words := &irv1.Text{Parts: []*irv1.TextPart{{Kind: &irv1.TextPart_Literal{Literal: "a \"b\" "}}, {Kind: &irv1.TextPart_Variable{Variable: "x"}}}}
	binary, text := irv1.DigestOf([]byte("\x89PNG")), irv1.DigestOf([]byte("Be <quiet>.\n"))
	medium := &irv1.Medium{File: &irv1.File{Sha256: binary[:], Binary: true}, MediaType: "audio/wav"}
	priority := 0.5
	tests := []struct {
		name    string
		message *irv1.PromptMessage
		want    map[string]string // by revision
	}{
		{"text", &irv1.PromptMessage{Role: irv1.Role_ROLE_ASSISTANT, Content: &irv1.PromptMessage_Text{Text: words}}, map[string]string{
			"2024-11-05": `{"role":"assistant","content":{"type":"text","text":"a \"b\" <x>"}}`,
			"2026-07-28": `{"role":"assistant","content":{"type":"text","text":"a \"b\" <x>"}}`,
		}},
		{"image", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Image{Image: &irv1.Medium{File: medium.File, MediaType: "image/png"}}}, map[string]string{
			"2024-11-05": `{"role":"user","content":{"type":"image","data":"iVBORw==","mimeType":"image/png"}}`,
		}},
		{"audio", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Audio{Audio: medium}}, map[string]string{
			"2024-11-05": `{"role":"user","content":{"type":"text","text":"There is audio here (audio/wav), which this revision of MCP cannot carry."}}`,
			"2025-03-26": `{"role":"user","content":{"type":"audio","data":"iVBORw==","mimeType":"audio/wav"}}`,
		}},
		{"resource with a text", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{
			Uri: words, MediaType: "text/plain", Body: &irv1.PromptResource_Text{Text: words},
		}}}, map[string]string{
			"2025-11-25": `{"role":"user","content":{"type":"resource","resource":{"uri":"a \"b\" <x>","mimeType":"text/plain","text":"a \"b\" <x>"}}}`,
		}},
		{"resource of a file", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{
			Uri: words, MediaType: "text/plain", Body: &irv1.PromptResource_File{File: &irv1.File{Sha256: text[:]}},
		}}}, map[string]string{
			"2025-11-25": `{"role":"user","content":{"type":"resource","resource":{"uri":"a \"b\" <x>","mimeType":"text/plain","text":"Be <quiet>.\n"}}}`,
		}},
		{"resource of a binary file", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Resource{Resource: &irv1.PromptResource{
			Uri: words, MediaType: "a/b", Body: &irv1.PromptResource_File{File: medium.File},
		}}}, map[string]string{
			"2025-11-25": `{"role":"user","content":{"type":"resource","resource":{"uri":"a \"b\" <x>","mimeType":"a/b","blob":"iVBORw=="}}}`,
		}},
		{"annotations", &irv1.PromptMessage{Role: irv1.Role_ROLE_USER, Content: &irv1.PromptMessage_Text{Text: words}, Annotations: &irv1.ContentAnnotations{
			Audience: []irv1.Role{irv1.Role_ROLE_USER, irv1.Role_ROLE_ASSISTANT}, Priority: &priority, LastModified: "2026-01-01T00:00:00Z",
		}}, map[string]string{
			"2025-03-26": `{"role":"user","content":{"type":"text","text":"a \"b\" <x>","annotations":{"audience":["user","assistant"],"priority":0.5}}}`,
			"2025-06-18": `{"role":"user","content":{"type":"text","text":"a \"b\" <x>","annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}}}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := prompting()
			b.bindings[0].Prompts[0].Kind = &irv1.Prompt_Messages{Messages: &irv1.PromptMessages{Messages: []*irv1.PromptMessage{tt.message}}}
			b.bindings[0].Prompts[0].Arguments[0].Name = "x"
			b.files = [][]byte{[]byte("\x89PNG"), []byte("Be <quiet>.\n")}
			m := b.build(t, nil, table.Deps{}).Endpoint("/mcp").Prompt("adopt").Messages[0]
			for version, want := range tt.want {
				if got := string(whole(m, version)); got != want {
					t.Errorf("%s: message is %s, want %s", version, got, want)
				}
			}
		})
	}
}
