package trial

import (
	"context"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/resource"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// read reads what uri leads to at an endpoint, as request says.
func read(ctx context.Context, at *table.Endpoint, uri string, request call.Request) (r reply) {
	hit := resource.Find(at, uri)
	if hit == nil {
		r.refusal = resource.Absent(at, uri, newest)
		return r
	}
	if hit.Use == nil {
		r.members = resource.Members(hit.Content(newest))
		return r
	}
	r.tool = hit.Use.Tool
	r.do(ctx, hit.Request(request))
	if r.outcome.Question != nil {
		r.members = asked(r.outcome.Question)
		return r
	}
	r.members = append(resource.Members(hit.Received(r.outcome, newest)), meta(r.outcome)...)
	r.refusal = hit.Refusal(at, r.outcome, newest)
	if r.refusal != r.outcome.Error {
		r.outcome.Rule = "" // the caller does not see what it made
	}
	return r
}
