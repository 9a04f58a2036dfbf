package dev

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// An Upstream says where the upstream of a binding is for the time being.
type Upstream struct {
	Binding string
	URL     *url.URL // scheme, authority and an optional path
}

// ParseUpstream parses "NAME=URL".
func ParseUpstream(s string) (Upstream, error) {
	name, text, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Upstream{}, fmt.Errorf("%q is not NAME=URL", s)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return Upstream{}, fmt.Errorf("%s: the URL of an upstream is like https://api.example.com/v1", name)
	case u.User != nil:
		return Upstream{}, fmt.Errorf("%s: the URL of an upstream holds no user and password: name a secret in the binding", name)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Upstream{}, fmt.Errorf("%s: the URL of an upstream has neither query nor fragment", name)
	}
	return Upstream{name, u}, nil
}

// UnknownBinding says that no binding of the module is called Name.
type UnknownBinding struct {
	Name  string
	Known []string // the names there are, sorted
}

func (e *UnknownBinding) Error() string {
	return fmt.Sprintf("no binding is called %q: there is %s", e.Name, strings.Join(e.Known, ", "))
}

// redirect returns b with the base URLs of upstreams replaced. What is not replaced
// is shared with b. The error is an *[UnknownBinding], or says that b is damaged.
func redirect(b *irv1.Bundle, upstreams []Upstream) (*irv1.Bundle, error) {
	if len(upstreams) == 0 {
		return b, nil
	}
	content, err := irv1.Open(b)
	if err != nil {
		return nil, err
	}
	bindings := make([]*irv1.Binding, len(content.Bindings))
	index := map[string]int{}
	var known []string
	for i, binding := range content.Bindings {
		bindings[i], index[binding.GetName()] = binding, i
		known = append(known, binding.GetName())
	}
	for _, u := range upstreams {
		i, ok := index[u.Binding]
		if !ok {
			return nil, &UnknownBinding{u.Binding, known}
		}
		bindings[i] = at(bindings[i], u.URL)
	}
	schemas, files := slices.Collect(maps.Values(content.Schemas)), slices.Collect(maps.Values(content.Files))
	return irv1.Parts{Bindings: bindings, Schemas: schemas, Files: files, Features: content.Manifest.GetFeatures()}.Seal()
}

// at returns binding with its upstream at u. Plain HTTP takes no TLS.
func at(binding *irv1.Binding, u *url.URL) *irv1.Binding {
	binding = proto.CloneOf(binding)
	if binding.Upstream == nil {
		binding.Upstream = &irv1.Upstream{}
	}
	binding.Upstream.Scheme = irv1.Scheme_SCHEME_HTTP
	if u.Scheme == "https" {
		binding.Upstream.Scheme = irv1.Scheme_SCHEME_HTTPS
	} else {
		binding.Upstream.Tls = nil
	}
	binding.Upstream.Authority = u.Host
	binding.Upstream.BasePath = strings.TrimRight(u.EscapedPath(), "/")
	return binding
}
