package trial

import (
	"context"
	"encoding/json"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/complete"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// offer finds what there is to offer for what is typed at an endpoint; request has what is
// filled in already.
func offer(ctx context.Context, at *table.Endpoint, c *cases.Case, request call.Request) (r reply) {
	values := fill.Values{}
	if request.Arguments != nil && json.Unmarshal(request.Arguments, &values) != nil {
		r.refusal = &call.Error{Code: call.CodeInvalidParams, Message: "params are not those that completion/complete takes"}
		return r
	}
	values[c.Completion.Argument] = c.Completion.Value
	switch from := completionOf(at, c); {
	case from == nil:
		r.members = complete.Offer{}.Append(nil)
	case from.Use == nil:
		r.members = complete.Match(from, c.Completion.Value).Append(nil)
	default:
		r.tool = fresh(from.Use.Tool)
		var found complete.Offer
		found, r.outcome = complete.Ask(ctx, from, values, request)
		r.outcome.Rule = "" // nobody sees what it made
		r.members = found.Append(nil)
	}
	return r
}

// completionOf returns what is offered for what a case is about; nil for nothing.
func completionOf(at *table.Endpoint, c *cases.Case) *table.Completion {
	if c.Completion.Prompt != "" {
		return at.Prompt(c.Completion.Prompt).Completion(c.Completion.Argument)
	}
	for _, t := range at.Templates {
		if t.Binding == c.Binding && t.Name == c.Completion.Template {
			return t.Completion(c.Completion.Argument)
		}
	}
	return nil
}
