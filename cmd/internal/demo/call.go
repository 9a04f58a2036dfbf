package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
)

const apiVersion = "2026-04-17"

// object is a JSON object that is being written.
type object = map[string]any

// A session is what the story reads of a checkout session.
type session struct {
	ID, Status, Currency string
	LineItems            []struct{ ID string } `json:"line_items"`
	Totals               []struct {
		Type        string
		DisplayText string `json:"display_text"`
		Amount      int64
	}
	FulfillmentOptions []struct{ Type, ID, Title string } `json:"fulfillment_options"`
	Capabilities       struct {
		Interventions struct{ Supported []string }
		Payment       struct{ Handlers []struct{ ID string } }
	}
	Order *struct{ ID string }
	Meta  struct {
		Revision uint64 `json:"bindery.dev/revision"`
	} `json:"_meta"`
}

// total is the amount to pay, in minor units; -1 when there is none.
func (s session) total() int64 {
	for _, t := range s.Totals {
		if t.Type == "total" {
			return t.Amount
		}
	}
	return -1
}

func money(minor int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", minor/100, minor%100, strings.ToUpper(currency))
}

// A toolCall is one call of the story.
type toolCall struct {
	tool, why string
	args      object // without meta
	read      bool   // sends no idempotency key
	want      string // the HTTP request it must become, "METHOD /path"
	gateway   string // the header X-Gateway that must come with it; "" is the first revision's
}

// firstGateway is the header X-Gateway of the first revision.
const firstGateway = "bindery"

// call makes a call, shows it, checks the HTTP request that it became, and decodes
// the result into result.
func (d *demo) call(ctx context.Context, s *agent.Session, c toolCall, result any) error {
	id := "req-" + strings.ToLower(rand.Text()[:8])
	raw, err := s.Call(ctx, c.tool, c.arguments(id))
	if err != nil {
		return fmt.Errorf("%s: %w", c.tool, err)
	}
	if raw.IsError {
		return fmt.Errorf("%s: the result is an error: %s", c.tool, raw.JSON)
	}
	r, err := d.received(id, c)
	if err != nil {
		return fmt.Errorf("%s: %w", c.tool, err)
	}
	d.teller.call(c.tool, c.why, r)
	return json.Unmarshal(raw.JSON, result)
}

// arguments returns what the agent sends.
func (c toolCall) arguments(id string) json.RawMessage {
	meta := object{"api_version": apiVersion, "request_id": id, "accept_language": "en-US"}
	if !c.read {
		meta["idempotency_key"] = "key-" + id
	}
	args := object{"meta": meta}
	for name, v := range c.args {
		args[name] = v
	}
	data, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings, numbers, lists and objects only
	}
	return data
}

// received returns the one request that the call with this Request-Id became,
// after checking that it is what the bindings say.
func (d *demo) received(id string, c toolCall) (request, error) {
	all := d.shop.ledger.of(id)
	if len(all) != 1 {
		return request{}, fmt.Errorf("the call became %d HTTP requests, want 1", len(all))
	}
	r := all[0]
	if got := r.method + " " + r.path; c.want != "" && got != c.want {
		return r, fmt.Errorf("the call became %s, want %s", got, c.want)
	}
	want := map[string]string{
		"Api-Version": apiVersion, "Accept-Language": "en-US", "X-Gateway": firstGateway, "Authorization": "[redacted]", "Idempotency-Key": "key-" + id,
	}
	if c.read {
		want["Idempotency-Key"] = ""
	}
	if c.gateway != "" {
		want["X-Gateway"] = c.gateway
	}
	for name, v := range want {
		if got := r.header.Get(name); got != v {
			return r, fmt.Errorf("the HTTP request came with %s %q, want %q", name, got, v)
		}
	}
	return r, nil
}

// refusal calls for what is not there, and wants the shop's own words.
func (d *demo) refusal(ctx context.Context) error {
	c := toolCall{tool: "get_checkout_session", args: object{"id": "no_such_session"}, read: true}
	id := "req-missing"
	_, err := d.checkout.Call(ctx, c.tool, c.arguments(id))
	refused := (*jsonrpc.Error)(nil)
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s: %v, want an error of the shop", c.tool, err)
	}
	var data struct{ Type, Code, Message string }
	if err := json.Unmarshal(refused.Data, &data); err != nil || refused.Code != -32000 || data.Type != "invalid_request" || data.Message != refused.Message {
		return fmt.Errorf("%s: error %d %q with data %s, want the shop's error", c.tool, refused.Code, refused.Message, refused.Data)
	}
	r, err := d.received(id, c)
	if err != nil {
		return err
	}
	d.teller.call(c.tool, "of a session that does not exist", r)
	d.answer("404, so JSON-RPC error %d: %s", refused.Code, refused.Message)
	d.line("    data: %s", refused.Data)
	return nil
}
