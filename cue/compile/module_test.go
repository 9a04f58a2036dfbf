package compile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

var update = flag.Bool("update", false, "write what is compiled into the archives of testdata")

// TestModule compiles each archive of testdata and compares what is said of it. An
// archive is a module: its files, and
//
//	tags         the tags, one a line
//	want.err     the diagnostics as they are printed; empty when there are none
//	want.schema  the input and output schemas, where an archive is about them
//	want.map     the source map, where an archive is about it
//	want.resources what there is to read, where an archive is about it
//	want.hints   what is made of what clients say beside arguments, where an archive is about it
//	want.content what results have of a body, where an archive is about it
//	want.surface what clients get to know of tools, where an archive is about it
//	want.ir      the tools and rules in short, where an archive is about them
//
// An archive without cue.mod/module.cue gets one, unless it has a file no-module.
func TestModule(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives: ", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testArchive(t, name)
		})
	}
}

func testArchive(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := compile.Module(t.Context(), sourcesOf(archive))
	if err != nil {
		t.Fatal(err)
	}
	if failed := diag.Failed(compiled.GetDiagnostics()); failed == (compiled.GetBundle() != nil) {
		t.Errorf("errors: %t, and there is a bundle: %t", failed, compiled.GetBundle() != nil)
	}
	changed := false
	for i, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "want.") {
			continue
		}
		if got := rendering(t, f.Name, compiled); got != string(f.Data) {
			changed = true
			archive.Files[i].Data = []byte(got)
			if !*update {
				t.Errorf("%s is\n%swant\n%s", f.Name, got, f.Data)
			}
		}
	}
	if changed && *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// sourcesOf returns the module that an archive holds.
func sourcesOf(archive *txtar.Archive) *sourcev1.Sources {
	s := &sourcev1.Sources{}
	module := true
	for _, f := range archive.Files {
		switch {
		case strings.HasPrefix(f.Name, "want."):
		case f.Name == "tags":
			s.Tags = strings.Fields(string(f.Data))
		case f.Name == "no-module":
			module = false
		default:
			module = module && f.Name != "cue.mod/module.cue"
			s.Files = append(s.Files, &sourcev1.File{Path: f.Name, Data: f.Data})
		}
	}
	if module {
		s.Files = append(s.Files, &sourcev1.File{
			Path: "cue.mod/module.cue",
			Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n"),
		})
	}
	return s
}

func rendering(t *testing.T, name string, compiled *sourcev1.Compiled) string {
	var b bytes.Buffer
	switch name {
	case "want.err":
		if err := diag.Print(&b, compiled.GetDiagnostics()); err != nil {
			t.Fatal(err)
		}
	case "want.map":
		for _, e := range compiled.GetSourceMap().GetEntries() {
			fmt.Fprintf(&b, "%s: %s\n", strings.Join([]string{e.GetBinding(), e.GetTool(), e.GetField()}, "|"), diag.Place(e.GetPosition()))
		}
	case "want.schema":
		renderSchemas(t, &b, open(t, compiled))
	case "want.resources":
		renderResources(&b, open(t, compiled))
	case "want.hints":
		renderHints(&b, open(t, compiled))
	case "want.content":
		renderContent(&b, open(t, compiled))
	case "want.surface":
		renderSurface(&b, open(t, compiled))
	case "want.ir":
		renderBindings(&b, open(t, compiled))
	default:
		t.Fatalf("what is %s?", name)
	}
	return b.String()
}

