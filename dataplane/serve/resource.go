package serve

import (
	"cmp"
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/resource"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// listResources answers a resources/list by t.
func (e *endpoint) listResources(t *table.Table, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	at := e.orNone(t)
	p := cmp.Or(req.Params, &mcp.ListResourcesParams{})
	return list(t, spoken(req.ProtocolVersion(), p.Meta), "resources", at.Resources, p.Cursor, at.Caching.Resources)
}

// listTemplates answers a resources/templates/list by t.
func (e *endpoint) listTemplates(t *table.Table, req *mcp.ListResourceTemplatesRequest) (mcp.Result, error) {
	at := e.orNone(t)
	p := cmp.Or(req.Params, &mcp.ListResourceTemplatesParams{})
	return list(t, spoken(req.ProtocolVersion(), p.Meta), "resourceTemplates", at.Templates, p.Cursor, at.Caching.Templates)
}

// readResource answers a resources/read by t.
func (e *endpoint) readResource(ctx context.Context, t *table.Table, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	version := spoken(req.ProtocolVersion(), req.Params.Meta)
	hit := resource.Find(e.orNone(t), req.Params.URI)
	if hit == nil {
		return nil, errorFrom(resource.Absent(e.orNone(t), req.Params.URI, version))
	}
	content, o, q, err := e.content(ctx, t, hit, req)
	switch {
	case err != nil:
		return nil, err
	case q != nil:
		return newQuestion(t, q), nil
	}
	members := resource.Members(content)
	if version >= message.Modern {
		members = hit.Cache.AppendMembers(members)
	}
	return newAnswer(t, version, members).with(o.Meta), nil
}

// content returns what req reads, and the outcome of the call that it took, if it took
// one; or else what the client is asked first.
func (e *endpoint) content(ctx context.Context, t *table.Table, hit *resource.Hit, req *mcp.ReadResourceRequest) (content []byte, o call.Outcome, q *asked, err error) {
	version := spoken(req.ProtocolVersion(), req.Params.Meta)
	if hit.Use == nil {
		return hit.Content(version), o, nil, nil
	}
	o = e.use(ctx, t, hit.Use, func(ctx context.Context) (o call.Outcome) {
		c := callerOf(ctx, req, req.Session, req.Params.Meta, req.Params.RequestState)
		_, o, q = e.converse(ctx, hit.Use.Tool, hit.Request(inboundOf(req.Extra, req.Params.Meta)), message.MethodRead+" "+req.Params.URI, c)
		return o
	})
	if q != nil {
		return nil, o, q, nil
	}
	return hit.Received(o, version), o, nil, errorFrom(hit.Refusal(e.orNone(t), o, version))
}

// orNone returns what t has of the endpoint, or one without anything.
func (e *endpoint) orNone(t *table.Table) *table.Endpoint {
	return cmp.Or(e.at(t), &table.Endpoint{})
}
