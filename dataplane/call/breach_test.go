package call_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	enforce = irv1.Check_CHECK_ENFORCE
	warn    = irv1.Check_CHECK_WARN
	off     = irv1.Check_CHECK_OFF
)

// TestPayloadChecks has payloads that break their schema under each check: what is
// sent is sent as it came, and told of in words of the schema.
func TestPayloadChecks(t *testing.T) {
	const bad = `{"title":"x","copies":1,"tags":[{"name":"a"},{"4111": 1.0}]}`
	missing := []call.Breach{{Direction: call.Payload, Place: "$.tags[*].name", Keyword: "required"}}
	tests := []struct {
		name    string
		check   irv1.Check
		payload string
		class   call.Class
		want    []call.Breach
	}{
		{"enforced", enforce, bad, call.InvalidPayload, missing},
		{"warned of", warn, bad, call.OK, missing},
		{"off", off, bad, call.OK, nil},
		{"of another type", warn, `[4111]`, call.OK, []call.Breach{{Direction: call.Payload, Place: "$", Keyword: "type"}}},
		{"of another type, enforced", enforce, `[4111]`, call.InvalidParams, nil},
		{"that cannot be checked", warn, `{"title":"x","copies":1e4111}`, call.OK, []call.Breach{{Direction: call.Payload, Place: "$"}}},
		{"good", warn, `{"title":"x","copies":1}`, call.OK, nil},
		{"with a name that the schema lacks", warn, `{"title":"x","copies":1,"4111":[1]}`, call.OK, []call.Breach{{Direction: call.Payload, Place: "$.*", Keyword: "additionalProperties"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			b := library(s.URL + "/v1")
			b.Tools[0].Payload.Check = tt.check
			o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book"),
				call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":` + tt.payload + `}`)})
			if o.Class != tt.class || !slices.Equal(o.Breaches, tt.want) {
				t.Errorf("outcome is %s with %q, want %s with %q", o.Class, o.Breaches, tt.class, tt.want)
			}
			if tt.class != call.OK {
				s.last(t, 0)
			} else if got := s.last(t, 1); got.body != tt.payload {
				t.Errorf("body is %s", got.body)
			}
		})
	}
}

// TestResultChecks has results that break their schema under each check.
func TestResultChecks(t *testing.T) {
	const strange = `-32000 The service sent an answer that cannot be used. {"kind":"strange"}`
	object := `{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"pages":{"items":{"type":"integer"}}}}`
	list := `{"type":"object","properties":{"value":{"type":"array","items":{"$ref":"#/$defs/N"}}},"$defs":{"N":{"type":"integer"}}}`
	at := func(place, keyword string) []call.Breach { return []call.Breach{{call.Result, place, keyword}} }
	tests := []struct {
		name   string
		schema string
		check  irv1.Check
		status int
		body   string
		want   string // the error; "no error" for a result
		breach []call.Breach
	}{
		{"good", object, enforce, 200, `{"id":"1"}`, "no error", nil},
		{"enforced", object, enforce, 201, `{"id":"1","pages":[1,"4111"]}`, strange, at("$.pages[*]", "type")},
		{"warned of", object, warn, 200, `{"id":"1", "pages":["4111"]}`, "no error", at("$.pages[*]", "type")},
		{"off", object, off, 200, `{"id":1}`, "no error", nil},
		{"an error is no result", object, enforce, 404, `{"id":1,"kind":"a","message":"b"}`, `-32000 b {"id":1,"kind":"a","message":"b"}`, nil},
		{"no body", object, enforce, 204, ``, strange, at("$", "required")},
		{"no body, warned of", object, warn, 204, ``, "no error", at("$", "required")},
		{"that is not usable anyway", object, warn, 200, `<html>`, strange, nil},
		{"list", list, enforce, 200, `[1,2]`, "no error", nil},
		{"list, enforced", list, enforce, 200, `[1,"4111"]`, strange, at("$[*]", "type")},
		{"object where a list belongs", list, warn, 200, `{"value":[1]}`, "no error", at("$", "type")},
		{"that cannot be checked", object, enforce, 200, `{"id":"1","n":1e4111}`, strange, at("$", "")},
		{"no schema of a body", `{"type":"object"}`, enforce, 200, `[]`, "no error", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(tt.status, tt.body))
			b := library(s.URL + "/v1")
			digest := irv1.DigestOf([]byte(tt.schema))
			get := b.Tools[3]
			get.Result = irv1.ResultMode_RESULT_MODE_MCP
			get.Output = &irv1.Output{Schema: digest[:], Wrapped: tt.schema != object, Check: tt.check}
			o := call.Do(context.Background(), build(t, b, table.Deps{}, tt.schema).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
			if show(o.Error) != tt.want || !slices.Equal(o.Breaches, tt.breach) || o.Status != tt.status {
				t.Errorf("outcome is %d, %s, with %q; want %d, %s, with %q", o.Status, show(o.Error), o.Breaches, tt.status, tt.want, tt.breach)
			}
			if o.Error == nil && string(o.Body) != tt.body {
				t.Errorf("body is %s", o.Body)
			}
			if invalid := o.Class == call.InvalidResult; invalid != (tt.breach != nil && tt.check == enforce) {
				t.Errorf("class is %s", o.Class)
			}
			if o.Err != nil && strings.Contains(o.Err.Error(), "4111") {
				t.Errorf("the log gets %v", o.Err)
			}
		})
	}
}

// TestBothBreaches has a payload and a result that are both warned of.
func TestBothBreaches(t *testing.T) {
	s := serve(t, answer(200, `[]`))
	b := library(s.URL + "/v1")
	digest := irv1.DigestOf([]byte(bookSchema))
	b.Tools[0].Payload.Check = warn
	b.Tools[0].Result = irv1.ResultMode_RESULT_MODE_MCP
	b.Tools[0].Output = &irv1.Output{Schema: digest[:], Check: warn}
	o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book"), call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{}}`)})
	want := []call.Breach{{call.Payload, "$.title", "required"}, {call.Result, "$", "type"}}
	if o.Class != call.OK || !slices.Equal(o.Breaches, want) {
		t.Errorf("outcome is %s with %q", o.Class, o.Breaches)
	}
}
