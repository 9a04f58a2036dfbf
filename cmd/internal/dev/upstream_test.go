package dev

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestParseUpstream(t *testing.T) {
	tests := []struct{ in, wantErr string }{
		{"library=http://127.0.0.1:9000", ""},
		{"library=https://api.example.com/v1/", ""},
		{"library", `"library" is not NAME=URL`},
		{"=http://127.0.0.1", `"=http://127.0.0.1" is not NAME=URL`},
		{"library=127.0.0.1:9000", "library: the URL of an upstream is like https://api.example.com/v1"},
		{"library=ftp://files", "library: the URL of an upstream is like https://api.example.com/v1"},
		{"library=http://me:secret@h", "library: the URL of an upstream holds no user and password: name a secret in the binding"},
		{"library=http://h/?a=b", "library: the URL of an upstream has neither query nor fragment"},
	}
	for _, tt := range tests {
		_, err := ParseUpstream(tt.in)
		if got := text(err); got != tt.wantErr {
			t.Errorf("ParseUpstream(%q): %q, want %q", tt.in, got, tt.wantErr)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func sealed(t *testing.T, upstreams ...*irv1.Upstream) *irv1.Bundle {
	t.Helper()
	var bindings []*irv1.Binding
	for i, u := range upstreams {
		bindings = append(bindings, &irv1.Binding{Name: string(rune('a' + i)), Upstream: u})
	}
	b, err := irv1.Parts{
		Bindings: bindings, Schemas: [][]byte{[]byte(`{"type":"object"}`), []byte(`true`)}, Files: [][]byte{[]byte("true")}, Features: []string{"feature"},
	}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRedirect(t *testing.T) {
	kept := &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "a.example.com", BasePath: "/v1"}
	headers := []*irv1.Header{{Name: "X-A", Value: "1"}}
	tests := []struct {
		url  string
		want *irv1.Upstream
	}{
		{"http://127.0.0.1:9000", &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTP, Authority: "127.0.0.1:9000", Headers: headers}},
		{"https://h/x/y%2Fz/", &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "h", BasePath: "/x/y%2Fz", Headers: headers}},
	}
	for _, tt := range tests {
		b := sealed(t, kept, &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "b.example.com", BasePath: "/v2", Headers: headers})
		u, err := ParseUpstream("b=" + tt.url)
		if err != nil {
			t.Fatal(err)
		}
		got, err := redirect(b, []Upstream{u})
		if err != nil {
			t.Fatal(err)
		}
		content, err := irv1.Open(got)
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(content.Bindings[0].Upstream, kept) || !proto.Equal(content.Bindings[1].Upstream, tt.want) {
			t.Errorf("%s: upstreams are %v and %v", tt.url, content.Bindings[0].Upstream, content.Bindings[1].Upstream)
		}
		if len(content.Schemas) != 2 || len(content.Files) != 1 || len(content.Manifest.Features) != 1 {
			t.Errorf("%s: %d schemas, %d files and features %v remain", tt.url, len(content.Schemas), len(content.Files), content.Manifest.Features)
		}
	}
}

// An upstream that is on this machine for the time being is not secured; one over
// https is as before.
func TestRedirectTLS(t *testing.T) {
	how := &irv1.TLS{Min: irv1.TLSVersion_TLS_VERSION_1_3, Ca: "ca"}
	for target, want := range map[string]*irv1.TLS{"http://127.0.0.1:9000": nil, "https://h": how} {
		u, err := ParseUpstream("a=" + target)
		if err != nil {
			t.Fatal(err)
		}
		got, err := redirect(sealed(t, &irv1.Upstream{Scheme: irv1.Scheme_SCHEME_HTTPS, Tls: how}), []Upstream{u})
		if err != nil {
			t.Fatal(err)
		}
		content, err := irv1.Open(got)
		if err != nil {
			t.Fatal(err)
		}
		if tls := content.Bindings[0].Upstream.Tls; !proto.Equal(tls, want) {
			t.Errorf("%s: TLS is %v, want %v", target, tls, want)
		}
	}
}

func TestRedirectNothing(t *testing.T) {
	b := sealed(t, &irv1.Upstream{Authority: "h"})
	got, err := redirect(b, nil)
	if err != nil || !bytes.Equal(got.Manifest, b.Manifest) {
		t.Errorf("redirect(b, nil) = %v, %v; want b", got, err)
	}
}

func TestRedirectUnknown(t *testing.T) {
	u, err := ParseUpstream("c=http://h")
	if err != nil {
		t.Fatal(err)
	}
	_, err = redirect(sealed(t, nil, nil), []Upstream{u})
	unknown := &UnknownBinding{}
	if !errors.As(err, &unknown) || err.Error() != `no binding is called "c": there is a, b` {
		t.Errorf("redirect: %v", err)
	}
}