func open(t testing.TB, compiled *sourcev1.Compiled) *irv1.Content {
	t.Helper()
	if compiled.GetBundle() == nil {
		var b strings.Builder
		_ = diag.Print(&b, compiled.GetDiagnostics())
		t.Fatalf("it does not compile:\n%s", b.String())
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func renderSchemas(t *testing.T, b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		for _, tool := range binding.GetTools() {
			renderSchema(t, b, content, binding.GetName()+" "+tool.GetName(), tool.GetInputSchema())
			if o := tool.GetOutput(); o != nil {
				renderSchema(t, b, content, binding.GetName()+" "+tool.GetName()+" output", o.GetSchema())
			}
		}
	}
}

func renderSchema(t *testing.T, b *bytes.Buffer, content *irv1.Content, name string, digest []byte) {
	t.Helper()
	d, err := irv1.ParseDigest(digest)
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString(name + " ")
	if err := json.Indent(b, content.Schemas[d], "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
}

// renderBindings writes what a node would do, a line each.
func renderBindings(b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		u := binding.GetUpstream()
		fmt.Fprintf(b, "binding %s %q at %s\n", binding.GetName(), binding.GetTitle(), binding.GetEndpoint())
		fmt.Fprintf(b, "\tupstream %s %s%s, %d and %d bytes\n", u.GetScheme(), u.GetAuthority(), u.GetBasePath(), u.GetMaxRequestBytes(), u.GetMaxResponseBytes())
		renderSecurity(b, u)
		if budget := u.GetRetryBudget(); budget != nil {
			fmt.Fprintf(b, "\tretryBudget %d%% and %d/s\n", budget.GetPercent(), budget.GetPerSecond())
		}
		for _, h := range u.GetHeaders() {
			fmt.Fprintf(b, "\theader %s: %s\n", h.GetName(), h.GetValue())
		}
		if u.GetDeadline() != "" {
			fmt.Fprintf(b, "\tdeadline %s\n", u.GetDeadline())
		}
		if s := binding.GetState(); s != nil {
			fmt.Fprintf(b, "\tstate %q, before %q, %s, caller %q\n", s.GetSecret(), s.GetPrevious(), s.GetLifetime().AsDuration(), s.GetCaller())
		}
		for _, m := range binding.GetMeta() {
			fmt.Fprintf(b, "\tmeta %s -> %s %s %s %d..%d required=%t %q%s\n", m.GetField(), m.GetHeader(), m.GetFormat(), m.GetGenerate(),
				m.GetMinLength(), m.GetMaxLength(), m.GetRequired(), m.GetOneOf(),
				map[bool]string{true: " signs the body"}[m.GetSignsBody()])
			if m.GetKey() {
				fmt.Fprintf(b, "\t\tkey, namespace %q\n", m.GetNamespace())
			}
		}
		renderErrors(b, binding.GetErrors())
		for _, p := range binding.GetRedact() {
			fmt.Fprintf(b, "\tredact %s\n", place(p))
		}
		for _, p := range binding.GetReveal() {
			fmt.Fprintf(b, "\treveal %s\n", place(p))
		}
		for _, d := range binding.GetDocuments() {
			fmt.Fprintf(b, "\tdocument %s %s %s %s\n", d.GetPath(), d.GetMediaType(), d.GetMaxAge().AsDuration(), d.GetJson())
		}
		for _, t := range binding.GetTools() {
			fmt.Fprintf(b, "\ttool %s %q %s %s meta=%q timeout=%s %s\n", t.GetName(), t.GetTitle(), t.GetMethod(), t.Template(), t.GetMeta(),
				t.GetTimeout().AsDuration(), t.GetResult())
			if t.GetHidden() {
				b.WriteString("\t\thidden\n")
			}
			a := t.GetAnnotations()
			fmt.Fprintf(b, "\t\treadOnly=%t destructive=%t idempotent=%t openWorld=%t\n", a.GetReadOnly(), a.GetDestructive(), a.GetIdempotent(), a.GetOpenWorld())
			if r := t.GetRetry(); r != nil {
				fmt.Fprintf(b, "\t\tretry %d attempts, maxWait %s, backoff %s\n", r.GetAttempts(), r.GetMaxWait().AsDuration(), r.GetBackoff().AsDuration())
			}
			for _, arg := range t.GetArguments() {
				renderArgument(b, arg)
			}
			for _, c := range t.GetChecks() {
				fmt.Fprintf(b, "\t\tcheck %s %s %q %s\n", c.GetName(), c.GetLevel(), c.GetMessage(), condition(c))
			}
			if t.GetPayload() != nil {
				fmt.Fprintf(b, "\t\tpayload required=%t%s\n", t.GetPayload().GetRequired(), checked(t.GetPayload().GetCheck()))
			}
			for _, r := range t.GetProduces() {
				fmt.Fprintf(b, "\t\tproduces %s %q\n", r.GetKind(), r.GetSubtype())
			}
			for _, m := range t.GetResultMeta() {
				fmt.Fprintf(b, "\t\tresult meta %s <- %s\n", m.GetKey(), m.GetHeader())
			}
			renderAsks(b, t)
			if o := t.GetOutput(); o != nil {
				fmt.Fprintf(b, "\t\toutput wrapped=%t shown=%t %s\n", o.GetWrapped(), o.GetShown(), o.GetCheck())
			}
		}
		for _, p := range binding.GetPrompts() {
			renderPrompt(b, p)
		}
	}
}

// renderAsks writes what t asks and tells its client.
func renderAsks(b *bytes.Buffer, t *irv1.Tool) {
	if len(t.GetRequires()) > 0 {
		fmt.Fprintf(b, "\t\trequires %s\n", t.GetRequires())
	}
	if n := t.GetNotices(); n != nil {
		fmt.Fprintf(b, "\t\tnotices every %s", n.GetEvery().AsDuration())
		if n.GetProgress() != nil {
			fmt.Fprintf(b, ", progress %q", n.GetProgress().GetMessage())
		}
		if l := n.GetLog(); l != nil {
			fmt.Fprintf(b, ", %s of %q: %q", l.GetLevel(), l.GetLogger(), l.GetMessage())
		}
		b.WriteByte('\n')
	}
	for _, a := range t.GetAsks() {
		var conditions []string
		for _, c := range a.GetConditions() {
			conditions = append(conditions, c.Words())
		}
		fmt.Fprintf(b, "\t\task %s %s", a.GetName(), conditions)
		for _, c := range a.GetBody() {
			fmt.Fprintf(b, " %q in %s", c.GetAt().GetTokens(), scalars(c.GetValues()))
		}
		switch k := a.GetQuestion().(type) {
		case *irv1.Ask_Requests:
			fmt.Fprintf(b, ": requests at %q", k.Requests.GetTokens())
		case *irv1.Ask_Form:
			fmt.Fprintf(b, ": form %q %s", k.Form.GetMessage(), k.Form.GetSchema())
		case *irv1.Ask_Visit:
			fmt.Fprintf(b, ": visit %q at %q", k.Visit.GetMessage(), k.Visit.GetAt().GetTokens())
		}
		fmt.Fprintf(b, "; then %s", a.GetTool())
		for _, arg := range a.GetArguments() {
			fmt.Fprintf(b, " %s=%s%q", arg.GetName(), arg.GetSide(), arg.GetAt().GetTokens())
		}
		fmt.Fprintf(b, "; else %s\n", a.GetOtherwise())
	}
}

func renderPrompt(b *bytes.Buffer, p *irv1.Prompt) {
	fmt.Fprintf(b, "\tprompt %s %q %q\n", p.GetName(), p.GetTitle(), p.GetDescription())
	for _, a := range p.GetArguments() {
		fmt.Fprintf(b, "\t\targ %s %q %q required=%t%s\n", a.GetName(), a.GetTitle(), a.GetDescription(), a.GetRequired(), completion(a.GetCompletion()))
	}
	for _, m := range p.GetMessages().GetMessages() {
		fmt.Fprintf(b, "\t\t%s %s%s\n", m.GetRole(), content(m), annotationsText(m.GetAnnotations()))
	}
	if u := p.GetUse(); u != nil {
		fmt.Fprintf(b, "\t\tfrom %s", use(u.GetUse()))
		if u.GetAt() != nil {
			fmt.Fprintf(b, " at %q", u.GetAt().GetTokens())
		}
		b.WriteByte('\n')
	}
}

func content(m *irv1.PromptMessage) string {
	switch k := m.GetContent().(type) {
	case *irv1.PromptMessage_Text:
		return text(k.Text)
	case *irv1.PromptMessage_Image:
		return "image " + k.Image.GetMediaType() + blob(k.Image.GetFile())
	case *irv1.PromptMessage_Audio:
		return "audio " + k.Audio.GetMediaType() + blob(k.Audio.GetFile())
	case *irv1.PromptMessage_Resource:
		s := "resource " + text(k.Resource.GetUri()) + " " + k.Resource.GetMediaType() + " "
		if f := k.Resource.GetFile(); f != nil {
			return s + strings.TrimSpace(blob(f))
		}
		return s + text(k.Resource.GetText())
	}
	return ""
}

func blob(f *irv1.File) string { return fmt.Sprintf(" binary=%t %x", f.GetBinary(), f.GetSha256()[:4]) }

func annotationsText(a *irv1.ContentAnnotations) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf(" for %s priority %v of %q", a.GetAudience(), a.GetPriority(), a.GetLastModified())
}

