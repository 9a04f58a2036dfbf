package trial

import (
	"slices"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/redact"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// struck returns problems without what the binding of a case hides: cases are often
// made of what a service was really sent. got are the requests that the case made.
func struck(problems []Problem, rules *redact.Rules, c *cases.Case, got []*received) []Problem {
	if rules == nil || len(problems) == 0 {
		return problems
	}
	h := hidden{rules: rules}
	h.add(irv1.Side_SIDE_REQUEST, c.Arguments)
	for _, r := range got {
		h.payload(r.body)
	}
	for _, x := range c.Exchanges {
		if x.Request.Body != nil {
			h.payload(x.Request.Body.Data)
		}
		if x.Response.Body != nil {
			h.add(irv1.Side_SIDE_RESPONSE, x.Response.Body.Data)
		}
	}
	h.add(irv1.Side_SIDE_RESPONSE, c.Result)
	h.add(irv1.Side_SIDE_RESPONSE, rawjson.Value(c.Result).Member("structuredContent"))
	for i, p := range problems {
		problems[i].Want, problems[i].Got = h.strike(p.Want), h.strike(p.Got)
	}
	return problems
}

// hidden is what a binding hides of a case.
type hidden struct {
	rules *redact.Rules
	echo  redact.Echo
}

// add adds what is hidden in data, one side of a call; what is no JSON hides nothing.
func (h *hidden) add(side irv1.Side, data []byte) {
	v, err := rawjson.Parse(data, maxDepth)
	if err != nil {
		return
	}
	for part := range h.rules.Hidden(side, v) {
		h.echo.Add(part)
	}
}

// payload adds what is hidden in the body of a request.
func (h *hidden) payload(body []byte) {
	h.add(irv1.Side_SIDE_REQUEST, slices.Concat([]byte(`{"payload":`), body, []byte(`}`)))
}

// strike returns what a problem wants or got without what is hidden: JSON, or a text.
func (h *hidden) strike(s string) string {
	if v, err := rawjson.Parse([]byte(s), maxDepth); err == nil {
		left, err := h.echo.Strike(v)
		if err != nil {
			return redact.Mask
		}
		return string(left)
	}
	left, err := h.echo.StrikeText(s)
	if err != nil {
		return redact.Mask
	}
	return left
}
