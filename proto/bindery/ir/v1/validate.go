package irv1

import (
	"fmt"
	"slices"
	"strings"
)

// MaxTools is the number of tools that one endpoint can have.
const MaxTools = 10_000

// Features returns the names of what this build runs beyond its [Level], sorted. A
// bundle that needs another one is refused.
func Features() []string { return nil }

// A Problem is why a bundle cannot run. It names a place as the IR knows it, and as
// far as the IR knows it.
type Problem struct {
	Binding string // "" when the problem is not one binding's
	Tool    string // "" when the problem is not one tool's
	// Field is the author's word for the place where there is one, such as
	// "upstream.url" or "meta.request_id.header"; it may be "".
	Field   string
	Message string // lower case, no full stop
}

// String returns the problem as one line.
func (p Problem) String() string {
	var where []string
	if p.Binding != "" {
		where = append(where, fmt.Sprintf("binding %q", p.Binding))
	}
	if p.Tool != "" {
		where = append(where, fmt.Sprintf("tool %q", p.Tool))
	}
	if p.Field != "" {
		where = append(where, p.Field)
	}
	return strings.Join(append(where, p.Message), ": ")
}

// problems collects what is wrong, each with the place in force when it is added.
type problems struct {
	list    []Problem
	binding string
	tool    string
}

func (p *problems) addf(field, format string, args ...any) {
	p.list = append(p.list, Problem{Binding: p.binding, Tool: p.tool, Field: field, Message: fmt.Sprintf(format, args...)})
}

// check adds a problem unless ok.
func (p *problems) check(ok bool, field, format string, args ...any) {
	if !ok {
		p.addf(field, format, args...)
	}
}

// Validate returns every reason why c cannot run, nil when it can: whatever a table
// relies on holds then, except that schemas compile and secrets exist. Nothing that
// this build does not know is passed over: a field, a value of an enumeration, a
// level or a feature from a newer build is a problem.
func (c *Content) Validate() []Problem {
	p := &problems{}
	p.check(c.Manifest.GetLevel() <= Level, "", "the bundle has IR level %d, this node runs up to %d", c.Manifest.GetLevel(), Level)
	for _, f := range c.Manifest.GetFeatures() {
		p.check(slices.Contains(Features(), f), "", "the bundle needs the feature %q, which this node lacks", f)
	}
	p.known(c.Manifest.ProtoReflect())
	endpoints, prompts := map[string]map[string]string{}, map[string]map[string]string{}
	shelves := map[string]*shelf{}
	codes, names := map[string]map[Kind]int32{}, map[string]bool{}
	for _, b := range c.Bindings {
		p.binding, p.tool = b.GetName(), ""
		p.known(b.ProtoReflect())
		p.check(!names[b.GetName()], "", "there are two bindings of this name")
		names[b.GetName()] = true
		p.bindingRules(b, c.Schemas)
		p.resources(b, c.Files)
		p.prompts(b, c.Files)
		p.endpoint(endpoints, b)
		p.endpointPrompts(prompts, b)
		p.endpointResources(shelves, b)
		p.endpointCodes(codes, b)
	}
	p.documents(c.Bindings, endpoints)
	p.sharedIcons(c.Bindings)
	p.sharedLocales(c.Bindings)
	return p.list
}

// endpoint adds the tools of b to those of its endpoint: tool name -> binding, by
// endpoint.
func (p *problems) endpoint(endpoints map[string]map[string]string, b *Binding) {
	tools := endpoints[b.GetEndpoint()]
	if tools == nil {
		tools = map[string]string{}
		endpoints[b.GetEndpoint()] = tools
	}
	for _, t := range b.GetTools() {
		p.tool = t.GetName()
		if other, ok := tools[t.GetName()]; ok {
			p.addf("name", "endpoint %s has another tool of this name, in binding %q", b.GetEndpoint(), other)
		}
		tools[t.GetName()] = b.GetName()
	}
	p.tool = ""
	p.check(len(tools) <= MaxTools, "endpoint", "endpoint %s has %d tools, at most %d can share one", b.GetEndpoint(), len(tools), MaxTools)
}

func (p *problems) bindingRules(b *Binding, schemas map[Digest][]byte) {
	p.check(validName(b.GetName()), "name", "%q cannot be the name of a binding", b.GetName())
	p.check(validEndpoint(b.GetEndpoint()), "endpoint", "%q cannot be the path of an endpoint", b.GetEndpoint())
	p.icons(b.GetIcons())
	p.locales(b.GetLocales())
	p.upstream(b.GetUpstream())
	p.meta(b)
	p.errors(b.GetErrors())
	p.redaction(b)
	p.state(b)
	p.check(len(b.GetTools())+len(b.GetPrompts())+len(b.GetResources())+len(b.GetTemplates()) > 0, "tools", "there is nothing to serve")
	for _, t := range b.GetTools() {
		p.tool = t.GetName()
		p.toolRules(t, b, schemas)
	}
	p.tool = ""
	p.caching(b.GetCaching())
}

// validName reports whether name can be that of a binding or a tool: what MCP
// clients accept.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isUnreserved(c) || c == '~' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// validEndpoint reports whether path is one that a client asks for as it stands:
// segments of unreserved characters (RFC 3986).
func validEndpoint(path string) bool {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok || len(path) > 1024 {
		return false
	}
	for _, segment := range strings.Split(rest, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, func(r rune) bool { return r > '~' || !isUnreserved(byte(r)) }) {
			return false
		}
	}
	return true
}

// isUnreserved reports whether c is an unreserved character of a URI (RFC 3986,
// section 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