func completion(c *irv1.Completion) string {
	switch k := c.GetKind().(type) {
	case *irv1.Completion_Values:
		return fmt.Sprintf(" complete %q", k.Values.GetValues())
	case *irv1.Completion_Use:
		return " complete from " + use(k.Use.GetUse()) + " at " + place(k.Use.GetAt())
	}
	return ""
}

func use(u *irv1.Use) string {
	s := u.GetTool()
	for _, a := range u.GetArguments() {
		switch k := a.GetValue().(type) {
		case *irv1.UseArgument_Text:
			s += fmt.Sprintf(" %s=%s", a.GetName(), text(k.Text))
		case *irv1.UseArgument_Scalar:
			s += fmt.Sprintf(" %s=scalar <%s>", a.GetName(), k.Scalar)
		case *irv1.UseArgument_Json:
			s += fmt.Sprintf(" %s=%s", a.GetName(), k.Json)
		}
	}
	return s
}

func text(t *irv1.Text) string {
	s := ""
	for _, part := range t.GetParts() {
		if part.GetVariable() != "" {
			s += "<" + part.GetVariable() + ">"
		} else {
			s += fmt.Sprintf("%q", part.GetLiteral())
		}
	}
	return s
}

// checked returns what is said of a payload's check unless it is the usual one.
func checked(c irv1.Check) string {
	if c == irv1.Check_CHECK_ENFORCE {
		return ""
	}
	return " " + c.String()
}

