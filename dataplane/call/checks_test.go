package call_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func at(side irv1.Side, tokens ...string) *irv1.Place {
	p := &irv1.Place{Side: side}
	for _, token := range tokens {
		p.Steps = append(p.Steps, &irv1.Step{Kind: &irv1.Step_Token{Token: token}})
	}
	return p
}

// checked returns the library with four checks of add_book: one of the request and
// one of the response of each level.
func checked(url string) *irv1.Binding {
	const request, response = irv1.Side_SIDE_REQUEST, irv1.Side_SIDE_RESPONSE
	check := func(name string, level irv1.CheckLevel, p *irv1.Place) *irv1.CallCheck {
		return &irv1.CallCheck{Name: name, Level: level, Message: "There is no " + name + ".", Kind: &irv1.CallCheck_Has{Has: p}}
	}
	b := library(url)
	b.Tools[0].Checks = []*irv1.CallCheck{
		check("a_bill", irv1.CheckLevel_CHECK_LEVEL_REJECT, at(response, "bill")),
		check("b_shelf", irv1.CheckLevel_CHECK_LEVEL_WARN, at(request, "payload", "shelf")),
		check("c_tags", irv1.CheckLevel_CHECK_LEVEL_REJECT, at(request, "payload", "tags")),
		check("d_title", irv1.CheckLevel_CHECK_LEVEL_WARN, at(response, "title")),
	}
	return b
}

func TestChecks(t *testing.T) {
	const unusable = `-32000 The service sent an answer that cannot be used. {"kind":"strange"}`
	const untagged = `-32001 There is no c_tags. {"code":"invalid","kind":"payload","message":"There is no c_tags.","place":"$.payload.tags"}`
	tests := []struct {
		name    string
		payload string
		status  int
		answer  string
		class   call.Class
		err     string
		checks  []string
	}{
		{"all hold", `"tags":[],"shelf":"a"`, 200, `{"bill":1,"title":"x"}`, call.OK, "no error", nil},
		{"warnings", `"tags":[]`, 200, `{"bill":1,"title":null}`, call.OK, "no error", []string{"b_shelf", "d_title"}},
		{"the request is refused", ``, 0, ``, call.InvalidPayload, untagged, []string{"b_shelf", "c_tags"}},
		{"the response is refused", `"tags":[],"shelf":"a"`, 200, `{}`, call.Unusable, unusable, []string{"a_bill", "d_title"}},
		{"an empty response", `"tags":[],"shelf":"a"`, 204, ``, call.Unusable, unusable, nil},
		{"an error is not held to them", `"tags":[]`, 404, `{}`, call.UpstreamError, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`, []string{"b_shelf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(max(tt.status, 200), tt.answer))
			args := `{"meta":{"version":"v1"},"payload":{"title":"x","copies":1` + map[bool]string{true: ","}[tt.payload != ""] + tt.payload + `}}`
			o := call.Do(context.Background(), build(t, checked(s.URL), table.Deps{}).Endpoint("/mcp").Tool("add_book"), call.Request{Arguments: []byte(args)})
			if o.Class != tt.class || show(o.Error) != tt.err || !slices.Equal(o.Checks, tt.checks) {
				t.Errorf("outcome is %s, %s, %q; want %s, %s, %q", o.Class, show(o.Error), o.Checks, tt.class, tt.err, tt.checks)
			}
			if o.Status != tt.status {
				t.Errorf("status is %d, want %d", o.Status, tt.status)
			}
			s.last(t, map[bool]int{true: 1}[tt.status != 0])
			if tt.class == call.OK && string(o.Body) != tt.answer {
				t.Errorf("body is %s", o.Body)
			}
		})
	}
}
