package compile

import (
	"net/url"
	"strings"
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestParseOperation(t *testing.T) {
	tests := []struct{ in, want string }{
		{"GET /", "/"},
		{"GET /books", "/books"},
		{"GET /books/", "/books/"},
		{"GET /{a}/{b}.json", "/{a}/{b}.json"},
		{"GET /{a}{b}", "/{a}{b}"},
		{"GET /a%2Fb/ü", "/a%2Fb/%C3%BC"},
		{`GET /a"<>\^|`, "/a%22%3C%3E%5C%5E%7C"},
		{"GET /a;b=c,d/@e:f/$&'()*+!~", "/a;b=c,d/@e:f/$&'()*+!~"},
		{"GET /...", "/..."},
	}
	for _, tt := range tests {
		op, problem := parseOperation(tt.in)
		if got := (&irv1.Tool{Path: op.path}).Template(); got != tt.want || problem != "" {
			t.Errorf("%q has the path %q, %s; want %q", tt.in, got, problem, tt.want)
		}
	}
	for _, in := range []string{
		"", "GET", "GET ", "GET/books", "HEAD /books", "GET  /books", "GET /a b", "GET /a?b", "GET /a#b", "GET /{", "GET /}", "GET /{}",
		"GET /{a b}", "GET /{{a}}", "GET /%", "GET /%g0", "GET /.", "GET /a/../b", "GET /a/%2e%2e", "GET //a", "GET /a//b",
	} {
		if _, problem := parseOperation(in); problem == "" {
			t.Errorf("%q is accepted", in)
		}
	}
}

// FuzzParseOperation holds that a path that is accepted stays on its host, has the
// segments that were written, and is one that a node accepts.
func FuzzParseOperation(f *testing.F) {
	for _, seed := range []string{"GET /books/{isbn}", "POST /a%2fb/é", "PUT /{a}x{b}/", "GET /.{a}", "DELETE /%2e", "PATCH /@:80/a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		op, problem := parseOperation(in)
		if problem != "" {
			return
		}
		path := skeleton(op.path)
		u, err := url.Parse("http://host.example/base" + path)
		if err != nil || u.Host != "host.example" || u.RawQuery != "" || u.Fragment != "" || u.EscapedPath() != "/base"+path {
			t.Fatalf("%q becomes %q, which is read as %v, %v", in, path, u, err)
		}
		if joined := u.JoinPath("."); !strings.HasPrefix(joined.EscapedPath()+"/", "/base/") {
			t.Errorf("%q leads to %q", in, joined)
		}
		if problems := nodeProblems(t, op); len(problems) > 0 {
			t.Errorf("%q is accepted here and refused by a node: %v", in, problems)
		}
	})
}

// nodeProblems returns what a node has against a tool with the operation.
func nodeProblems(t *testing.T, op operation) []irv1.Problem {
	schema := []byte(`{"type":"object"}`)
	tool := &irv1.Tool{Method: op.method, Path: op.path}
	for _, part := range op.path {
		if name := part.GetArgument(); name != "" {
			tool.Arguments = append(tool.Arguments, &irv1.Argument{Name: name, In: irv1.ArgumentIn_ARGUMENT_IN_PATH, Required: true})
		}
	}
	bundle, err := irv1.Seal([]*irv1.Binding{{Name: "b", Tools: []*irv1.Tool{tool}}}, [][]byte{schema})
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	var about []irv1.Problem
	for _, p := range content.Validate() {
		if p.Field == "http" {
			about = append(about, p)
		}
	}
	return about
}
