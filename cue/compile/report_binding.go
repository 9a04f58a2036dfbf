package compile

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// at returns a problem at what is written for v.
func (w written) at(code, hint string) diag.Problem {
	return diag.Problem{Pos: w.whereValue(), Code: code, Path: dotted(w.path...), Hint: hint}
}

// atLabel returns a problem at w's label.
func (w written) atLabel(code, hint string) diag.Problem {
	return diag.Problem{Pos: w.where(), Code: code, Path: dotted(w.path...), Hint: hint}
}

func (r report) badURL(v value, s string) {
	r.list.Errorf(v.at("bad-url", "write http:// or https://, a host, and where needed a port and a path"), "%s is not the URL of a service", mention(s, "bad-url"))
}

func (r report) badBasePath(v value, problem string) {
	r.list.Errorf(v.at("bad-url", ""), "%s", problem)
}

func (r report) noTools(v value) {
	r.list.Errorf(v.atLabel("no-tools", "add tools: NAME: {description: \"...\", http: \"GET /...\"}"), "a binding without tools has nothing to serve")
}

func (r report) invalid(at *sourcev1.Position, p irv1.Problem) {
	path := dotted("bindings", p.Binding)
	if p.Tool != "" {
		path += "." + dotted("tools", p.Tool)
	}
	if p.Field != "" {
		path += "." + p.Field
	}
	r.list.Errorf(diag.Problem{Pos: at, Code: "refused", Path: path}, "a node would refuse this: %s", p.Message)
}

func (r report) twoCredentials(v value, kinds []string) {
	r.list.Errorf(v.atLabel("two-credentials", "keep one"), "an upstream has one credential, not %s", strings.Join(kinds, " and "))
}

func (r report) grantParameter(v value, name string) {
	hint := "say so in " + map[string]string{"scope": "scopes", "client_id": "clientID", "client_secret": "secret"}[name]
	if name == "grant_type" {
		hint = "the grant is that of client credentials: remove it"
	}
	r.list.Errorf(v.atLabel("reserved-parameter", hint), "parameter %q cannot be set here", name)
}

func (r report) tlsWithoutHTTPS(v value) {
	r.list.Errorf(v.atLabel("tls-without-https", "write https:// in the URL, or remove tls"), "connections over http are not secured")
}

func (r report) halfACertificate(v value, other string) {
	r.list.Errorf(v.atLabel("half-a-certificate", "add "+other+": \"SECRET\""), "a certificate and its key come together, and there is no %s", other)
}

func (r report) headerTwice(v value, header, other string) {
	r.list.Errorf(v.at("header-twice", "give one of them another header, or remove it"), "header %s is already set by %s", header, other)
}

func (r report) reservedHeader(v value, header string) {
	hint := "the node sets it"
	if header == "Authorization" {
		hint = "say so in upstream.auth"
	}
	r.list.Errorf(v.at("reserved-header", hint), "header %s cannot be set here", header)
}

func (r report) notJSON(v value, mediaType string) {
	r.list.Errorf(v.at("bad-media-type", "write application/json, or a type that ends in +json"), "%q is no media type of JSON, which all bodies are", mediaType)
}

func (r report) lengths(v value, rule *irv1.MetaRule) {
	r.list.Errorf(v.atLabel("empty-range", "state both minLength and maxLength"),
		"no value is at least %d and at most %d bytes long", rule.GetMinLength(), rule.GetMaxLength())
}

func (r report) requiredAndGenerated(v value) {
	r.list.Errorf(v.atLabel("required-and-generated", "remove one of them"),
		"a field that is required is never generated: the call without it is refused")
}

func (r report) namespaceOfNoKey(v value) {
	r.list.Errorf(v.atLabel("namespace-of-no-key", "add key: true if the field makes a request safe to repeat, or remove namespace"),
		"only a key has a namespace")
}

func (r report) idleRetry(v value) {
	r.list.Warnf(v.at("idle-retry", `add retry: true to error rules for what passes, such as status: ["429", "503"]`),
		"no error rule has retry, so nothing is sent again")
}

func (r report) unsafeRetry(v value) {
	r.list.Errorf(v.at("unsafe-retry", "give the meta rule of a key key: true, or write annotations: idempotent: true if a second call changes nothing more"),
		"a request that is sent again could do its work twice: the tool is not idempotent and takes no key")
}

func (r report) oneOfLength(v value, s string, rule *irv1.MetaRule) {
	r.list.Errorf(v.at("one-of-length", "change minLength, maxLength or the value"),
		"%q is not between %d and %d bytes long, so it is never accepted", s, rule.GetMinLength(), rule.GetMaxLength())
}

func (r report) badHTTP(v value, s, problem string) {
	r.list.Errorf(v.at("bad-http", ""), "%q: %s", s, problem)
}

func (r report) payloadOnGet(v value) {
	r.list.Errorf(v.at("payload-on-get", "use another method, or arguments with in: \"query\""), "a GET request has no body to put a payload into")
}

