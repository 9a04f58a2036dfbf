package irv1_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const schema = `{"type":"object"}`

func digest(s string) []byte {
	d := irv1.DigestOf([]byte(s))
	return d[:]
}

// library is a binding without problems.
func library() *irv1.Binding {
	return &irv1.Binding{
		Name:     "library",
		Endpoint: "/mcp",
		Icons:    []*irv1.Icon{{Src: "https://library.example/a.png", Theme: irv1.IconTheme_ICON_THEME_ANY}},
		Upstream: &irv1.Upstream{
			Scheme:           irv1.Scheme_SCHEME_HTTPS,
			Authority:        "library.example:8443",
			BasePath:         "/api/v1",
			Headers:          []*irv1.Header{{Name: "X-Client", Value: "bindery"}},
			Credential:       &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: "library-token"}}},
			MaxRequestBytes:  1,
			MaxResponseBytes: 1,
		},
		Meta: []*irv1.MetaRule{
			{Field: "agent", Header: "User-Agent", Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 10},
			{Field: "lang", Header: "Accept-Language", Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MaxLength: 10, Hidden: true, Sources: []*irv1.MetaSource{
				{Kind: &irv1.MetaSource_Locale{Locale: &irv1.NegotiatedLocale{}}},
				{Kind: &irv1.MetaSource_RequestMeta{RequestMeta: &irv1.RequestMeta{Key: "openai/userLocation", At: &irv1.Pointer{Tokens: []string{"country"}}}}},
				{Kind: &irv1.MetaSource_Header{Header: "X-Region"}},
			}},
		},
		Locales: &irv1.Locales{Supported: []string{"de", "en-GB"}, Fallback: "en-GB"},
		Errors: &irv1.Errors{
			Style: irv1.ErrorStyle_ERROR_STYLE_TOOL,
			Code:  -32000,
			Rules: []*irv1.ErrorRule{{
				Name:       "closed",
				Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 503}}, {Kind: &irv1.Condition_Failure{Failure: irv1.Failure_FAILURE_TIMEOUT}}},
				Fallback:   []*irv1.Member{{Name: "kind", Json: []byte(`"closed"`)}},
			}},
			Payload: &irv1.PayloadError{Code: -32602, MessageMember: "message", PathMember: "place"},
		},
		Tools: []*irv1.Tool{{
			Name:        "get_book",
			Description: "Read one book.",
			Method:      irv1.Method_METHOD_GET,
			Path:        []*irv1.PathPart{{Kind: &irv1.PathPart_Literal{Literal: "/books/"}}, {Kind: &irv1.PathPart_Argument{Argument: "id"}}},
			Arguments:   []*irv1.Argument{{Name: "id", In: irv1.ArgumentIn_ARGUMENT_IN_PATH, Type: irv1.ArgumentType_ARGUMENT_TYPE_STRING, Required: true}},
			Meta:        []string{"agent", "lang"},
			InputSchema: digest(schema),
			Timeout:     durationpb.New(time.Second),
			Result:      irv1.ResultMode_RESULT_MODE_MCP,
			Output:      &irv1.Output{Schema: digest(schema), Check: irv1.Check_CHECK_WARN},
			Icons:       []*irv1.Icon{{Src: "data:image/png;base64,AAAA", MediaType: "image/png", Sizes: []string{"48x48", "any"}, Theme: irv1.IconTheme_ICON_THEME_DARK}},
			SecuritySchemes: []*irv1.SecurityScheme{
				{Kind: &irv1.SecurityScheme_NoAuth{NoAuth: &irv1.NoAuthScheme{}}},
				{Kind: &irv1.SecurityScheme_Oauth2{Oauth2: &irv1.OAuth2Scheme{Scopes: []string{"read", "write"}}}},
			},
			Content: parts(), Moved: []*irv1.Pointer{{Tokens: []string{"cover"}}, {Tokens: []string{"cover", "a"}}}, MaxResultBytes: 100,
			EntryMeta: []*irv1.Member{{Name: "openai/widgetAccessible", Json: []byte("true")}},
			Checks: []*irv1.CallCheck{{
				Name: "known", Level: irv1.CheckLevel_CHECK_LEVEL_REJECT, Message: "It is not known.",
				Kind: &irv1.CallCheck_Subset{Subset: &irv1.Subset{These: place(irv1.Side_SIDE_RESPONSE), Of: place(irv1.Side_SIDE_REQUEST)}},
				Or:   &irv1.Alternative{At: place(irv1.Side_SIDE_RESPONSE), Equals: text("a")},
			}},
		}},
		Redact:    []*irv1.Place{place(irv1.Side_SIDE_REQUEST)},
		Reveal:    []*irv1.Place{place(irv1.Side_SIDE_RESPONSE)},
		Documents: []*irv1.Document{{Path: "/a.json", Json: []byte(`{}`), MediaType: "application/json", MaxAge: durationpb.New(0)}},
	}
}

// parts are a text, a picture and a link, without problems.
func parts() []*irv1.ContentPart {
	of := func(field irv1.PartField, json string) *irv1.PartMember {
		if json == "" {
			return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Body{Body: &irv1.Pointer{Tokens: []string{"cover", "0"}}}}
		}
		return &irv1.PartMember{Field: field, Source: &irv1.PartMember_Json{Json: []byte(json)}}
	}
	return []*irv1.ContentPart{
		{Kind: irv1.PartKind_PART_KIND_TEXT, Members: []*irv1.PartMember{of(irv1.PartField_PART_FIELD_TEXT, "")}},
		{Kind: irv1.PartKind_PART_KIND_IMAGE, Members: []*irv1.PartMember{of(irv1.PartField_PART_FIELD_DATA, ""), of(irv1.PartField_PART_FIELD_MIME_TYPE, `"image/png"`)}},
		{Kind: irv1.PartKind_PART_KIND_LINK, Members: []*irv1.PartMember{
			of(irv1.PartField_PART_FIELD_URI, `"https://a.example/b"`), of(irv1.PartField_PART_FIELD_NAME, `"b"`), of(irv1.PartField_PART_FIELD_SIZE, `7`),
		}, Annotations: []*irv1.PartMember{
			of(irv1.PartField_PART_FIELD_AUDIENCE, `["user"]`), of(irv1.PartField_PART_FIELD_PRIORITY, `0.5`), of(irv1.PartField_PART_FIELD_LAST_MODIFIED, `"2026-01-31T09:30:00Z"`),
		}},
	}
}

// constantOfLink spoils the i-th constant of the link and its annotations.
func constantOfLink(i int, json string) func(b *irv1.Binding) {
	return func(b *irv1.Binding) {
		link := b.Tools[0].Content[2]
		slices.Concat(link.Members, link.Annotations)[i].Source = &irv1.PartMember_Json{Json: []byte(json)}
	}
}

func place(side irv1.Side) *irv1.Place {
	return &irv1.Place{Side: side, Steps: []*irv1.Step{{Kind: &irv1.Step_Token{Token: "a"}}, {Kind: &irv1.Step_Every{Every: &irv1.Every{}}}}}
}

