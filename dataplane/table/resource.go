package table

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Reading says how resources are read: one, or those of a template.
type Reading struct {
	Binding   string
	Name      string
	MediaType string // of what is read; "": as the upstream says
	Meta      []byte // the "_meta" of what is read, an object; nil for none
	Cache     Cache  // of what is read
	Use       *Use   // nil: what is read is the bundle's
}

// A Resource is one MCP resource with everything that it takes to read it.
type Resource struct {
	Entry
	Reading
	URI string
	// Digest is that of all that a reload can change of what is read.
	Digest irv1.Digest

	content listing // of what is read, unless there is a Use
}

// AppendContent appends what is read, which is the bundle's, for a client that speaks a
// revision of MCP.
func (r *Resource) AppendContent(dst []byte, version string) []byte {
	return appendListed(dst, r.content.json, r.content.added, version)
}

// A Template is the resources of one form of URI with everything that it takes to read
// them.
type Template struct {
	Entry
	Reading
	Pattern irv1.URIPattern
	Text    *irv1.FilledText // nil: as Use gives it

	completions map[string]*Completion // by variable
}

// Completion returns what is offered for a variable; nil for nothing.
func (t *Template) Completion(variable string) *Completion { return t.completions[variable] }

// Resource returns the resource that has a URI; nil when there is none.
func (e *Endpoint) Resource(uri string) *Resource { return e.resources[uri] }

// Template returns the template that a URI is of, and the values of its variables; nil
// when there is none. There is never more than one.
func (e *Endpoint) Template(uri string) (*Template, map[string]string) {
	delimiters, _ := irv1.Delimiters(uri)
	for _, t := range e.templates[delimiters] {
		if values, ok := t.Pattern.Match(uri); ok {
			return t, values
		}
	}
	return nil, nil
}

// TemplateAs returns the template that is written as uriTemplate; nil when there is none.
func (e *Endpoint) TemplateAs(uriTemplate string) *Template {
	i, found := slices.BinarySearchFunc(e.Templates, uriTemplate, func(t *Template, key string) int { return strings.Compare(t.Key(), key) })
	if !found {
		return nil
	}
	return e.Templates[i]
}

// Changed returns the URIs of resources of e that next, nil for nothing, has no more, or
// that read otherwise there, as far as a node can tell; sorted.
func (e *Endpoint) Changed(next *Endpoint) []string {
	var all []string
	for _, r := range e.Resources {
		if next == nil || next.Resource(r.URI) == nil || next.Resource(r.URI).Digest != r.Digest {
			all = append(all, r.URI)
		}
	}
	return all
}

func (b *builder) resource(source *irv1.Binding, r *irv1.Resource, tools []*Tool) *Resource {
	meta := entryMeta(r.GetEntryMeta(), nil)
	resource := &Resource{
		Entry:   newEntry(r.GetUri(), func(version string) any { return shownResource(r, meta, version) }),
		Reading: newReading(source, r, newUse(r.GetUse(), tools)),
		URI:     r.GetUri(),
		Digest:  digestOfReading(source, r),
	}
	if f := r.GetFile(); f != nil {
		resource.content = newContent(r, b.content.Files[irv1.Digest(f.GetSha256())])
	}
	return resource
}

func newTemplate(source *irv1.Binding, t *irv1.ResourceTemplate, tools []*Tool) *Template {
	meta := entryMeta(t.GetEntryMeta(), nil)
	pattern, _ := irv1.NewURIPattern(t.GetUri()) // it is one: Validate has made it, too
	uri := pattern.String()
	template := &Template{
		Entry:       newEntry(uri, func(version string) any { return shownTemplate(t, uri, meta, version) }),
		Reading:     newReading(source, t, newUse(t.GetUse(), tools)),
		Pattern:     pattern,
		Text:        t.GetText(),
		completions: map[string]*Completion{},
	}
	for _, c := range t.GetCompletions() {
		template.completions[c.GetVariable()] = newCompletion(c.GetCompletion(), tools)
	}
	return template
}

func newReading(b *irv1.Binding, r interface {
	GetName() string
	GetMediaType() string
	GetEntryMeta() []*irv1.Member
	GetCache() *irv1.Cache
}, use *Use) Reading {
	return Reading{
		Binding:   b.GetName(),
		Name:      r.GetName(),
		MediaType: r.GetMediaType(),
		Meta:      entryMeta(r.GetEntryMeta(), nil),
		Cache:     newReadCache(r.GetCache(), use != nil),
		Use:       use,
	}
}

