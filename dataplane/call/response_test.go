package call_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const getBook = `{"id":"1","meta":{"version":"v1"}}`

func TestPayloadErrors(t *testing.T) {
	tests := []struct {
		name    string
		payload string
		want    string
	}{
		{"missing", `{"title":"x"}`, `-32001 Missing required field: copies {"code":"missing","kind":"payload","message":"Missing required field: copies","place":"$.payload.copies"}`},
		{"wrong", `{"title":"x","copies":"4111111111111111"}`, `-32001 Expected integer, got string {"code":"invalid","kind":"payload","message":"Expected integer, got string","place":"$.payload.copies"}`},
		{"not listed", `{"title":"x","copies":1,"shelf":"4111111111111111"}`, `-32001 Value must be one of a, b {"code":"invalid","kind":"payload","message":"Value must be one of a, b","place":"$.payload.shelf"}`},
		{"pattern", `{"title":"x","copies":1,"isbn":"4111111111111111"}`, `-32001 Value does not match the pattern ^[0-9]{13}$ {"code":"invalid","kind":"payload","message":"Value does not match the pattern ^[0-9]{13}$","place":"$.payload.isbn"}`},
		{"superfluous", `{"title":"x","copies":1,"it's":1}`, `-32001 Unknown field {"code":"invalid","kind":"payload","message":"Unknown field","place":"$.payload['it\\'s']"}`},
		{"deep inside", `{"title":"x","copies":1,"tags":[{"name":"a"},{}]}`, `-32001 Missing required field: name {"code":"missing","kind":"payload","message":"Missing required field: name","place":"$.payload.tags[1].name"}`},
		{"first of several", `{}`, `-32001 Missing required field: title {"code":"missing","kind":"payload","message":"Missing required field: title","place":"$.payload.title"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			o := s.do(t, "add_book", `{"meta":{"version":"v1"},"payload":`+tt.payload+`}`)
			if o.Class != call.InvalidPayload || show(o.Error) != tt.want || strings.Contains(show(o.Error), "4111") {
				t.Errorf("outcome is %s, %s; want %s", o.Class, show(o.Error), tt.want)
			}
			s.last(t, 0)
		})
	}
}

// A binding that says nothing of payload errors leaves the message to say what is
// wrong.
func TestPlainPayloadError(t *testing.T) {
	s := serve(t, nil)
	b := library(s.URL)
	b.Errors.Payload = &irv1.PayloadError{Code: -32602}
	tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book")
	o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{}}`)})
	if o.Class != call.InvalidPayload || o.Error.Data != nil || o.Error.Message != "Missing required field: title" {
		t.Errorf("outcome is %s, %s", o.Class, show(o.Error))
	}
}