// open returns bindings as a node gets them.
func open(t *testing.T, bindings ...*irv1.Binding) *irv1.Content {
	t.Helper()
	sealed, err := irv1.Seal(bindings, [][]byte{[]byte(schema)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := irv1.Open(sealed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// grant gives b a credential of OAuth 2.0 without problems and returns it.
func grant(b *irv1.Binding) *irv1.OAuth2Credential {
	c := &irv1.OAuth2Credential{
		Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "login.example", Path: "/token/", ClientId: "node", Secret: "client",
		Scopes: []string{"read", "write"}, Parameters: []*irv1.TokenParameter{{Name: "audience", Value: "x"}, {Name: "empty"}},
		ClientAuth: irv1.ClientAuth_CLIENT_AUTH_BASIC, Tls: &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_3, Ca: "login-ca"},
	}
	b.Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Oauth2{Oauth2: c}}
	return c
}

// secured is a binding without problems that has all there is about security.
func secured() *irv1.Binding {
	b := library()
	grant(b)
	b.Upstream.Tls = &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2, Ca: "ca", Certificate: "cert", Key: "key"}
	return b
}

func TestValidateAcceptsSecurity(t *testing.T) {
	onLoopback := secured()
	grant(onLoopback).Tls = nil
	for _, authority := range []string{"localhost", "127.0.0.1:9000", "[::1]:9000", "127.9.9.9"} {
		c := onLoopback.Upstream.Credential.GetOauth2()
		c.Scheme, c.Authority = irv1.Scheme_SCHEME_HTTP, authority
		if problems := open(t, onLoopback).Validate(); problems != nil {
			t.Errorf("%s: problems are %q", authority, problems)
		}
	}
	if problems := open(t, secured()).Validate(); problems != nil {
		t.Errorf("problems are %q", problems)
	}
}

func TestSecrets(t *testing.T) {
	var got []string
	for _, ref := range secured().Upstream.Secrets() {
		got = append(got, ref.Name+" "+ref.Field)
	}
	want := []string{"client upstream.auth.oauth2.secret", "login-ca upstream.auth.oauth2.tls.ca", "ca upstream.tls.ca", "cert upstream.tls.certificate", "key upstream.tls.key"}
	if !slices.Equal(got, want) {
		t.Errorf("secrets are %q, want %q", got, want)
	}
}

func TestValidateAccepts(t *testing.T) {
	second := library()
	second.Name, second.Endpoint, second.Documents = "other", "/other/mcp", nil
	if p := open(t, library(), second).Validate(); p != nil {
		t.Errorf("problems with a good bundle: %v", p)
	}
	none := open(t)
	if p := none.Validate(); p != nil {
		t.Errorf("problems with an empty bundle: %v", p)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(b *irv1.Binding)
		want  string // how one of the problems begins
	}{
		{"binding name", func(b *irv1.Binding) { b.Name = "a/b" }, `binding "a/b": name: "a/b" cannot be the name of a binding`},
		{"endpoint without slash", func(b *irv1.Binding) { b.Endpoint = "mcp" }, `binding "library": endpoint: "mcp" cannot be`},
		{"endpoint with dots", func(b *irv1.Binding) { b.Endpoint = "/a/../b" }, `binding "library": endpoint: "/a/../b" cannot be`},
		{"endpoint with a query", func(b *irv1.Binding) { b.Endpoint = "/a?b" }, `binding "library": endpoint: "/a?b" cannot be`},
		{"endpoint with wide letters", func(b *irv1.Binding) { b.Endpoint = "/ŕ" }, `binding "library": endpoint: "/ŕ" cannot be`},
		{"no upstream", func(b *irv1.Binding) { b.Upstream = nil }, `binding "library": upstream: there is no upstream`},
		{"no scheme", func(b *irv1.Binding) { b.Upstream.Scheme = 0 }, `binding "library": upstream.scheme: scheme is not set`},
		{"unknown scheme", func(b *irv1.Binding) { b.Upstream.Scheme = 9 }, `binding "library": upstream.scheme: scheme has the value 9, which this node does not know`},
		{"no host", func(b *irv1.Binding) { b.Upstream.Authority = "" }, `binding "library": upstream.url: "" is not a host`},
		{"user information", func(b *irv1.Binding) { b.Upstream.Authority = "me:pw@library.example" }, `binding "library": upstream.url: "me:pw@library.example" is not a host`},
		{"path in authority", func(b *irv1.Binding) { b.Upstream.Authority = "library.example/x" }, `binding "library": upstream.url: "library.example/x" is not a host`},
		{"bad port", func(b *irv1.Binding) { b.Upstream.Authority = "library.example:99999" }, `binding "library": upstream.url: "library.example:99999" is not a host`},
		{"empty port", func(b *irv1.Binding) { b.Upstream.Authority = "library.example:" }, `binding "library": upstream.url: "library.example:" is not a host`},
		{"only a port", func(b *irv1.Binding) { b.Upstream.Authority = ":80" }, `binding "library": upstream.url: ":80" is not a host`},
		{"second line in authority", func(b *irv1.Binding) { b.Upstream.Authority = "a\r\nb" }, `binding "library": upstream.url: "a\r\nb" is not a host`},
		{"base path ends in a slash", func(b *irv1.Binding) { b.Upstream.BasePath = "/v1/" }, `binding "library": upstream.url: "/v1/" cannot begin`},
		{"base path is relative", func(b *irv1.Binding) { b.Upstream.BasePath = "v1" }, `binding "library": upstream.url: "v1" cannot begin`},
		{"base path with dots", func(b *irv1.Binding) { b.Upstream.BasePath = "/a/%2e./b" }, `binding "library": upstream.url: "/a/%2e./b" cannot begin`},
		{"base path of another host", func(b *irv1.Binding) { b.Upstream.BasePath = "//evil" }, `binding "library": upstream.url: "//evil" cannot begin`},
		{"request limit", func(b *irv1.Binding) { b.Upstream.MaxRequestBytes = 0 }, `binding "library": upstream.maxRequestBytes: it must be`},
		{"response limit", func(b *irv1.Binding) { b.Upstream.MaxResponseBytes = -1 }, `binding "library": upstream.maxResponseBytes: it must be`},
		{"header name", func(b *irv1.Binding) { b.Upstream.Headers[0].Name = "X Y" }, `binding "library": upstream.headers.X Y: "X Y" is not the canonical name`},
		{"header in another case", func(b *irv1.Binding) { b.Upstream.Headers[0].Name = "x-client" }, `binding "library": upstream.headers.x-client: "x-client" is not the canonical name`},
		{"header of the connection", func(b *irv1.Binding) { b.Upstream.Headers[0].Name = "Transfer-Encoding" }, `binding "library": upstream.headers.Transfer-Encoding: header Transfer-Encoding is not`},
		{"credential in the bundle", func(b *irv1.Binding) { b.Upstream.Headers[0].Name = "Authorization" }, `binding "library": upstream.headers.Authorization: header Authorization is not`},
		{"header value", func(b *irv1.Binding) { b.Upstream.Headers[0].Value = "a\nb" }, `binding "library": upstream.headers.X-Client: its value must be`},
		{"header twice", func(b *irv1.Binding) { b.Upstream.Headers = append(b.Upstream.Headers, b.Upstream.Headers[0]) }, `binding "library": upstream.headers.X-Client: there are two`},
		{"credential of no kind", func(b *irv1.Binding) { b.Upstream.Credential.Kind = nil }, `binding "library": upstream.credential: kind is not set`},
		{"secret that is a path", func(b *irv1.Binding) { b.Upstream.Credential.GetBearer().Secret = "../x" }, `binding "library": upstream.auth.bearer.secret: "../x" cannot be`},
		{"basic", func(b *irv1.Binding) {
			b.Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Basic{Basic: &irv1.BasicCredential{User: "a:b", Secret: "x"}}}
		}, `binding "library": upstream.auth.basic.user: a user name cannot have a colon`},
		{"credential in a header of the binding", func(b *irv1.Binding) {
			b.Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{Name: "X-Client", Secret: "x"}}}
		}, `binding "library": upstream.headers.X-Client: the credential sets this header`},
		{"token over http", func(b *irv1.Binding) { grant(b).Scheme = irv1.Scheme_SCHEME_HTTP }, `binding "library": upstream.auth.oauth2.tokenURL: a token is asked for over https`},
		{"token of nobody", func(b *irv1.Binding) { grant(b).Authority = "" }, `binding "library": upstream.auth.oauth2.tokenURL: "" is not a host`},
		{"token at no path", func(b *irv1.Binding) { grant(b).Path = "/a?b" }, `binding "library": upstream.auth.oauth2.tokenURL: "/a?b" cannot be`},
		{"client without ID", func(b *irv1.Binding) { grant(b).ClientId = "" }, `binding "library": upstream.auth.oauth2.clientID: it must be printable`},
		{"client without secret", func(b *irv1.Binding) { grant(b).Secret = "" }, `binding "library": upstream.auth.oauth2.secret: "" cannot be`},
		{"client that is sent nowhere", func(b *irv1.Binding) { grant(b).ClientAuth = 0 }, `binding "library": upstream.credential.oauth2.client_auth: client_auth is not set`},
		{"scope of two words", func(b *irv1.Binding) { grant(b).Scopes = []string{"a b"} }, `binding "library": upstream.auth.oauth2.scopes: "a b" cannot be`},
		{"scope twice", func(b *irv1.Binding) { grant(b).Scopes = []string{"a", "a"} }, `binding "library": upstream.auth.oauth2.scopes: scope "a" stands twice`},
		{"parameter of the grant", func(b *irv1.Binding) { grant(b).Parameters = []*irv1.TokenParameter{{Name: "scope"}} },
			`binding "library": upstream.auth.oauth2.parameters.scope: the node sets`},
		{"parameter twice", func(b *irv1.Binding) { grant(b).Parameters = []*irv1.TokenParameter{{Name: "a"}, {Name: "a"}} },
			`binding "library": upstream.auth.oauth2.parameters.a: the parameter has no name of its own`},
		{"token and the header that it goes into", func(b *irv1.Binding) { grant(b); b.Meta[0].Header = "Authorization" },
			`binding "library": meta.agent.header: the credential sets Authorization`},
		{"TLS of a token over http", func(b *irv1.Binding) {
			c := grant(b)
			c.Scheme, c.Authority, c.Tls = irv1.Scheme_SCHEME_HTTP, "localhost:80", &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2}
		}, `binding "library": upstream.auth.oauth2.tls: there is no TLS without https`},
		{"TLS over http", func(b *irv1.Binding) {
			b.Upstream.Scheme, b.Upstream.Tls = irv1.Scheme_SCHEME_HTTP, &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2}
		},
			`binding "library": upstream.tls: there is no TLS without https`},
		{"certificate without key", func(b *irv1.Binding) {
			b.Upstream.Tls = &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2, Certificate: "c"}
		},
			`binding "library": upstream.tls: a certificate and its key`},
		{"CA that is a path", func(b *irv1.Binding) { b.Upstream.Tls = &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_2, Ca: "a/b"} }, `binding "library": upstream.tls.ca: "a/b" cannot be`},
		{"any TLS version", func(b *irv1.Binding) { b.Upstream.Tls = &irv1.TLS{} }, `binding "library": upstream.tls.min: min is not set`},
		{"credential in a header of a caller", func(b *irv1.Binding) {
			b.Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{Name: "User-Agent", Secret: "x"}}}
		}, `binding "library": meta.agent.header: the credential sets User-Agent`},
		{"meta field twice", func(b *irv1.Binding) { b.Meta[1].Field = "agent" }, `binding "library": meta.agent: there are two rules`},
		{"meta header twice", func(b *irv1.Binding) { b.Meta[1].Header = "User-Agent" }, `binding "library": meta.lang.header: another rule sets User-Agent`},
		{"meta header reserved", func(b *irv1.Binding) { b.Meta[1].Header = "Host" }, `binding "library": meta.lang.header: header Host is not`},
		{"meta header of the body", func(b *irv1.Binding) { b.Meta[1].Header = "Content-Type" }, `binding "library": meta.lang.header: the payload decides`},
		{"meta format", func(b *irv1.Binding) { b.Meta[1].Format = 0 }, `binding "library": meta.format: format is not set`},
		{"meta generate", func(b *irv1.Binding) { b.Meta[1].Generate = 77 }, `binding "library": meta.generate: generate has the value 77`},
		{"meta length", func(b *irv1.Binding) { b.Meta[1].MaxLength = 0 }, `binding "library": meta.lang.maxLength: it must be`},
		{"meta lengths crossed", func(b *irv1.Binding) { b.Meta[1].MinLength = 11 }, `binding "library": meta.lang.minLength: it is more`},
		{"meta choice", func(b *irv1.Binding) { b.Meta[1].OneOf = []string{"a\tb"} }, `binding "library": meta.lang.oneOf: "a\tb" cannot be`},
		{"no errors", func(b *irv1.Binding) { b.Errors = nil }, `binding "library": errors: there is nothing`},
		{"no style", func(b *irv1.Binding) { b.Errors.Style = 0 }, `binding "library": errors.style: style is not set`},
		{"no code", func(b *irv1.Binding) { b.Errors.Code = 0 }, `binding "library": errors.code: it must not`},
		{"rule without name", func(b *irv1.Binding) { b.Errors.Rules[0].Name = "" }, `binding "library": errors.rules.: the rule has no name`},
		{"rule without condition", func(b *irv1.Binding) { b.Errors.Rules[0].Conditions = nil }, `binding "library": errors.rules.closed: the rule has no condition`},
		{"condition without kind", func(b *irv1.Binding) { b.Errors.Rules[0].Conditions[0].Kind = nil }, `binding "library": errors.rules.conditions: kind is not set`},
		{"status", func(b *irv1.Binding) {
			b.Errors.Rules[0].Conditions[0] = &irv1.Condition{Kind: &irv1.Condition_Status{Status: 600}}
		}, `binding "library": errors.rules.closed: 600 is not`},
		{"class", func(b *irv1.Binding) {
			b.Errors.Rules[0].Conditions[0] = &irv1.Condition{Kind: &irv1.Condition_Class{Class: 6}}
		}, `binding "library": errors.rules.closed: 6 is not`},
		{"unknown failure", func(b *irv1.Binding) {
			b.Errors.Rules[0].Conditions[1] = &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: 9}}
		}, `binding "library": errors.rules.conditions.failure: failure has the value 9`},
		{"tie", func(b *irv1.Binding) {
			b.Errors.Rules = append(b.Errors.Rules, &irv1.ErrorRule{Name: "later", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 503}}}})
		}, `binding "library": errors.rules.later: rule "closed" matches 503 too`},
		{"rule code", func(b *irv1.Binding) { b.Errors.Rules[0].Code = proto.Int32(0) }, `binding "library": errors.rules.closed.code: it must not`},
		{"member that is no JSON", func(b *irv1.Binding) { b.Errors.Rules[0].Fallback[0].Json = []byte(`"a`) }, `binding "library": errors.rules.closed.fallback: member "kind" is not a JSON value`},
		{"member that is no UTF-8", func(b *irv1.Binding) { b.Errors.Rules[0].Fallback[0].Json = []byte("\"\xff\"") }, `binding "library": errors.rules.closed.fallback: member "kind" is not a JSON value`},
		{"no payload error", func(b *irv1.Binding) { b.Errors.Payload = nil }, `binding "library": errors.payload: there is nothing`},
		{"payload code", func(b *irv1.Binding) { b.Errors.Payload.Code = 0 }, `binding "library": errors.payload.code: it must not`},
		{"one member, two explanations", func(b *irv1.Binding) { b.Errors.Payload.PathMember = "message" }, `binding "library": errors.payload: one member takes`},
		{"keyword twice", func(b *irv1.Binding) {
			b.Errors.Payload.Keywords = []*irv1.KeywordWord{{Keyword: "type"}, {Keyword: "type"}}
		}, `binding "library": errors.payload.keywords: keyword "type" stands twice`},
		{"locale that is none", func(b *irv1.Binding) { b.Locales.Supported[0] = "d_e" }, `binding "library": locales.supported: "d_e" is not`},
		{"locales that are not sorted", func(b *irv1.Binding) { b.Locales.Supported = []string{"en", "DE"} }, `binding "library": locales.supported: they are not sorted`},
		{"locale twice", func(b *irv1.Binding) { b.Locales.Supported = []string{"de", "DE", "en"} }, `binding "library": locales.supported: they are not sorted, or one`},
		{"default that is not supported", func(b *irv1.Binding) { b.Locales.Fallback = "fr" }, `binding "library": locales.default: "fr" is none`},
		{"source of no kind", func(b *irv1.Binding) { b.Meta[1].Sources[0].Kind = nil }, `binding "library": meta.sources: kind is not set`},
		{"source that is no key", func(b *irv1.Binding) { b.Meta[1].Sources[1].GetRequestMeta().Key = "a b" }, `binding "library": meta.lang.from: "a b" cannot be`},
		{"source that lets the caller in", func(b *irv1.Binding) {
			b.Meta[1].Sources[2].Kind = &irv1.MetaSource_Header{Header: "Cookie"}
		}, `binding "library": meta.lang.from: "Cookie" is not`},
		{"locale of nowhere", func(b *irv1.Binding) { b.Locales = nil }, `binding "library": meta.lang.from: there are no locales`},
		{"field that nothing gives", func(b *irv1.Binding) { b.Meta[0].Hidden = true }, `binding "library": meta.agent.argument: nothing gives`},
		{"too many sources", func(b *irv1.Binding) {
			b.Meta[1].Sources = slices.Repeat(b.Meta[1].Sources, 6)
		}, `binding "library": meta.lang.from: there are 18`},
		{"part of no kind", func(b *irv1.Binding) { b.Tools[0].Content[0].Kind = 0 }, `binding "library": tools.content.kind: kind is not set`},
		{"part with another's field", func(b *irv1.Binding) { b.Tools[0].Content[0].Members[0].Field = irv1.PartField_PART_FIELD_DATA }, `binding "library": tool "get_book": content: a part has PART_FIELD_DATA`},
		{"part with a field twice", func(b *irv1.Binding) {
			b.Tools[0].Content[0].Members = append(b.Tools[0].Content[0].Members, b.Tools[0].Content[0].Members[0])
		}, `binding "library": tool "get_book": content: a part has PART_FIELD_TEXT twice`},
		{"part with an unknown field", func(b *irv1.Binding) { b.Tools[0].Content[0].Members[0].Field = 99 }, `binding "library": tools.content.members.field: field has the value 99`},
		{"part without what it must have", func(b *irv1.Binding) { b.Tools[0].Content[1].Members = b.Tools[0].Content[1].Members[:1] }, `binding "library": tool "get_book": content: a part lacks`},
		{"link that is a picture", func(b *irv1.Binding) { b.Tools[0].Content[2].Kind = irv1.PartKind_PART_KIND_IMAGE }, `binding "library": tool "get_book": content: a part has PART_FIELD_URI`},
		{"member of a part without a source", func(b *irv1.Binding) { b.Tools[0].Content[0].Members[0].Source = nil }, `binding "library": tools.content.members: source is not set`},
		{"constant that is no URI", constantOfLink(0, `"/a"`), `binding "library": tool "get_book": content: "\"/a\"" cannot be PART_FIELD_URI`},
		{"constant of two lines", constantOfLink(1, "\n\"a\""), `binding "library": tool "get_book": content: "\n\"a\"" cannot be PART_FIELD_NAME`},
		{"constant that is no size", constantOfLink(2, `1.5`), `binding "library": tool "get_book": content: "1.5" cannot be PART_FIELD_SIZE`},
		{"constant that is no audience", constantOfLink(3, `["all"]`), `binding "library": tool "get_book": content: "[\"all\"]" cannot be PART_FIELD_AUDIENCE`},
		{"constant that is no priority", constantOfLink(4, `2`), `binding "library": tool "get_book": content: "2" cannot be PART_FIELD_PRIORITY`},
		{"constant that is no time", constantOfLink(5, `"now"`), `binding "library": tool "get_book": content: "\"now\"" cannot be PART_FIELD_LAST_MODIFIED`},
		{"picture that is written", func(b *irv1.Binding) {
			b.Tools[0].Content[1].Members[0].Source = &irv1.PartMember_Json{Json: []byte(`"AAAA"`)}
		}, `binding "library": tool "get_book": content: "\"AAAA\"" cannot be PART_FIELD_DATA`},
		{"content of a raw result", func(b *irv1.Binding) { b.Tools[0].Result = irv1.ResultMode_RESULT_MODE_RAW }, `binding "library": tool "get_book": content: a raw result has`},
		{"what is moved is shown", func(b *irv1.Binding) { b.Tools[0].Output.Shown = true }, `binding "library": tool "get_book": content: clients expect`},
		{"all is moved", func(b *irv1.Binding) { b.Tools[0].Moved = []*irv1.Pointer{{}} }, `binding "library": tool "get_book": content: the whole body`},
		{"what is moved is not sorted", func(b *irv1.Binding) {
			b.Tools[0].Moved = []*irv1.Pointer{{Tokens: []string{"b"}}, {Tokens: []string{"a"}}}
		}, `binding "library": tool "get_book": content: the members to be moved`},
		{"limit below nothing", func(b *irv1.Binding) { b.Tools[0].MaxResultBytes = -1 }, `binding "library": tool "get_book": maxResultBytes: it must not`},
		{"body that is a link", func(b *irv1.Binding) { b.Tools[0].Produces = []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_LINK}} }, `binding "library": tool "get_book": produces: a body is no`},
		{"meta of no source", func(b *irv1.Binding) { b.Tools[0].ResultMeta = []*irv1.ResultMeta{{Key: "example.com/id"}} }, `binding "library": tools.result_meta: source is not set`},
		{"icon over http", func(b *irv1.Binding) { b.Tools[0].Icons[0].Src = "http://a.example/b.png" }, `binding "library": tool "get_book": icons: a source is neither`},
		{"icon of the endpoint that is a script", func(b *irv1.Binding) { b.Icons[0].Src = "javascript:a" }, `binding "library": icons: a source is neither`},
		{"icon that is long", func(b *irv1.Binding) { b.Tools[0].Icons[0].Src += strings.Repeat("A", irv1.MaxIcon) }, `binding "library": tool "get_book": icons: a source is neither`},
		{"icon that is a text", func(b *irv1.Binding) { b.Tools[0].Icons[0].MediaType = "text/html" }, `binding "library": tool "get_book": icons: "text/html" is not`},
		{"icon of no size", func(b *irv1.Binding) { b.Tools[0].Icons[0].Sizes[0] = "0x1" }, `binding "library": tool "get_book": icons: "0x1" is not a size`},
		{"icon of no theme", func(b *irv1.Binding) { b.Tools[0].Icons[0].Theme = 0 }, `binding "library": tools.icons.theme: theme is not set`},
		{"many icons", func(b *irv1.Binding) { b.Tools[0].Icons = make([]*irv1.Icon, irv1.MaxIcons+1) }, `binding "library": tool "get_book": icons: there are more than`},
		{"scheme of no kind", func(b *irv1.Binding) { b.Tools[0].SecuritySchemes[0].Kind = nil }, `binding "library": tools.security_schemes: kind is not set`},
		{"scheme twice", func(b *irv1.Binding) { b.Tools[0].SecuritySchemes[0] = b.Tools[0].SecuritySchemes[1] }, `binding "library": tool "get_book": securitySchemes: a scheme stands twice`},
		{"scopes not sorted", func(b *irv1.Binding) {
			b.Tools[0].SecuritySchemes[1].GetOauth2().Scopes = []string{"write", "read"}
		}, `binding "library": tool "get_book": securitySchemes: scopes are not sorted`},
		{"_meta that MCP keeps", func(b *irv1.Binding) { b.Tools[0].EntryMeta[0].Name = "dev.mcp/a" }, `binding "library": tool "get_book": _meta: "dev.mcp/a" cannot be`},
		{"_meta that a node writes", func(b *irv1.Binding) { b.Tools[0].EntryMeta[0].Name = "securitySchemes" }, `binding "library": tool "get_book": _meta: "securitySchemes" cannot be`},
		{"_meta twice", func(b *irv1.Binding) { b.Tools[0].EntryMeta = append(b.Tools[0].EntryMeta, b.Tools[0].EntryMeta...) }, `binding "library": tool "get_book": _meta: member "openai/widgetAccessible" stands twice`},
		{"_meta that is no JSON", func(b *irv1.Binding) { b.Tools[0].EntryMeta[0].Json = []byte("{") }, `binding "library": tool "get_book": _meta: member "openai/widgetAccessible" is not`},
		{"no tools", func(b *irv1.Binding) { b.Tools = nil }, `binding "library": tools: there is nothing to serve`},
		{"tool twice", func(b *irv1.Binding) { b.Tools = append(b.Tools, b.Tools[0]) }, `binding "library": tool "get_book": name: endpoint /mcp has another tool`},
		{"tool name", func(b *irv1.Binding) { b.Tools[0].Name = "get book" }, `binding "library": tool "get book": name: "get book" cannot be`},
		{"no description", func(b *irv1.Binding) { b.Tools[0].Description = "" }, `binding "library": tool "get_book": description: there is none`},
		{"no method", func(b *irv1.Binding) { b.Tools[0].Method = 0 }, `binding "library": tools.method: method is not set`},
		{"no result", func(b *irv1.Binding) { b.Tools[0].Result = 0 }, `binding "library": tools.result: result is not set`},
		{"path parameter without argument", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Name = "isbn" }, `binding "library": tool "get_book": http: path parameter "id" has no argument`},
		{"argument that is not in the path", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Name = "isbn" }, `binding "library": tool "get_book": args.isbn: the path does not have it`},
		{"path argument in the query", func(b *irv1.Binding) { b.Tools[0].Arguments[0].In = irv1.ArgumentIn_ARGUMENT_IN_QUERY }, `binding "library": tool "get_book": http: path parameter "id" has no argument`},
		{"status of a success", func(b *irv1.Binding) {
			b.Errors.Rules[0].Conditions[0] = &irv1.Condition{Kind: &irv1.Condition_Status{Status: 204}}
		}, `binding "library": errors.rules.closed: 204 is not the status of a failure`},
		{"class of successes", func(b *irv1.Binding) {
			b.Errors.Rules[0].Conditions[0] = &irv1.Condition{Kind: &irv1.Condition_Class{Class: 2}}
		}, `binding "library": errors.rules.closed: 2 is not the first digit of a failure`},
		{"body of a timeout", func(b *irv1.Binding) { b.Errors.Rules[0].Body = lost() }, `binding "library": errors.rules.closed.body: a failure other than a status has no body`},
		{"media type of a timeout", func(b *irv1.Binding) { b.Errors.Rules[0].MediaType = "text/html" }, `binding "library": errors.rules.closed.mediaType: a failure without a response`},
		{"media type with a parameter", func(b *irv1.Binding) { b.Errors.Rules[0].MediaType = "text/html;a=b" }, `binding "library": errors.rules.closed.mediaType: "text/html;a=b" is not a media type`},
		{"place of a body twice", func(b *irv1.Binding) { b.Errors.Rules[0].Body = append(lost(), lost()...) }, `binding "library": errors.rules.closed.body: a place stands twice`},
		{"place of a body without values", func(b *irv1.Binding) { b.Errors.Rules[0].Body = []*irv1.BodyCondition{{At: &irv1.Pointer{}}} }, `binding "library": errors.rules.closed.body: a place has from 1`},
		{"value of no kind", func(b *irv1.Binding) {
			b.Errors.Rules[0].Body = []*irv1.BodyCondition{{At: &irv1.Pointer{}, Values: []*irv1.Scalar{{}}}}
		}, `binding "library": errors.rules.body.values: kind is not set`},
		{"value that is no number", func(b *irv1.Binding) {
			b.Errors.Rules[0].Body = []*irv1.BodyCondition{{At: &irv1.Pointer{}, Values: []*irv1.Scalar{{Kind: &irv1.Scalar_Number{Number: math.Inf(1)}}}}}
		}, `binding "library": errors.rules.closed.body: a value is not a number of JSON`},
		{"member of a header twice", func(b *irv1.Binding) {
			b.Errors.Rules[0].Headers = []*irv1.HeaderMember{{Name: "a", Header: "A"}, {Name: "a", Header: "B"}}
		}, `binding "library": errors.rules.closed.headers: member "a" stands twice`},
		{"member of no header", func(b *irv1.Binding) {
			b.Errors.Rules[0].Headers = []*irv1.HeaderMember{{Name: "a", Header: "retry-after"}}
		}, `binding "library": errors.rules.closed.headers: "retry-after" is not the canonical name`},
		{"too many rules", func(b *irv1.Binding) { b.Errors.Rules = make([]*irv1.ErrorRule, 101) }, `binding "library": errors.rules: there are 101 rules`},
		{"namespace of what is no key", func(b *irv1.Binding) { b.Meta[0].Namespace = "X-Tenant" }, `binding "library": meta.agent.namespace: only a key has one`},
		{"namespace in another case", func(b *irv1.Binding) { b.Meta[0].Key, b.Meta[0].Namespace = true, "x-tenant" }, `binding "library": meta.agent.namespace: only a key has one`},
		{"retry that is none", func(b *irv1.Binding) { b.Tools[0].Retry = retry(1, time.Second) }, `binding "library": tool "get_book": retry.attempts: it must be from 2 to 5`},
		{"retry without a wait", func(b *irv1.Binding) { b.Tools[0].Retry = retry(2, 0) }, `binding "library": tool "get_book": retry.maxWait: it must be more than 0`},
		{"retry without a budget", func(b *irv1.Binding) { b.Tools[0].Retry = retry(2, time.Second) }, `binding "library": tool "get_book": retry: the upstream has no budget`},
		{"budget of more than all calls", func(b *irv1.Binding) { b.Upstream.RetryBudget = &irv1.RetryBudget{Percent: 101} }, `binding "library": upstream.retryBudget.percent: it must be at most 100`},
		{"budget of more than a service bears", func(b *irv1.Binding) { b.Upstream.RetryBudget = &irv1.RetryBudget{PerSecond: 1001} }, `binding "library": upstream.retryBudget.perSecond: it must be at most 1000`},
		{"optional path argument", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Required = false }, `binding "library": tool "get_book": args.id: an argument of the path must be required`},
		{"argument named meta", func(b *irv1.Binding) {
			b.Tools[0].Arguments = append(b.Tools[0].Arguments, &irv1.Argument{Name: "meta", In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1})
		}, `binding "library": tool "get_book": args.meta: this name has a meaning already`},
		{"argument without type", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Type = 0 }, `binding "library": tools.arguments.type: type is not set`},
		{"array without items", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Type = irv1.ArgumentType_ARGUMENT_TYPE_ARRAY }, `binding "library": tool "get_book": args.id.items: an array has them`},
		{"items of no array", func(b *irv1.Binding) {
			b.Tools[0].Arguments[0].Items = irv1.ArgumentType_ARGUMENT_TYPE_STRING.Enum()
		}, `binding "library": tool "get_book": args.id.items: an array has them, and nothing else`},
		{"array of arrays", func(b *irv1.Binding) {
			b.Tools[0].Arguments[0].Type = irv1.ArgumentType_ARGUMENT_TYPE_ARRAY
			b.Tools[0].Arguments[0].Items = irv1.ArgumentType_ARGUMENT_TYPE_ARRAY.Enum()
		}, `binding "library": tool "get_book": args.id.items: they must be scalars`},
		{"items without value", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Items = new(irv1.ArgumentType) }, `binding "library": tools.arguments.items: items is not set`},
		{"style in the path", func(b *irv1.Binding) {
			b.Tools[0].Arguments[0].Style = irv1.ArrayStyle_ARRAY_STYLE_CSV.Enum()
		}, `binding "library": tool "get_book": args.id.style: an array of the query has one, and nothing else`},
		{"array of the query without style", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: irv1.ArgumentType_ARGUMENT_TYPE_ARRAY, Items: irv1.ArgumentType_ARGUMENT_TYPE_STRING.Enum()}),
			`binding "library": tool "get_book": args.x.style: an array of the query has one`},
		{"object in the path", func(b *irv1.Binding) { b.Tools[0].Arguments[0].Type = irv1.ArgumentType_ARGUMENT_TYPE_OBJECT }, `binding "library": tool "get_book": args.id.type: an object must be`},
		{"any type without a schema", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: irv1.ArgumentType_ARGUMENT_TYPE_ANY, Place: []string{"x"}}),
			`binding "library": tool "get_book": args.x.type: without a type it must be in the body, with a schema`},
		{"client header of another kind", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, ClientHeader: "Authorization"}), `binding "library": tool "get_book": args.x.mcpHeader: "Authorization" is no header in which`},
		{"client header in another form", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, ClientHeader: "Mcp-Param-region"}), `binding "library": tool "get_book": args.x.mcpHeader: "Mcp-Param-region" is no`},
		{"client header without a name", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, ClientHeader: "Mcp-Param-"}), `binding "library": tool "get_book": args.x.mcpHeader: "Mcp-Param-" is no`},
		{"client header twice", func(b *irv1.Binding) {
			argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, ClientHeader: "Mcp-Param-X"})(b)
			b.Tools[0].Arguments[0].ClientHeader = "Mcp-Param-X"
		}, `binding "library": tool "get_book": args.x.mcpHeader: clients say another argument in Mcp-Param-X`},
		{"null in the query", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, Nullable: true}), `binding "library": tool "get_book": args.x.nullable: null is a value in the body only`},
		{"place in the query", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_QUERY, Type: 1, Place: []string{"x"}}), `binding "library": tool "get_book": args.x.as: only an argument of the body`},
		{"header argument without header", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, Type: 1}), `binding "library": tool "get_book": args.x.as: "" is not the canonical name`},
		{"header argument of the connection", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, Type: 1, WireName: "Host"}), `binding "library": tool "get_book": args.x.as: header Host is not`},
		{"header argument of the credential", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, Type: 1, WireName: "Authorization"}), `binding "library": tool "get_book": args.x.as: the credential sets Authorization`},
		{"header argument of the body", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, Type: 1, WireName: "Content-Type"}), `binding "library": tool "get_book": args.x.as: the body decides`},
		{"header argument of a meta rule", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_HEADER, Type: 1, WireName: "User-Agent"}), `binding "library": tool "get_book": args.x.as: meta.agent sets User-Agent too`},
		{"body argument without place", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1}), `binding "library": tool "get_book": args.x.as: it must be from 1 to 16`},
		{"body argument too deep", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1, Place: make([]string, 17)}), `binding "library": tool "get_book": args.x.as: it must be from 1 to 16`},
		{"body argument of a GET", argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1, Place: []string{"x"}}), `binding "library": tool "get_book": args.x: a GET request has no body`},
		{"body argument beside a payload", func(b *irv1.Binding) {
			b.Tools[0].Payload = &irv1.Payload{}
			argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1, Place: []string{"x"}})(b)
		}, `binding "library": tool "get_book": args.x: the body is the payload already`},
		{"body arguments in each other", func(b *irv1.Binding) {
			b.Tools[0].Arguments[0].In, b.Tools[0].Arguments[0].Place = irv1.ArgumentIn_ARGUMENT_IN_BODY, []string{"a"}
			argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1, Place: []string{"a", "b"}})(b)
		}, `binding "library": tool "get_book": args.x: argument "id" goes to the same place`},
		{"parts of a dual result", func(b *irv1.Binding) {
			b.Tools[0].Result, b.Tools[0].Produces = irv1.ResultMode_RESULT_MODE_DUAL, []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_TEXT}}
		}, `binding "library": tool "get_book": produces: only an MCP result has parts`},
		{"part of no kind", func(b *irv1.Binding) { b.Tools[0].Produces = []*irv1.MediaRange{{}} }, `binding "library": tools.produces.kind: kind is not set`},
		{"subtype", func(b *irv1.Binding) {
			b.Tools[0].Produces = []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_TEXT, Subtype: "a\r\nb"}}
		}, `binding "library": tool "get_book": produces: "a\r\nb" is not a subtype`},
		{"media type twice", func(b *irv1.Binding) {
			b.Tools[0].Produces = []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_TEXT}, {Kind: irv1.PartKind_PART_KIND_TEXT}}
		}, `binding "library": tool "get_book": produces: a media type stands twice`},
		{"parts and an output schema", func(b *irv1.Binding) {
			b.Tools[0].Produces = []*irv1.MediaRange{{Kind: irv1.PartKind_PART_KIND_TEXT}}
			b.Tools[0].Output = &irv1.Output{Shown: true}
		}, `binding "library": tool "get_book": produces: clients expect`},
		{"meta of a raw result", func(b *irv1.Binding) {
			b.Tools[0].Result, b.Tools[0].ResultMeta = irv1.ResultMode_RESULT_MODE_RAW, []*irv1.ResultMeta{{Key: "example.com/id", Source: &irv1.ResultMeta_Header{Header: "Id"}}}
		}, `binding "library": tool "get_book": resultMeta: a raw result has no _meta`},
		{"meta key without prefix", resultMeta("id", "Id"), `binding "library": tool "get_book": resultMeta.id: it cannot be`},
		{"meta key of MCP", resultMeta("io.modelcontextprotocol/id", "Id"), `binding "library": tool "get_book": resultMeta.io.modelcontextprotocol/id: it cannot be`},
		{"meta key of Bindery", resultMeta("Bindery.dev/id", "Id"), `binding "library": tool "get_book": resultMeta.Bindery.dev/id: it cannot be`},
		{"meta key twice", func(b *irv1.Binding) {
			resultMeta("example.com/id", "Id")(b)
			resultMeta("example.com/id", "Id")(b)
		}, `binding "library": tool "get_book": resultMeta.example.com/id: there are two`},
		{"meta of no header", resultMeta("example.com/id", "x y"), `binding "library": tool "get_book": resultMeta.example.com/id: "x y" is not`},
		{"meta of a cookie", resultMeta("example.com/id", "Set-Cookie"), `binding "library": tool "get_book": resultMeta.example.com/id: header Set-Cookie is not for callers`},
		{"signature of a body that is made", func(b *irv1.Binding) {
			b.Meta[0].SignsBody, b.Tools[0].Method = true, irv1.Method_METHOD_POST
			argument(&irv1.Argument{In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: 1, Place: []string{"x"}})(b)
		}, `binding "library": tool "get_book": meta: field "agent" signs a body`},
		{"path part without kind", func(b *irv1.Binding) { b.Tools[0].Path[1].Kind = nil }, `binding "library": tools.path: kind is not set`},
		{"relative path", func(b *irv1.Binding) { b.Tools[0].Path[0] = literal("books/") }, `binding "library": tool "get_book": http: "books/{id}" cannot be`},
		{"path with dots", func(b *irv1.Binding) { b.Tools[0].Path[0] = literal("/a/../") }, `binding "library": tool "get_book": http: "/a/../{id}" cannot be`},
		{"path with a query", func(b *irv1.Binding) { b.Tools[0].Path[0] = literal("/a?b=") }, `binding "library": tool "get_book": http: "/a?b={id}" cannot be`},
		{"path with half an escape", func(b *irv1.Binding) { b.Tools[0].Path[0] = literal("/%4") }, `binding "library": tool "get_book": http: "/%4{id}" cannot be`},
		{"no path", func(b *irv1.Binding) { b.Tools[0].Path = nil }, `binding "library": tool "get_book": http: "" cannot be`},
		{"meta of no rule", func(b *irv1.Binding) { b.Tools[0].Meta[0] = "other" }, `binding "library": tool "get_book": meta: the binding has no rule for field "other"`},
		{"meta twice", func(b *irv1.Binding) { b.Tools[0].Meta[0] = "lang" }, `binding "library": tool "get_book": meta: field "lang" stands twice`},
		{"schema that is not there", func(b *irv1.Binding) { b.Tools[0].InputSchema = digest("other") }, `binding "library": tool "get_book": payload: the bundle lacks`},
		{"schema without digest", func(b *irv1.Binding) { b.Tools[0].InputSchema = []byte("x") }, `binding "library": tool "get_book": payload: the bundle lacks`},
		{"output that is not there", func(b *irv1.Binding) { b.Tools[0].Output.Schema = digest("other") }, `binding "library": tool "get_book": output: the bundle lacks`},
		{"output without schema", func(b *irv1.Binding) { b.Tools[0].Output.Schema = nil }, `binding "library": tool "get_book": output: the bundle lacks`},
		{"output without check", func(b *irv1.Binding) { b.Tools[0].Output.Check = 0 }, `binding "library": tools.output.check: check is not set`},
		{"payload without check", func(b *irv1.Binding) { b.Tools[0].Payload = &irv1.Payload{} }, `binding "library": tools.payload.check: check is not set`},
		{"check of a newer build", func(b *irv1.Binding) { b.Tools[0].Output.Check = 9 }, `binding "library": tools.output.check: check has the value 9`},
		{"no timeout", func(b *irv1.Binding) { b.Tools[0].Timeout = nil }, `binding "library": tool "get_book": timeout: it must be`},
		{"negative timeout", func(b *irv1.Binding) { b.Tools[0].Timeout = durationpb.New(-1) }, `binding "library": tool "get_book": timeout: it must be`},
		{"timeout that is no duration", func(b *irv1.Binding) { b.Tools[0].Timeout = &durationpb.Duration{Seconds: 1 << 62} }, `binding "library": tool "get_book": timeout: it must be`},
		{"redaction without a side", func(b *irv1.Binding) { b.Redact[0].Side = 0 }, `binding "library": redact.side: side is not set`},
		{"revelation without a step's kind", func(b *irv1.Binding) { b.Reveal[0].Steps[0].Kind = nil }, `binding "library": reveal.steps: kind is not set`},
		{"too many redactions", func(b *irv1.Binding) { b.Redact = slices.Repeat(b.Redact, irv1.MaxRedacted+1) }, `binding "library": redact: there are 257 places`},
		{"document path", func(b *irv1.Binding) { b.Documents[0].Path = "/a?b" }, `binding "library": documents./a?b: "/a?b" cannot be the path of a document`},
		{"document at an endpoint", func(b *irv1.Binding) { b.Documents[0].Path = "/mcp" }, `binding "library": documents./mcp: MCP is served at this path`},
		{"document twice", func(b *irv1.Binding) { b.Documents = append(b.Documents, b.Documents[0]) }, `binding "library": documents./a.json: binding "library" has a document`},
		{"document that is no JSON", func(b *irv1.Binding) { b.Documents[0].Json = []byte("{") }, `binding "library": documents./a.json.body: it is not a JSON object`},
		{"document that is no object", func(b *irv1.Binding) { b.Documents[0].Json = []byte("[]") }, `binding "library": documents./a.json.body: it is not a JSON object`},
		{"document without bytes", func(b *irv1.Binding) { b.Documents[0].Json = nil }, `binding "library": documents./a.json.body: it is not a JSON object`},
		{"document without media type", func(b *irv1.Binding) { b.Documents[0].MediaType = "" }, `binding "library": documents./a.json.mediaType: "" is not`},
		{"document with a second header", func(b *irv1.Binding) { b.Documents[0].MediaType = "a/b\r\nX: y" }, `binding "library": documents./a.json.mediaType: "a/b\r\nX: y" is not`},
		{"document without age", func(b *irv1.Binding) { b.Documents[0].MaxAge = nil }, `binding "library": documents./a.json.maxAge: it must be`},
		{"document for ever", func(b *irv1.Binding) { b.Documents[0].MaxAge = durationpb.New(irv1.MaxDocumentAge + 1) }, `binding "library": documents./a.json.maxAge: it must be`},
		{"check without name", func(b *irv1.Binding) { b.Tools[0].Checks[0].Name = "" }, `binding "library": tool "get_book": checks.: the check has no name`},
		{"check twice", func(b *irv1.Binding) { b.Tools[0].Checks = append(b.Tools[0].Checks, b.Tools[0].Checks[0]) }, `binding "library": tool "get_book": checks.known: the check has no name of its own`},
		{"check without message", func(b *irv1.Binding) { b.Tools[0].Checks[0].Message = "" }, `binding "library": tool "get_book": checks.known.message: there is none`},
		{"check without level", func(b *irv1.Binding) { b.Tools[0].Checks[0].Level = 0 }, `binding "library": tools.checks.level: level is not set`},
		{"check without condition", func(b *irv1.Binding) { b.Tools[0].Checks[0].Kind = nil }, `binding "library": tools.checks: kind is not set`},
		{"check of nothing", func(b *irv1.Binding) { b.Tools[0].Checks[0].Kind = &irv1.CallCheck_Has{} }, `binding "library": tools.checks.has.side: side is not set`},
		{"subset without a side", func(b *irv1.Binding) { b.Tools[0].Checks[0].GetSubset().Of.Side = 0 }, `binding "library": tools.checks.subset.of.side: side is not set`},
		{"subset of nothing", func(b *irv1.Binding) { b.Tools[0].Checks[0].GetSubset().These = nil }, `binding "library": tool "get_book": checks.known.subset.these: there is no place`},
		{"step without kind", func(b *irv1.Binding) { b.Tools[0].Checks[0].GetSubset().Of.Steps[0].Kind = nil }, `binding "library": tools.checks.subset.of.steps: kind is not set`},
		{"alternative without place", func(b *irv1.Binding) { b.Tools[0].Checks[0].Or.At = nil }, `binding "library": tool "get_book": checks.known.or.at: there is no place`},
		{"alternative without value", func(b *irv1.Binding) { b.Tools[0].Checks[0].Or.Equals = nil }, `binding "library": tool "get_book": checks.known.or.equals: there is no value`},
		{"alternative that is infinite", func(b *irv1.Binding) { b.Tools[0].Checks[0].Or.Equals.Kind = &irv1.Scalar_Number{Number: math.Inf(1)} }, `binding "library": tool "get_book": checks.known.or.equals: a value is not a number of JSON`},
		{"unknown field", func(b *irv1.Binding) { unknown(b) }, `binding "library": the bundle has a field here`},
		{"unknown field deep inside", func(b *irv1.Binding) { unknown(b.Errors.Rules[0].Conditions[0]) }, `binding "library": errors.rules.conditions: the bundle has a field here`},
		{"unknown field in a duration", func(b *irv1.Binding) { unknown(b.Tools[0].Timeout) }, `binding "library": tools.timeout: the bundle has a field here`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := library()
			tt.spoil(b)
			problems := open(t, b).Validate()
			if !slices.ContainsFunc(problems, func(p irv1.Problem) bool { return strings.HasPrefix(p.String(), tt.want) }) {
				t.Errorf("problems are %q, want one like %q", problems, tt.want)
			}
		})
	}
}

