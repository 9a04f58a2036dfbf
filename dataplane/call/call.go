// Package call makes one tool call: a [Request] with the raw bytes of its arguments
// comes in, the HTTP exchange that it stands for takes place, and an [Outcome] goes
// out: the body of the response or the error that the binding makes of it.
//
// What a tool does is data (package table); nothing here knows an API. The payload
// is checked and sent as the bytes that it arrived as.
package call

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/bindery-dev/bindery/dataplane/check"
	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/locale"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Codes of JSON-RPC that do not depend on the binding.
const (
	CodeInvalidParams = -32602
	CodeInternal      = -32603
)

// Class is how a call ended, coarse enough to count.
type Class int

// The classes. The zero Class is none of them.
const (
	// OK: a result.
	OK Class = iota + 1
	// InvalidParams: the arguments cannot be sent.
	InvalidParams
	// InvalidPayload: the payload breaks its schema.
	InvalidPayload
	// UpstreamError: the upstream answered with a status other than 2xx.
	UpstreamError
	// Unreachable: no response, or not all of it.
	Unreachable
	// Timeout: not all of the response in time.
	Timeout
	// Unusable: a 2xx response that cannot be a result.
	Unusable
	// TooLarge: a 2xx response whose body is more than a result may have.
	TooLarge
	// InvalidResult: a 2xx response whose body breaks its schema.
	InvalidResult
	// Canceled: the caller gave up.
	Canceled
	// Asked: the user is asked before the call goes on. It is for who asks to say so.
	Asked
	// Unanswered: the user could not be asked, or gave no answer to go on with. It is for
	// who asks to say so.
	Unanswered
	// Internal: the node could not make the call; its log says why.
	Internal
)

// String returns the name of the class in metrics and logs.
func (c Class) String() string {
	names := [...]string{"", "ok", "invalid_params", "invalid_payload", "upstream_error", "unreachable", "timeout", "unusable", "too_large", "invalid_result", "canceled", "asked", "unanswered", "internal"}
	if c < OK || int(c) >= len(names) {
		return "unknown"
	}
	return names[c]
}

// Classes returns every class, in a fixed order.
func Classes() []Class {
	return []Class{OK, InvalidParams, InvalidPayload, UpstreamError, Unreachable, Timeout, Unusable, TooLarge, InvalidResult, Canceled, Asked, Unanswered, Internal}
}

// A Request is a call as it came in.
type Request struct {
	// Arguments is the JSON object of the arguments; nil means none.
	Arguments []byte
	// Parsed says that Arguments, not nil, are a value that [rawjson.Parse] returned
	// with depth [MaxDepth], or part of one that it returned.
	Parsed bool
	// Header is that of the HTTP request which the call came with, nil when it came
	// otherwise. It is only read, and only where a binding names a header, or for the
	// trace that the call belongs to.
	Header http.Header
	// Generated are values of meta fields that were made up for the call which this one
	// goes on with, by field: they stand for what the caller leaves out.
	Generated map[string]string
	// Fork, unless nil, says what makes the request another than the one of the call that
	// this one goes on with: it has a key of its own then, that follows from both.
	Fork []byte
	// Meta is the "_meta" that the call came with, an object; nil for none. It is only
	// read where a binding names what is in it, and for the language that is wanted.
	Meta rawjson.Value
	// Traceparent and Tracestate are those of the "_meta" that the call came with, ""
	// for none. They count where Header says nothing of a trace.
	Traceparent, Tracestate string
	// For is what the caller asked for, that the call is made for.
	For irv1.Kind
}

// An Outcome is how a call ended.
type Outcome struct {
	Class Class
	// Status is that of the upstream's response; 0 when there was none.
	Status int
	// Body is the response's: one JSON value without newlines. It is nil when the
	// response had none, and whenever Part or Error is set. For a tool whose result is
	// dual it is an object without the members of [Reserved]; for one whose result is
	// raw, an object.
	Body []byte
	// ContentType is the header of that name of the response that Body is of.
	ContentType string
	// Part is the response's body where it is no JSON; nil otherwise.
	Part *Part
	// Rest is Body without the members that the tool moves to "_meta" or to a part.
	Rest []byte
	// Content are the parts of content, for a tool that has some; Part goes before.
	Content []content.Part
	// Meta is what the response adds to "_meta" of a result, by key: JSON on one line;
	// nil for nothing. It can be set where Error is.
	Meta map[string]rawjson.Value
	// Error is nil exactly if Class is [OK].
	Error *Error
	// Rule is the name of the error rule that Error was made by; "" when there was
	// none.
	Rule string
	// Attempts is how often the request was sent.
	Attempts int
	// Retries are the names of the rules for which the request was sent again, in
	// order; one less than Attempts.
	Retries []string
	// RetryAfter is how long the upstream, whose last response was no 2xx, asks to
	// wait; 0 when it does not ask.
	RetryAfter time.Duration
	// Breaches are the bodies that broke their schemas, whether the call failed for it
	// or not; at most one a direction.
	Breaches []Breach
	// Question is what the user is to be asked before the call goes on; nil for nothing.
	// The rest of the outcome is what the response is without it.
	Question *Question
	// Checks are the names of the checks of the tool that the call fails: first those
	// of the request.
	Checks []string
	// Err says for a log why the call failed, nil when Error says it all. It holds
	// neither secrets nor anything that the caller or the upstream sent.
	Err error

	again   bool // the rule says that the request may be sent again
	uncoded bool // no rule gave the error its code
}

