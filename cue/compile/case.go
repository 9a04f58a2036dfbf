package compile

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/outline"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// What a case has that states no clock and no UUID.
const (
	defaultNow  = "2026-01-01T00:00:00Z"
	defaultUUID = "00000000-0000-4000-8000-000000000000"
)

// A caseReading reads cases.
type caseReading struct {
	report
	unit *unit
}

// read reads a test, all but the binding. Where it does not evaluate, it reads what
// does.
func (rd caseReading) read(name string, v value) *cases.Case {
	arguments, exact := v.get("arguments"), v.get("argumentsText")
	caller := v.get("caller")
	rd.exclusive(arguments, exact)
	rd.subject(v)
	c := &cases.Case{
		Name:      name,
		Position:  rd.position(v),
		Tool:      v.get("tool").quiet(),
		Prompt:    v.get("prompt").quiet(),
		Resource:  v.get("resource").quiet(),
		Caller:    rd.header(caller),
		Exchanges: rd.exchanges(v),
		UUID:      defaultUUID,
		Now:       instant(defaultNow),
	}
	if typed := v.get("completion"); typed.exists() {
		c.Completion = &cases.Completion{
			Prompt: typed.get("prompt").quiet(), Template: typed.get("template").quiet(),
			Argument: typed.get("argument").quiet(), Value: typed.get("value").quiet(),
		}
	}
	if b := body(arguments, exact); b != nil {
		c.Arguments = b.Data
	}
	if meta := caller.get("meta"); meta.exists() {
		c.Meta = meta.json()
	}
	if s := v.get("uuid").quiet(); s != "" {
		c.UUID = strings.ToLower(s)
	}
	if s := v.get("now").quiet(); s != "" {
		c.Now = instant(s)
	}
	rd.expectation(v, c)
	checks := v.get("checks").fields()
	for _, name := range sorted(checks) {
		if checks[name].flag() {
			c.Checks = append(c.Checks, name)
		}
	}
	return c
}

// subjects are the fields of a test that say what it is about, in the order in which one
// that stands with others is meant.
var subjects = []string{"tool", "prompt", "resource", "completion"}

// subject holds a test to being about one thing.
func (rd caseReading) subject(v value) {
	var said []value
	for _, name := range subjects {
		if s := v.get(name); s.exists() {
			said = append(said, s)
		}
	}
	if len(said) == 0 && v.cue.Err() == nil {
		rd.noSubject(v)
	}
	for _, more := range said[min(1, len(said)):] {
		rd.exclusive(said[0], more)
	}
	typed := v.get("completion")
	prompt, template := typed.get("prompt"), typed.get("template")
	rd.exclusive(prompt, template)
	if typed.exists() && !prompt.exists() && !template.exists() && typed.cue.Err() == nil {
		rd.noForm(typed)
	}
	for _, arguments := range []value{v.get("arguments"), v.get("argumentsText")} {
		rd.exclusive(v.get("resource"), arguments)
	}
}

// position returns where a test is written: where its name is, or else the loop that
// makes it.
func (rd caseReading) position(v value) *sourcev1.Position {
	at := v.author().Places()
	switch {
	case len(at) == 0:
		return rd.unit.place()
	case at[0].Route == outline.Literal:
		return at[0].Label
	}
	return at[len(at)-1].Label
}

// instant reads a time that the schema has accepted.
func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{} // it has been reported
	}
	return t
}

// expectation reads what the caller must get.
func (rd caseReading) expectation(v value, c *cases.Case) {
	result, failure := v.get("result"), v.get("error")
	switch {
	case result.exists() && failure.exists():
		rd.exclusive(result, failure)
	case result.exists():
		c.Result = result.json()
	case failure.exists():
		c.Error = &cases.Error{Code: int(failure.get("code").number(0)), Message: failure.get("message").quiet()}
		if data := failure.get("data"); data.exists() {
			c.Error.Data = data.json()
		}
	case v.cue.Err() == nil:
		rd.noExpectation(v)
	}
}

// exchanges reads the requests that the upstream must get, and its answers.
func (rd caseReading) exchanges(v value) []cases.Exchange {
	request, response, exchanges := v.get("request"), v.get("response"), v.get("exchanges")
	several := exchanges.elements()
	if len(several) > 0 {
		rd.exclusive(request, exchanges)
		rd.exclusive(response, exchanges)
	}
	switch {
	case request.exists() && response.exists():
		return []cases.Exchange{{Request: rd.request(request), Response: rd.response(response)}}
	case request.exists() && len(several) == 0:
		rd.noResponse(request)
	case response.exists() && len(several) == 0:
		rd.noRequest(response)
	}
	var all []cases.Exchange
	for _, e := range several {
		all = append(all, cases.Exchange{Request: rd.request(e.get("request")), Response: rd.response(e.get("response"))})
	}
	return all
}

func (rd caseReading) request(v value) cases.Request {
	json, exact := v.get("body"), v.get("bodyText")
	rd.exclusive(json, exact)
	method, target, _ := strings.Cut(v.get("http").quiet(), " ")
	return cases.Request{Method: method, Target: target, Header: rd.header(v), Body: body(json, exact)}
}

func (rd caseReading) response(v value) cases.Response {
	json, exact, status, failure := v.get("body"), v.get("bodyText"), v.get("status"), v.get("failure")
	rd.exclusive(json, exact)
	for _, answer := range []value{status, json, exact} {
		rd.exclusive(answer, failure)
	}
	return cases.Response{
		Failure: cases.Failure(failure.quiet()),
		Status:  int(status.number(200)),
		Header:  rd.header(v),
		Body:    body(json, exact),
	}
}

// header returns the headers of v in canonical form.
func (rd caseReading) header(v value) map[string]string {
	fields := v.get("headers").fields()
	all := map[string]string{}
	for _, name := range sorted(fields) {
		if _, twice := all[canonical(name)]; twice {
			rd.headerTwiceInTest(fields[name], canonical(name))
		}
		all[canonical(name)] = fields[name].quiet()
	}
	return all
}

// body returns what the field json states as JSON, or the field exact as bytes; nil
// when there is neither.
func body(json, exact value) *cases.Body {
	switch {
	case exact.exists():
		return &cases.Body{Data: []byte(exact.quiet()), Exact: true}
	case json.exists():
		return &cases.Body{Data: bytes.TrimSpace(json.json())}
	}
	return nil
}

// exclusive reports two fields of which there can be one.
func (rd caseReading) exclusive(a, b value) {
	if a.exists() && b.exists() {
		rd.eitherOr(b, a.label(), b.label())
	}
}

func keys(m map[string][]string) []string { return slices.Sorted(maps.Keys(m)) }
