package call_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// hiding returns the library with all that a title, tags and isbn are hidden, but for
// the names of tags, and the member secret of every response.
func hiding(url string) *irv1.Binding {
	const request, response = irv1.Side_SIDE_REQUEST, irv1.Side_SIDE_RESPONSE
	b := library(url)
	b.Redact = []*irv1.Place{
		at(request, "payload", "title"), at(request, "payload", "isbn"), at(request, "payload", "tags"),
		at(request, "meta", "key"), at(response, "secret"),
	}
	return b
}

// TestStruckErrors has upstreams that send back what is hidden, and the credential.
func TestStruckErrors(t *testing.T) {
	const args = `{"meta":{"version":"v1","key":"idem-77"},"payload":{"title":"Middlemarch","isbn":"9780141439549","copies":1}}`
	tests := []struct {
		name   string
		status int
		answer string
		want   string
	}{
		{"nothing", 409, `{"kind":"taken", "message":"No."}`, `-32000 No. {"kind":"taken", "message":"No."}`},
		{"in the message", 409, `{"kind":"taken", "message":"Middlemarch is 9780141439549."}`,
			`-32000 [redacted] is [redacted]. {"kind":"taken", "message":"[redacted] is [redacted]."}`},
		{"anywhere", 409, `{"kind":"taken","message":"No.","sent":{"Middlemarch":[9780141439549,{"key":"idem-77"}]},"copies":1}`,
			`-32000 No. {"kind":"taken","message":"No.","sent":{"[redacted]":["[redacted]",{"key":"[redacted]"}]},"copies":1}`},
		{"of the response", 409, `{"kind":"taken","message":"see t-1234","secret":["t-1234"]}`,
			`-32000 see [redacted] {"kind":"taken","message":"see [redacted]","secret":["[redacted]"]}`},
		{"the credential", 409, `{"kind":"auth","message":"got Bearer s3cr3t","token":"s3cr3t"}`,
			`-32000 got [redacted] {"kind":"auth","message":"got [redacted]","token":"[redacted]"}`},
		{"the credential in HTML", 502, `<p>s3cr3t Middlemarch</p>`, `-32000 The service answered with status 502. {"status":502}`},
		{"a body that is no result", 200, `["Middlemarch"]`, `-32000 The service sent an answer that cannot be used. {"kind":"strange"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, answer(tt.status, tt.answer))
			o := call.Do(context.Background(), build(t, hiding(s.URL), table.Deps{}).Endpoint("/mcp").Tool("add_book"), call.Request{Arguments: []byte(args)})
			if show(o.Error) != tt.want {
				t.Errorf("error is %s\nwant %s", show(o.Error), tt.want)
			}
			s.last(t, 1)
		})
	}
}

// TestResultsAreNotStruck holds that a result is the upstream's answer.
func TestResultsAreNotStruck(t *testing.T) {
	const body = `{"title":"Middlemarch","secret":"t-1234","echo":"s3cr3t"}`
	s := serve(t, answer(200, body))
	o := call.Do(context.Background(), build(t, hiding(s.URL), table.Deps{}).Endpoint("/mcp").Tool("add_book"),
		call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"Middlemarch","copies":1}}`)})
	if string(o.Body) != body {
		t.Errorf("result is %s", o.Body)
	}
}

// TestStruckHeaders has a failure whose headers repeat what is hidden.
func TestStruckHeaders(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Echo", "it was Middlemarch")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	b := hiding(s.URL)
	b.Errors.Rules[0].Headers = []*irv1.HeaderMember{{Name: "echo", Header: "X-Echo"}}
	b.Tools[0].ResultMeta = []*irv1.ResultMeta{{Key: "example.com/echo", Source: &irv1.ResultMeta_Header{Header: "X-Echo"}}}
	o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book"),
		call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"Middlemarch","copies":1}}`)})
	if !strings.Contains(show(o.Error), `"echo":"it was [redacted]"`) || string(o.Meta["example.com/echo"]) != `"it was [redacted]"` {
		t.Errorf("error is %s, _meta %v", show(o.Error), o.Meta)
	}
}

// TestTooMuchToStrike has an answer that would take too long to look through: the error is
// what the rule says without it.
func TestTooMuchToStrike(t *testing.T) {
	long := strings.Repeat("a", 50<<10)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"kind":"taken","message":"`+long+`"}`)
	})
	o := call.Do(context.Background(), build(t, hiding(s.URL), table.Deps{}).Endpoint("/mcp").Tool("add_book"),
		call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"` + long + `b","copies":1}}`)})
	if show(o.Error) != refused {
		t.Errorf("error is %.200s", show(o.Error))
	}
}

// TestOwnWordsAreNotStruck has hidden values that the binding's own error rules say, too.
func TestOwnWordsAreNotStruck(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusConflict) })
	o := call.Do(t.Context(), build(t, hiding(s.URL), table.Deps{}).Endpoint("/mcp").Tool("add_book"),
		call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"refused","copies":1}}`)})
	if show(o.Error) != refused {
		t.Errorf("error is %s", show(o.Error))
	}
}

