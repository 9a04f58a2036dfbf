package compile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// template reads a template of the binding, whose tools have been read.
func (rd *reading) template(name string, v value) *irv1.ResourceTemplate {
	v.note()
	t := &irv1.ResourceTemplate{
		Name:        name,
		Title:       v.get("title").text(),
		Description: v.get("description").text(),
		MediaType:   v.get("mimeType").text(),
		Annotations: contentAnnotations(v.get("annotations")),
		EntryMeta:   rd.resourceMeta(v),
		Icons:       rd.icons(v.get("icons")),
		Cache:       cache(v.get("cache")),
	}
	variables, ok := rd.uriTemplate(t, v.get("uriTemplate"))
	t.Completions = rd.completions(v.get("complete"), variables)
	switch rd.oneBody(v, "text", "json", "tool") {
	case "text":
		rd.filledText(t, "text/plain", &irv1.FilledText{Text: rd.filled(v.get("text"), names(variables))}, v)
	case "json":
		rd.filledText(t, "application/json", &irv1.FilledText{Text: rd.filledJSON(v.get("json"), names(variables)), Json: true}, v)
	case "tool":
		use, tool := rd.use(v, variables)
		rd.checkReads(tool, v)
		t.Body = &irv1.ResourceTemplate_Use{Use: use}
	}
	if ok {
		rd.checkIdleVariables(t, variables, v.get("uriTemplate"))
	}
	return t
}

// filledText makes text the body of t, at v, whose media type is the standard one unless
// the author says otherwise.
func (rd *reading) filledText(t *irv1.ResourceTemplate, standard string, text *irv1.FilledText, v value) {
	rd.checkIdle(v, "with")
	t.Body = &irv1.ResourceTemplate_Text{Text: text}
	if t.GetMediaType() == "" {
		t.MediaType = standard
	}
	if isMarkup(t.GetMediaType()) && len(variables(text.GetText())) > 0 {
		rd.valueInMarkup(v.get("mimeType"), t.GetMediaType())
	}
}

// templateVariable is a variable of a template at the beginning of a text.
var templateVariable = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]{0,63}(?:[.][A-Za-z0-9_]+)*)\}`)

// uriTemplate reads the template of t's URIs and returns its variables, and whether
// nothing is wrong with it.
func (rd *reading) uriTemplate(t *irv1.ResourceTemplate, v value) (all []variable, ok bool) {
	s := v.text()
	if s == "" {
		return nil, false // it has been reported
	}
	var stray string
	if t.Uri, stray = parseTemplate(s); stray != "" {
		rd.templateBrace(v, stray)
		return nil, false
	}
	for _, name := range variables(t.GetUri()) {
		all = append(all, variable{name, true})
	}
	if _, err := irv1.NewURIPattern(t.GetUri()); err != nil {
		rd.badTemplate(v, s, err)
		return all, false
	}
	return all, true
}

// parseTemplate takes a template apart. stray is the first brace that begins or ends no
// variable, with what follows it; "" when there is none.
func parseTemplate(s string) (t *irv1.Text, stray string) {
	t = &irv1.Text{}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Literal{Literal: s[:i]}})
		}
		if s = s[i:]; s == "" {
			break
		}
		name := templateVariable.FindStringSubmatch(s)
		if name == nil {
			return t, s
		}
		t.Parts = append(t.Parts, &irv1.TextPart{Kind: &irv1.TextPart_Variable{Variable: name[1]}})
		s = s[len(name[0]):]
	}
	return t, ""
}

// completions reads what is offered for variables.
func (rd *reading) completions(v value, variables []variable) []*irv1.VariableCompletion {
	fields := v.fields()
	var all []*irv1.VariableCompletion
	for _, name := range sorted(fields) {
		if !slices.Contains(names(variables), name) {
			rd.unknownVariable(fields[name], name, names(variables))
			continue
		}
		all = append(all, &irv1.VariableCompletion{Variable: name, Completion: rd.completion(fields[name], variables)})
	}
	return all
}

// checkIdleVariables warns of variables, in the template at v, that make no difference to
// what is read.
func (rd *reading) checkIdleVariables(t *irv1.ResourceTemplate, all []variable, v value) {
	if t.GetBody() == nil {
		return // it has been reported
	}
	taken := variables(t.GetText().GetText())
	for _, a := range t.GetUse().GetArguments() {
		taken = append(append(taken, variables(a.GetText())...), a.GetScalar())
	}
	for _, x := range all {
		if !slices.Contains(taken, x.name) {
			rd.idleVariable(v, x.name)
		}
	}
}

// filledJSON reads JSON whose strings are texts with placeholders of known variables.
func (rd *reading) filledJSON(v value, known []string) *irv1.Text {
	v.note()
	data := v.json()
	if data == nil {
		return nil // what is wrong with it has been reported
	}
	read, err := document.Parse("", data)
	if err != nil {
		rd.badBody(v, err)
		return nil
	}
	w := jsonText{reading: rd, at: v, known: known, text: &irv1.Text{}}
	w.value(read.Root)
	w.text.Parts = appendLiteral(w.text.Parts, &w.literal)
	return w.text
}

// A jsonText is a JSON text that is being written.
type jsonText struct {
	*reading
	at      value
	known   []string
	text    *irv1.Text
	literal strings.Builder // what follows the parts of text
}

func (w *jsonText) value(v *document.Value) {
	s, isString := v.AsString()
	switch {
	case v.Kind == document.Object:
		w.literal.WriteByte('{')
		for i, m := range v.Members {
			w.comma(i)
			w.literal.Write(document.Str(m.Name).AppendJSON(nil))
			w.literal.WriteByte(':')
			w.value(m.Value)
		}
		w.literal.WriteByte('}')
	case v.Kind == document.Array:
		w.literal.WriteByte('[')
		for i, item := range v.Items {
			w.comma(i)
			w.value(item)
		}
		w.literal.WriteByte(']')
	case isString:
		w.string(s)
	default:
		w.literal.Write(v.AppendJSON(nil))
	}
}

func (w *jsonText) comma(i int) {
	if i > 0 {
		w.literal.WriteByte(',')
	}
}

func (w *jsonText) string(s string) {
	t, stray := parseText(s)
	if stray != "" {
		w.strayBrace(w.at, stray)
	}
	w.literal.WriteByte('"')
	for _, part := range t.GetParts() {
		if name := part.GetVariable(); name == "" {
			quoted := document.Str(part.GetLiteral()).AppendJSON(nil)
			w.literal.Write(quoted[1 : len(quoted)-1])
			continue
		} else if !slices.Contains(w.known, name) {
			w.unknownPlaceholder(w.at, name, w.known)
		}
		w.text.Parts = append(appendLiteral(w.text.Parts, &w.literal), part)
	}
	w.literal.WriteByte('"')
}
