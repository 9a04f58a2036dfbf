package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/term"
)

// purchase buys two mugs as an agent does, tool call by tool call.
func (d *demo) purchase(ctx context.Context) error {
	if err := d.connect(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.create, d.address, d.shipping, d.pay, d.get} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.receipt()
	return nil
}

// connect opens the agent's sessions and looks for the tools it needs.
func (d *demo) connect(ctx context.Context) error {
	var err error
	if d.checkout, err = agent.Connect(ctx, d.url("/mcp"), nil); err != nil {
		return err
	}
	if d.payments, err = agent.Connect(ctx, d.url("/payments/mcp"), nil); err != nil {
		return err
	}
	for _, s := range []*agent.Session{d.checkout, d.payments} {
		names, err := toolNames(ctx, s)
		if err != nil {
			return err
		}
		d.line("tools/list of %s (MCP %s): %s", s.URL(), s.Protocol(), strings.Join(names, ", "))
	}
	return nil
}

func toolNames(ctx context.Context, s *agent.Session) ([]string, error) {
	tools, err := s.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, raw := range tools {
		var t struct{ Name string }
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, err
		}
		names = append(names, t.Name)
	}
	return names, nil
}

func (d *demo) create(ctx context.Context) error {
	err := d.call(ctx, d.checkout, toolCall{
		tool: "create_checkout_session", why: "two mugs; the agent declares that it can handle 3-D Secure",
		args: object{"payload": object{
			"line_items":   []object{{"id": "item_mug", "quantity": 2}},
			"currency":     "usd",
			"capabilities": object{"interventions": object{"supported": []string{"3ds", "biometric"}}},
		}},
		want: "POST /checkout_sessions",
	}, &d.order)
	if err != nil {
		return err
	}
	if s := d.order; s.Status != "not_ready_for_payment" || len(s.LineItems) != 1 || len(s.Capabilities.Payment.Handlers) == 0 {
		return fmt.Errorf("the new session is %s with %d line items and %d payment handlers", s.Status, len(s.LineItems), len(s.Capabilities.Payment.Handlers))
	}
	d.showSession()
	d.line("    agreed on: %s", strings.Join(d.order.Capabilities.Interventions.Supported, ", "))
	return nil
}

func (d *demo) address(ctx context.Context) error {
	return d.update(ctx, "where to send them", object{"fulfillment_details": object{
		"name": "Ada Example", "email": "ada@example.com",
		"address": object{"name": "Ada Example", "line_one": "1 Main Street", "city": "Springfield", "state": "CA", "country": "US", "postal_code": "94016"},
	}}, "not_ready_for_payment")
}

func (d *demo) shipping(ctx context.Context) error {
	if len(d.order.FulfillmentOptions) == 0 {
		return fmt.Errorf("the shop offers no way to ship")
	}
	o := d.order.FulfillmentOptions[0]
	return d.update(ctx, "shipping: "+o.Title, object{"selected_fulfillment_options": []object{{
		"type": o.Type, "option_id": o.ID, "item_ids": []string{d.order.LineItems[0].ID},
	}}}, "ready_for_payment")
}

func (d *demo) update(ctx context.Context, why string, payload object, status string) error {
	err := d.call(ctx, d.checkout, toolCall{
		tool: "update_checkout_session", why: why,
		args: object{"id": d.order.ID, "payload": payload},
		want: "POST /checkout_sessions/" + d.order.ID,
	}, &d.order)
	if err != nil {
		return err
	}
	if d.order.Status != status {
		return fmt.Errorf("the session is %s, want %s", d.order.Status, status)
	}
	d.showSession()
	return nil
}

// pay turns a card into a token that is good for this purchase only, and completes
// the session with it.
func (d *demo) pay(ctx context.Context) error {
	token, err := d.delegate(ctx)
	if err != nil {
		return err
	}
	total := d.order.total()
	err = d.call(ctx, d.checkout, toolCall{
		tool: "complete_checkout_session", why: "pay with the token",
		args: object{"id": d.order.ID, "payload": object{"payment_data": object{
			"handler_id": d.order.Capabilities.Payment.Handlers[0].ID,
			"instrument": object{"type": "card", "credential": object{"type": "spt", "token": token}},
		}}},
		want: "POST /checkout_sessions/" + d.order.ID + "/complete",
	}, &d.order)
	if err != nil {
		return err
	}
	if s := d.order; s.Status != "completed" || s.Order == nil || s.Order.ID == "" || s.total() != total {
		return fmt.Errorf("the session is %s with total %d and order %v, want completed with %d and an order", s.Status, s.total(), s.Order, total)
	}
	d.showSession()
	return nil
}

func (d *demo) delegate(ctx context.Context) (token string, err error) {
	var vaulted struct{ ID string }
	err = d.call(ctx, d.payments, toolCall{
		tool: "delegate_payment", why: "a card becomes a token for this session and amount only; another API, another endpoint",
		args: object{"payload": object{
			"payment_method": object{
				"type": "card", "card_number_type": "fpan", "number": "4242424242424242", "exp_month": "11", "exp_year": "2031", "cvc": "223",
				"display_card_funding_type": "credit", "display_last4": "4242", "metadata": object{},
			},
			"allowance": object{
				"reason": "one_time", "max_amount": d.order.total(), "currency": "usd", "checkout_session_id": d.order.ID,
				"merchant_id": "merchant_sample", "expires_at": time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339),
			},
			"risk_signals": []object{{"type": "card_testing", "score": 5, "action": "authorized"}},
			"metadata":     object{},
		}},
		want: "POST /agentic_commerce/delegate_payment",
	}, &vaulted)
	if err != nil {
		return "", err
	}
	if vaulted.ID == "" {
		return "", fmt.Errorf("delegate_payment: the result has no token")
	}
	d.answer("a token, good for %s and ten minutes", money(d.order.total(), d.order.Currency))
	return vaulted.ID, nil
}

func (d *demo) get(ctx context.Context) error {
	var again session
	err := d.call(ctx, d.checkout, toolCall{
		tool: "get_checkout_session", why: "what the shop has now",
		args: object{"id": d.order.ID}, read: true,
		want: "GET /checkout_sessions/" + d.order.ID,
	}, &again)
	if err != nil {
		return err
	}
	if again.Status != "completed" || again.Order == nil || again.Order.ID != d.order.Order.ID || !slices.Equal(again.Totals, d.order.Totals) {
		return fmt.Errorf("the session is %s with order %v, want the completed one", again.Status, again.Order)
	}
	d.showSession()
	return nil
}

func (d *demo) showSession() {
	d.answer("%s, %s", d.order.Status, money(d.order.total(), d.order.Currency))
}

func (d *demo) receipt() {
	d.line("")
	d.line("The order: %s", d.out.Paint(term.Bold, d.order.Order.ID))
	for _, t := range d.order.Totals {
		d.line("  %-24s %12s", t.DisplayText, money(t.Amount, d.order.Currency))
	}
}
