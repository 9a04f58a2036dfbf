package serve

import (
	"context"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/complete"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// complete answers a completion/complete by t. A call that fails offers nothing, and is
// no error: clients ask at every key, and what somebody types needs no offer. The log
// has it.
func (e *endpoint) complete(ctx context.Context, t *table.Table, req *mcp.CompleteRequest) (mcp.Result, error) {
	c, err := e.completion(t, req.Params)
	if err != nil {
		return nil, err
	}
	var offer complete.Offer
	switch {
	case c == nil:
	case c.Use == nil:
		offer = complete.Match(c, req.Params.Argument.Value)
	default:
		e.use(ctx, t, c.Use, func(ctx context.Context) (o call.Outcome) {
			offer, o = complete.Ask(ctx, c, typed(req.Params), inboundOf(req.Extra, req.Params.Meta))
			return o
		})
	}
	return newAnswer(t, spoken(req.ProtocolVersion(), req.Params.Meta), offer.Append(nil)), nil
}

// completion returns what is offered for the argument that p names; nil for nothing.
// The error says that there is nothing to have such an argument.
func (e *endpoint) completion(t *table.Table, p *mcp.CompleteParams) (*table.Completion, error) {
	switch {
	case p.Ref == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "ref is missing"}
	case p.Ref.Type == "ref/prompt":
		if prompt := e.prompt(t, p.Ref.Name); prompt != nil {
			return prompt.Completion(p.Argument.Name), nil
		}
		return nil, e.unknown(t, irv1.KindPrompt, p.Ref.Name)
	}
	if template := e.orNone(t).TemplateAs(p.Ref.URI); template != nil {
		return template.Completion(p.Argument.Name), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no resource template of this URI"}
}

// typed returns what is filled in already and what is typed so far.
func typed(p *mcp.CompleteParams) fill.Values {
	values := fill.Values{}
	if p.Context != nil {
		maps.Copy(values, p.Context.Arguments)
	}
	values[p.Argument.Name] = p.Argument.Value
	return values
}