func TestResults(t *testing.T) {
	const dual, mcp = irv1.ResultMode_RESULT_MODE_DUAL, irv1.ResultMode_RESULT_MODE_MCP
	const strange = `-32000 The service sent an answer that cannot be used. {"kind":"strange"}`
	tests := []struct {
		name   string
		mode   irv1.ResultMode
		status int
		body   string
		want   string // the body; "" for none
		err    string // in Err; "" for a result
	}{
		{name: "object", mode: dual, status: 200, body: `{"id":12345678901234567890,"n":1.0,"s":"\u0041"}`, want: `{"id":12345678901234567890,"n":1.0,"s":"\u0041"}`},
		{name: "newlines go", mode: dual, status: 201, body: "\r\n{\n  \"a\": [\r\n1 ]\n}\n", want: `{  "a": [1 ]}`},
		{name: "no content", mode: mcp, status: 204},
		{name: "empty", mode: mcp, status: 200},
		{name: "blank", mode: mcp, status: 200, body: " \r\n\t"},
		{name: "no content as dual", mode: dual, status: 204, err: "the response has no body, a dual result must be an object"},
		{name: "blank as dual", mode: dual, status: 201, body: " \r\n\t", err: "the response has no body, a dual result must be an object"},
		{name: "cut within a character", mode: dual, status: 201, body: "\ufeff{\"title\":\"Party \\ud83d\"}", want: `{"title":"Party \ufffd"}`},
		{name: "array", mode: mcp, status: 200, body: `[1,{"content":2}]`, want: `[1,{"content":2}]`},
		{name: "scalar", mode: mcp, status: 200, body: ` "x" `, want: `"x"`},
		{name: "reserved, where it does no harm", mode: mcp, status: 200, body: `{"content":1}`, want: `{"content":1}`},
		{name: "reserved, deep inside", mode: dual, status: 200, body: `{"a":{"content":1}}`, want: `{"a":{"content":1}}`},
		{name: "array as dual", mode: dual, status: 200, body: `[]`, err: "the body of the response is array, a dual or raw result must be an object"},
		{name: "scalar as dual", mode: dual, status: 200, body: `true`, err: "the body of the response is boolean, a dual or raw result must be an object"},
		{name: "content", mode: dual, status: 200, body: `{"content":[]}`, err: `the body of the response has the member "content", which MCP reserves`},
		{name: "content by escape", mode: dual, status: 200, body: `{"\u0063ontent":[]}`, err: `the body of the response has the member "content", which MCP reserves`},
		{name: "_meta", mode: dual, status: 200, body: `{"a":1,"_meta":{}}`, err: `the body of the response has the member "_meta", which MCP reserves`},
		{name: "HTML", mode: mcp, status: 200, body: `<html>s3cr3t 10.0.0.1</html>`, err: "the body of the response is not JSON: unexpected character at byte 0"},
		{name: "two values", mode: mcp, status: 200, body: `{}{}`, err: "the body of the response is not JSON: unexpected data after the value at byte 2"},
		{name: "duplicate", mode: mcp, status: 200, body: `{"a":1,"a":2}`, err: "the body of the response is not JSON: duplicate member name at byte 7"},
		{name: "invalid UTF-8", mode: mcp, status: 200, body: "\"\xff\"", err: "the body of the response is not JSON: invalid UTF-8 at byte 1"},
		{name: "too deep", mode: mcp, status: 200, body: strings.Repeat("[", 300) + strings.Repeat("]", 300), err: "the body of the response is not JSON: too deeply nested value at byte 256"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(tt.status, tt.body))
			b := library(s.URL)
			b.Tools[3].Result = tt.mode
			o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
			if o.Status != tt.status || string(o.Body) != tt.want || (o.Body == nil) != (tt.want == "") {
				t.Errorf("outcome is %d %q, want %d %q", o.Status, o.Body, tt.status, tt.want)
			}
			if tt.err == "" {
				if o.Class != call.OK || o.Error != nil || o.Err != nil {
					t.Errorf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
				}
				return
			}
			if o.Class != call.Unusable || show(o.Error) != strange || !strings.HasSuffix(o.Err.Error(), tt.err) {
				t.Errorf("outcome is %s, %s, %v; want %s", o.Class, show(o.Error), o.Err, tt.err)
			}
		})
	}
}

func TestUpstreamErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"as the upstream says", 404, `{"kind":"none","message":"No such book","n":1.0}`, `-32000 No such book {"kind":"none","message":"No such book","n":1.0}`},
		{"wrapped", 404, `{"error":{"kind":"none", "message":"No such book"},"x":1}`, `-32000 No such book {"kind":"none", "message":"No such book"}`},
		{"wrapper that holds no object", 404, `{"error":"none","kind":"none","message":"No such book"}`, `-32000 No such book {"error":"none","kind":"none","message":"No such book"}`},
		{"newlines go", 404, "{\n\"kind\":\"none\",\r\n\"message\":\"No such\\nbook\"}\n", "-32000 No such\nbook {\"kind\":\"none\",\"message\":\"No such\\nbook\"}"},
		{"set", 403, `{"kind":"x","message":"No","n":1.0,"kept":{"a" :1}}`, `-32003 No {"kind":"denied","message":"No","n":1.0,"kept":{"a" :1},"retry":false}`},
		{"set, by escape", 403, `{"\u006bind":"x","message":"No"}`, `-32003 No {"kind":"denied","message":"No","retry":false}`},
		{"set does not make up an error", 403, ``, `-32003 The service answered with status 403. {"status":403}`},
		{"not usable: a member is missing", 404, `{"kind":"none"}`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: a member is no string", 404, `{"kind":"none","message":7}`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: empty", 404, ``, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: HTML", 404, `<h1>s3cr3t 10.0.0.1</h1>`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: array", 404, `[{"kind":"a","message":"b"}]`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: cut off", 404, `{"kind":"a","message":"b"`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: duplicate", 404, `{"kind":"a","message":"b","kind":"c"}`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"not usable: too large", 404, `{"kind":"a","message":"` + strings.Repeat("x", 64<<10) + `"}`, `-32000 The library refused. {"kind":"refused","message":"The library refused."}`},
		{"status before class", 429, ``, `-32000 The library is closed. {"kind":"busy","message":"The library is closed."}`},
		{"fallback without message", 302, ``, `-32000 The service answered with status 302. {"kind":"strange"}`},
		{"no rule", 500, `<h1>s3cr3t</h1>`, `-32000 The service answered with status 500. {"status":500}`},
		{"no rule, usable", 500, `{"kind":"x","message":"Down"}`, `-32000 Down {"kind":"x","message":"Down"}`},
		{"empty message", 500, `{"kind":"x","message":""}`, `-32000 The service answered with status 500. {"kind":"x","message":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(tt.status, tt.body))
			o := s.do(t, "get_book", getBook)
			if o.Class != call.UpstreamError || o.Status != tt.status || o.Body != nil || show(o.Error) != tt.want {
				t.Errorf("outcome is %s %d, %s; want %s", o.Class, o.Status, show(o.Error), tt.want)
			}
			s.last(t, 1)
		})
	}
}

// Of the rules that match, the most specific makes the error.
func TestNarrowedRules(t *testing.T) {
	status := func(s uint32) *irv1.Condition { return &irv1.Condition{Kind: &irv1.Condition_Status{Status: s}} }
	class := func(c uint32) *irv1.Condition { return &irv1.Condition{Kind: &irv1.Condition_Class{Class: c}} }
	unusable := &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: irv1.Failure_FAILURE_UNUSABLE}}
	text := func(s string) *irv1.Scalar { return &irv1.Scalar{Kind: &irv1.Scalar_Text{Text: s}} }
	number := func(n float64) *irv1.Scalar { return &irv1.Scalar{Kind: &irv1.Scalar_Number{Number: n}} }
	at := func(at string, values ...*irv1.Scalar) *irv1.BodyCondition {
		return &irv1.BodyCondition{At: &irv1.Pointer{Tokens: []string{at}}, Values: values}
	}
	rule := func(name string, c *irv1.Condition, mediaType string, body ...*irv1.BodyCondition) *irv1.ErrorRule {
		return &irv1.ErrorRule{Name: name, Conditions: []*irv1.Condition{c}, MediaType: mediaType, Body: body, Message: name}
	}
	yes := &irv1.Scalar{Kind: &irv1.Scalar_Truth{Truth: true}}
	rules := []*irv1.ErrorRule{
		rule("class", class(4), ""),
		rule("class and code", class(4), "", at("code", text("quota"))),
		rule("code", status(409), "", at("code", text("a"), text("b"))),
		rule("code and kind", status(409), "", at("code", text("a")), at("kind", yes)),
		rule("number", status(409), "", at("code", number(7), number(0.5))),
		rule("page", status(409), "text/html"),
		rule("status", status(409), ""),
		rule("page for a result", unusable, "text/html"),
		rule("unusable", unusable, ""),
	}
	tests := []struct {
		name      string
		status    int
		mediaType string
		body      string
		want      string
	}{
		{"class", 404, "", `{"code":"a"}`, "class"},
		{"class and code", 404, "", `{"code":"quota"}`, "class and code"},
		{"wrapped", 404, "", `{"error":{"code":"quota"},"code":"x"}`, "class and code"},
		{"beside the wrapper", 404, "", `{"error":{"code":"x"},"code":"quota"}`, "class"},
		{"a status goes before a class with a code", 409, "", `{"code":"quota"}`, "status"},
		{"one of the values", 409, "", `{"code":"b"}`, "code"},
		{"by escape", 409, "", `{"\u0063ode":"\u0062"}`, "code"},
		{"two places", 409, "", `{"kind":true,"code":"a"}`, "code and kind"},
		{"one of two places", 409, "", `{"kind":false,"code":"a"}`, "code"},
		{"text is no truth", 409, "", `{"kind":"true","code":"a"}`, "code"},
		{"number", 409, "", `{"code":7.0}`, "number"},
		{"number otherwise written", 409, "", `{"code":5e-1}`, "number"},
		{"text is no number", 409, "", `{"code":"7"}`, "status"},
		{"a number without bounds", 409, "", `{"code":1e999999}`, "status"},
		{"media type", 409, "text/html", `<p>`, "page"},
		{"media type in other letters", 409, "Text/HTML ; charset=x", ``, "page"},
		{"a body goes before a media type", 409, "text/html", `{"code":"b"}`, "code"},
		{"another media type", 409, "text/htmlx", ``, "status"},
		{"no body", 409, "", ``, "status"},
		{"no object", 409, "", `["a"]`, "status"},
		{"no JSON", 409, "", `{"code":"a"`, "status"},
		{"too large", 409, "", `{"code":"a","x":"` + strings.Repeat("x", 64<<10) + `"}`, "status"},
		{"unusable", 200, "application/json", `[]`, "unusable"},
		{"unusable page", 200, "text/html", `<p>`, "page for a result"},
	}
	for _, style := range []irv1.ErrorStyle{irv1.ErrorStyle_ERROR_STYLE_JSONRPC, irv1.ErrorStyle_ERROR_STYLE_TOOL} {
		for _, tt := range tests {
			t.Run(tt.name+"/"+style.String(), func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", tt.mediaType)
					answer(tt.status, tt.body)(w, r)
				})
				b := library(s.URL)
				b.Errors.Rules, b.Errors.Style = rules, style
				o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
				if o.Rule != tt.want || o.Error.Message != tt.want || o.Error.Style != style {
					t.Errorf("rule is %q, error %s", o.Rule, show(o.Error))
				}
			})
		}
	}
}

// Headers of a response become members of the error, whoever wrote it.
func TestHeadersOfErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"upstream's error", 404, `{"kind":"none","message":"No"}`, `-32000 No {"kind":"none","message":"No","trace":"t \"1\"","wait":"7"}`},
		{"over a member of it", 404, `{"kind":"none","message":"No","wait":1}`, `-32000 No {"kind":"none","message":"No","wait":"7","trace":"t \"1\""}`},
		{"fallback", 404, ``, `-32000 The library refused. {"kind":"refused","message":"The library refused.","trace":"t \"1\"","wait":"7"}`},
		{"neither", 500, ``, `-32000 The service answered with status 500. {"status":500,"wait":"7"}`},
		{"unusable", 200, `[`, `-32000 The service sent an answer that cannot be used. {"wait":"7"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Trace", `t "1"`)
				w.Header().Set("Long", strings.Repeat("x", 2000))
				answer(tt.status, tt.body)(w, r)
			})
			b := library(s.URL)
			wait := &irv1.HeaderMember{Name: "wait", Header: "Retry-After"}
			b.Errors.Rules = []*irv1.ErrorRule{
				{Name: "refused", Conditions: b.Errors.Rules[2].Conditions, Fallback: b.Errors.Rules[2].Fallback, Headers: []*irv1.HeaderMember{
					{Name: "absent", Header: "Absent"}, {Name: "long", Header: "Long"}, {Name: "trace", Header: "Trace"}, wait}},
				{Name: "others", Headers: []*irv1.HeaderMember{wait}, Conditions: []*irv1.Condition{
					{Kind: &irv1.Condition_Class{Class: 5}}, {Kind: &irv1.Condition_Failure{Failure: irv1.Failure_FAILURE_UNUSABLE}}}},
			}
			o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
			if show(o.Error) != tt.want {
				t.Errorf("error is %s, want %s", show(o.Error), tt.want)
			}
		})
	}
}

