package acp_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	compiler "github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	sample "github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestIntervention buys a watch, whose payment the buyer has to authenticate at a page
// of the merchant, in both eras of MCP: with clients that can send their user there, and
// with one that cannot.
func TestIntervention(t *testing.T) {
	var charges atomic.Int64
	var goods *sample.Server
	seller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { goods.ServeHTTP(w, r) }))
	defer seller.Close()
	goods = sample.New(sample.Config{Token: "t", PagesURL: seller.URL, Charge: func(context.Context, psp.Charge) error {
		charges.Add(1)
		return nil
	}})
	node := serveModule(t, "merchant_url="+seller.URL)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		visit := func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			resp, err := http.Post(r.Params.URL, "", nil)
			if err != nil {
				return nil, err
			}
			resp.Body.Close()
			return &mcp.ElicitResult{Action: "accept"}, nil
		}
		before := charges.Load()
		if status := buyWatch(t, agent(t, node, version, visit)); status != "completed" || charges.Load() != before+1 {
			t.Errorf("%s: the session is %s after %d charges", version, status, charges.Load()-before)
		}
		if status := buyWatch(t, agent(t, node, version, nil)); status != "authentication_required" || charges.Load() != before+1 {
			t.Errorf("%s, without pages: the session is %s", version, status)
		}
		away := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept"}, nil // but was not there
		}
		if status := buyWatch(t, agent(t, node, version, away)); status != "authentication_required" || charges.Load() != before+1 {
			t.Errorf("%s, not visited: the session is %s", version, status)
		}
	}
}

// serveModule serves the module, compiled with tags, and returns the URL of its endpoint.
func serveModule(t *testing.T, tags ...string) string {
	t.Helper()
	compiled, err := compiler.Module(t.Context(), module(t, tags...))
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	env := func(string) (string, bool) { return "t", true }
	tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", env)})
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Config{Stateful: true})
	s.Swap(tab)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.EndStreams()
		h.Close()
	})
	return h.URL + "/mcp"
}

// agent returns a client that sends its user to pages by visit; nil: it cannot.
func agent(t *testing.T, url, version string, visit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if visit != nil {
		options.ElicitationHandler = visit
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, options).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// buyWatch buys what requires 3-D Secure and returns the status of the session.
func buyWatch(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()
	call := func(tool string, arguments map[string]any) map[string]any {
		arguments["meta"] = map[string]any{"api_version": "2026-04-17", "idempotency_key": rand.Text()}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		body, _ := res.StructuredContent.(map[string]any)
		return body
	}
	created := call("create_checkout_session", map[string]any{"payload": map[string]any{
		"currency": "usd", "line_items": []any{map[string]any{"id": "item_watch", "quantity": 1}},
		"capabilities": map[string]any{"interventions": map[string]any{"supported": []any{"3ds"}}},
	}})
	id := created["id"]
	call("update_checkout_session", map[string]any{"id": id, "payload": map[string]any{"fulfillment_details": map[string]any{"address": map[string]any{
		"name": "Ada", "line_one": "1 Main St", "city": "Berlin", "country": "DE", "postal_code": "10115", "state": "BE",
	}}}})
	call("update_checkout_session", map[string]any{"id": id, "payload": map[string]any{"selected_fulfillment_options": []any{
		map[string]any{"type": "shipping", "option_id": "ship_standard", "item_ids": []any{"li_item_watch"}},
	}}})
	done := call("complete_checkout_session", map[string]any{"id": id, "payload": map[string]any{"payment_data": map[string]any{
		"handler_id": "card_tokenized", "instrument": map[string]any{"type": "card", "credential": map[string]any{"type": "spt", "token": "vt_1"}},
	}}})
	status, _ := done["status"].(string)
	return status
}
