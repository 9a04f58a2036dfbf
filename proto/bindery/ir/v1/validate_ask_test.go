package irv1_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// asking is a binding without problems whose first tool asks all that there is to ask.
func asking() *irv1.Binding {
	b := library()
	at := &irv1.Pointer{Tokens: []string{"a"}}
	status := func(s uint32) []*irv1.Condition {
		return []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: s}}, {Kind: &irv1.Condition_Class{Class: s / 100}}}
	}
	t := b.Tools[0]
	b.State = &irv1.State{Secret: "state", Previous: "older", Lifetime: durationpb.New(time.Minute), Caller: "X-Caller"}
	b.Upstream.Deadline = "X-Time-Left"
	t.Requires = []irv1.ClientCapability{irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION, irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS}
	t.Notices = &irv1.Notices{Every: durationpb.New(time.Second), Progress: &irv1.ProgressNotice{}, Log: &irv1.LogNotice{Level: irv1.LogLevel_LOG_LEVEL_INFO, Message: "x"}}
	t.Asks = []*irv1.Ask{
		{Name: "form", Conditions: status(200), Body: lost(), Tool: t.GetName(), Otherwise: irv1.Otherwise_OTHERWISE_ERROR,
			Question:  &irv1.Ask_Form{Form: &irv1.Form{Message: "x", Schema: []byte(`{"type":"object"}`)}},
			Arguments: []*irv1.AskArgument{{Name: "a", Side: irv1.AskSide_ASK_SIDE_ANSWERS, At: at}, {Name: "b", Side: irv1.AskSide_ASK_SIDE_RESPONSE, At: at}}},
		{Name: "own", Conditions: status(428), Tool: t.GetName(), Otherwise: irv1.Otherwise_OTHERWISE_RESULT, Question: &irv1.Ask_Requests{Requests: at}},
		{Name: "visit", Conditions: status(303), Tool: t.GetName(), Otherwise: irv1.Otherwise_OTHERWISE_RESULT, Question: &irv1.Ask_Visit{Visit: &irv1.Visit{Message: "x", At: at}}},
	}
	return b
}

// TestAsks breaks a binding that asks, one way after the other.
func TestAsks(t *testing.T) {
	if problems := open(t, asking()).Validate(); len(problems) > 0 {
		t.Fatalf("problems are %v", problems)
	}
	for name, tt := range map[string]struct {
		spoil func(b *irv1.Binding, t *irv1.Tool)
		want  string
	}{
		"no state":      {func(b *irv1.Binding, t *irv1.Tool) { b.State = nil }, "it needs the binding's state"},
		"odd secret":    {func(b *irv1.Binding, t *irv1.Tool) { b.State.Secret = "../x" }, "cannot be the name of a secret"},
		"odd previous":  {func(b *irv1.Binding, t *irv1.Tool) { b.State.Previous = "/" }, "cannot be the name of a secret"},
		"no lifetime":   {func(b *irv1.Binding, t *irv1.Tool) { b.State.Lifetime = nil }, "state.lifetime"},
		"odd caller":    {func(b *irv1.Binding, t *irv1.Tool) { b.State.Caller = "x y" }, "state.caller.header"},
		"odd deadline":  {func(b *irv1.Binding, t *irv1.Tool) { b.Upstream.Deadline = "Host" }, "upstream.deadline.header"},
		"two of a name": {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[1].Name = "form" }, "no name of its own"},
		"a tie":         {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[2].Conditions = t.Asks[1].Conditions }, "neither more specifically"},
		"no condition":  {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Conditions = nil }, "it has from 1"},
		"a failure": {func(b *irv1.Binding, t *irv1.Tool) {
			t.Asks[0].Conditions[0].Kind = &irv1.Condition_Failure{Failure: irv1.Failure_FAILURE_TIMEOUT}
		}, "a failure is no response"},
		"no such status": {func(b *irv1.Binding, t *irv1.Tool) {
			t.Asks[0].Conditions[0].Kind = &irv1.Condition_Status{Status: 101}
		}, "101 is not the status"},
		"no such class":      {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Conditions[1].Kind = &irv1.Condition_Class{Class: 1} }, "1 is not the first digit"},
		"no such tool":       {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Tool = "other" }, `no tool "other"`},
		"no question":        {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Question = nil }, "question is not set"},
		"no JSON":            {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].GetForm().Schema = []byte("x") }, "it is no JSON object"},
		"no message":         {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[2].GetVisit().Message = "" }, "it is no text"},
		"no place to go":     {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[2].GetVisit().At = nil }, "there is no place"},
		"an argument twice":  {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Arguments[1].Name = "a" }, "no name of its own"},
		"no place":           {func(b *irv1.Binding, t *irv1.Tool) { t.Asks[0].Arguments[0].At = nil }, "or no place"},
		"too many":           {func(b *irv1.Binding, t *irv1.Tool) { t.Asks = append(t.Asks, make([]*irv1.Ask, irv1.MaxAsks)...) }, "at most 32"},
		"unknown capability": {func(b *irv1.Binding, t *irv1.Tool) { t.Requires[1] = 99 }, "capability 99"},
		"unsorted":           {func(b *irv1.Binding, t *irv1.Tool) { t.Requires[1] = t.Requires[0] }, "not sorted"},
		"silent":             {func(b *irv1.Binding, t *irv1.Tool) { t.Notices.Progress, t.Notices.Log = nil, nil }, "they say nothing"},
		"never":              {func(b *irv1.Binding, t *irv1.Tool) { t.Notices.Every = durationpb.New(0) }, "notices.every"},
		"an empty log":       {func(b *irv1.Binding, t *irv1.Tool) { t.Notices.Log.Message = "" }, "notices.log.message"},
	} {
		b := asking()
		tt.spoil(b, b.Tools[0])
		var all []string
		for _, p := range open(t, b).Validate() {
			all = append(all, p.String())
		}
		if !strings.Contains(strings.Join(all, "; "), tt.want) {
			t.Errorf("%s: problems are %q", name, all)
		}
	}
}
