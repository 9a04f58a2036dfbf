package irv1

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of asks: a tool has at most MaxAsks, and what is shown to a user or a client
// has at most MaxAskText bytes.
const (
	MaxAsks    = 32
	MaxAskText = 64 << 10
)

// maxEvery is the most that can be between two notices.
const maxEvery = time.Hour

// state checks what b says of sealed state.
func (p *problems) state(b *Binding) {
	s := b.GetState()
	if s == nil {
		return
	}
	p.check(validSecret(s.GetSecret()), "state.secret", "%q cannot be the name of a secret", s.GetSecret())
	p.check(s.GetPrevious() == "" || validSecret(s.GetPrevious()), "state.previous", "%q cannot be the name of a secret", s.GetPrevious())
	p.check(validWait(s.GetLifetime()), "state.lifetime", "it must be more than 0 and at most %s", maxTimeout)
	p.check(s.GetCaller() == "" || ValidHeaderName(s.GetCaller()), "state.caller.header", "%q is not the canonical name of a header", s.GetCaller())
}

// asks checks those of t, a tool of b.
func (p *problems) asks(t *Tool, b *Binding) {
	p.check(len(t.GetAsks()) <= MaxAsks, "asks", "there are %d, at most %d can be", len(t.GetAsks()), MaxAsks)
	names := map[string]bool{}
	for i, a := range t.GetAsks() {
		field := "asks." + a.GetName()
		p.check(a.GetName() != "" && !names[a.GetName()], field, "it has no name of its own")
		names[a.GetName()] = true
		p.ask(field, t, a, b)
		for _, other := range t.GetAsks()[:min(i, MaxAsks)] {
			if c := TieAsks(other, a); c != nil {
				p.addf(field, "asks %q and %q both match %s, neither more specifically", other.GetName(), a.GetName(), c.Words())
			}
		}
	}
}

// TieAsks returns a condition by which a and b match the same responses, neither more
// specifically than the other; nil when there is none.
func TieAsks(a, b *Ask) *Condition { return Tie(a.Rule(), b.Rule()) }

// Rule returns the error rule that would match the responses that a does.
func (a *Ask) Rule() *ErrorRule {
	return &ErrorRule{Name: a.GetName(), Conditions: a.GetConditions(), Body: a.GetBody()}
}

func (p *problems) ask(field string, t *Tool, a *Ask, b *Binding) {
	p.check(len(a.GetConditions()) > 0 && len(a.GetConditions()) <= maxConditions, field+".status", "it has from 1 to %d conditions", maxConditions)
	for _, c := range a.GetConditions() {
		switch k := c.GetKind().(type) {
		case *Condition_Status:
			p.check(k.Status >= 200 && k.Status <= 599, field+".status", "%d is not the status of a response", k.Status)
		case *Condition_Class:
			p.check(k.Class >= 2 && k.Class <= 5, field+".status", "%d is not the first digit of a response's status", k.Class)
		default:
			p.addf(field+".status", "a failure is no response")
		}
	}
	p.bodyConditions(field+".body", a.GetBody())
	p.question(field, a)
	to := b.tool(a.GetTool())
	p.check(to != nil, field+".tool", "the binding has no tool %q", a.GetTool())
	names := map[string]bool{}
	for _, arg := range a.GetArguments() {
		p.check(arg.GetName() != "" && !names[arg.GetName()] && arg.GetAt() != nil,
			field+".with."+arg.GetName(), "the argument has no name of its own, or no place")
		names[arg.GetName()] = true
	}
	p.check(b.GetState() != nil || !a.NeedsState(t, b), field, "it needs the binding's state")
}

func (p *problems) question(field string, a *Ask) {
	switch k := a.GetQuestion().(type) {
	case *Ask_Requests:
		p.check(k.Requests != nil, field+".requests", "there is no place")
	case *Ask_Form:
		var object map[string]json.RawMessage
		ok := utf8.Valid(k.Form.GetSchema()) && json.Unmarshal(k.Form.GetSchema(), &object) == nil && object != nil
		p.check(ok && len(k.Form.GetSchema()) <= MaxAskText, field+".form.schema", "it is no JSON object of at most %d bytes", MaxAskText)
		p.askText(field+".form.message", k.Form.GetMessage())
	case *Ask_Visit:
		p.check(k.Visit.GetAt() != nil, field+".url.at", "there is no place")
		p.askText(field+".url.message", k.Visit.GetMessage())
	}
}

func (p *problems) askText(field, s string) {
	p.check(s != "" && len(s) <= MaxAskText, field, "it is no text of at most %d bytes", MaxAskText)
}

// NeedsState reports whether what a, an ask of the tool t of b, goes on with takes more
// than a client sends again: something of the response, a key that the node made up, or
// that it was this one that asked where its answers do not say so.
func (a *Ask) NeedsState(t *Tool, b *Binding) bool {
	if a.GetTool() != t.GetName() && a.GetRequests() != nil {
		return true
	}
	made := func(r *MetaRule) bool {
		return r.GetKey() && r.GetGenerate() != Generate_GENERATE_NOTHING && slices.Contains(t.GetMeta(), r.GetField())
	}
	return slices.ContainsFunc(a.GetArguments(), func(arg *AskArgument) bool { return arg.GetSide() == AskSide_ASK_SIDE_RESPONSE }) ||
		a.GetTool() == t.GetName() && slices.ContainsFunc(b.GetMeta(), made)
}

func (p *problems) requires(t *Tool) {
	for i, c := range t.GetRequires() {
		_, known := ClientCapability_name[int32(c)]
		p.check(known && c != 0, "requires", "capability %d is none that this node knows: upgrade the node", c)
		p.check(i == 0 || t.GetRequires()[i-1] < c, "requires", "capabilities are not sorted, or stand twice")
	}
}

func (p *problems) notices(n *Notices) {
	if n == nil {
		return
	}
	every := n.GetEvery()
	p.check(every.IsValid() && every.AsDuration() > 0 && every.AsDuration() <= maxEvery, "notices.every", "it must be more than 0 and at most %s", maxEvery)
	p.check(n.GetProgress() != nil || n.GetLog() != nil, "notices", "they say nothing")
	text := strings.Join([]string{n.GetProgress().GetMessage(), n.GetLog().GetLogger(), n.GetLog().GetMessage()}, "")
	p.check(len(text) <= MaxAskText, "notices", "there is no text of at most %d bytes", MaxAskText)
	p.check(n.GetLog() == nil || n.GetLog().GetMessage() != "", "notices.log.message", "there is none")
}