// renderArgument leaves out what an argument does not have.
func renderArgument(b *bytes.Buffer, a *irv1.Argument) {
	fmt.Fprintf(b, "\t\targ %s %s %s required=%t", a.GetName(), a.GetIn(), a.GetType(), a.GetRequired())
	if a.Items != nil {
		fmt.Fprintf(b, " of %s", a.GetItems())
	}
	if a.Style != nil {
		fmt.Fprintf(b, " %s", a.GetStyle())
	}
	if a.GetWireName() != "" {
		fmt.Fprintf(b, " as %q", a.GetWireName())
	}
	if len(a.GetPlace()) > 0 {
		fmt.Fprintf(b, " at %q", a.GetPlace())
	}
	if a.GetChecked() {
		b.WriteString(" checked")
	}
	if a.GetNullable() {
		b.WriteString(" nullable")
	}
	if header := a.GetClientHeader(); header != "" {
		b.WriteString(" said in " + header)
	}
	b.WriteByte('\n')
}

// renderSecurity writes what is special about an upstream's credential and TLS.
func renderSecurity(b *bytes.Buffer, u *irv1.Upstream) {
	if c := u.GetCredential().GetOauth2(); c != nil {
		fmt.Fprintf(b, "\toauth2 %s %s%s client=%q secret=%s %s scopes=%q", c.GetScheme(), c.GetAuthority(), c.GetPath(), c.GetClientId(), c.GetSecret(),
			c.GetClientAuth(), c.GetScopes())
		for _, p := range c.GetParameters() {
			fmt.Fprintf(b, " %s=%q", p.GetName(), p.GetValue())
		}
		fmt.Fprintf(b, "%s\n", tlsText(c.GetTls()))
	}
	if t := u.GetTls(); t != nil {
		fmt.Fprintf(b, "\t%s\n", strings.TrimSpace(tlsText(t)))
	}
}

