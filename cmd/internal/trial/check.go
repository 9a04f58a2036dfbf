package trial

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// checkRequests holds what the upstream got against what it must get.
func checkRequests(want []cases.Exchange, got []*received) (problems []Problem) {
	for i := range max(len(want), len(got)) {
		where := "request"
		if max(len(want), len(got)) > 1 {
			where = fmt.Sprintf("exchanges[%d].request", i)
		}
		switch {
		case i >= len(got):
			problems = append(problems, Problem{Where: where, Want: want[i].Request.Method + " " + want[i].Request.Target})
		case i >= len(want):
			problems = append(problems, Problem{Where: where, Got: got[i].line})
		default:
			problems = append(problems, checkRequest(where, want[i].Request, got[i])...)
		}
	}
	return problems
}

func checkRequest(where string, want cases.Request, got *received) (problems []Problem) {
	if line := want.Method + " " + want.Target; line != got.line {
		problems = append(problems, Problem{where + ".http", line, got.line})
	}
	header := expected(want)
	for _, name := range slices.Sorted(maps.Keys(union(header, got.header))) {
		if w, g := said(header, name), said(got.header, name); w != g {
			problems = append(problems, Problem{where + ".headers." + name, w, g})
		}
	}
	return append(problems, checkBody(where+".body", want.Body, got.body)...)
}

// said returns the value of a header, "" when it is not there and two quotes when it is
// empty.
func said(header map[string]string, name string) string {
	if value, there := header[name]; there && value == "" {
		return `""`
	}
	return header[name]
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func checkBody(where string, want *cases.Body, got []byte) []Problem {
	switch {
	case want == nil || want.Exact:
		text := ""
		if want != nil {
			text = string(want.Data)
		}
		if text != string(got) {
			return []Problem{{where, text, string(got)}}
		}
		return nil
	case len(got) == 0:
		return []Problem{{Where: where, Want: string(want.Data)}}
	}
	have, err := rawjson.Parse(got, maxDepth)
	if err != nil {
		return []Problem{{where, string(want.Data), string(got)}}
	}
	return difference(where, decode(want.Data), have.Decode())
}

// checkAnswer holds what the caller got against what it must get: the members of a
// result, or refusal.
func checkAnswer(c *cases.Case, members []byte, refusal *call.Error) []Problem {
	result := "{" + string(members) + "}"
	switch {
	case c.Error != nil && refusal == nil:
		return []Problem{{Where: "error", Want: describe(c.Error.Code, c.Error.Message, c.Error.Data)}, {Where: "result", Got: result}}
	case c.Error != nil:
		return checkError(c.Error, refusal)
	case refusal != nil:
		return []Problem{{Where: "result", Want: string(c.Result)}, {Where: "error", Got: describe(refusal.Code, refusal.Message, refusal.Data)}}
	}
	return checkResult(decode(c.Result), decode([]byte(result)))
}

// checkChecks holds the checks that the call failed against those that it must fail.
func checkChecks(want, got []string) (problems []Problem) {
	for _, name := range want {
		if !slices.Contains(got, name) {
			problems = append(problems, Problem{Where: "checks." + name, Want: "a failure"})
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			problems = append(problems, Problem{Where: "checks." + name, Got: "a failure"})
		}
	}
	return problems
}

// describe returns a JSON-RPC error as JSON.
func describe(code int, message string, data []byte) string {
	s := fmt.Sprintf(`{"code":%d,"message":%s`, code, rawjson.Quote(message))
	if data != nil {
		s += `,"data":` + string(data)
	}
	return s + "}"
}

func checkError(want *cases.Error, got *call.Error) []Problem {
	return difference("error",
		decode([]byte(describe(want.Code, want.Message, want.Data))),
		decode([]byte(describe(got.Code, got.Message, got.Data))))
}

// checkResult holds a result against what it must be. Where the case states
// structuredContent and no content, the content must be the same JSON as one text.
func checkResult(want, got any) []Problem {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	_, structured := w["structuredContent"]
	_, content := w["content"]
	if !structured || content {
		return difference("result", want, got)
	}
	rest := maps.Clone(g)
	delete(rest, "content")
	problems := difference("result", w, rest)
	if !repeats(g["content"], g["structuredContent"]) {
		problems = append(problems, Problem{"result.content", "structuredContent, as one text", show(g["content"])})
	}
	return problems
}

// repeats reports whether content is one text that is the JSON of structured. What
// is no object is structured as {value}.
func repeats(content, structured any) bool {
	parts, _ := content.([]any)
	if len(parts) != 1 {
		return false
	}
	part, _ := parts[0].(map[string]any)
	text, _ := part["text"].(string)
	v, err := rawjson.Parse([]byte(text), maxDepth)
	if err != nil || part["type"] != "text" || len(part) != 2 {
		return false
	}
	if v.Kind() != rawjson.Object {
		return len(difference("", map[string]any{"value": v.Decode()}, structured)) == 0
	}
	return len(difference("", v.Decode(), structured)) == 0
}
