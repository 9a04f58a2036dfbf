package call

import (
	"crypto/sha256"
	"fmt"
	"net/url"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxQuestions is how many questions one response can have; of one with more, none is
// asked.
const maxQuestions = 32

// A Question is what a response needs of the user before its call can end.
type Question struct {
	Ask *table.Ask
	// Requests are never none, in the order of the response.
	Requests []InputRequest
	// Body is that of the response, one JSON value; nil when it is none.
	Body rawjson.Value
	// Generated are the values of meta fields that the node made up for the call, by
	// field.
	Generated map[string]string
}

// An InputRequest is one of MCP's.
type InputRequest struct {
	Key    string
	Method string // such as "elicitation/create"
	// Params are an object without newlines.
	Params rawjson.Value
	// Needs is what a client must be able to do to answer.
	Needs irv1.ClientCapability
}

// The methods of input requests.
const (
	MethodElicit = "elicitation/create"
	MethodSample = "sampling/createMessage"
	MethodRoots  = "roots/list"
)

// questionOf returns what resp, the response to a call of t, asks; nil for nothing. body
// is its body, nil when that has not been parsed yet.
func questionOf(t *table.Tool, resp *response, body rawjson.Value, generated map[string]string) *Question {
	if len(t.Asks.All) == 0 {
		return nil
	}
	if body == nil {
		body, _ = rawjson.Parse(resp.Body, maxBodyDepth) // nil when it is no JSON
	}
	ask := t.Asks.Response(resp.Status, body)
	if ask == nil {
		return nil
	}
	requests := requestsOf(t, ask, body.OneLine())
	if !isSuccess(resp.Status) {
		requests = resp.struckRequests(requests)
	}
	if len(requests) == 0 || len(requests) > maxQuestions {
		return nil
	}
	return &Question{Ask: ask, Requests: requests, Body: body.OneLine(), Generated: generated}
}

// requestsOf returns what ask asks of the user because of body; nil for nothing.
func requestsOf(t *table.Tool, ask *table.Ask, body rawjson.Value) []InputRequest {
	switch k := ask.GetQuestion().(type) {
	case *irv1.Ask_Requests:
		return ownRequests(body.Lookup(k.Requests.GetTokens()))
	case *irv1.Ask_Form:
		params := fmt.Appendf(nil, `{"message":%s,"requestedSchema":%s}`, rawjson.Quote(k.Form.GetMessage()), rawjson.Value(k.Form.GetSchema()).OneLine())
		return []InputRequest{{Key: ask.GetName(), Method: MethodElicit, Params: params, Needs: irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION}}
	case *irv1.Ask_Visit:
		to, _ := body.Lookup(k.Visit.GetAt().GetTokens()).Text()
		if !isPage(to) {
			return nil
		}
		params := fmt.Appendf(nil, `{"mode":"url","message":%s,"url":%s,"elicitationId":%s}`,
			rawjson.Quote(k.Visit.GetMessage()), rawjson.Quote(to), rawjson.Quote(t.Deps().UUID()))
		return []InputRequest{{Key: ask.GetName(), Method: MethodElicit, Params: params, Needs: irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION_URL}}
	}
	return nil
}

// isPage reports whether s is the URL of something that a browser shows.
func isPage(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// ownRequests returns the questions of a service; nil when v is no object of MCP's
// input requests.
func ownRequests(v rawjson.Value) []InputRequest {
	if v.Kind() != rawjson.Object {
		return nil
	}
	var all []InputRequest
	for name, request := range v.Members() {
		key, _ := name.Text()
		method, _ := request.Member("method").Text()
		params := request.Member("params")
		if params == nil && method == MethodRoots {
			params = rawjson.Value("{}")
		}
		needs := needsOf(method, params)
		if needs == irv1.ClientCapability_CLIENT_CAPABILITY_UNSPECIFIED {
			return nil
		}
		all = append(all, InputRequest{key, method, params, needs})
	}
	return all
}

// needsOf returns what it takes to answer an input request; UNSPECIFIED when it is none
// of MCP's.
func needsOf(method string, params rawjson.Value) irv1.ClientCapability {
	is := func(member string, kind rawjson.Kind) bool { return params.Member(member).Kind() == kind }
	if params.Kind() != rawjson.Object {
		return irv1.ClientCapability_CLIENT_CAPABILITY_UNSPECIFIED
	}
	mode, _ := params.Member("mode").Text()
	switch {
	case method == MethodElicit && mode == "url" && is("message", rawjson.String) && is("url", rawjson.String):
		return irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION_URL
	case method == MethodElicit && mode != "url" && is("message", rawjson.String) && is("requestedSchema", rawjson.Object):
		return irv1.ClientCapability_CLIENT_CAPABILITY_ELICITATION
	case method == MethodSample && is("messages", rawjson.Array) && is("maxTokens", rawjson.Number):
		return irv1.ClientCapability_CLIENT_CAPABILITY_SAMPLING
	case method == MethodRoots:
		return irv1.ClientCapability_CLIENT_CAPABILITY_ROOTS
	}
	return irv1.ClientCapability_CLIENT_CAPABILITY_UNSPECIFIED
}

// forked returns the key of another request that goes on with the call whose key is
// key: always the same for the same request, in the form of a UUID (RFC 9562, version
// 8). It is key itself where rule takes none of that form.
func forked(rule *irv1.MetaRule, key string, request []byte) string {
	sum := sha256.Sum256(append(append([]byte(key), 0), request...))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	id := fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	if checkMeta(rule, id) != "" {
		return key
	}
	return id
}
