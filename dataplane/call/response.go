package call

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxBodyDepth is how deep a response's body may be nested.
const maxBodyDepth = 256

// Reserved returns the names of members that MCP gives a meaning in a result: a
// body with one of them at its top level cannot be a dual result.
func Reserved() []string { return slices.Clone(reserved[:]) }

var reserved = [...]string{"content", "structuredContent", "isError", "_meta", "resultType", "inputRequests", "requestState"}

// reservedIn returns the first of names that is reserved; "" if none is.
func reservedIn(names [][]byte) string {
	for _, name := range names {
		for _, r := range reserved {
			if string(name) == r {
				return r
			}
		}
	}
	return ""
}

// answered is the outcome of a response. A body that is to be JSON is mended: the call
// has been carried out, and a text that a service cut within a character must not hide
// what came of it.
func answered(t *table.Tool, resp *response) Outcome {
	part, err := partOf(t, resp)
	if part != nil {
		return Outcome{Class: OK, Status: resp.Status, Part: part}
	}
	resp.Body = rawjson.Mend(resp.Body)
	if !isSuccess(resp.Status) {
		return rejected(t, resp)
	}
	var body rawjson.Value
	if err == nil {
		body, err = usable(t.Result, resp.Body)
	}
	if err != nil {
		return failed(t, irv1.Failure_FAILURE_UNUSABLE, resp, err)
	}
	return Outcome{Class: OK, Status: resp.Status, Body: body, ContentType: resp.Header.Get("Content-Type")}
}

func isSuccess(status int) bool { return 200 <= status && status <= 299 }

// usable returns body without its newlines; nil for none. The error, which does not
// quote the body, says why it cannot be a result.
func usable(mode irv1.ResultMode, body []byte) (rawjson.Value, error) {
	switch {
	case isBlank(body) && mode == irv1.ResultMode_RESULT_MODE_DUAL:
		return nil, errors.New("the response has no body, a dual result must be an object")
	case isBlank(body):
		return nil, nil
	}
	var some [32][]byte
	v, names, err := rawjson.ParseNames(body, maxBodyDepth, some[:0])
	if err != nil {
		return nil, fmt.Errorf("the body of the response is not JSON: %w", err)
	}
	if mode != irv1.ResultMode_RESULT_MODE_MCP && v.Kind() != rawjson.Object {
		return nil, fmt.Errorf("the body of the response is %s, a dual or raw result must be an object", v.Kind())
	}
	if mode == irv1.ResultMode_RESULT_MODE_DUAL {
		if name := reservedIn(names); name != "" {
			return nil, fmt.Errorf("the body of the response has the member %q, which MCP reserves", name)
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
