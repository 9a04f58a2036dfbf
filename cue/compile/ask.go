package compile

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Defaults of what a call asks and tells.
const (
	defaultLifetime = 10 * time.Minute
	defaultEvery    = time.Second
)

var askSides = map[string]irv1.AskSide{
	"answers":  irv1.AskSide_ASK_SIDE_ANSWERS,
	"request":  irv1.AskSide_ASK_SIDE_REQUEST,
	"response": irv1.AskSide_ASK_SIDE_RESPONSE,
}

var otherwises = map[string]irv1.Otherwise{
	"": irv1.Otherwise_OTHERWISE_ERROR, "error": irv1.Otherwise_OTHERWISE_ERROR, "result": irv1.Otherwise_OTHERWISE_RESULT,
}

var capabilities = map[string]irv1.ClientCapability{
	"elicitation":     irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION,
	"elicitation.url": irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION_URL,
	"sampling":        irv1.ClientCapability_CLIENT_CAPABILITY_SAMPLING,
	"roots":           irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS,
}

var logLevels = map[string]irv1.LogLevel{
	"":        irv1.LogLevel_LOG_LEVEL_INFO,
	"debug":   irv1.LogLevel_LOG_LEVEL_DEBUG,
	"info":    irv1.LogLevel_LOG_LEVEL_INFO,
	"notice":  irv1.LogLevel_LOG_LEVEL_NOTICE,
	"warning": irv1.LogLevel_LOG_LEVEL_WARNING,
	"error":   irv1.LogLevel_LOG_LEVEL_ERROR,
}

// state reads how a binding seals; nil when it does not. The meta rules have been
// read.
func (rd *reading) state(v value) *irv1.State {
	if !v.exists() {
		return nil
	}
	v.note()
	s := &irv1.State{
		Secret:   v.get("secret").text(),
		Previous: v.get("previous").text(),
		Lifetime: durationpb.New(time.Duration(v.get("lifetime").number(int64(defaultLifetime)))),
		Caller:   canonical(v.get("caller").get("header").text()),
	}
	for _, rule := range rd.out.ir.GetMeta() {
		if s.Caller == "" {
			s.Caller = rule.GetNamespace()
		}
	}
	return s
}

// asks reads those of the tool called name, at v.
func (rd *reading) asks(name string, v value) []*irv1.Ask {
	return each(v, func(label string, v value) *irv1.Ask {
		a := rd.ask(label, v)
		if a.Tool == "" {
			a.Tool = name
		}
		return a
	})
}

func (rd *reading) ask(name string, v value) *irv1.Ask {
	v.note()
	a := &irv1.Ask{
		Name:       name,
		Conditions: askConditions(v.get("status").texts()),
		Body:       rd.bodyConditions(v.get("body")),
		Tool:       v.get("tool").text(),
		Arguments:  askArguments(v.get("with")),
		Otherwise:  otherwises[v.get("otherwise").text()],
	}
	if v.cue.Err() == nil {
		rd.question(a, v)
	}
	return a
}

// askConditions returns what statuses say; by default any 2xx.
func askConditions(statuses []string) []*irv1.Condition {
	if len(statuses) == 0 {
		statuses = []string{"2xx"}
	}
	var all []*irv1.Condition
	for _, s := range statuses {
		all = append(all, statusCondition(s))
	}
	slices.SortFunc(all, irv1.CompareConditions)
	return slices.CompactFunc(all, func(a, b *irv1.Condition) bool { return irv1.CompareConditions(a, b) == 0 })
}

// question reads what a, at v, asks.
func (rd *reading) question(a *irv1.Ask, v value) {
	requests, form, url := v.get("requests"), v.get("form"), v.get("url")
	var given []string
	for _, f := range []value{requests, form, url} {
		if f.exists() {
			given = append(given, f.label())
		}
	}
	if len(given) != 1 {
		rd.askQuestion(v, a.GetName())
		return
	}
	switch {
	case requests.exists():
		a.Question = &irv1.Ask_Requests{Requests: pointer(requests.quiet())}
		requests.note()
	case form.exists():
		form.note()
		f := &irv1.Form{Message: form.get("message").text(), Schema: form.get("schema").json()}
		rd.checkFormSchema(form.get("schema"))
		if len(f.GetSchema()) > irv1.MaxAskText {
			rd.askTooLong(form.get("schema"))
		}
		a.Question = &irv1.Ask_Form{Form: f}
		if len(a.GetBody()) == 0 && slices.ContainsFunc(a.GetConditions(), isSuccess) {
			rd.askAlways(v, a.GetName())
		}
	default:
		url.note()
		a.Question = &irv1.Ask_Visit{Visit: &irv1.Visit{Message: url.get("message").text(), At: pointer(url.get("at").text())}}
	}
}

