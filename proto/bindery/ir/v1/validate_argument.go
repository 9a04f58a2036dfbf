package irv1

import (
	"slices"
	"strings"
)

// MaxPlace is how many members deep an argument's place in the body can be.
const MaxPlace = 16

func (p *problems) arguments(t *Tool, b *Binding) {
	names, places, said := map[string]bool{}, Places{}, map[string]bool{}
	for _, a := range t.GetArguments() {
		field := "args." + a.GetName()
		p.check(a.GetName() != "" && !names[a.GetName()], field, "the argument has no name of its own")
		p.check(a.GetName() != "meta" && a.GetName() != "payload", field, "this name has a meaning already")
		names[a.GetName()] = true
		if other := places.Claim(a); other != "" {
			p.addf(field, "argument %q goes to the same place", other)
		}
		p.argumentType(field, a)
		if header := a.GetClientHeader(); header != "" {
			name, ok := strings.CutPrefix(header, ClientHeaderPrefix)
			p.check(ok && name != "" && ValidHeaderName(header), field+".mcpHeader", "%q is no header in which clients say arguments", header)
			p.check(!said[header], field+".mcpHeader", "clients say another argument in %s", header)
			said[header] = true
		}
		switch a.GetIn() {
		case ArgumentIn_ARGUMENT_IN_PATH:
			p.check(a.GetRequired(), field, "an argument of the path must be required")
			p.check(inPath(t, a.GetName()), field, "the path does not have it")
		case ArgumentIn_ARGUMENT_IN_HEADER:
			p.argumentHeader(field+".as", a.GetWireName(), t, b)
		case ArgumentIn_ARGUMENT_IN_BODY:
			p.check(len(a.GetPlace()) > 0 && len(a.GetPlace()) <= MaxPlace, field+".as", "it must be from 1 to %d members deep", MaxPlace)
			p.check(t.GetPayload() == nil, field, "the body is the payload already")
			p.check(t.GetMethod() != Method_METHOD_GET, field, "a GET request has no body")
		}
	}
}

func inPath(t *Tool, name string) bool {
	return slices.ContainsFunc(t.GetPath(), func(part *PathPart) bool { return part.GetArgument() == name })
}

// argumentType checks that a value of the type has a form where a goes.
func (p *problems) argumentType(field string, a *Argument) {
	body := a.GetIn() == ArgumentIn_ARGUMENT_IN_BODY
	array := a.GetType() == ArgumentType_ARGUMENT_TYPE_ARRAY
	p.check((a.Items != nil) == array, field+".items", "an array has them, and nothing else")
	p.check(a.Items == nil || a.Items.isScalar(), field+".items", "they must be scalars")
	p.check((a.Style != nil) == (array && a.GetIn() == ArgumentIn_ARGUMENT_IN_QUERY), field+".style", "an array of the query has one, and nothing else")
	switch a.GetType() {
	case ArgumentType_ARGUMENT_TYPE_OBJECT:
		p.check(body || a.GetIn() == ArgumentIn_ARGUMENT_IN_QUERY, field+".type", "an object must be in the query or the body")
	case ArgumentType_ARGUMENT_TYPE_ANY:
		p.check(body && a.GetChecked(), field+".type", "without a type it must be in the body, with a schema")
	}
	p.check(body || !a.GetNullable(), field+".nullable", "null is a value in the body only")
	p.check(body || len(a.GetPlace()) == 0, field+".as", "only an argument of the body has a place there")
}

func (t ArgumentType) isScalar() bool {
	return t >= ArgumentType_ARGUMENT_TYPE_STRING && t <= ArgumentType_ARGUMENT_TYPE_BOOLEAN
}

func (p *problems) argumentHeader(field, name string, t *Tool, b *Binding) {
	p.header(field, name)
	p.check(name != "Content-Type", field, "the body decides about Content-Type")
	p.check(name != credentialHeader(b.GetUpstream()), field, "the credential sets %s", name)
	for _, r := range b.GetMeta() {
		p.check(r.GetHeader() != name || !slices.Contains(t.GetMeta(), r.GetField()), field, "meta.%s sets %s too", r.GetField(), name)
	}
}
