// Package table makes bundles runnable: the IR of a generation comes in, and an
// immutable [Table] goes out that has everything a call needs at hand.
//
// A table is built aside, whole or not at all, and costs what changed: whatever is
// equal in the table before it (compiled schemas, prepared tools, connections to
// upstreams, tokens for them) is shared with it.
package table

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/dataplane/credential"
	"github.com/bindery-dev/bindery/dataplane/locale"
	"github.com/bindery-dev/bindery/dataplane/redact"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Deps is what tables take from the process around them. All tables of a process
// have the same.
type Deps struct {
	// Secrets finds the secrets that credentials name. Required.
	Secrets *secret.Store
	// Now is the clock of generated timestamps; nil means [time.Now].
	Now func() time.Time
	// Sleep waits for d, or until ctx is done and then returns its error; nil means that
	// it does so by the clock of the system.
	Sleep func(ctx context.Context, d time.Duration) error
	// UUID returns a fresh UUID of version 4 in its usual form; nil means a random
	// one.
	UUID func() string
	// UserAgent is sent where the caller gives none; "" means "bindery".
	UserAgent string
	// Transport returns what carries requests to an origin, be it an upstream or a
	// token endpoint; nil means [upstream.Transport].
	Transport func(upstream.Origin) http.RoundTripper
}

// A Table is a bundle made runnable. It is immutable, except that connections come
// and go, and safe for concurrent use.
type Table struct {
	generation *discoveryv1.Generation
	digest     irv1.Digest
	endpoints  map[string]*Endpoint
	paths      []string
	documents  map[string]*Document

	// What the next table can share.
	bindings    map[irv1.Digest]*binding // by the digest of their blob
	shapes      map[part]*shape
	clients     map[upstream.Origin]*upstream.Client
	credentials map[irv1.Digest]*credential.Credential // by the digest of what the IR has
}

// Generation returns what the table was built for. It is not to be changed.
func (t *Table) Generation() *discoveryv1.Generation { return t.generation }

// Digest returns the digest of the bundle.
func (t *Table) Digest() irv1.Digest { return t.digest }

// Endpoints returns the paths that MCP is served at, sorted.
func (t *Table) Endpoints() []string { return slices.Clone(t.paths) }

// Endpoint returns the endpoint at path; nil when there is none.
func (t *Table) Endpoint(path string) *Endpoint { return t.endpoints[path] }

// Document returns the document at path; nil when there is none.
func (t *Table) Document(path string) *Document { return t.documents[path] }

// Retire closes the connections of t that next, which has taken its place, does not
// share. Calls that began on t finish; their connections close after them. next nil
// shares nothing.
func (t *Table) Retire(next *Table) {
	for origin, client := range t.clients {
		if next == nil || next.clients[origin] != client {
			client.Close()
		}
	}
}

// An Endpoint is a path that MCP is served at, with the tools of all its bindings.
type Endpoint struct {
	Path    string
	Tools   []*Tool   // sorted by name
	Listed  []*Tool   // those that clients see, sorted by name
	Prompts []*Prompt // sorted by name
	Surface Surface
	// Logs says that a tool that clients see has logs for them.
	Logs bool
	// Icons are pictures of the endpoint, in the author's order.
	Icons []*irv1.Icon
	// Resources are sorted by URI, and Templates by how they are written.
	Resources []*Resource
	Templates []*Template
	Caching   Caching
	// Locales are the languages that the endpoint answers in; nil: it does not say.
	Locales *locale.Set

	byName   map[string]*Tool
	prompts  map[string]*Prompt
	notFound map[irv1.Kind]int
	// resources are those of Resources by URI, templates those of Templates by the
	// delimiters of their URIs.
	resources map[string]*Resource
	templates map[string][]*Template
}

// A Surface is everything that a client can see of an endpoint: a digest for each kind
// that a client is told about by itself when it changes.
type Surface struct {
	Tools     irv1.Digest
	Prompts   irv1.Digest
	Resources irv1.Digest // and templates
}

// Tool returns the tool called name, which may be hidden; nil when there is none.
func (e *Endpoint) Tool(name string) *Tool { return e.byName[name] }

// Prompt returns the prompt called name; nil when there is none.
func (e *Endpoint) Prompt(name string) *Prompt { return e.prompts[name] }

// NotFound returns the code of JSON-RPC for what there is not of a kind; 0 for that of
// MCP.
func (e *Endpoint) NotFound(k irv1.Kind) int { return e.notFound[k] }

// Completes reports whether there is anything to offer for what clients fill in.
func (e *Endpoint) Completes() bool {
	return slices.ContainsFunc(e.Prompts, func(p *Prompt) bool { return len(p.completions) > 0 }) ||
		slices.ContainsFunc(e.Templates, func(t *Template) bool { return len(t.completions) > 0 })
}

