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

// struck returns o, the outcome of the exchange in which the arguments a and header
// were sent and resp, nil for nothing, came back. A failure does not repeat what the
// binding hides, nor the node's credential: an upstream may send back all it got. An
// error that is wrapped is looked through from without and from within. A result is
// the upstream's answer and stays.
func struck(t *table.Tool, a arguments, header http.Header, resp *upstream.Response, o Outcome) Outcome {
	if o.Error == nil {
		return o
	}
	e := &redact.Echo{}
	for _, text := range t.Service.Credential.Sent(header) {
		e.AddText(text)
	}
	addHidden(e, t.Redact, irv1.Side_SIDE_REQUEST, a.all)
	if resp != nil {
		if v, err := rawjson.Parse(resp.Body, maxBodyDepth); err == nil {
			addHidden(e, t.Redact, irv1.Side_SIDE_RESPONSE, v)
			addHidden(e, t.Redact, irv1.Side_SIDE_RESPONSE, reported(t.Errors, resp.Body))
		}
	}
	failure, err := struckError(e, *o.Error)
	if err == nil {
		o.Meta, err = struckMeta(e, o.Meta)
	}
	if err != nil {
		failure, o.Meta = &Error{Code: o.Error.Code, Message: "The service reported an error that cannot be repeated.", Style: o.Error.Style}, nil
	}
	o.Error = failure
	return o
}

// struckError returns failure without what e knows. The error is that of e.
func struckError(e *redact.Echo, failure Error) (*Error, error) {
	message, err := e.StrikeText(failure.Message)
	if err != nil {
		return nil, err
	}
	failure.Message = message
	if failure.Data != nil {
		failure.Data, err = e.Strike(failure.Data)
	}
	return &failure, err
}

// struckMeta returns meta, which is of headers, without what e knows. The error is that
// of e.
func struckMeta(e *redact.Echo, meta map[string]rawjson.Value) (map[string]rawjson.Value, error) {
	for key, value := range meta {
		text, _ := value.Text()
		left, err := e.StrikeText(text)
		if err != nil {
			return nil, err
		}
		meta[key] = rawjson.Quote(left)
	}
	return meta, nil
}

func addHidden(e *redact.Echo, rules *redact.Rules, side irv1.Side, v rawjson.Value) {
	for hidden := range rules.Hidden(side, v) {
		e.Add(hidden)
	}
}

// discreet returns v, a violation of the payload, without names that are in what the
// binding hides.
func discreet(t *table.Tool, v *schema.Violation) *schema.Violation {
	if t.Redact == nil {
		return v
	}
	depth := t.Redact.Depth(irv1.Side_SIDE_REQUEST, slices.Concat([]string{"payload"}, v.Tokens))
	if depth < 0 && v.Keyword != "propertyNames" { // whose place is not known
		return v
	}
	return v.Discreet(max(depth-1, 0))
}
