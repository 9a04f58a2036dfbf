package trial

import (
	"context"
	"encoding/json"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/prompt"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// newest is the revision of MCP that a case is run for.
const newest = "2026-07-28"

// get asks for p as request says.
func get(ctx context.Context, p *table.Prompt, request call.Request) (r reply) {
	var values fill.Values
	if request.Arguments != nil && json.Unmarshal(request.Arguments, &values) != nil {
		r.refusal = &call.Error{Code: call.CodeInvalidParams, Message: "params are not those that prompts/get takes"}
		return r
	}
	if r.refusal = prompt.Check(p, values); r.refusal != nil {
		return r
	}
	if p.Use == nil {
		r.members = prompt.Members(p, prompt.Messages(p, values, newest))
		return r
	}
	r.tool = p.Use.Tool
	r.do(ctx, prompt.Request(p, values, request))
	if r.outcome.Question != nil {
		r.members = asked(r.outcome.Question)
		return r
	}
	messages, o := prompt.Received(p, r.tool, r.outcome, result.Newest())
	r.outcome, r.refusal = o, o.Error
	r.members = prompt.Members(p, messages)
	return r
}
