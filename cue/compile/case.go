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
	rd.exclusive(v, "arguments", "argumentsText")
	rd.exclusive(v, "tool", "prompt")
	if !v.get("tool").exists() && !v.get("prompt").exists() && v.cue.Err() == nil {
		rd.noSubject(v)
	}
	c := &cases.Case{
		Name:      name,
		Position:  rd.position(v),
		Tool:      v.get("tool").quiet(),
		Prompt:    v.get("prompt").quiet(),
		Caller:    rd.header(v.get("caller")),
		Exchanges: rd.exchanges(v),
		UUID:      defaultUUID,
		Now:       instant(defaultNow),
	}
	if b := body(v, "arguments", "argumentsText"); b != nil {
		c.Arguments = b.Data
	}
	if meta := v.get("caller").get("meta"); meta.exists() {
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
		rd.exclusive(v, "result", "error")
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
	request, response := v.get("request"), v.get("response")
	several := v.get("exchanges").elements()
	if len(several) > 0 {
		rd.exclusive(v, "request", "exchanges")
		rd.exclusive(v, "response", "exchanges")
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
	rd.exclusive(v, "body", "bodyText")
	method, target, _ := strings.Cut(v.get("http").quiet(), " ")
	return cases.Request{Method: method, Target: target, Header: rd.header(v), Body: body(v, "body", "bodyText")}
}

func (rd caseReading) response(v value) cases.Response {
	rd.exclusive(v, "body", "bodyText")
	for _, answer := range []string{"status", "body", "bodyText"} {
		rd.exclusive(v, answer, "failure")
	}
	return cases.Response{
		Failure: cases.Failure(v.get("failure").quiet()),
		Status:  int(v.get("status").number(200)),
		Header:  rd.header(v),
		Body:    body(v, "body", "bodyText"),
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
func body(v value, json, exact string) *cases.Body {
	if text := v.get(exact); text.exists() {
		return &cases.Body{Data: []byte(text.quiet()), Exact: true}
	}
	if data := v.get(json); data.exists() {
		return &cases.Body{Data: bytes.TrimSpace(data.json())}
	}
	return nil
}

// exclusive reports two fields of v of which there can be one.
func (rd caseReading) exclusive(v value, a, b string) {
	if v.get(a).exists() && v.get(b).exists() {
		rd.eitherOr(v.get(b), a, b)
	}
}

func keys(m map[string][]string) []string { return slices.Sorted(maps.Keys(m)) }
