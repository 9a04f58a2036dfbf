package trial

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A stage is a table with everything around it played as one case states it. It is
// not safe for concurrent use.
type stage struct {
	table     *table.Table
	tokens    map[string]bool   // URLs of token endpoints
	endpoints map[string]string // by binding
	playing   *cases.Case
	got       []*received // what the upstream got so far
}

func newStage(bundle *irv1.Content) (*stage, error) {
	s := &stage{endpoints: map[string]string{}, tokens: tokenURLs(bundle)}
	for _, b := range bundle.Bindings {
		s.endpoints[b.GetName()] = b.GetEndpoint()
	}
	var err error
	s.table, err = table.Build(bundle, &discoveryv1.Generation{Number: 1}, nil, table.Deps{
		Secrets:   secret.New("", playedSecret),
		Now:       func() time.Time { return s.playing.Now },
		UUID:      func() string { return s.playing.UUID },
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Transport: func(upstream.Origin) http.RoundTripper { return s },
	})
	return s, err
}

// playedSecret is the value of the environment variable of a secret: "secret:" and
// the secret's name.
func playedSecret(variable string) (string, bool) {
	name := strings.TrimPrefix(variable, secret.Variable(""))
	return "secret:" + strings.ToLower(strings.ReplaceAll(name, "_", "-")), true
}

// run runs a case.
func (s *stage) run(ctx context.Context, c *cases.Case) Verdict {
	began := time.Now()
	s.playing, s.got = c, nil
	r := s.ask(ctx, c)
	v := Verdict{Case: c, Rule: ruleOf(r.outcome), Retries: r.outcome.Retries, Checks: r.outcome.Checks, Problems: checkRequests(c.Exchanges, s.got)}
	if len(s.got) <= len(c.Exchanges) { // else what the caller got follows from that
		v.Problems = append(v.Problems, checkAnswer(c, r.members, r.refusal)...)
		v.Problems = append(v.Problems, checkChecks(c.Checks, r.outcome.Checks)...)
	}
	if result.IsLarge(r.outcome) {
		v.Large = len(r.outcome.Rest)
	}
	if r.tool != nil {
		v.Tool = r.tool.Name
		v.Problems = struck(v.Problems, r.tool.Redact, c, s.got)
	}
	v.Took = time.Since(began)
	return v
}

// A reply is what comes of a case.
type reply struct {
	tool    *table.Tool // that was called; nil for none
	outcome call.Outcome
	members []byte // of the result
	refusal *call.Error
}

// ask does what a case states.
func (s *stage) ask(ctx context.Context, c *cases.Case) reply {
	at := s.table.Endpoint(s.endpoints[c.Binding])
	request := call.Request{Arguments: c.Arguments, Header: header(c.Caller), Meta: c.Meta}
	switch {
	case c.Prompt != "":
		return get(ctx, at.Prompt(c.Prompt), request)
	case c.Resource != "":
		return read(ctx, at, c.Resource, request)
	case c.Completion != nil:
		return offer(ctx, at, c, request)
	}
	r := reply{tool: at.Tool(c.Tool)}
	r.do(ctx, request)
	r.members, r.refusal = answer(r.tool, r.outcome)
	return r
}

// do makes the call of the tool.
func (r *reply) do(ctx context.Context, request call.Request) {
	r.outcome = call.Do(ctx, fresh(r.tool), request)
}

// fresh returns tool with all of its upstream's budget: no case eats up another's retries.
func fresh(tool *table.Tool) *table.Tool {
	tool.Service.Client.Retries = upstream.Budget{}
	return tool
}

// answer returns the members of the result that the caller of tool gets, or the error.
func answer(tool *table.Tool, o call.Outcome) ([]byte, *call.Error) {
	if o.Question != nil {
		return asked(o.Question), nil
	}
	members, refusal := result.Of(tool, o, result.Newest())
	if !result.IsBare(tool, o) {
		members = append(members, meta(o)...)
	}
	return members, refusal
}

// asked returns the member of a result that asks q.
func asked(q *call.Question) []byte {
	m := []byte(`"inputRequests":{`)
	for i, r := range q.Requests {
		if i > 0 {
			m = append(m, ',')
		}
		m = rawjson.AppendQuote(m, r.Key)
		m = rawjson.AppendQuote(append(m, `:{"method":`...), r.Method)
		m = append(append(append(m, `,"params":`...), r.Params...), '}')
	}
	return append(m, '}')
}

// ruleOf returns the error rule that made the caller's error; "" when there is none.
func ruleOf(o call.Outcome) string {
	if o.Question != nil {
		return ""
	}
	return o.Rule
}

func header(fields map[string]string) http.Header {
	h := http.Header{}
	for name, value := range fields {
		h.Set(name, value)
	}
	return h
}

// meta returns the member "_meta" that the response adds to a result; nil when it adds
// nothing.
func meta(o call.Outcome) []byte {
	if len(o.Meta) == 0 {
		return nil
	}
	var all []table.Member
	for _, key := range slices.Sorted(maps.Keys(o.Meta)) {
		all = append(all, table.Member{Name: key, Value: o.Meta[key]})
	}
	return append([]byte(`,"_meta":`), table.Object(all)...)
}
