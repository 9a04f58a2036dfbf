package irv1

import (
	"slices"
	"strings"
	"time"
)

// maxTimeout is the most that a tool can wait for its upstream.
const maxTimeout = 24 * time.Hour

func (p *problems) toolRules(t *Tool, b *Binding, schemas map[Digest][]byte) {
	p.check(validName(t.GetName()), "name", "%q cannot be the name of a tool", t.GetName())
	p.check(t.GetDescription() != "", "description", "there is none")
	p.arguments(t, b)
	p.path(t)
	p.toolMeta(t, b)
	p.checks(t)
	p.surface(t)
	p.result(t)
	d, err := ParseDigest(t.GetInputSchema())
	p.check(err == nil && schemas[d] != nil, "payload", "the bundle lacks the input schema")
	if t.GetOutput() != nil {
		d, err := ParseDigest(t.GetOutput().GetSchema())
		p.check(err == nil && schemas[d] != nil, "output", "the bundle lacks the output schema")
	}
	p.check(validWait(t.GetTimeout()), "timeout", "it must be more than 0 and at most %s", maxTimeout)
	p.retry(t.GetRetry(), b)
	p.asks(t, b)
	p.requires(t)
	p.notices(t.GetNotices())
}

// path checks that the parts make a path whatever the arguments are: each one
// stands for itself between literals here.
func (p *problems) path(t *Tool) {
	var path strings.Builder
	for _, part := range t.GetPath() {
		name, ok := part.GetKind().(*PathPart_Argument)
		if !ok {
			path.WriteString(part.GetLiteral())
			continue
		}
		path.WriteString("x")
		p.check(slices.ContainsFunc(t.GetArguments(), func(a *Argument) bool {
			return a.GetName() == name.Argument && a.GetIn() == ArgumentIn_ARGUMENT_IN_PATH
		}), "http", "path parameter %q has no argument", name.Argument)
	}
	p.check(validPath(path.String()), "http", "%q cannot be the path of a URL", t.Template())
}

func (p *problems) toolMeta(t *Tool, b *Binding) {
	made := slices.ContainsFunc(t.GetArguments(), func(a *Argument) bool { return a.GetIn() == ArgumentIn_ARGUMENT_IN_BODY })
	names := map[string]bool{}
	for _, field := range t.GetMeta() {
		p.check(!names[field], "meta", "field %q stands twice", field)
		p.check(slices.ContainsFunc(b.GetMeta(), func(r *MetaRule) bool { return r.GetField() == field }),
			"meta", "the binding has no rule for field %q", field)
		p.check(!made || !slices.ContainsFunc(b.GetMeta(), func(r *MetaRule) bool { return r.GetField() == field && r.GetSignsBody() }),
			"meta", "field %q signs a body that the node does not make", field)
		names[field] = true
	}
}

// Template returns the path of t as an author writes it, such as "/books/{id}",
// without the upstream's base path.
func (t *Tool) Template() string {
	var b strings.Builder
	for _, part := range t.GetPath() {
		if a, ok := part.GetKind().(*PathPart_Argument); ok {
			b.WriteString("{" + a.Argument + "}")
		} else {
			b.WriteString(part.GetLiteral())
		}
	}
	return b.String()
}
