package serve

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/resource"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// A client can subscribe to the resources that are listed: of those a node knows when a
// reload has them read otherwise. What an upstream has behind a URI it does not know, and
// a client could make up any number of URIs of a template.

// subscribe checks a resources/subscribe before the SDK keeps it.
func (e *endpoint) subscribe(ctx context.Context, t *table.Table, req *mcp.SubscribeRequest) error {
	switch {
	case !keeps(ctx, req):
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "a subscription needs a session, which this server does not give"}
	case e.orNone(t).Resource(req.Params.URI) == nil:
		return errorFrom(resource.Absent(e.orNone(t), req.Params.URI, spoken(req.ProtocolVersion(), req.Params.Meta)))
	}
	return nil
}

// narrow takes the resources out of a subscriptions/listen that nobody can subscribe to:
// the answer says which are left. Before the first table, t nil, all are.
func (e *endpoint) narrow(t *table.Table, req *mcp.SubscriptionsListenRequest) {
	wanted := req.Params.Notifications
	if wanted == nil || t == nil {
		return
	}
	at := e.orNone(t)
	wanted.ResourceSubscriptions = slices.DeleteFunc(wanted.ResourceSubscriptions, func(uri string) bool { return at.Resource(uri) == nil })
}

// accept is what the SDK asks about subscriptions: those that it gets are good.
func accept[R mcp.Request](context.Context, R) error { return nil }

// updated tells clients that have subscribed to one of the resources.
func (e *endpoint) updated(uris []string) {
	for _, uri := range uris {
		// The error is always nil. Clients that are slow to hear of it hold up nobody.
		_ = e.mcp.ResourceUpdated(e.life, &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
}