// An outcome names the rule that made its error.
func TestRule(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   string
	}{
		{200, `{"id":1}`, ""},
		{200, `[`, "strange"},
		{429, `{"kind":"x","message":"Down"}`, "busy"},
		{404, ``, "refused"},
		{500, ``, ""},
	}
	for _, tt := range tests {
		if o := serve(t, answer(tt.status, tt.body)).do(t, "get_book", getBook); o.Rule != tt.want {
			t.Errorf("rule for %d %s is %q, want %q", tt.status, tt.body, o.Rule, tt.want)
		}
	}
}

// A redirect is an answer like others: neither body nor credential goes anywhere
// else.
func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere := serve(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		o := s.do(t, "add_book", `{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`)
		if o.Class != call.UpstreamError || o.Status != status || strings.Contains(show(o.Error), "127.0.0.1") {
			t.Errorf("outcome of %d is %s, %s", status, o.Class, show(o.Error))
		}
		s.last(t, 1)
	}
	elsewhere.last(t, 0)
}

func TestStyle(t *testing.T) {
	s := serve(t, answer(500, ``))
	b := library(s.URL)
	b.Errors.Style = irv1.ErrorStyle_ERROR_STYLE_TOOL
	tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
	for _, args := range []string{getBook, `{}`} {
		if o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(args)}); o.Error.Style != irv1.ErrorStyle_ERROR_STYLE_TOOL {
			t.Errorf("%s: style is %s", o.Class, o.Error.Style)
		}
	}
	if o := s.do(t, "get_book", `{}`); o.Error.Style != irv1.ErrorStyle_ERROR_STYLE_JSONRPC {
		t.Errorf("style is %s", o.Error.Style)
	}
}

// A secret that vanished fails the calls that need it, without a request that goes
// out unauthorized, and is back in force as soon as it is there again.
func TestVanishedSecret(t *testing.T) {
	there := true
	deps := table.Deps{Secrets: secret.New("", func(string) (string, bool) { return "s3cr3t", there })}
	s := serve(t, nil)
	tool := build(t, library(s.URL), deps).Endpoint("/mcp").Tool("get_book")
	there = false
	o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(getBook)})
	const want = `-32000 The library is closed. {"kind":"busy","message":"The library is closed."}`
	if o.Class != call.Internal || show(o.Error) != want || !errors.Is(o.Err, secret.ErrMissing) {
		t.Errorf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
	}
	s.last(t, 0)
	there = true
	if o := call.Do(context.Background(), tool, call.Request{Arguments: []byte(getBook)}); o.Class != call.OK {
		t.Errorf("outcome is %s, %v", o.Class, o.Err)
	}
}
