package call

import (
	"fmt"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxBodyDepth is how deep a response's body may be nested.
const maxBodyDepth = 256

// Reserved returns the names of members that MCP gives a meaning in a result: a
// body with one of them at its top level cannot be a dual result.
func Reserved() []string {
	return []string{"content", "structuredContent", "isError", "_meta", "resultType", "inputRequests", "requestState"}
}

// answered is the outcome of a response.
func answered(t *table.Tool, resp *upstream.Response) Outcome {
	if !isSuccess(resp.Status) {
		return rejected(t, resp)
	}
	body, err := usable(t.Result, resp.Body)
	if err != nil {
		o := failed(t, irv1.Failure_FAILURE_UNUSABLE, err)
		o.Status = resp.Status
		return o
	}
	return Outcome{Class: OK, Status: resp.Status, Body: body}
}

func isSuccess(status int) bool { return 200 <= status && status <= 299 }

// usable returns body without its newlines; nil for none. The error, which does not
// quote the body, says why it cannot be a result.
func usable(mode irv1.ResultMode, body []byte) (rawjson.Value, error) {
	if isBlank(body) {
		return nil, nil
	}
	v, err := rawjson.Parse(body, maxBodyDepth)
	if err != nil {
		return nil, fmt.Errorf("the body of the response is not JSON: %w", err)
	}
	if mode == irv1.ResultMode_RESULT_MODE_DUAL {
		if v.Kind() != rawjson.Object {
			return nil, fmt.Errorf("the body of the response is %s, a dual result must be an object", v.Kind())
		}
		for name := range v.Members() {
			if text, _ := name.Text(); slices.Contains(Reserved(), text) {
				return nil, fmt.Errorf("the body of the response has the member %q, which MCP reserves", text)
			}
		}
	}
	return v.OneLine(), nil
}

func isBlank(body []byte) bool {
	for _, c := range body {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// rejected is the outcome of a response with a status other than 2xx.
func rejected(t *table.Tool, resp *upstream.Response) Outcome {
	rule := t.Errors.Status(resp.Status)
	data := upstreamError(t.Errors, resp.Body)
	if data == nil {
		data = fallback(rule)
	} else if rule != nil && len(rule.Set) > 0 {
		data = overwrite(data, rule.Set)
	}
	sentence := fmt.Sprintf("The service answered with status %d.", resp.Status)
	e := newError(t.Errors, rule, data, sentence)
	if data == nil {
		e.Data = fmt.Appendf(nil, `{"status":%d}`, resp.Status)
	}
	return Outcome{Class: UpstreamError, Status: resp.Status, Error: e, Rule: nameOf(rule)}
}

// failed is the outcome of an exchange without a usable response, for the reason
// why, which only the log gets.
func failed(t *table.Tool, failure irv1.Failure, why error) Outcome {
	class, sentence := Unreachable, "The service could not be reached."
	switch failure {
	case irv1.Failure_FAILURE_TIMEOUT:
		class, sentence = Timeout, "The service did not answer in time."
	case irv1.Failure_FAILURE_UNUSABLE:
		class, sentence = Unusable, "The service sent an answer that cannot be used."
	}
	rule := t.Errors.Failure(failure)
	return Outcome{Class: class, Err: why, Error: newError(t.Errors, rule, fallback(rule), sentence), Rule: nameOf(rule)}
}

// upstreamError returns the object that the upstream describes its error with; nil
// when there is none that is usable.
func upstreamError(e *table.Errors, body []byte) rawjson.Value {
	v, err := rawjson.Parse(body, maxBodyDepth)
	if err != nil {
		return nil
	}
	if e.Unwrap != nil {
		if inner := v.Lookup(e.Unwrap.GetTokens()); inner.Kind() == rawjson.Object {
			v = inner
		}
	}
	if v.Kind() != rawjson.Object {
		return nil
	}
	for _, name := range e.Usable {
		if v.Member(name).Kind() != rawjson.String {
			return nil
		}
	}
	return v.OneLine()
}

// overwrite returns object with members set. The bytes of other members stay as
// they are.
func overwrite(object rawjson.Value, members []table.Member) rawjson.Value {
	var all []table.Member
	for name, value := range object.Members() {
		text, _ := name.Text()
		all = append(all, table.Member{Name: text, Value: value})
	}
	for _, m := range members {
		all = set(all, m)
	}
	return table.Object(all)
}

func fallback(rule *table.Rule) rawjson.Value {
	if rule == nil {
		return nil
	}
	return rule.Fallback
}

func nameOf(rule *table.Rule) string {
	if rule == nil {
		return ""
	}
	return rule.Name
}

// newError returns the error with data, which may be nil. Its message is the one in
// data, or else sentence.
func newError(e *table.Errors, rule *table.Rule, data rawjson.Value, sentence string) *Error {
	code := e.Code
	if rule != nil && rule.Code != 0 {
		code = rule.Code
	}
	message := ""
	if e.Message != nil {
		message, _ = data.Lookup(e.Message.GetTokens()).Text()
	}
	if message == "" {
		message = sentence
	}
	return &Error{Code: code, Message: message, Data: data, Style: e.Style}
}
