package call

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxHeaderMember is how long, in bytes, the value of a header may be that becomes a
// member of an error.
const maxHeaderMember = 1024

// broken is the outcome of an exchange that ended with err; resp is what there was
// of the response, nil for nothing. A status that refuses says so without the rest of
// its response: that it was not all there must not read as if the request were worth
// another attempt.
func broken(t *table.Tool, resp *response, err error) Outcome {
	switch {
	case errors.Is(err, upstream.ErrCanceled):
		return Outcome{Class: Canceled, Err: err, Error: &Error{Code: CodeInternal, Message: "The call was canceled.", Style: t.Errors.Style}}
	case resp != nil && !isSuccess(resp.Status):
		o := rejected(t, resp)
		o.Err = err
		return o
	}
	return failed(t, failureOf(err), resp, err)
}

func failureOf(err error) irv1.Failure {
	switch {
	case errors.Is(err, upstream.ErrTimeout):
		return irv1.Failure_FAILURE_TIMEOUT
	case errors.Is(err, upstream.ErrTLS):
		return irv1.Failure_FAILURE_TLS
	case errors.Is(err, upstream.ErrTooLarge):
		return irv1.Failure_FAILURE_TOO_LARGE
	}
	return irv1.Failure_FAILURE_UNREACHABLE
}

// rejected is the outcome of a response with a status other than 2xx.
func rejected(t *table.Tool, resp *response) Outcome {
	said := reported(t.Errors, resp.Body)
	rule := t.Errors.Response(resp.Status, resp.Header.Get("Content-Type"), said)
	data := fallback(rule)
	if said = resp.struck(said); isUsable(t.Errors, said) {
		data = said.OneLine()
		if rule != nil {
			data = overwrite(data, rule.Set)
		}
	} else if data == nil {
		data = fmt.Appendf(nil, `{"status":%d}`, resp.Status)
	}
	sentence := fmt.Sprintf("The service answered with status %d.", resp.Status)
	o := Outcome{Class: UpstreamError, Status: resp.Status, RetryAfter: retryAfter(resp.Header, t.Deps().Now())}
	o.fail(t.Errors, rule, withHeaders(rule, data, resp), sentence)
	return o
}

// failed is the outcome of an exchange without a usable response, for the reason
// why, which only the log gets. resp is what there was of the response, nil for
// nothing.
func failed(t *table.Tool, failure irv1.Failure, resp *response, why error) Outcome {
	if resp == nil {
		resp = &response{Response: &upstream.Response{}}
	}
	class, sentence := Unreachable, "The service could not be reached."
	switch failure {
	case irv1.Failure_FAILURE_TIMEOUT:
		class, sentence = Timeout, "The service did not answer in time."
	case irv1.Failure_FAILURE_UNUSABLE:
		class, sentence = Unusable, "The service sent an answer that cannot be used."
	case irv1.Failure_FAILURE_TOO_LARGE:
		class, sentence = TooLarge, tooLarge(t)
	}
	rule := t.Errors.Failure(failure, resp.Header.Get("Content-Type"))
	o := Outcome{Class: class, Status: resp.Status, Err: why}
	o.fail(t.Errors, rule, withHeaders(rule, fallback(rule), resp), sentence)
	return o
}

// Unfit returns what becomes of o, the outcome of a call of t that ended with a body
// or a part, where that is nothing of the kind that was asked for, for the reason why:
// which only the log gets, and which repeats nothing of it.
func Unfit(t *table.Tool, k irv1.Kind, o Outcome, why error) Outcome {
	failure := failed(t, irv1.Failure_FAILURE_UNUSABLE, &response{Response: &upstream.Response{Status: o.Status}}, why)
	failure.recode(t.Errors, k)
	o.Class, o.Err, o.Error, o.Rule = failure.Class, failure.Err, failure.Error, failure.Rule
	o.Body, o.Part = nil, nil
	return o
}

// Stopped is the outcome of a call of t that does not go on, which sentence tells the
// caller: the error is that of a response that cannot be used, in these words.
func Stopped(t *table.Tool, class Class, sentence string) Outcome {
	o := failed(t, irv1.Failure_FAILURE_UNUSABLE, nil, nil)
	o.Class, o.again = class, false
	o.Error.Message, o.Error.Own = sentence, true
	if at := t.Errors.Message.GetTokens(); o.Error.Data != nil && len(at) == 1 {
		o.Error.Data, o.Error.Own = rawjson.Value(o.Error.Data).With(at[0], rawjson.Quote(sentence)), false
	}
	return o
}

// reported returns what body says of an error: the object that the upstream wraps
// it in, or else all of it; nil when it is no JSON.
func reported(e *table.Errors, body []byte) rawjson.Value {
	v, err := rawjson.Parse(body, maxBodyDepth)
	if err != nil {
		return nil
	}
	if e.Unwrap != nil {
		if inner := v.Lookup(e.Unwrap.GetTokens()); inner.Kind() == rawjson.Object {
			return inner
		}
	}
	return v
}

// isUsable reports whether v can be what a caller is told: an object with the
// members that matter.
func isUsable(e *table.Errors, v rawjson.Value) bool {
	if v.Kind() != rawjson.Object {
		return false
	}
	for _, name := range e.Usable {
		if v.Member(name).Kind() != rawjson.String {
			return false
		}
	}
	return true
}

// overwrite returns object with members set. The bytes of other members stay as
// they are.
func overwrite(object rawjson.Value, members []table.Member) rawjson.Value {
	if len(members) == 0 {
		return object
	}
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

// withHeaders returns data, an object or nil, with the members that the rule takes
// from the header of resp.
func withHeaders(rule *table.Rule, data rawjson.Value, resp *response) rawjson.Value {
	if rule == nil {
		return data
	}
	var members []table.Member
	for _, h := range rule.Headers {
		if value := resp.Header.Get(h.Name); value != "" && len(value) <= maxHeaderMember {
			if struck := resp.struck(rawjson.Quote(value)); struck != nil {
				members = append(members, table.Member{Name: h.Member, Value: struck})
			}
		}
	}
	return overwrite(data, members)
}

func fallback(rule *table.Rule) rawjson.Value {
	if rule == nil {
		return nil
	}
	return rule.Fallback
}

// fail sets the error of o, with data, which may be nil. Its message is the rule's,
// or the one in data, or else sentence.
func (o *Outcome) fail(e *table.Errors, rule *table.Rule, data rawjson.Value, sentence string) {
	o.Error = &Error{Code: e.Code, Data: data, Style: e.Style}
	o.uncoded = rule == nil || rule.Code == 0
	if rule != nil {
		o.Rule, o.again, o.Error.Message = rule.Name, rule.Retry, rule.Message
		if rule.Code != 0 {
			o.Error.Code = rule.Code
		}
	}
	said := ""
	if e.Message != nil {
		said, _ = data.Lookup(e.Message.GetTokens()).Text()
	}
	o.Error.Message = cmp.Or(o.Error.Message, said, sentence)
	o.Error.Own = o.Error.Message != said
}

// recode gives the error of o, unless a rule has, the code for what was asked for.
func (o *Outcome) recode(e *table.Errors, k irv1.Kind) {
	if o.Error != nil && o.uncoded {
		o.Error.Code = e.CodeFor(k, o.Status)
	}
}