// An Error is what the caller gets in place of a result.
type Error struct {
	Code    int // of JSON-RPC
	Message string
	Data    []byte // one JSON value without newlines; nil for none
	Style   irv1.ErrorStyle
	// Own says that Message is the binding's or the node's, and that Data, which is the
	// upstream's, or else the binding's, does not say it.
	Own bool
}

// Do makes the call r of t. It never panics. The outcome may share bytes with the
// arguments. No request leaves the node when the arguments are refused, or when the
// upstream's credential is not at hand.
func Do(ctx context.Context, t *table.Tool, r Request) (o Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = panicked(p)
		}
	}()
	a, err := parse(r)
	if err != nil {
		return refused(t, err)
	}
	a.hints, a.locale = r.Meta, t.Locales.Of(r.Meta)
	if len(t.Asks.All) > 0 || r.Generated != nil {
		a.generated = map[string]string{}
		maps.Copy(a.generated, r.Generated)
	}
	req, noted, err := prepare(t, a)
	if err != nil {
		return refused(t, err)
	}
	unmet := check.Failed(t.Checks.Request, a.all, nil)
	if c := rejecting(unmet); c != nil {
		o = badPayload(t.Errors, c.Message, c.Path, "")
	} else {
		o = exchange(ctx, t, a, req)
	}
	o.Breaches = append(noted, o.Breaches...)
	o.Checks = append(names(unmet), o.Checks...)
	o.recode(t.Errors, r.For)
	o.tell(locale.Key, a.locale)
	return o
}

// exchange sends req, which the arguments a became and which does not have the
// credential yet, and returns what came of it.
func exchange(ctx context.Context, t *table.Tool, a arguments, req *upstream.Request) Outcome {
	began := time.Now()
	if err := t.Service.Credential.Authorize(ctx, req.Header, req.Timeout); err != nil {
		return unauthorized(t, err)
	}
	req.Timeout -= time.Since(began)
	if t.Retry != nil && repeatable(t, req.Header) {
		return repeat(ctx, t, a, req)
	}
	return attempt(ctx, t, a, req)
}

// attempt sends req, which the arguments a became, once.
func attempt(ctx context.Context, t *table.Tool, a arguments, req *upstream.Request) Outcome {
	if t.Service.Deadline != "" {
		req.Header.Set(t.Service.Deadline, left(ctx, req.Timeout))
	}
	came, err := t.Service.Client.Do(ctx, req)
	resp := responseOf(came, t, a, req.Header)
	if resp != nil && resp.Status == http.StatusUnauthorized {
		t.Service.Credential.Rejected(req.Header)
	}
	o := ended(t, a, resp, err)
	o.Meta, o.Attempts = resultMeta(t, resp, o.Body), 1
	if o.Error != nil {
		o.Meta = resp.struckMeta(o.Meta)
	}
	return o
}

// left returns the time that an exchange with timeout has, within that of ctx, in whole
// milliseconds: at least 1.
func left(ctx context.Context, timeout time.Duration) string {
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	return strconv.FormatInt(max(1, int64((timeout+time.Millisecond-1)/time.Millisecond)), 10)
}

// ended is the outcome of an exchange that the arguments a became and that ended with
// resp and err, as [upstream.Client.Do] returns them.
func ended(t *table.Tool, a arguments, resp *response, err error) Outcome {
	if err != nil {
		return broken(t, resp, err)
	}
	o := shaped(t, resp, held(t, a, resp, checked(t, resp, answered(t, resp))))
	if o.Class == OK || o.Class == UpstreamError { // what is refused asks nothing
		o.Question = questionOf(t, resp, rawjson.Value(o.Body), a.generated)
	}
	return o
}

// unauthorized is the outcome of a call whose request did not get its credential, so
// that it was not sent: as if the upstream were as its token endpoint is, or else the
// node's own failure.
func unauthorized(t *table.Tool, err error) Outcome {
	var endpoint *upstream.Error
	if errors.As(err, &endpoint) {
		return broken(t, nil, err)
	}
	o := failed(t, irv1.Failure_FAILURE_UNREACHABLE, nil, err)
	o.Class = Internal
	return o
}

// refused is the outcome of arguments that prepare returned err for.
func refused(t *table.Tool, err error) Outcome {
	var v *schema.Violation
	if errors.As(err, &v) {
		o := violated(t, v)
		o.Breaches = []Breach{breach(Payload, v)}
		return o
	}
	return Outcome{Class: InvalidParams, Error: &Error{Code: CodeInvalidParams, Message: err.Error(), Style: t.Errors.Style}}
}

// panicked is the outcome of a bug. The text of a panic may hold anything, so only
// that of the runtime's own errors and the place are kept.
func panicked(p any) Outcome {
	what := fmt.Sprintf("%T", p)
	if err, ok := p.(runtime.Error); ok {
		what = err.Error()
	}
	return Outcome{
		Class: Internal,
		Err:   fmt.Errorf("call: panic: %s%s", what, panicPlace()),
		Error: &Error{Code: CodeInternal, Message: "Internal error", Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC},
	}
}

// panicPlace returns the functions and lines above the panic that is being
// recovered.
func panicPlace() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	place := ""
	for {
		f, more := frames.Next()
		place += fmt.Sprintf(": %s:%d", f.Function, f.Line)
		if !more || len(place) > 1024 {
			return place
		}
	}
}
