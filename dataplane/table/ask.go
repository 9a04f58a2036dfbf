package table

import (
	"fmt"
	"time"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/seal"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// DefaultLifetime is how long a client has for its answer where a binding seals nothing.
const DefaultLifetime = 10 * time.Minute

// An Ask says what a response needs of the user, and how its call goes on.
type Ask struct {
	*irv1.Ask
	// Schema is what the answer to a form is held to; nil where there is no form.
	Schema *schema.Schema
	// Next is called with the answers.
	Next *Tool
	// Free says that a call can go on with what its client sends, without state.
	Free bool
}

// Asks are those of a tool. The zero Asks has none.
type Asks struct {
	All []*Ask // sorted by name

	rules rules
}

// Named returns the ask called name; nil when there is none.
func (a *Asks) Named(name string) *Ask {
	for _, ask := range a.All {
		if ask.GetName() == name {
			return ask
		}
	}
	return nil
}

// Response returns the ask for a response; nil for none. body is nil when that is no
// JSON.
func (a *Asks) Response(status int, body rawjson.Value) *Ask {
	if len(a.All) == 0 {
		return nil
	}
	if rule := pick(a.rules.forStatus(status), "", body); rule != nil {
		return a.Named(rule.Name)
	}
	return nil
}

// newAsks returns the asks of source; who they go on with is for link.
func newAsks(source *irv1.Tool, b *irv1.Binding) (Asks, error) {
	var asks Asks
	var matching []*irv1.ErrorRule
	for _, a := range source.GetAsks() {
		ask := &Ask{Ask: a, Free: !a.NeedsState(source, b)}
		if form := a.GetForm(); form != nil {
			var err error
			if ask.Schema, err = schema.Compile(form.GetSchema(), ""); err != nil {
				return Asks{}, fmt.Errorf("ask %q: the schema of its form does not compile: %w", a.GetName(), err)
			}
		}
		asks.All = append(asks.All, ask)
		matching = append(matching, a.Rule())
	}
	var err error
	asks.rules, err = newRules(matching)
	return asks, err
}

// link gives the asks of tools, which are those of one binding, the tools that they go
// on with, and the tools each other.
func link(tools []*Tool) {
	byName := map[string]*Tool{}
	for _, t := range tools {
		byName[t.Name] = t
		t.siblings = byName
	}
	for _, t := range tools {
		for _, a := range t.Asks.All {
			a.Next = byName[a.GetTool()]
		}
	}
}

// Sibling returns the tool called name of t's binding, which may be t; nil when there is
// none.
func (t *Tool) Sibling(name string) *Tool {
	if name == t.Name {
		return t
	}
	return t.siblings[name]
}

// A State is how a binding seals what its clients keep.
type State struct {
	Box      *seal.Box
	Lifetime time.Duration
	// Caller is an inbound header, in canonical form, that tells callers apart; "" for
	// none.
	Caller string
}

// state returns what source describes; nil for nil.
func (b *builder) state(source *irv1.State) *State {
	if source == nil {
		return nil
	}
	names := []string{source.GetSecret()}
	if source.GetPrevious() != "" {
		names = append(names, source.GetPrevious())
	}
	return &State{Box: seal.New(b.deps.Secrets.Lookup, names...), Lifetime: source.GetLifetime().AsDuration(), Caller: source.GetCaller()}
}
