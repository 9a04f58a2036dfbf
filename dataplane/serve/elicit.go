package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// lifetime returns how long the client of tool has for its answer.
func lifetime(tool *table.Tool) time.Duration {
	if tool.State != nil {
		return tool.State.Lifetime
	}
	return table.DefaultLifetime
}

// errQuestion says that what a service wants a client to be asked cannot be asked.
var errQuestion = errors.New("the service's question is none of MCP")

// elicit asks the client of a session, one request after the other, and returns its
// answers by key. It waits for at most patience in all, and no longer than the session
// or the endpoint lasts. The error has nothing that the client or the service wrote.
func (e *endpoint) elicit(ctx context.Context, session *mcp.ServerSession, requests []call.InputRequest, patience time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, over := e.bound(ctx)
	defer over()
	if s := sessionOf(ctx); s != nil {
		defer context.AfterFunc(s.life, over)()
	}
	answers := []byte{'{'}
	for i, r := range requests {
		if i > 0 {
			answers = append(answers, ',')
		}
		answer, err := elicitOne(ctx, session, r)
		if err != nil {
			return nil, unanswered(err)
		}
		answers = append(rawjson.AppendQuote(answers, r.Key), ':')
		answers = append(answers, answer...)
	}
	return append(answers, '}'), nil
}

// unanswered returns err, which was there in the place of an answer, for the log: of an
// error that the client wrote only the code.
func unanswered(err error) error {
	if wrote := (*jsonrpc.Error)(nil); errors.As(err, &wrote) {
		return fmt.Errorf("the client answered with error %d", wrote.Code)
	}
	return err
}

// elicitOne asks r and returns the answer as it was written.
func elicitOne(ctx context.Context, session *mcp.ServerSession, r call.InputRequest) (rawjson.Value, error) {
	switch r.Method {
	case call.MethodElicit:
		p := new(mcp.ElicitParams)
		if err := json.Unmarshal(r.Params, p); err != nil {
			return nil, errQuestion
		}
		schema := r.Params.Member("requestedSchema")
		if schema != nil {
			p.RequestedSchema = json.RawMessage(schema) // as it came: its order is that of the form
		}
		answer, err := session.Elicit(ctx, p)
		if err != nil {
			return nil, err
		}
		return completed(message.Exact(answer.Meta), schema), nil
	case call.MethodSample:
		p := new(mcp.CreateMessageWithToolsParams)
		if err := json.Unmarshal(r.Params, p); err != nil {
			return nil, errQuestion
		}
		answer, err := session.CreateMessageWithTools(ctx, p)
		if err != nil {
			return nil, err
		}
		return message.Exact(answer.Meta), nil
	}
	answer, err := session.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	return message.Exact(answer.Meta), nil
}

// completed returns answer with the defaults that schema, that of the form, nil for none,
// has for what is not in its content and need not be.
func completed(answer, schema rawjson.Value) rawjson.Value {
	action, _ := answer.Member("action").Text()
	given := answer.Member("content")
	if action != "accept" || given.Kind() != rawjson.Object {
		return answer
	}
	defaults := defaultsOf(schema)
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if given.Member(name) == nil {
			given = given.With(name, defaults[name])
		}
	}
	return answer.With("content", given)
}

// defaultsOf returns the defaults of the properties that schema does not require.
func defaultsOf(schema rawjson.Value) map[string]rawjson.Value {
	all := map[string]rawjson.Value{}
	for name, property := range schema.Member("properties").Members() {
		if value := property.Member("default"); value != nil {
			text, _ := name.Text()
			all[text] = value
		}
	}
	for required := range schema.Member("required").Elements() {
		text, _ := required.Text()
		delete(all, text)
	}
	return all
}
