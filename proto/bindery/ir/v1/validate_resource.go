package irv1

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"
)

// MaxResources and MaxTemplates are the numbers of resources and of their templates that
// one endpoint can have.
const (
	MaxResources = 10_000
	MaxTemplates = 1000
)

// MaxTTL is the longest that others can keep what a node answers.
const MaxTTL = 365 * 24 * time.Hour

// maxSize is the largest size that every client reads exactly.
const maxSize = 1 << 53

// resources checks the resources and templates of b, apart from what other bindings have.
func (p *problems) resources(b *Binding, files map[Digest][]byte) {
	names := map[string]bool{}
	for _, r := range b.GetResources() {
		field := "resources." + r.GetName()
		p.check(validName(r.GetName()) && !names[r.GetName()], field, "the resource has no name of its own")
		names[r.GetName()] = true
		p.check(ValidURI(r.GetUri()), field+".uri", "it is not the URI of a resource")
		p.check(r.GetSize() <= maxSize, field+".size", "it is more than clients can count")
		p.described(field, r)
		switch k := r.GetBody().(type) {
		case *Resource_File:
			p.file(field, k.File, files)
		case *Resource_Use:
			p.use(field, k.Use, nil, b)
		}
	}
	p.templates(b)
}

func (p *problems) templates(b *Binding) {
	names := map[string]bool{}
	for _, t := range b.GetTemplates() {
		field := "templates." + t.GetName()
		p.check(validName(t.GetName()) && !names[t.GetName()], field, "the template has no name of its own")
		names[t.GetName()] = true
		pattern, err := NewURIPattern(t.GetUri())
		p.check(err == nil, field+".uriTemplate", "%v", err)
		given := map[string]bool{}
		for _, name := range pattern.Variables() {
			given[name] = true
		}
		p.described(field, t)
		switch k := t.GetBody().(type) {
		case *ResourceTemplate_Text:
			p.filled(field, k.Text, given)
		case *ResourceTemplate_Use:
			p.use(field, k.Use, given, b)
		}
		for _, c := range t.GetCompletions() {
			at := field + ".complete." + c.GetVariable()
			p.variable(at, c.GetVariable(), given)
			p.check(c.GetCompletion() != nil, at, "there is none")
			p.completion(at, c.GetCompletion(), given, b)
		}
	}
}

// described checks what clients get to know of a resource or template before they read
// it.
func (p *problems) described(field string, r interface {
	GetMediaType() string
	GetAnnotations() *ContentAnnotations
	GetEntryMeta() []*Member
	GetCache() *Cache
	GetIcons() []*Icon
}) {
	p.check(r.GetMediaType() == "" || ValidHeaderValue(r.GetMediaType()), field+".mimeType", "%q is not a media type", r.GetMediaType())
	p.contentAnnotations(field+".annotations", r.GetAnnotations())
	p.entryMeta(field+"._meta", r.GetEntryMeta())
	p.cache(field+".cache", r.GetCache())
	p.icons(r.GetIcons())
}

func (p *problems) contentAnnotations(field string, a *ContentAnnotations) {
	for i, role := range a.GetAudience() {
		p.check(role == Role_ROLE_USER || role == Role_ROLE_ASSISTANT, field+".audience", "%d is nobody", role)
		p.check(!slices.Contains(a.GetAudience()[:i], role), field+".audience", "one stands twice")
	}
	p.check(a.GetPriority() >= 0 && a.GetPriority() <= 1, field+".priority", "it is not from 0 to 1")
	if s := a.GetLastModified(); s != "" {
		_, err := time.Parse(time.RFC3339Nano, s)
		p.check(err == nil, field+".lastModified", "%q is not a time of RFC 3339", s)
	}
}

func (p *problems) file(field string, f *File, files map[Digest][]byte) {
	d, err := ParseDigest(f.GetSha256())
	data, ok := files[d]
	p.check(err == nil && ok, field, "the bundle lacks the file")
	p.check(f.GetBinary() || utf8.Valid(data), field, "the file is not UTF-8")
}

// filled checks a text with the variables given. Whether it stays JSON does not depend
// on the values: each is within a string.
func (p *problems) filled(field string, f *FilledText, given map[string]bool) {
	p.parts(field, f.GetText(), given)
	if !f.GetJson() {
		return
	}
	var text []byte
	for _, part := range f.GetText().GetParts() {
		if part.GetVariable() != "" {
			text = append(text, 'x')
		}
		text = append(text, part.GetLiteral()...)
	}
	p.check(json.Valid(text), field, "it is not JSON")
}

func (p *problems) caching(c *Caching) {
	p.cache("caching.tools", c.GetTools())
	p.cache("caching.resources", c.GetResources())
	p.cache("caching.templates", c.GetTemplates())
	p.cache("caching.prompts", c.GetPrompts())
	p.cache("caching.discover", c.GetDiscover())
}

func (p *problems) cache(field string, c *Cache) {
	if ttl := c.GetTtl(); ttl != nil {
		p.check(ttl.IsValid() && ttl.AsDuration() >= 0 && ttl.AsDuration() <= MaxTTL, field+".ttl", "it must be at most %s", MaxTTL)
	}
}

// A shelf is the resources of an endpoint.
type shelf struct {
	resources map[string]string // bindings by URI
	templates map[string][]*shelved
	count     int // of templates
}

// A shelved template is one of an endpoint, by the delimiters of its URIs.
type shelved struct {
	pattern       URIPattern
	binding, name string
}

// endpointResources adds the resources of b to those of its endpoint.
func (p *problems) endpointResources(endpoints map[string]*shelf, b *Binding) {
	s := endpoints[b.GetEndpoint()]
	if s == nil {
		s = &shelf{resources: map[string]string{}, templates: map[string][]*shelved{}}
		endpoints[b.GetEndpoint()] = s
	}
	for _, r := range b.GetResources() {
		other, taken := s.resources[r.GetUri()]
		p.check(!taken, "resources."+r.GetName()+".uri", "endpoint %s has another resource of this URI, in binding %q", b.GetEndpoint(), other)
		s.resources[r.GetUri()] = b.GetName()
	}
	for _, t := range b.GetTemplates() {
		pattern, err := NewURIPattern(t.GetUri())
		if err != nil {
			continue // it has been told
		}
		for _, other := range s.templates[pattern.Delimiters] {
			p.check(!pattern.Overlaps(other.pattern), "templates."+t.GetName()+".uriTemplate",
				"a URI can be of template %q of binding %q, too", other.name, other.binding)
		}
		if s.count++; s.count <= MaxTemplates {
			s.templates[pattern.Delimiters] = append(s.templates[pattern.Delimiters], &shelved{pattern, b.GetName(), t.GetName()})
		}
	}
	p.check(len(s.resources) <= MaxResources, "endpoint", "endpoint %s has %d resources, at most %d can share one", b.GetEndpoint(), len(s.resources), MaxResources)
	p.check(s.count <= MaxTemplates, "endpoint", "endpoint %s has %d templates, at most %d can share one", b.GetEndpoint(), s.count, MaxTemplates)
}