// A Tool is one MCP tool with everything that a call of it needs.
type Tool struct {
	Binding string
	Name    string
	// Hidden says that no client sees or calls it: it is there for what of its binding
	// names it.
	Hidden bool
	// JSON is the tool's entry in the answer to tools/list to a client that speaks the
	// newest revision of MCP, without newlines. For others see [Tool.AppendListed].
	JSON  []byte
	added []addition
	// Result is how the body of a response becomes a result.
	Result irv1.ResultMode
	// Produces are the media types that the body can have beside JSON.
	Produces []*irv1.MediaRange
	// ResultMeta are the parts of a response that go into "_meta".
	ResultMeta []*irv1.ResultMeta
	// Content are the parts of content that are made of the body; nil: the body is the
	// only one.
	Content []*irv1.ContentPart
	Moved   []*irv1.Pointer // members of the body that are not in what is left for the result
	// MaxResult is how many bytes a result may have of a body; 0: as many as are read.
	MaxResult int64
	// Shown says that clients are shown a schema of structured content.
	Shown bool

	Method   string           // of HTTP, such as "GET"
	Template string           // of the path, such as "/books/{id}": what logs can name
	Path     []*irv1.PathPart // follows Service.BasePath
	Args     []*Argument      // beside meta and payload, sorted by name
	Said     []*Argument      // those of Args that clients say in a header, too
	Accept   string           // the header; "": that of Service.Header
	Body     []*Field         // of the body that arguments make up; nil: there is none
	Meta     []*irv1.MetaRule // those that the tool takes, sorted by field
	Payload  *irv1.Payload    // nil when the tool takes none
	Schema   *schema.Schema   // what the payload is held to, see Payload.check; nil: anything
	Output   *Output          // what a 2xx body is held to; nil: anything
	Timeout  time.Duration    // of the exchange with the upstream, all attempts included
	Retry    *Retry           // nil: a request is sent once
	// Interruptible says that a call may be given up when its caller is gone: what the
	// upstream has done by then, it may do again or has done for nothing. It is so for a
	// GET and for what says that it is read-only or idempotent.
	Interruptible bool
	Service       *Service // shared by the tools of a binding
	Errors        *Errors  // shared by the tools of a binding
	Checks        Checks
	Redact        *redact.Rules // shared by the tools of a binding; nil: none
	Locales       *locale.Set   // of the endpoint; nil: none
	Asks          Asks
	State         *State                  // shared by the tools of a binding; nil: nothing is sealed
	Requires      []irv1.ClientCapability // of a client, sorted
	Notices       *irv1.Notices           // of a call that runs; nil: none
	deps          *Deps
	siblings      map[string]*Tool // those of the binding
}

// A Retry says how a request that failed is sent again.
type Retry struct {
	Attempts int           // at most, the first included
	MaxWait  time.Duration // the longest that an upstream can ask for
	Backoff  time.Duration // the longest random wait before the second attempt
	// Idempotent says that a second equal request changes nothing more. Without it only
	// one with a key is sent again.
	Idempotent bool
	Rate       upstream.Rate // of the budget of Service.Client
}

// An Output is what the body of a 2xx response is held to.
type Output struct {
	Schema *schema.Schema // nil: anything
	Check  irv1.Check     // what becomes of a body that breaks it: enforce or warn
}

// Deps returns what the table was built with, every function set.
func (t *Tool) Deps() *Deps { return t.deps }

// Takes reports whether the tool has an argument called name.
func (t *Tool) Takes(name string) bool {
	switch name {
	case "meta":
		return len(t.Meta) > 0
	case "payload":
		return t.Payload != nil
	}
	return slices.ContainsFunc(t.Args, func(a *Argument) bool { return a.GetName() == name })
}

// newEndpoints spreads the tools of bindings over their endpoints.
func newEndpoints(bindings []*binding) map[string]*Endpoint {
	endpoints := map[string]*Endpoint{}
	for _, b := range bindings {
		e := endpoints[b.endpoint]
		if e == nil {
			e = newEndpoint(b.endpoint)
			endpoints[b.endpoint] = e
		}
		e.Caching = e.Caching.narrowed(b.caching)
		e.Locales = b.locales // as all of them have it
		if len(b.icons) > 0 { // those of the others are the same
			e.Icons = b.icons
		}
		for _, t := range b.tools {
			e.Tools = append(e.Tools, t)
			e.byName[t.Name] = t
		}
		for k, code := range b.notFound {
			e.notFound[k] = cmp.Or(e.notFound[k], code)
		}
		for _, p := range b.prompts {
			e.Prompts = append(e.Prompts, p)
			e.prompts[p.Name] = p
		}
		e.addResources(b)
	}
	for e := range maps.Values(endpoints) {
		e.sort()
	}
	return endpoints
}

func newEndpoint(path string) *Endpoint {
	return &Endpoint{
		Path: path, byName: map[string]*Tool{}, prompts: map[string]*Prompt{},
		resources: map[string]*Resource{}, templates: map[string][]*Template{}, notFound: map[irv1.Kind]int{},
	}
}

func (e *Endpoint) addResources(b *binding) {
	for _, r := range b.resources {
		e.Resources = append(e.Resources, r)
		e.resources[r.URI] = r
	}
	for _, t := range b.templates {
		e.Templates = append(e.Templates, t)
		e.templates[t.Pattern.Delimiters] = append(e.templates[t.Pattern.Delimiters], t)
	}
}

// sort puts what e has in order, and sums up what clients see of it.
func (e *Endpoint) sort() {
	slices.SortFunc(e.Tools, byName)
	e.Listed = slices.DeleteFunc(slices.Clone(e.Tools), func(t *Tool) bool { return t.Hidden })
	e.Logs = slices.ContainsFunc(e.Listed, func(t *Tool) bool { return t.Notices.GetLog() != nil })
	slices.SortFunc(e.Prompts, func(a, b *Prompt) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(e.Resources, func(a, b *Resource) int { return strings.Compare(a.Key(), b.Key()) })
	slices.SortFunc(e.Templates, func(a, b *Template) int { return strings.Compare(a.Key(), b.Key()) })
	e.Surface = Surface{Tools: digestOf(e.Listed), Prompts: digestOf(e.Prompts), Resources: digestOf(e.Resources)}
	if templates := digestOf(e.Templates); templates != (irv1.Digest{}) {
		e.Surface.Resources = irv1.DigestOf(append(e.Surface.Resources[:], templates[:]...))
	}
}