// isSuccess reports whether c is about responses that are results.
func isSuccess(c *irv1.Condition) bool { return c.GetStatus()/100 == 2 || c.GetClass() == 2 }

// checkFormSchema reports properties that MCP has not in forms: objects, and arrays of
// other things than choices.
func (rd *reading) checkFormSchema(v value) {
	properties := v.get("properties").fields()
	for _, name := range sorted(properties) {
		p := properties[name]
		kind := p.get("type").quiet()
		items := p.get("items")
		switch {
		case slices.Contains([]string{"string", "number", "integer", "boolean"}, kind):
		case kind == "array" && (items.get("enum").exists() || items.get("anyOf").exists()):
		default:
			rd.formProperty(p, name)
		}
	}
}

// askArguments splits sources that the schema has accepted.
func askArguments(v value) []*irv1.AskArgument {
	v.note()
	fields := v.fields()
	var all []*irv1.AskArgument
	for _, name := range sorted(fields) {
		source := fields[name].text()
		side, _, _ := strings.Cut(source, "/")
		all = append(all, &irv1.AskArgument{Name: name, Side: askSides[side], At: &irv1.Pointer{Tokens: document.Tokens(source[len(side):])}})
	}
	return all
}

// checkAsks holds the asks of the binding's tools, at v, to the tools that they go on
// with. All tools have been read.
func (rd *reading) checkAsks(v value) {
	tools := v.fields()
	var names []string
	for _, t := range rd.out.ir.GetTools() {
		names = append(names, t.GetName())
	}
	for _, t := range rd.out.ir.GetTools() {
		if len(t.GetAsks()) == 0 {
			continue
		}
		asks := tools[t.GetName()].get("asks").fields()
		for i, a := range t.GetAsks() {
			at := asks[a.GetName()]
			if at.cue.Err() != nil {
				continue
			}
			rd.checkAsk(t, a, at, names)
			for _, other := range t.GetAsks()[:i] {
				if c := irv1.TieAsks(other, a); c != nil {
					rd.askTie(asks[other.GetName()], at, other.GetName(), a.GetName(), c)
				}
			}
		}
		if len(t.GetAsks()) > irv1.MaxAsks {
			rd.tooManyAsks(tools[t.GetName()].get("asks"), len(t.GetAsks()))
		}
	}
}

func (rd *reading) checkAsk(t *irv1.Tool, a *irv1.Ask, v value, names []string) {
	i := slices.Index(names, a.GetTool())
	if i < 0 {
		rd.noToolToUse(v.get("tool"), a.GetTool(), names)
		return
	}
	next := rd.out.ir.GetTools()[i]
	with := v.get("with").fields()
	given := known(t)
	for _, arg := range a.GetArguments() {
		given = append(given, arg.GetName())
		if !slices.Contains(known(next), arg.GetName()) {
			rd.unknownUseArgument(with[arg.GetName()], arg.GetName(), next.GetName(), known(next))
		}
	}
	for _, name := range requiredOf(next, rd.out.ir.GetMeta()) {
		if !slices.Contains(given, name) {
			rd.askUnfilled(v, name, next.GetName())
		}
	}
	if a.NeedsState(t, rd.out.ir) && rd.out.ir.GetState() == nil {
		rd.askWithoutState(v, a.GetName(), rd.out.name)
	}
}

// requires reads the capabilities that a client must have, sorted.
func requires(v value) []irv1.ClientCapability {
	var all []irv1.ClientCapability
	for _, s := range v.texts() {
		all = append(all, capabilities[s])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// notices reads what a client hears of a running call; nil for nothing.
func (rd *reading) notices(v value) *irv1.Notices {
	if !v.exists() {
		return nil
	}
	v.note()
	n := &irv1.Notices{Every: durationpb.New(time.Duration(v.get("every").number(int64(defaultEvery))))}
	if progress := v.get("progress"); progress.exists() {
		n.Progress = &irv1.ProgressNotice{Message: progress.get("message").text()}
	}
	if log := v.get("log"); log.exists() {
		n.Log = &irv1.LogNotice{Level: logLevels[log.get("level").text()], Logger: log.get("logger").text(), Message: log.get("message").text()}
	}
	if n.GetProgress() == nil && n.GetLog() == nil && v.cue.Err() == nil {
		rd.silentNotices(v)
	}
	return n
}
