package compile

import (
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A binding is one that was read: what goes into the bundle, and what is needed
// to check it against the others.
type binding struct {
	name     string
	dir      string // of its package
	ir       *irv1.Binding
	schemas  [][]byte
	files    [][]byte // what resources show
	entries  []*sourcev1.SourceMapEntry
	at       *sourcev1.Position
	toolAt   map[string]*sourcev1.Position
	promptAt map[string]*sourcev1.Position
	parts    []part // of documents, sorted by path
	redacted []redacted
	source   written // what was read
}

// place returns where the author wrote a field of the binding itself, or else the
// binding.
func (b *binding) place(field string) *sourcev1.Position {
	for _, e := range b.entries {
		if e.GetTool() == "" && e.GetField() == field {
			return e.GetPosition()
		}
	}
	return b.at
}

// A reading is a binding that is being read.
type reading struct {
	report
	unit    *unit
	out     *binding
	schema  value  // the binding's document
	headers claims // what the binding sets, once checkHeaders has run
	patches *document.Patches
	patched []patched // in the order of their labels
}

// Defaults of what layers may default and the schema therefore does not.
const (
	defaultBody      = 4 << 20
	defaultMinLength = 1
	defaultMaxLength = 1024
	defaultTimeout   = 10 // seconds
	defaultAttempts  = 1
	defaultMaxWait   = 5 * time.Second
	defaultBackoff   = 100 * time.Millisecond
	defaultPercent   = 20
	defaultPerSecond = 1
	defaultMaxAge    = 3600 // seconds
	defaultMediaType = "application/json"
)

// read reads a binding. Where v does not evaluate it reads what does, so that the
// checks see as much as there is.
func (u *unit) read(name string, v value, r report) *binding {
	source := &places{binding: name, base: len(v.path)}
	v.source = source
	b := &binding{name: name, dir: u.dir, ir: &irv1.Binding{Name: name}, at: v.where()}
	b.toolAt, b.promptAt = map[string]*sourcev1.Position{}, map[string]*sourcev1.Position{}
	b.source = u.later(v.written)
	rd := &reading{report: r, unit: u, out: b, schema: v.get("schema")}
	v.note()
	b.ir.Title = v.get("title").text()
	if b.ir.Title == "" {
		b.ir.Title = name
	}
	b.ir.Version = v.get("version").text()
	b.ir.Endpoint = v.get("endpoint").text()
	b.ir.Icons = rd.icons(v.get("icons"))
	b.ir.Locales = rd.locales(v.get("locales"))
	if s := v.get("schema").text(); s != "" {
		rd.document(s, rd.schema)
	}
	rd.readPatches(v.get("patches"))
	b.ir.Upstream = rd.upstream(v.get("upstream"))
	b.ir.Meta = rd.metaRules(v.get("meta"))
	b.ir.Errors = rd.errors(v.get("errors"))
	b.ir.State = rd.state(v.get("state"))
	rd.documents(v.get("documents"))
	rd.checkHeaders(v)
	b.ir.Tools = each(v.get("tools"), rd.tool)
	b.ir.Resources = each(v.get("resources"), rd.resource)
	b.ir.Templates = each(v.get("templates"), rd.template)
	b.ir.Prompts = each(v.get("prompts"), rd.prompt)
	b.ir.Caching = caching(v.get("caching"))
	rd.checkServes(v)
	rd.checkPatches()
	rd.checkAsks(v.get("tools"))
	rd.redaction(v.get("redact"))
	b.ir.Upstream.RetryBudget = retryBudget(v.get("upstream").get("retryBudget"), b.ir.GetTools())
	b.entries = append(b.entries, source.entries...)
	return b
}

func (rd *reading) upstream(v value) *irv1.Upstream {
	v.note()
	u := &irv1.Upstream{
		MaxRequestBytes:  v.get("maxRequestBytes").number(defaultBody),
		MaxResponseBytes: v.get("maxResponseBytes").number(defaultBody),
		Credential:       rd.credential(v.get("auth")),
	}
	if s := v.get("url").text(); s != "" {
		rd.url(u, s, v.get("url"))
	}
	u.Deadline = canonical(v.get("deadline").get("header").text())
	u.Tls = rd.tls(v.get("tls"), u.GetScheme())
	headers := v.get("headers").fields()
	for _, name := range sorted(headers) {
		u.Headers = append(u.Headers, &irv1.Header{Name: canonical(name), Value: headers[name].text()})
	}
	slices.SortFunc(u.Headers, func(a, b *irv1.Header) int { return strings.Compare(a.GetName(), b.GetName()) })
	return u
}

// url takes a base URL apart.
func (rd *reading) url(u *irv1.Upstream, s string, v value) {
	scheme, authority, path, ok := rd.splitURL(s, v)
	if ok {
		u.Scheme, u.Authority, u.BasePath = scheme, authority, strings.TrimRight(path, "/")
	}
}

// splitURL takes a URL without query apart; path is escaped. What is wrong with it is
// reported at v.
func (rd *reading) splitURL(s string, v value) (scheme irv1.Scheme, authority, path string, ok bool) {
	parsed, err := url.Parse(s)
	if err != nil || parsed.Hostname() == "" || !validPort(parsed) {
		rd.badURL(v, s)
		return 0, "", "", false
	}
	scheme = irv1.Scheme_SCHEME_HTTP
	if parsed.Scheme == "https" {
		scheme = irv1.Scheme_SCHEME_HTTPS
	}
	path = parsed.EscapedPath()
	if problem := straightness(strings.TrimRight(path, "/")); problem != "" {
		rd.badBasePath(v, problem)
	}
	return scheme, parsed.Host, path, true
}

// validPort reports whether u has a port from 1 to 65535, or none.
func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

var formats = map[string]irv1.Format{
	"": irv1.Format_FORMAT_TEXT, "date": irv1.Format_FORMAT_DATE, "date-time": irv1.Format_FORMAT_DATE_TIME,
	"uuid": irv1.Format_FORMAT_UUID, "uri": irv1.Format_FORMAT_URI,
}

var generators = map[string]irv1.Generate{
	"": irv1.Generate_GENERATE_NOTHING, "uuid": irv1.Generate_GENERATE_UUID, "timestamp": irv1.Generate_GENERATE_TIMESTAMP,
}

func (rd *reading) metaRules(v value) []*irv1.MetaRule {
	rules := v.fields()
	var all []*irv1.MetaRule
	for _, field := range sorted(rules) {
		rules[field].note()
		f := rules[field]
		rule := &irv1.MetaRule{
			Field:       field,
			Header:      canonical(f.get("header").text()),
			Required:    f.get("required").flag(),
			Description: f.get("description").text(),
			Format:      formats[f.get("format").text()],
			Generate:    generators[f.get("generate").text()],
			MinLength:   uint32(f.get("minLength").number(defaultMinLength)),
			MaxLength:   uint32(f.get("maxLength").number(defaultMaxLength)),
			OneOf:       f.get("oneOf").texts(),
			SignsBody:   f.get("signs").text() == "body",
			Key:         f.get("key").flag(),
			Namespace:   canonical(f.get("namespace").get("header").text()),
			Sources:     rd.sources(f.get("from")),
			Hidden:      f.get("argument").denied(),
		}
		rd.checkMetaRule(rule, f)
		all = append(all, rule)
	}
	return all
}

// canonical returns a header's name as HTTP/1.1 libraries write it.
func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }
