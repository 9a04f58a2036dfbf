package acp_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	compiler "github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/format"
	"github.com/bindery-dev/bindery/cue/scaffold"
	"github.com/bindery-dev/bindery/cue/source"
	"github.com/bindery-dev/bindery/examples/acp"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestCompile holds the module to what it promises in every environment.
func TestCompile(t *testing.T) {
	tests := []struct {
		tags []string
		want []string // scheme, authority and base path of checkout and delegate_payment
	}{
		{nil, []string{"SCHEME_HTTP 127.0.0.1:9001", "SCHEME_HTTP 127.0.0.1:9002"}},
		{[]string{"staging"}, []string{"SCHEME_HTTPS staging.merchant.example.com", "SCHEME_HTTPS staging.psp.example.com"}},
		{[]string{"env=prod"}, []string{"SCHEME_HTTPS api.merchant.example.com", "SCHEME_HTTPS api.psp.example.com"}},
		{[]string{"merchant_url=http://127.0.0.1:1/shop", "psp_url=https://psp.test"}, []string{"SCHEME_HTTP 127.0.0.1:1/shop", "SCHEME_HTTPS psp.test"}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.tags, " "), func(t *testing.T) {
			var got []string
			for _, b := range bindings(t, tt.tags...) {
				u := b.GetUpstream()
				got = append(got, u.GetScheme().String()+" "+u.GetAuthority()+u.GetBasePath())
				if u.GetCredential().GetBearer() == nil {
					t.Errorf("%s has no bearer credential", b.GetName())
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("upstreams are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestProdIsHeldToPolicy holds that what the platform demands in production cannot
// be left out.
func TestProdIsHeldToPolicy(t *testing.T) {
	sources := module(t, "prod")
	for _, f := range sources.GetFiles() {
		f.Data = []byte(strings.NewReplacer("https://api.merchant", "http://api.merchant", `upstream: auth: bearer: secret: "psp-token"`, "").Replace(string(f.GetData())))
	}
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := diag.Print(&b, compiled.GetDiagnostics()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`checkout/checkout.cue:15:12: bindings.checkout.upstream.url: "http://api.merchant.example.com" does not satisfy =~"^https://"`,
		`bindings.delegate_payment.upstream.auth.bearer.secret: missing field "secret"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("diagnostics lack %s:\n%s", want, b.String())
		}
	}
}

// TestSignature holds that no surface can forward a signature of other bytes than it
// sends.
func TestSignature(t *testing.T) {
	sources := module(t)
	sources.Files = append(sources.Files, &sourcev1.File{Path: "carts/carts.cue", Data: []byte(`package bindings

bindings: carts: #ACP & {
	upstream: {url: "https://api.merchant.example.com", auth: bearer: secret: "merchant-token"}
	tools: name_cart: {
		description: "Name a cart."
		http:        "POST /carts"
		args: name: {in: "body", description: "Its name."}
	}
}
`)})
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	if d := compiled.GetDiagnostics(); len(d) != 1 || d[0].GetCode() != "signed-elsewhere" || d[0].GetHint() != "write meta: signature: false" {
		t.Errorf("diagnostics are %v", d)
	}
}

// TestTools holds the tools to the MCP binding of the protocol.
func TestTools(t *testing.T) {
	record.Ran(t)
	type tool struct {
		http     string
		required []string // arguments
		payload  string   // "required", "optional" or "absent"
		keyed    bool     // takes idempotency_key
	}
	want := map[string]tool{
		"/mcp create_checkout_session":   {"METHOD_POST /checkout_sessions", nil, "required", true},
		"/mcp get_checkout_session":      {"METHOD_GET /checkout_sessions/{id}", []string{"id"}, "absent", false},
		"/mcp update_checkout_session":   {"METHOD_POST /checkout_sessions/{id}", []string{"id"}, "required", true},
		"/mcp complete_checkout_session": {"METHOD_POST /checkout_sessions/{id}/complete", []string{"id"}, "required", true},
		"/mcp cancel_checkout_session":   {"METHOD_POST /checkout_sessions/{id}/cancel", []string{"id"}, "optional", true},
		"/payments/mcp delegate_payment": {"METHOD_POST /agentic_commerce/delegate_payment", nil, "required", true},
	}
	for _, b := range bindings(t) {
		for _, x := range b.GetTools() {
			name := b.GetEndpoint() + " " + x.GetName()
			got := tool{http: x.GetMethod().String() + " " + x.Template(), payload: "absent", keyed: slices.Contains(x.GetMeta(), "idempotency_key")}
			for _, a := range x.GetArguments() {
				got.required = append(got.required, a.GetName())
			}
			if p := x.GetPayload(); p != nil {
				got.payload = map[bool]string{true: "required", false: "optional"}[p.GetRequired()]
			}
			w := want[name]
			if got.http != w.http || got.payload != w.payload || got.keyed != w.keyed || !slices.Equal(got.required, w.required) {
				t.Errorf("%s is %+v, want %+v", name, got, w)
			}
			if x.GetResult() != irv1.ResultMode_RESULT_MODE_DUAL {
				t.Errorf("%s has result mode %s", name, x.GetResult())
			}
			delete(want, name)
		}
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// TestHeaders holds the meta rules to the header mapping of the protocol.
func TestHeaders(t *testing.T) {
	record.Ran(t)
	want := map[string]string{
		"api_version": "Api-Version", "idempotency_key": "Idempotency-Key", "request_id": "Request-Id", "user_agent": "User-Agent",
		"accept_language": "Accept-Language", "signature": "Signature", "timestamp": "Timestamp",
	}
	for _, b := range bindings(t) {
		if len(b.GetMeta()) != len(want) {
			t.Errorf("%s has %d meta rules, want %d", b.GetName(), len(b.GetMeta()), len(want))
		}
		for _, m := range b.GetMeta() {
			if m.GetHeader() != want[m.GetField()] || m.GetRequired() != (m.GetField() == "api_version") {
				t.Errorf("%s: %s is %s, required: %t", b.GetName(), m.GetField(), m.GetHeader(), m.GetRequired())
			}
		}
	}
}

// TestErrors holds that every failure becomes an error that the protocol has.
func TestErrors(t *testing.T) {
	record.Ran(t)
	want := map[string]string{ // by condition, the fallback's type
		"status:401": "invalid_request", "status:403": "invalid_request", "class:4": "invalid_request",
		"status:429": "service_unavailable", "status:502": "service_unavailable", "status:503": "service_unavailable", "status:504": "service_unavailable",
		"failure:FAILURE_UNREACHABLE": "service_unavailable", "failure:FAILURE_TIMEOUT": "service_unavailable",
		"class:3": "processing_error", "class:5": "processing_error", "failure:FAILURE_UNUSABLE": "processing_error",
	}
	for _, b := range bindings(t) {
		got := map[string]string{}
		for _, rule := range b.GetErrors().GetRules() {
			fallback := map[string]string{}
			for _, m := range rule.GetFallback() {
				fallback[m.GetName()] = strings.Trim(string(m.GetJson()), `"`)
			}
			if fallback["code"] == "" || fallback["message"] == "" {
				t.Errorf("%s: the fallback of %s is no ACP error: %v", b.GetName(), rule.GetName(), fallback)
			}
			for _, c := range rule.GetConditions() {
				got[strings.ReplaceAll(strings.ReplaceAll(c.String(), " ", ""), `"`, "")] = fallback["type"]
			}
		}
		for condition, kind := range want {
			if got[condition] != kind {
				t.Errorf("%s: %s becomes %q, want %q", b.GetName(), condition, got[condition], kind)
			}
		}
	}
}

// TestLanguageIsCurrent holds that plain `cue vet` and Bindery know the same
// language: the module's copy is the built-in one.
func TestLanguageIsCurrent(t *testing.T) {
	have := map[string]string{}
	for _, f := range module(t).GetFiles() {
		if strings.HasPrefix(f.GetPath(), "cue.mod/pkg/bindery.dev/") {
			have[f.GetPath()] = string(f.GetData())
		}
	}
	for _, f := range scaffold.Language() {
		if have[f.GetPath()] != string(f.GetData()) {
			t.Errorf("%s differs: copy cue/schema/bind to examples/acp/cue.mod/pkg/bindery.dev/bind", f.GetPath())
		}
		delete(have, f.GetPath())
	}
	for name := range have {
		t.Errorf("%s is not in the language", name)
	}
}

func TestFormatted(t *testing.T) {
	for _, f := range module(t).GetFiles() {
		if path.Ext(f.GetPath()) != ".cue" {
			continue
		}
		formatted, problems := format.Source(f.GetPath(), f.GetData())
		if len(problems) > 0 || string(formatted) != string(f.GetData()) {
			t.Errorf("%s is not formatted %v", f.GetPath(), problems)
		}
	}
}

// TestFS holds that the embedded module is the one in this directory.
func TestFS(t *testing.T) {
	for _, f := range module(t).GetFiles() {
		data, err := fs.ReadFile(acp.FS, f.GetPath())
		if err != nil || string(data) != string(f.GetData()) {
			t.Errorf("%s is not embedded: %v", f.GetPath(), err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	sources := module(b)
	for b.Loop() {
		if _, err := compiler.Module(b.Context(), sources); err != nil {
			b.Fatal(err)
		}
	}
}

func module(t testing.TB, tags ...string) *sourcev1.Sources {
	t.Helper()
	sources, err := source.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	sources.Tags = tags
	return sources
}

// bindings compiles the module and returns its bindings by name.
func bindings(t testing.TB, tags ...string) []*irv1.Binding {
	t.Helper()
	compiled, err := compiler.Module(t.Context(), module(t, tags...))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compiled.GetDiagnostics() {
		t.Errorf("%s: %s: %s", diag.Place(d.GetPosition()), d.GetPath(), d.GetMessage())
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return content.Bindings
}

// TestReadme holds that the surface that the README adds compiles.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "```cue\n")
	carts, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the README has no binding")
	}
	sources := module(t, "prod")
	sources.Files = append(sources.Files, &sourcev1.File{Path: "carts/carts.cue", Data: []byte(carts)})
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil || len(compiled.GetDiagnostics()) > 0 || compiled.GetBundle() == nil {
		t.Errorf("compiled %v, %v", compiled.GetDiagnostics(), err)
	}
}

func BenchmarkTested(b *testing.B) {
	sources := module(b)
	for b.Loop() {
		if _, err := compiler.Tested(b.Context(), sources); err != nil {
			b.Fatal(err)
		}
	}
}