func (r report) unknownMeta(v value, field string, known []string) {
	r.list.Errorf(v.atLabel("unknown-meta-field", diag.Nearest(field, known)), "the binding has no meta rule %q", field)
}

func (r report) noDocument(v value, ref string) {
	r.list.Errorf(v.at("schema-ref", "add schema: \"FILE.json\" to the binding, or write FILE.json#/$defs/"+ref),
		"%q is a name in the binding's schema document, and the binding names none", ref)
}

// missingDocument reports a document that v names and the module, which has all, has not.
// The file is where it would be, from the module's root.
func (r report) missingDocument(v value, name, file string, all []string) {
	switch {
	case strings.Contains(name, "://"):
		r.list.Errorf(v.at("schema-ref", fmt.Sprintf("save it in the module and write %q", path.Base(name))),
			"%q is fetched from nowhere: documents are files of the module", name)
		return
	case file == ".." || strings.HasPrefix(file, "../"):
		r.list.Errorf(v.at("schema-ref", fmt.Sprintf("copy it into the module and write %q", path.Base(name))),
			"%q is not in the module, and nothing outside of it is read", name)
		return
	}
	r.list.Errorf(v.at("schema-ref", beside(name, file, all)), "the module has no document %s", file)
}

// beside returns a hint at the documents in the directory of file, as they are named where
// that is called name.
func beside(name, file string, all []string) string {
	var near []string
	for _, other := range all {
		if path.Dir(other) == path.Dir(file) {
			near = append(near, path.Base(other))
		}
	}
	if best, found := diag.Closest(path.Base(file), near); found {
		return fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), best))
	}
	for i, other := range near {
		near[i] = path.Join(path.Dir(name), other)
	}
	if hint := diag.Nearest("", near); hint != "" {
		return hint
	}
	return "put it at " + file
}

func (r report) noSchema(v value, ref string, doc *document.Document, err error) {
	var p *document.PointerError
	hint := ""
	if errors.As(err, &p) {
		hint = diag.Nearest(p.Token, p.Names)
	}
	r.list.Errorf(v.at("schema-ref", hint), "%q is not in %s: %v", ref, doc.Path, err)
}

func (r report) badDocument(e *document.SyntaxError) {
	r.list.Errorf(diag.Problem{Pos: e.Pos, Code: "schema-syntax"}, "%s", e.Msg)
}

func (r report) noPatchedDocument(v value, place string) {
	r.list.Errorf(v.atLabel("schema-ref", "add schema: \"FILE.json\" to the binding, or write FILE.json#/$defs/"+place),
		"%q is a place in the binding's schema document, and the binding names none", place)
}

func (r report) noPlace(v value, place string, doc *document.Document, err error) {
	var p *document.PointerError
	hint := ""
	if errors.As(err, &p) {
		hint = diag.Nearest(p.Token, p.Names)
	}
	r.list.Errorf(v.atLabel("patch-place", hint), "%q is not in %s: %v", place, doc.Path, err)
}

func (r report) noSchemaThere(v value, place string, doc *document.Document) {
	r.list.Errorf(v.atLabel("patch-place", "name the schema that it belongs to"), "what is at %q in %s is no schema", place, doc.Path)
}

func (r report) patchedTwice(v value, place string, other value) {
	r.list.Errorf(v.atLabel("patch-twice", "make one patch of them"), "%q is the same schema as %q (%s)", place, other.label(), diag.Place(other.where()))
}

func (r report) unusedPatch(v value) {
	r.list.Warnf(v.atLabel("unused-patch", "remove it, or patch a schema that a tool uses"), "no tool of the binding comes by this schema")
}

// idlePatch reports a part of a patch, at v, that makes no difference to schema; names
// are those of which one would.
func (r report) idlePatch(v value, schema *document.Value, names []string) {
	hint := referral(schema)
	if hint == "" && len(names) > 0 {
		hint = diag.Nearest(v.label(), names)
	}
	r.list.Warnf(v.atLabel("idle-patch", hint), "this changes nothing")
}

// referral returns a hint at what schema refers to; "" when it refers to nothing.
func referral(schema *document.Value) string {
	ref, ok := schema.Get("$ref").AsString()
	if !ok {
		return ""
	}
	return fmt.Sprintf("it refers to another schema: patch %q", strings.TrimPrefix(ref, "#/$defs/"))
}

func (r report) noProperties(v value, schema *document.Value) {
	r.list.Errorf(v.atLabel("patch-property", referral(schema)), "the schema is not that of an object, which could have properties")
}

func (r report) propertyExists(v value, place, name string) {
	r.list.Errorf(v.atLabel("patch-property", fmt.Sprintf("patch %q", place+document.Pointer("properties", name))),
		"the schema has a property %q already", name)
}