func tlsText(t *irv1.TLS) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(" %s ca=%q certificate=%q key=%q", t.GetMin(), t.GetCa(), t.GetCertificate(), t.GetKey())
}

func renderErrors(b *bytes.Buffer, e *irv1.Errors) {
	fmt.Fprintf(b, "\terrors %s %d unwrap=%q message=%q usable=%q\n", e.GetStyle(), e.GetCode(), e.GetUnwrap().GetTokens(), e.GetMessage().GetTokens(), e.GetUsable())
	for _, k := range irv1.Kinds() {
		if c := e.Codes(k); c != nil {
			fmt.Fprintf(b, "\t\tcodes %s notFound=%d failed=%d denied=%d\n", k, c.GetNotFound(), c.GetFailed(), c.GetDenied())
		}
	}
	for _, r := range e.GetRules() {
		renderRule(b, r)
	}
	p := e.GetPayload()
	fmt.Fprintf(b, "\t\tpayload %d %s message=%q path=%q keyword=%q %v\n", p.GetCode(), object(p.GetData()), p.GetMessageMember(),
		p.GetPathMember(), p.GetKeywordMember(), words(p.GetKeywords()))
}

func renderRule(b *bytes.Buffer, r *irv1.ErrorRule) {
	fmt.Fprintf(b, "\t\trule %s", r.GetName())
	for _, c := range r.GetConditions() {
		fmt.Fprintf(b, " %s", strings.ReplaceAll(c.Words(), " ", "-"))
	}
	if r.GetMediaType() != "" {
		fmt.Fprintf(b, " mediaType=%s", r.GetMediaType())
	}
	for _, c := range r.GetBody() {
		fmt.Fprintf(b, " %q in %s", c.GetAt().GetTokens(), scalars(c.GetValues()))
	}
	if r.Code != nil {
		fmt.Fprintf(b, " code=%d", r.GetCode())
	}
	if r.GetMessage() != "" {
		fmt.Fprintf(b, " message=%q", r.GetMessage())
	}
	fmt.Fprintf(b, " set=%s fallback=%s", object(r.GetSet()), object(r.GetFallback()))
	for _, h := range r.GetHeaders() {
		fmt.Fprintf(b, " %s=%s", h.GetName(), h.GetHeader())
	}
	if r.GetRetry() {
		b.WriteString(" retry")
	}
	b.WriteByte('\n')
}

func scalars(values []*irv1.Scalar) []string {
	var all []string
	for _, v := range values {
		switch k := v.GetKind().(type) {
		case *irv1.Scalar_Text:
			all = append(all, fmt.Sprintf("%q", k.Text))
		case *irv1.Scalar_Number:
			all = append(all, fmt.Sprint(k.Number))
		case *irv1.Scalar_Truth:
			all = append(all, fmt.Sprint(k.Truth))
		}
	}
	return all
}

func condition(c *irv1.CallCheck) string {
	s := "has " + place(c.GetHas())
	if sub := c.GetSubset(); sub != nil {
		s = place(sub.GetThese()) + " in " + place(sub.GetOf())
	}
	if or := c.GetOr(); or != nil {
		s += fmt.Sprintf(", or %s equals %s", place(or.GetAt()), scalars([]*irv1.Scalar{or.GetEquals()}))
	}
	return s
}

func place(p *irv1.Place) string {
	s := p.GetSide().String()
	for _, step := range p.GetSteps() {
		if step.GetEvery() != nil {
			s += " EVERY"
		} else {
			s += fmt.Sprintf(" %q", step.GetToken())
		}
	}
	return s
}

func object(members []*irv1.Member) string {
	var parts []string
	for _, m := range members {
		parts = append(parts, fmt.Sprintf("%q:%s", m.GetName(), m.GetJson()))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func words(keywords []*irv1.KeywordWord) []string {
	var all []string
	for _, k := range keywords {
		all = append(all, k.GetKeyword()+"="+k.GetWord())
	}
	return all
}