// asking returns b with an ask of add_book for responses with status, which have what is
// asked at /q.
func asking(b *irv1.Binding, status uint32) *irv1.Binding {
	b.Tools[0].Asks = []*irv1.Ask{{
		Name: "own", Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: status}}}, Tool: "add_book", Otherwise: irv1.Otherwise_OTHERWISE_RESULT,
		Question: &irv1.Ask_Requests{Requests: &irv1.Pointer{Tokens: []string{"q"}}},
	}}
	return b
}

// TestStruckQuestions has failures that ask, and repeat what a failure does not.
func TestStruckQuestions(t *testing.T) {
	for _, tt := range []struct{ key, message, want string }{
		{"ok", "Go on?", "Go on?"},
		{"ok", "Go on? Bearer s3cr3t sent Middlemarch.", "Go on? [redacted] sent [redacted]."},
		{"Middlemarch", "Go on?", ""},
	} {
		s := serve(t, answer(428, `{"q":{"`+tt.key+`":{"method":"elicitation/create","params":{"message":"`+tt.message+`","requestedSchema":{"type":"object"}}}}}`))
		o := call.Do(t.Context(), build(t, asking(hiding(s.URL), 428), table.Deps{}).Endpoint("/mcp").Tool("add_book"),
			call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"Middlemarch","copies":1}}`)})
		got := ""
		if o.Question != nil {
			got, _ = o.Question.Requests[0].Params.Member("message").Text()
		}
		if got != tt.want {
			t.Errorf("%s: the question is %q, want %q", tt.message, got, tt.want)
		}
	}
}

// TestRefusedAsksNothing has a success that asks and that a check refuses.
func TestRefusedAsksNothing(t *testing.T) {
	s := serve(t, answer(200, `{"q":{"ok":{"method":"roots/list"}}}`))
	b := asking(library(s.URL), 200)
	add := func() call.Outcome {
		return call.Do(t.Context(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book"), call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`)})
	}
	if o := add(); o.Question == nil {
		t.Fatalf("outcome is %s, %s, and asks nothing", o.Class, show(o.Error))
	}
	b.Tools[0].Checks = []*irv1.CallCheck{{Name: "bill", Message: "There is no bill.", Level: irv1.CheckLevel_CHECK_LEVEL_REJECT, Kind: &irv1.CallCheck_Has{Has: at(irv1.Side_SIDE_RESPONSE, "bill")}}}
	if o := add(); o.Class != call.Unusable || o.Question != nil {
		t.Errorf("outcome is %s and asks %+v", o.Class, o.Question)
	}
}

// TestDiscreetArguments has a name that is in a hidden argument.
func TestDiscreetArguments(t *testing.T) {
	const closed = `{"type":"object","properties":{"cover":{"type":"object","additionalProperties":false,"properties":{"number":{"type":"string"}}}}}`
	s := serve(t, nil)
	b := library(s.URL)
	patch := b.Tools[slices.IndexFunc(b.Tools, func(tool *irv1.Tool) bool { return tool.Name == "patch_book" })]
	digest := irv1.DigestOf([]byte(closed))
	patch.InputSchema = digest[:]
	for _, a := range patch.Arguments {
		a.Checked = a.Name == "cover"
		if a.Type == irv1.ArgumentType_ARGUMENT_TYPE_ANY {
			a.Type = irv1.ArgumentType_ARGUMENT_TYPE_STRING
		}
	}
	for hidden, want := range map[string]string{"cover": `-32602 argument "cover": Unknown field `, "id": `-32602 argument "cover" at $['4111 1']: Unknown field `} {
		b.Redact = []*irv1.Place{at(irv1.Side_SIDE_REQUEST, hidden)}
		o := call.Do(t.Context(), build(t, b, table.Deps{}, closed).Endpoint("/mcp").Tool("patch_book"), call.Request{Arguments: []byte(`{"id":"b1","cover":{"4111 1":1}}`)})
		if show(o.Error) != want {
			t.Errorf("with %s hidden: %s", hidden, show(o.Error))
		}
	}
}

// TestDiscreetViolations has names that are in what is hidden.
func TestDiscreetViolations(t *testing.T) {
	tests := []struct {
		name, payload, place string
		hidden               []string
	}{
		{"elsewhere", `{"title":"x","copies":1,"M4RK3R":1}`, "$.payload.M4RK3R", []string{"payload", "tags"}},
		{"a stated name", `{"title":"x","copies":1,"tags":[{"name":1}]}`, "$.payload.tags[0].name", []string{"payload", "tags"}},
		{"another name", `{"title":"x","copies":1,"M4RK3R":1}`, "$.payload", []string{"payload"}},
		{"the place itself", `{"title":"x","copies":1,"M4RK3R":1}`, "$.payload.M4RK3R", []string{"payload", "M4RK3R"}},
		{"all", `{"title":"x","copies":1,"M4RK3R":1}`, "$.payload", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			b := library(s.URL)
			b.Redact = []*irv1.Place{at(irv1.Side_SIDE_REQUEST, tt.hidden...)}
			o := call.Do(context.Background(), build(t, b, table.Deps{}).Endpoint("/mcp").Tool("add_book"),
				call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":` + tt.payload + `}`)})
			if !strings.Contains(show(o.Error), `"place":"`+tt.place+`"`) {
				t.Errorf("error is %s, want the place %s", show(o.Error), tt.place)
			}
			s.last(t, 0)
		})
	}
}
