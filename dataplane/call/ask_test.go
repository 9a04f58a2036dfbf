package call_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestQuestions has responses that ask, and those that do not: the outcome is what it
// is without the question.
func TestQuestions(t *testing.T) {
	at := func(tokens ...string) *irv1.Pointer { return &irv1.Pointer{Tokens: tokens} }
	form := `{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string // the methods that are asked
		class  call.Class
	}{
		{"own", 428, `{"q":{"b":` + form + `,"a":{"method":"roots/list"}}}`, "b elicitation/create a roots/list ", call.UpstreamError},
		{"one that is none", 428, `{"q":{"b":` + form + `,"a":{"method":"tools/call","params":{}}}}`, "", call.UpstreamError},
		{"a form without a schema", 428, `{"q":{"b":{"method":"elicitation/create","params":{"message":"?"}}}}`, "", call.UpstreamError},
		{"none", 428, `{"q":{}}`, "", call.UpstreamError},
		{"no object", 428, `{"q":[1]}`, "", call.UpstreamError},
		{"no JSON", 428, `<html>`, "", call.UpstreamError},
		{"no such status", 429, `{"q":{"b":` + form + `}}`, "", call.UpstreamError},
		{"a page", 200, `{"status":"sign","url":"https://sign.example/1"}`, "sign elicitation/create ", call.OK},
		{"no page", 200, `{"status":"sign"}`, "", call.OK},
		{"what no browser shows", 200, `{"status":"sign","url":"javascript:alert(1)"}`, "", call.OK},
		{"another status", 200, `{"status":"signed","url":"https://sign.example/1"}`, "", call.OK},
	} {
		s := serve(t, answer(tt.status, tt.body))
		b := library(s.URL)
		tool := b.Tools[slices.IndexFunc(b.Tools, func(t *irv1.Tool) bool { return t.GetName() == "get_book" })]
		tool.Asks = []*irv1.Ask{
			{Name: "own", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 428}}}, Tool: "get_book", Otherwise: irv1.Otherwise_OTHERWISE_RESULT,
				Question: &irv1.Ask_Requests{Requests: at("q")}},
			{Name: "sign", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Class{Class: 2}}}, Tool: "get_book", Otherwise: irv1.Otherwise_OTHERWISE_RESULT,
				Body:     []*irv1.BodyCondition{{At: at("status"), Values: []*irv1.Scalar{{Kind: &irv1.Scalar_Text{Text: "sign"}}}}},
				Question: &irv1.Ask_Visit{Visit: &irv1.Visit{Message: "Sign.", At: at("url")}}},
		}
		o := call.Do(t.Context(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book"), call.Request{Arguments: []byte(getBook)})
		got := ""
		if o.Question != nil {
			for _, r := range o.Question.Requests {
				got += r.Key + " " + r.Method + " "
			}
		}
		if got != tt.want || o.Class != tt.class {
			t.Errorf("%s: %q, %s; want %q", tt.name, got, o.Class, tt.want)
		}
	}
}

// TestDeadline tells a service how much time it has.
func TestDeadline(t *testing.T) {
	said := make(chan string, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		said <- r.Header.Get("X-Time-Left")
		answer(200, `{}`)(w, r)
	})
	b := library(s.URL)
	b.Upstream.Deadline = "X-Time-Left"
	tool := build(t, b, table.Deps{}).Endpoint("/mcp").Tool("get_book")
	if o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)}); o.Class != call.OK {
		t.Fatalf("outcome is %+v", o)
	}
	left, err := strconv.Atoi(<-said)
	if most := int(tool.Timeout / time.Millisecond); err != nil || left < 1 || left > most || left < most-1000 {
		t.Errorf("%d ms are left of %d: %v", left, most, err)
	}
}
