package call

import (
	"net/http"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/redact"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A response is what came back of an exchange. A failure does not repeat what the binding
// hides of the call, nor the node's credential: an upstream may send back all it got.
type response struct {
	*upstream.Response

	tool *table.Tool // nil where there was no exchange
	all  rawjson.Value
	sent http.Header
	echo *redact.Echo // nil until it is needed
}

// responseOf returns what came, nil for nothing, of the exchange that the arguments a of
// t became, in which the header was sent.
func responseOf(came *upstream.Response, t *table.Tool, a arguments, sent http.Header) *response {
	if came == nil {
		return nil
	}
	return &response{Response: came, tool: t, all: a.all, sent: sent}
}

// struck returns v, which the upstream sent, without what a failure does not repeat; nil
// where that is more than can be looked for.
func (r *response) struck(v rawjson.Value) rawjson.Value {
	if r.tool == nil || v == nil {
		return v
	}
	if r.echo == nil {
		r.echo = r.newEcho()
	}
	left, err := r.echo.Strike(v)
	if err != nil {
		return nil
	}
	return left
}

// newEcho returns what r may repeat. An error that is wrapped is looked through from
// without and from within.
func (r *response) newEcho() *redact.Echo {
	e := &redact.Echo{}
	for _, text := range r.tool.Service.Credential.Sent(r.sent) {
		e.AddText(text)
	}
	addHidden(e, r.tool.Redact, irv1.Side_SIDE_REQUEST, r.all)
	if v, err := rawjson.Parse(r.Body, maxBodyDepth); err == nil {
		addHidden(e, r.tool.Redact, irv1.Side_SIDE_RESPONSE, v)
		addHidden(e, r.tool.Redact, irv1.Side_SIDE_RESPONSE, reported(r.tool.Errors, r.Body))
	}
	return e
}

// struckMeta returns meta, which is of headers of r, nil for none, as struck does.
func (r *response) struckMeta(meta map[string]rawjson.Value) map[string]rawjson.Value {
	for key, value := range meta {
		if meta[key] = r.struck(value); meta[key] == nil {
			delete(meta, key)
		}
	}
	return meta
}

// struckRequests returns requests as struck does; nil where one of them is too much, or
// has a key that cannot be repeated, by which it would be answered.
func (r *response) struckRequests(requests []InputRequest) []InputRequest {
	for i, request := range requests {
		key := rawjson.Quote(request.Key)
		requests[i].Params = r.struck(request.Params)
		if requests[i].Params == nil || string(r.struck(key)) != string(key) {
			return nil
		}
	}
	return requests
}

func addHidden(e *redact.Echo, rules *redact.Rules, side irv1.Side, v rawjson.Value) {
	for hidden := range rules.Hidden(side, v) {
		e.Add(hidden)
	}
}

// discreet returns v, a violation of the argument called name, without names that are in
// what the binding hides.
func discreet(t *table.Tool, name string, v *schema.Violation) *schema.Violation {
	if t.Redact == nil {
		return v
	}
	depth := t.Redact.Depth(irv1.Side_SIDE_REQUEST, slices.Concat([]string{name}, v.Tokens))
	if depth < 0 && v.Keyword != "propertyNames" { // whose place is not known
		return v
	}
	return v.Discreet(max(depth-1, 0))
}