func lost() []*irv1.BodyCondition {
	return []*irv1.BodyCondition{{At: &irv1.Pointer{Tokens: []string{"code"}}, Values: []*irv1.Scalar{text("lost")}}}
}

func text(s string) *irv1.Scalar { return &irv1.Scalar{Kind: &irv1.Scalar_Text{Text: s}} }

func retry(attempts uint32, wait time.Duration) *irv1.Retry {
	return &irv1.Retry{Attempts: attempts, MaxWait: durationpb.New(wait), Backoff: durationpb.New(wait)}
}

// resultMeta returns what adds a header of the response to the results of a tool.
func resultMeta(key, header string) func(b *irv1.Binding) {
	return func(b *irv1.Binding) {
		b.Tools[0].ResultMeta = append(b.Tools[0].ResultMeta, &irv1.ResultMeta{Key: key, Source: &irv1.ResultMeta_Header{Header: header}})
	}
}

// argument returns what adds a, called x, to the tool of a binding.
func argument(a *irv1.Argument) func(b *irv1.Binding) {
	return func(b *irv1.Binding) {
		a.Name = "x"
		b.Tools[0].Arguments = append(b.Tools[0].Arguments, a)
	}
}

func literal(s string) *irv1.PathPart {
	return &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: s}}
}

// unknown adds a field from a newer build to m.
func unknown(m proto.Message) {
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1999, protowire.VarintType), 1))
}