func (r report) badProperty(v value, err error) {
	r.list.Errorf(v.atLabel("schema-syntax", ""), "%v", err)
}

func (r report) noOutput(v value, problem string) {
	r.list.Errorf(v.at("no-output", `add output: "NAME", the schema of a 2xx body`), "%s", problem)
}

func (r report) shownUnchecked(v value) {
	r.list.Warnf(v.at("unchecked-output", `write validate: result: "warn", or "enforce"`),
		"clients hold results to the schema that is shown, and nobody here does")
}

func (r report) idleOutput(v value) {
	r.list.Warnf(v.at("idle-output", "remove it, show it, or hold results to it"), "this schema is neither shown nor are results held to it")
}

func (r report) neverAnObject(v value) {
	r.list.Errorf(v.at("output-type", `write result: "mcp", or name the schema of an object`),
		"a dual or raw result is an object, and no object satisfies this schema")
}

func (r report) unknownBody(v value) {
	r.list.Errorf(v.at("output-type", `add "type": "object" to the schema, or another type`),
		"the schema that is shown must say whether a body is an object: what is none is wrapped as {value}")
}

func (r report) checkCondition(v value, name string) {
	r.list.Errorf(v.atLabel("check-condition", `add has: "response/..." or subset: {these: "response/...", of: "request/..."}`),
		"check %q must state one condition: has, or subset", name)
}

func (r report) idleRedaction(p redacted) {
	r.list.Errorf(diag.Problem{Pos: p.at, Code: "idle-place", Path: dotted(p.path...), Hint: diag.Nearest(p.lacks, p.known)},
		"no tool of the binding takes %q, so nothing is ever here", p.lacks)
}

func (r report) idlePlace(v value, name string, known []string) {
	hint := diag.Nearest(name, known)
	if name == "payload" || name == "meta" {
		hint = "give the check only to the tools that take one"
	}
	r.list.Errorf(v.at("idle-place", hint), "the tool has no argument %q, so nothing is ever here", name)
}

func (r report) tooManyPlaces(v value, n int) {
	r.list.Errorf(v.atLabel("too-many-places", `name what encloses them, with "*" for every member`),
		"there are %d places, at most %d can be redacted or revealed", n, irv1.MaxRedacted)
}

func (r report) sameName(b, other *binding) {
	r.list.Errorf(diag.Problem{Pos: b.at, Code: "duplicate-binding", Path: dotted("bindings", b.name), Hint: "give it another name"},
		"%s has a binding %q, too (%s)", directory(other.dir), b.name, diag.Place(other.at))
}

func (r report) changed(b, owner *binding) {
	r.list.Errorf(diag.Problem{Pos: b.at, Code: "not-owner", Path: dotted("bindings", b.name), Hint: "change it there, or give this binding another name"},
		"binding %q belongs to %s; %s may not change it", b.name, directory(owner.dir), directory(b.dir))
}

func (r report) duplicateTool(b, other *binding, tool string) {
	r.list.Errorf(diag.Problem{Pos: b.toolAt[tool], Code: "duplicate-tool", Path: dotted("bindings", b.name, "tools", tool),
		Hint: "rename one of them, or give one of the bindings another endpoint"},
		"binding %q has a tool %q at %s, too (%s)", other.name, tool, b.ir.GetEndpoint(), diag.Place(other.toolAt[tool]))
}

func (r report) tooManyTools(b *binding, endpoint string) {
	r.list.Errorf(diag.Problem{Pos: b.at, Code: "too-many-tools", Path: dotted("bindings", b.name), Hint: "give some bindings another endpoint"},
		"%s has more than %d tools", endpoint, irv1.MaxTools)
}

func (r report) tooLargeToSeal(err error) {
	r.list.Errorf(diag.Problem{Code: "too-large"}, "%v", err)
}

func (r report) noBindings() {
	r.list.Errorf(diag.Problem{Pos: &sourcev1.Position{File: moduleFile}, Code: "no-bindings", Hint: "write bindings: NAME: bind.#Binding & {...} into a package of the module"},
		"the module has no bindings")
}

func (r report) badBody(v value, err error) {
	r.list.Errorf(v.at("bad-document", ""), "this cannot be a JSON document: %v", err)
}

func (r report) documentAtEndpoint(p part, b *binding) {
	r.list.Errorf(p.at.atLabel("document-at-endpoint", "give one of them another path"),
		"binding %q serves MCP at %s (%s)", b.name, p.ir.GetPath(), diag.Place(b.at))
}

// documentConflict reports that two parts of a document differ at a path below each.
func (r report) documentConflict(p, other part, path ...string) {
	d := diag.Problem{Pos: p.at.whereBelow(path), Code: "document-conflict", Path: dotted(slices.Concat(p.at.path, path)...),
		Hint: "let one of the bindings say it, or both the same"}
	r.list.Errorf(d, "binding %q says otherwise of this document (%s)", other.binding, diag.Place(other.at.whereBelow(path)))
}