// newContent returns what is read of r, whose body is data.
func newContent(r *irv1.Resource, data []byte) listing {
	content := struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType,omitempty"`
		Text     *string `json:"text,omitempty"`
		Blob     *string `json:"blob,omitempty"`
	}{URI: r.GetUri(), MimeType: r.GetMediaType()}
	body := string(data)
	if r.GetFile().GetBinary() {
		body = base64.StdEncoding.EncodeToString(data)
		content.Blob = &body
	} else {
		content.Text = &body
	}
	var l listing
	l.add("", content)
	l.add(withMeta, struct {
		Meta json.RawMessage `json:"_meta,omitempty"`
	}{entryMeta(r.GetEntryMeta(), nil)})
	l.json = append(l.json, '}')
	return l
}

// digestOfReading returns the digest of what b says of r, and of the tool behind it.
func digestOfReading(b *irv1.Binding, r *irv1.Resource) irv1.Digest {
	h := sha256.New()
	data, _ := irv1.Marshal(r) // it was unmarshalled: it cannot fail
	h.Write(data)
	for _, t := range b.GetTools() {
		if t.GetName() == r.GetUse().GetTool() {
			data, _ = irv1.Marshal(t)
			h.Write(data)
		}
	}
	return irv1.Digest(h.Sum(nil))
}

// The revisions of MCP that added something to resources: withMeta titles, "_meta" and
// when they changed last, withIcons icons.
const (
	withMeta  = "2025-06-18"
	withIcons = "2025-11-25"
)

// resourceEntry is what resources/list has of a resource, or, without uri and size,
// resources/templates/list of a template.
type resourceEntry struct {
	URI         string              `json:"uri,omitempty"`
	URITemplate string              `json:"uriTemplate,omitempty"`
	Name        string              `json:"name"`
	Title       string              `json:"title,omitempty"`
	Description string              `json:"description,omitempty"`
	MimeType    string              `json:"mimeType,omitempty"`
	Size        *uint64             `json:"size,omitempty"`
	Annotations *contentAnnotations `json:"annotations,omitempty"`
	Icons       []icon              `json:"icons,omitempty"`
	Meta        json.RawMessage     `json:"_meta,omitempty"`
}

func shownResource(r *irv1.Resource, meta json.RawMessage, version string) resourceEntry {
	e := resourceEntry{
		URI: r.GetUri(), Name: r.GetName(), Description: r.GetDescription(), MimeType: r.GetMediaType(), Size: r.Size,
		Annotations: newContentAnnotations(r.GetAnnotations(), version),
	}
	e.later(r.GetTitle(), r.GetIcons(), meta, version)
	return e
}

func shownTemplate(t *irv1.ResourceTemplate, uri string, meta json.RawMessage, version string) resourceEntry {
	e := resourceEntry{
		URITemplate: uri, Name: t.GetName(), Description: t.GetDescription(), MimeType: t.GetMediaType(),
		Annotations: newContentAnnotations(t.GetAnnotations(), version),
	}
	e.later(t.GetTitle(), t.GetIcons(), meta, version)
	return e
}

// later adds what not every revision has.
func (e *resourceEntry) later(title string, pictures []*irv1.Icon, meta json.RawMessage, version string) {
	if version >= withMeta {
		e.Title, e.Meta = title, meta
	}
	if version >= withIcons {
		e.Icons = icons(pictures)
	}
}

// contentAnnotations say who content is for, in the words of MCP.
type contentAnnotations struct {
	Audience     []string `json:"audience,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`
	LastModified string   `json:"lastModified,omitempty"`
}

var roleNames = map[irv1.Role]string{irv1.Role_ROLE_USER: "user", irv1.Role_ROLE_ASSISTANT: "assistant"}

// newContentAnnotations returns what a revision of MCP has of a; nil for nothing.
func newContentAnnotations(a *irv1.ContentAnnotations, version string) *contentAnnotations {
	shown := &contentAnnotations{}
	for _, role := range a.GetAudience() {
		shown.Audience = append(shown.Audience, roleNames[role])
	}
	if a != nil {
		shown.Priority = a.Priority
	}
	if version >= withMeta {
		shown.LastModified = a.GetLastModified()
	}
	if shown.Audience == nil && shown.Priority == nil && shown.LastModified == "" {
		return nil
	}
	return shown
}