func TestValidateManifest(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(c *irv1.Content)
		want  string
	}{
		{"level", func(c *irv1.Content) { c.Manifest.Level = irv1.Level + 1 }, "the bundle has IR level 2, this node runs up to 1"},
		{"feature", func(c *irv1.Content) { c.Manifest.Features = []string{"teleport"} }, `the bundle needs the feature "teleport", which this node lacks`},
		{"unknown field", func(c *irv1.Content) { unknown(c.Manifest) }, "the bundle has a field here that this node does not know: upgrade the node"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, library())
			tt.spoil(c)
			if p := c.Validate(); len(p) != 1 || p[0].String() != tt.want {
				t.Errorf("problems are %q, want %q", p, tt.want)
			}
		})
	}
}

func TestValidateAcrossBindings(t *testing.T) {
	second := library()
	second.Name, second.Documents = "second", nil
	problems := open(t, library(), second).Validate()
	want := `binding "second": tool "get_book": name: endpoint /mcp has another tool of this name, in binding "library"`
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("problems are %q, want %q", problems, want)
	}
	second = library()
	second.Name, second.Endpoint = "second", "/a.json"
	problems = open(t, library(), second).Validate()
	for _, want := range []string{`binding "library": documents./a.json: MCP is served at this path`, `binding "second": documents./a.json: binding "library" has a document of this path, too`} {
		if !slices.ContainsFunc(problems, func(p irv1.Problem) bool { return p.String() == want }) {
			t.Errorf("problems are %q, want %q", problems, want)
		}
	}
	if problems := open(t, library(), library()).Validate(); !slices.ContainsFunc(problems, func(p irv1.Problem) bool {
		return p.String() == `binding "library": there are two bindings of this name`
	}) {
		t.Errorf("problems are %q", problems)
	}
}

