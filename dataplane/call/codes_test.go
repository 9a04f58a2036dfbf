package call_test

import (
	"errors"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestCodes has failures of calls that are made for tools, resources and prompts. The
// code of a rule goes first.
func TestCodes(t *testing.T) {
	tests := []struct {
		name                   string
		status                 int
		body                   string
		tool, resource, prompt int
	}{
		{"unauthorized", 401, ``, -5, -15, -24},
		{"denied by a rule", 403, ``, -32003, -32003, -32003},
		{"not there", 404, ``, -32000, -32000, -24},
		{"no rule", 500, ``, -32000, -32000, -24},
		{"unusable", 200, `[`, -32000, -32000, -24},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(tt.status, tt.body))
			b := library(s.URL)
			b.Errors.ToolCodes = &irv1.Codes{Denied: -5}
			b.Errors.ResourceCodes = &irv1.Codes{NotFound: -12, Denied: -15}
			b.Errors.PromptCodes = &irv1.Codes{Failed: -24}
			tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
			for kind, want := range map[irv1.Kind]int{irv1.KindTool: tt.tool, irv1.KindResource: tt.resource, irv1.KindPrompt: tt.prompt} {
				o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook), For: kind})
				if o.Error == nil || o.Error.Code != want {
					t.Errorf("%s: error is %s, want code %d", kind, show(o.Error), want)
				}
				if o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(`{}`), For: kind}); o.Error.Code != call.CodeInvalidParams {
					t.Errorf("%s: error of no arguments is %s", kind, show(o.Error))
				}
			}
		})
	}
	s := serve(t, nil)
	b := library(s.URL)
	b.Errors.PromptCodes = &irv1.Codes{Failed: -24}
	tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
	o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)})
	why := errors.New("it is nothing of the kind")
	unfit := call.Unfit(tool, irv1.KindPrompt, o, why)
	if o.Class != call.OK || unfit.Class != call.Unusable || unfit.Error.Code != -24 || unfit.Err != why || unfit.Body != nil || unfit.Rule != "strange" || unfit.Attempts != 1 {
		t.Errorf("outcomes are %+v and %+v", o, unfit)
	}
}
