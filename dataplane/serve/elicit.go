package serve

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

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

// elicit asks the client of a session, one request after the other, and returns its
// answers by key. It waits for at most patience in all, and no longer than the session
// or the endpoint lasts.
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
			return nil, err
		}
		answers = append(rawjson.AppendQuote(answers, r.Key), ':')
		answers = append(answers, answer...)
	}
	return append(answers, '}'), nil
}

// elicitOne asks r and returns the answer as it was written.
func elicitOne(ctx context.Context, session *mcp.ServerSession, r call.InputRequest) (rawjson.Value, error) {
	switch r.Method {
	case call.MethodElicit:
		p := new(mcp.ElicitParams)
		if err := json.Unmarshal(r.Params, p); err != nil {
			return nil, err
		}
		if schema := r.Params.Member("requestedSchema"); schema != nil {
			p.RequestedSchema = json.RawMessage(schema) // as it came: its order is that of the form
		}
		answer, err := session.Elicit(ctx, p)
		if err != nil {
			return nil, err
		}
		return completed(message.Exact(answer.Meta), answer.Content), nil
	case call.MethodSample:
		p := new(mcp.CreateMessageWithToolsParams)
		if err := json.Unmarshal(r.Params, p); err != nil {
			return nil, err
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

// completed returns answer with what the SDK added to its content: the defaults of the
// form.
func completed(answer rawjson.Value, content map[string]any) rawjson.Value {
	given := answer.Member("content")
	if given.Kind() != rawjson.Object {
		return answer
	}
	all := given
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if given.Member(name) == nil {
			value, _ := json.Marshal(content[name]) // it was unmarshalled
			all = all.With(name, value)
		}
	}
	return answer.With("content", all)
}