func TestValidateCountsTools(t *testing.T) {
	var bindings []*irv1.Binding
	for _, name := range []string{"a", "b"} {
		b := library()
		b.Name, b.Tools, b.Documents = name, nil, nil
		for i := range irv1.MaxTools / 2 {
			tool := proto.CloneOf(library().Tools[0])
			tool.Name = fmt.Sprintf("%s%d", name, i)
			b.Tools = append(b.Tools, tool)
		}
		bindings = append(bindings, b)
	}
	if p := content(bindings).Validate(); len(p) > 0 {
		t.Fatalf("problems at the limit: %d, the first is %v", len(p), p[0])
	}
	one := proto.CloneOf(library().Tools[0])
	bindings[1].Tools = append(bindings[1].Tools, one)
	p := content(bindings).Validate()
	if len(p) != 1 || p[0].String() != `binding "b": endpoint: endpoint /mcp has 10001 tools, at most 10000 can share one` {
		t.Errorf("problems are %.3v", p)
	}
}

// content skips sealing, whose limit on one binding is met before that on tools.
func content(bindings []*irv1.Binding) *irv1.Content {
	return &irv1.Content{
		Manifest: &irv1.Manifest{Level: irv1.Level},
		Bindings: bindings,
		Schemas:  map[irv1.Digest][]byte{irv1.DigestOf([]byte(schema)): []byte(schema)},
		Files:    map[irv1.Digest][]byte{irv1.DigestOf([]byte(page)): []byte(page)},
	}
}

