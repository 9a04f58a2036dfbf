package compile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/source"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func (r report) badURI(v value, s string) {
	r.list.Errorf(v.at("bad-uri", "write the scheme in lower case and after it what a URI can hold, other characters as %20"),
		"%q cannot be the URI of a resource", s)
}

func (r report) badTemplate(v value, s string, err error) {
	r.list.Errorf(v.at("bad-uri", ""), "%q cannot be a template of URIs: %v", s, err)
}

func (r report) templateBrace(v value, stray string) {
	r.list.Errorf(v.at("bad-uri", "a brace of the URI itself is written %7B or %7D"),
		"only variables such as {isbn} are served, without operators, lists and modifiers: %q is none", stray)
}

func (r report) severalBodies(v value, fields []string) {
	r.list.Errorf(v.atLabel("resource-body", "remove one of them"), "a resource has one of %s", strings.Join(fields, ", "))
}

func (r report) noBody(v value, fields []string) {
	r.list.Errorf(v.atLabel("resource-body", `add text: "...", or another of `+strings.Join(fields, ", ")), "there is nothing to read")
}

func (r report) missingFile(v value, at string, all map[string][]byte) {
	if !source.IsFile(at) {
		r.list.Errorf(v.at("missing-file", "put it at "+path.Join(path.Dir(at), source.FilesDir, path.Base(at))),
			"%s lies in no directory called %s, and only those are read", at, source.FilesDir)
		return
	}
	hint := diag.Nearest(at, slices.Sorted(maps.Keys(all)))
	if hint == "" {
		hint = "put it there"
	}
	r.list.Errorf(v.at("missing-file", hint), "the module has no file %s", at)
}

func (r report) noMediaType(v value, name string) {
	r.list.Errorf(v.at("no-media-type", `add mimeType: "..." to the resource`), "the name of %s does not say what it is", name)
}

func (r report) notUTF8(v value) {
	r.list.Errorf(v.at("not-utf-8", `convert it, or write a mimeType that is no text, such as "application/octet-stream"`), "a text must be UTF-8")
}

func (r report) largeContent(v value, n int) {
	r.list.Errorf(v.at("too-large", "have a tool give it"), "it has %d bytes, more than the %d that fit one message", n, irv1.MaxBlob)
}

func (r report) widgetType(v value) {
	r.list.Errorf(v.at("widget-type", "remove it, or remove widget"), "a widget is HTML, not %s", v.quiet())
}

func (r report) metaTwice(v value, key string) {
	r.list.Errorf(v.atLabel("meta-twice", "remove it here or there"), "_meta has %q, too", key)
}

func (r report) wildcard(v value, s string) {
	r.list.Warnf(v.at("wide-csp", "name the hosts that the page needs"), "with %q the page reaches hosts that nobody has named", s)
}

func (r report) noWidget(at written, uri, endpoint string, known []string) {
	r.list.Warnf(at.at("no-widget", diag.Nearest(uri, known)), "%s has no resource %s to show results with", endpoint, uri)
}

func (r report) unknownVariable(v value, name string, known []string) {
	r.list.Errorf(v.atLabel("unknown-variable", diag.Nearest(name, known)), "the template has no variable %q", name)
}

func (r report) idleVariable(v value, name string) {
	r.list.Warnf(v.at("idle-variable", ""), "whatever {%s} is makes no difference to what is read", name)
}

func (r report) changingRead(v value, name string) {
	r.list.Warnf(v.at("changing-read", "name a tool of a GET, or write annotations: readOnly: true where it is"),
		"tool %q is not read-only, and clients read resources when they like", name)
}

func (r report) valueInMarkup(v value, mediaType string) {
	r.list.Warnf(v.at("value-in-markup", "give the values as JSON, and have a page that is always the same show them"),
		"values stand in %s as they are, and a client chooses them", mediaType)
}

func (r report) idleTool(v value, name string) {
	r.list.Warnf(v.at("idle-tool", "remove it, or name it where something of the binding is to call it"),
		"no client calls tool %q, and nothing of the binding does", name)
}

func (r report) duplicateResource(b, other *binding, name, otherName, uri string) {
	r.list.Errorf(b.source.below("resources", name, "uri").at("duplicate-resource", "change one of them, or give one of the bindings another endpoint"),
		"resource %q of binding %q has the URI %s, too (%s)", otherName, other.name, uri, diag.Place(other.source.below("resources", otherName, "uri").whereValue()))
}

func (r report) overlappingTemplates(b, other *binding, name, otherName string) {
	r.list.Errorf(b.source.below("templates", name, "uriTemplate").at("overlapping-templates", "change one of them so that no URI is of both"),
		"a URI can be of template %q of binding %q, too (%s)", otherName, other.name, diag.Place(other.source.below("templates", otherName, "uriTemplate").whereValue()))
}

func (r report) tooManyResources(b *binding, endpoint string) {
	r.list.Errorf(diag.Problem{Pos: b.at, Code: "too-many-resources", Path: dotted("bindings", b.name), Hint: "give some bindings another endpoint"},
		"%s has more than %d resources or %d templates", endpoint, irv1.MaxResources, irv1.MaxTemplates)
}
