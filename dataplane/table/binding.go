package table

import (
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/locale"
	"github.com/bindery-dev/bindery/dataplane/redact"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// binding is one of the bindings of a table.
type binding struct {
	endpoint  string
	tools     []*Tool
	documents []*Document
	icons     []*irv1.Icon // of the endpoint
	locales   *locale.Set  // of the endpoint
	prompts   []*Prompt
	notFound  map[irv1.Kind]int // codes for what there is not; 0 for the default
	resources []*Resource
	templates []*Template
	caching   *irv1.Caching
}

// builder makes the parts of next, from those of prev where they are equal.
type builder struct {
	content *irv1.Content
	prev    *Table
	next    *Table
	deps    *Deps
	reasons []*discoveryv1.Reason
}

// bindings returns those of the content, in its order.
func (b *builder) bindings() []*binding {
	var all []*binding
	for i, source := range b.content.Bindings {
		digest := irv1.Digest(b.content.Manifest.GetBindings()[i].GetSha256())
		ready := b.prev.bindings[digest]
		if ready != nil {
			b.keep(source)
		} else {
			ready = b.binding(source)
		}
		b.next.bindings[digest] = ready
		all = append(all, ready)
	}
	return all
}

// keep takes over from prev what a binding that it has already is made of.
func (b *builder) keep(source *irv1.Binding) {
	b.client(upstream.OriginOf(source.GetUpstream()))
	b.credential(source.GetUpstream().GetCredential())
	for _, t := range source.GetTools() {
		b.next.shapes[inputPart(t)] = b.prev.shapes[inputPart(t)]
		if o := t.GetOutput(); o != nil {
			b.next.shapes[outputPart(o)] = b.prev.shapes[outputPart(o)]
		}
		for _, a := range t.GetArguments() {
			if a.GetChecked() {
				b.next.shapes[argumentPart(t, a)] = b.prev.shapes[argumentPart(t, a)]
			}
		}
	}
}

func (b *builder) binding(source *irv1.Binding) *binding {
	ready := &binding{endpoint: source.GetEndpoint(), notFound: map[irv1.Kind]int{}, icons: source.GetIcons(), locales: locale.New(source.GetLocales()), caching: source.GetCaching()}
	for _, d := range source.GetDocuments() {
		ready.documents = append(ready.documents, newDocument(d))
	}
	for _, k := range irv1.Kinds() {
		ready.notFound[k] = int(source.GetErrors().Codes(k).GetNotFound())
	}
	service := b.service(source.GetUpstream())
	failures, err := newErrors(source.GetErrors())
	if err != nil {
		b.reason("invalid-bundle", source, "", "errors", err)
	}
	state := b.state(source.GetState())
	hidden := redact.New(source.GetRedact(), source.GetReveal())
	rules := map[string]*irv1.MetaRule{}
	for _, r := range source.GetMeta() {
		rules[r.GetField()] = r
	}
	for _, t := range source.GetTools() {
		in, err := b.input(t)
		if err != nil {
			b.reason("bad-schema", source, t.GetName(), "payload", err)
			continue
		}
		out, err := b.output(t)
		if err != nil {
			b.reason("bad-schema", source, t.GetName(), "output", err)
			continue
		}
		args, err := b.arguments(t)
		if err != nil {
			b.reason("bad-schema", source, t.GetName(), "args", err)
			continue
		}
		asks, err := newAsks(t, source)
		if err != nil {
			b.reason("bad-schema", source, t.GetName(), "asks", err)
			continue
		}
		tool := newTool(source.GetName(), t, in, out)
		tool.Args, tool.Asks, tool.State = args, asks, state
		tool.Said = slices.DeleteFunc(slices.Clone(args), func(a *Argument) bool { return a.GetClientHeader() == "" })
		tool.Service, tool.Errors, tool.Redact, tool.Locales, tool.deps = service, failures, hidden, ready.locales, b.deps
		tool.Retry = newRetry(t, source.GetUpstream().GetRetryBudget())
		for _, field := range t.GetMeta() {
			tool.Meta = append(tool.Meta, rules[field])
		}
		ready.tools = append(ready.tools, tool)
	}
	for _, p := range source.GetPrompts() {
		ready.prompts = append(ready.prompts, newPrompt(source, p, ready.tools, b.content.Files))
	}
	for _, r := range source.GetResources() {
		ready.resources = append(ready.resources, b.resource(source, r, ready.tools))
	}
	for _, t := range source.GetTemplates() {
		ready.templates = append(ready.templates, newTemplate(source, t, ready.tools))
	}
	link(ready.tools)
	return ready
}

func (b *builder) reason(code string, source *irv1.Binding, tool, field string, err error) {
	b.reasons = append(b.reasons, &discoveryv1.Reason{
		Code: code, Binding: source.GetName(), Tool: tool, Field: field, Message: err.Error(),
	})
}

func newTool(binding string, t *irv1.Tool, in, out *shape) *Tool {
	listed := newListing(t, in, out)
	tool := &Tool{
		Binding:       binding,
		Name:          t.GetName(),
		Hidden:        t.GetHidden(),
		JSON:          listed.json,
		added:         listed.added,
		Result:        t.GetResult(),
		Method:        strings.TrimPrefix(t.GetMethod().String(), "METHOD_"),
		Template:      t.Template(),
		Path:          t.GetPath(),
		Accept:        accept(t.GetProduces()),
		Produces:      t.GetProduces(),
		ResultMeta:    t.GetResultMeta(),
		Content:       t.GetContent(),
		Moved:         t.GetMoved(),
		MaxResult:     t.GetMaxResultBytes(),
		Shown:         t.GetOutput().GetShown(),
		Body:          bodyOf(t),
		Payload:       t.GetPayload(),
		Checks:        newChecks(t.GetChecks()),
		Requires:      t.GetRequires(),
		Notices:       t.GetNotices(),
		Timeout:       t.GetTimeout().AsDuration(),
		Interruptible: t.GetMethod() == irv1.Method_METHOD_GET || t.GetAnnotations().GetReadOnly() || t.GetAnnotations().GetIdempotent(),
	}
	if t.GetPayload().GetCheck() != irv1.Check_CHECK_OFF {
		tool.Schema = in.body
	}
	if out != nil && t.GetOutput().GetCheck() != irv1.Check_CHECK_OFF {
		tool.Output = &Output{Schema: out.body, Check: t.GetOutput().GetCheck()}
	}
	return tool
}

func newRetry(t *irv1.Tool, budget *irv1.RetryBudget) *Retry {
	r := t.GetRetry()
	if r == nil {
		return nil
	}
	return &Retry{
		Attempts:   int(r.GetAttempts()),
		MaxWait:    r.GetMaxWait().AsDuration(),
		Backoff:    r.GetBackoff().AsDuration(),
		Idempotent: t.GetAnnotations().GetIdempotent(),
		Rate:       upstream.Rate{PerCall: float64(budget.GetPercent()) / 100, PerSecond: float64(budget.GetPerSecond())},
	}
}

func byName(a, b *Tool) int { return strings.Compare(a.Name, b.Name) }