// FuzzValidate holds that no bundle that opens makes Validate panic, and that it
// says the same of a bundle twice.
func FuzzValidate(f *testing.F) {
	seed := func(b *irv1.Binding) {
		data, err := irv1.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(schema))
	}
	seed(library())
	narrow := library()
	narrow.Errors.Rules = append(narrow.Errors.Rules,
		&irv1.ErrorRule{Name: "lost", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 4}}}, Body: lost(), MediaType: "a/b", Headers: []*irv1.HeaderMember{{Name: "a", Header: "A"}}},
		&irv1.ErrorRule{Name: "later", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 4}}}, Body: lost(), MediaType: "a/b", Retry: true})
	narrow.Meta[0].Key, narrow.Meta[0].Namespace = true, "X-Tenant"
	narrow.Tools[0].Retry, narrow.Upstream.RetryBudget = retry(3, time.Second), &irv1.RetryBudget{Percent: 20}
	seed(narrow)
	seed(secured())
	seed(shelves())
	seed(prompting())
	seed(asking())
	seed(&irv1.Binding{})
	seed(&irv1.Binding{Upstream: &irv1.Upstream{Credential: &irv1.Credential{}}, Meta: []*irv1.MetaRule{{}}, Errors: &irv1.Errors{Rules: []*irv1.ErrorRule{{Conditions: []*irv1.Condition{{}}}}}, Tools: []*irv1.Tool{{Path: []*irv1.PathPart{{}}}}})
	f.Fuzz(func(t *testing.T, data, schema []byte) {
		b := &irv1.Binding{}
		if proto.Unmarshal(data, b) != nil {
			return
		}
		sealed, err := irv1.Parts{Bindings: []*irv1.Binding{b}, Schemas: [][]byte{schema}, Files: [][]byte{[]byte(page), schema}}.Seal()
		if err != nil {
			return
		}
		c, err := irv1.Open(sealed)
		if err != nil {
			return
		}
		if first, second := c.Validate(), c.Validate(); !slices.Equal(first, second) {
			t.Errorf("problems are %q, then %q", first, second)
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	binding := library()
	for range 999 {
		binding.Tools = append(binding.Tools, binding.Tools[0])
	}
	c := content([]*irv1.Binding{binding})
	b.ReportAllocs()
	for b.Loop() {
		c.Validate()
	}
}
