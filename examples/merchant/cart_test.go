package merchant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCreateRefuses(t *testing.T) {
	const rest = `,"currency":"usd","capabilities":{}`
	tests := []struct {
		name, body, code, param string
	}{
		{"no items", `{"currency":"usd","capabilities":{}}`, "missing_required_field", "$.line_items"},
		{"empty items", `{"line_items":[]` + rest + `}`, "invalid_field", "$.line_items"},
		{"no currency", `{"line_items":[{"id":"item_mug"}],"capabilities":{}}`, "missing_required_field", "$.currency"},
		{"no capabilities", `{"line_items":[{"id":"item_mug"}],"currency":"usd"}`, "missing_required_field", "$.capabilities"},
		{"null capabilities", `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":null}`, "missing_required_field", "$.capabilities"},
		{"unknown item", `{"line_items":[{"id":"item_mug"},{"id":"item_0"}]` + rest + `}`, "invalid_item_id", "$.line_items[1].id"},
		{"no item id", `{"line_items":[{}]` + rest + `}`, "missing_required_field", "$.line_items[0].id"},
		{"no quantity", `{"line_items":[{"id":"item_mug","quantity":0}]` + rest + `}`, "invalid_field", "$.line_items[0].quantity"},
		{"absurd quantity", `{"line_items":[{"id":"item_mug","quantity":1000000000}]` + rest + `}`, "invalid_field", "$.line_items[0].quantity"},
		{"half", `{"line_items":[{"id":"item_mug","quantity":1.5}]` + rest + `}`, "invalid_field", "$.line_items.quantity"},
		{"currency", `{"line_items":[{"id":"item_mug"}],"currency":"xau","capabilities":{}}`, "unsupported_currency", "$.currency"},
		{"wrong type", `{"line_items":"item_mug"` + rest + `}`, "invalid_field", "$.line_items"},
		{"unknown member", `{"line_items":[{"id":"item_mug"}],"items":[]` + rest + `}`, "invalid_field", "$..items"},
		{"unknown member inside", `{"line_items":[{"id":"item_mug","colour":"red"}]` + rest + `}`, "invalid_field", "$.line_items..colour"},
		{"selection", `{"line_items":[{"id":"item_mug"}],"selected_fulfillment_options":[]` + rest + `}`, "invalid_field", "$.selected_fulfillment_options"},
		{"email", `{"line_items":[{"id":"item_mug"}],"buyer":{"email":"ada"}` + rest + `}`, "invalid_field", "$.buyer.email"},
		{"no email", `{"line_items":[{"id":"item_mug"}],"buyer":{"first_name":"Ada"}` + rest + `}`, "missing_required_field", "$.buyer.email"},
		{"address", `{"line_items":[{"id":"item_mug"}],"fulfillment_details":{"address":{"name":"Ada"}}` + rest + `}`, "missing_required_field", "$.fulfillment_details.address.line_one"},
		{"attribution", `{"line_items":[{"id":"item_mug"}],"affiliate_attribution":{"provider":"p"}` + rest + `}`, "missing_required_field", "$.affiliate_attribution.publisher_id"},
		{"metadata", `{"line_items":[{"id":"item_mug"}],"metadata":[]` + rest + `}`, "invalid_field", "$.metadata"},
		{"notes", `{"line_items":[{"id":"item_mug"}],"order_notes":"` + strings.Repeat("x", 5001) + `"` + rest + `}`, "invalid_field", "$.order_notes"},
	}
	s := newSeller(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.post("", tt.body)
			if r.status != 400 || r.body.Code != tt.code || r.body.Param != tt.param {
				t.Errorf("%d %s, want 400 %s %s", r.status, r.text, tt.code, tt.param)
			}
		})
	}
}

// TestCart follows one cart from nothing to ready and back.
func TestCart(t *testing.T) {
	s := newSeller(t, nil)
	r := s.post("", `{"line_items":[{"id":"item_mug","quantity":2},{"id":"item_ebook","name":"cheap","unit_amount":1}],"currency":"USD","capabilities":{},
		"metadata":{"trace":"t1"},"locale":"en-US","order_notes":"ring twice"}`)
	s.want("create", r, 201, "not_ready_for_payment", "missing")
	if r.body.Currency != "usd" || !strings.Contains(r.text, `"metadata":{"trace":"t1"}`) || !strings.Contains(r.text, `"locale":"en-US"`) {
		t.Errorf("currency, metadata or locale: %s", r.text)
	}
	if len(r.body.Options) != 1 || r.body.Options[0]["type"] != "digital" {
		t.Errorf("before the address is known: %v", r.body.Options)
	}
	path := "/" + r.body.ID

	r = s.post(path, `{"fulfillment_details":{"name":"Ada","phone_number":"+15551234567","email":"ada@example.com","address":`+address+`},"buyer":{"email":"ada@example.com","first_name":"Ada"}}`)
	s.want("address", r, 200, "not_ready_for_payment", "missing")
	if len(r.body.Options) != 3 {
		t.Errorf("options: %v", r.body.Options)
	}
	r = s.post(path, `{"selected_fulfillment_options":[{"type":"shipping","option_id":"ship_express","item_ids":["item_mug"]}]}`)
	s.want("selection", r, 200, "ready_for_payment", "")
	want := map[string]int64{"items_base_amount": 4100, "items_discount": -1, "subtotal": 4100, "fulfillment": 1900, "tax": 297, "total": 6297}
	for kind, amount := range want {
		if got := r.total(kind); got != amount {
			t.Errorf("%s: %d, want %d", kind, got, amount)
		}
	}
	if a, b := r.text, s.get(path[1:]).text; a != b {
		t.Errorf("get differs from the last answer:\n%s\n%s", b, a)
	}

	// Absent leaves alone, null clears: members of the session and members of its objects.
	r = s.post(path, `{"fulfillment_details":{"phone_number":null}}`)
	if _, there := r.body.Details["phone_number"]; there || r.body.Details["name"] != "Ada" || r.body.Details["address"] == nil {
		t.Errorf("phone number cleared: %v", r.body.Details)
	}
	s.want("nothing else changed", r, 200, "ready_for_payment", "")
	r = s.post(path, `{"buyer":null}`)
	if r.body.Buyer != nil || r.body.Details["name"] != "Ada" {
		t.Errorf("buyer cleared: %v %v", r.body.Buyer, r.body.Details)
	}
	r = s.post(path, `{"fulfillment_details":{"address":null}}`)
	s.want("address cleared", r, 200, "not_ready_for_payment", "missing")
	if got := r.total("fulfillment"); got != 0 {
		t.Errorf("delivery without an address: %d", got)
	}
	s.want("details cleared", s.post(path, `{"fulfillment_details":null}`), 200, "not_ready_for_payment", "missing")
	s.want("line items cleared", s.post(path, `{"line_items":null}`), 200, "incomplete", "missing")
	r = s.post(path, `{"line_items":[{"id":"item_ebook"}]}`)
	s.want("nothing to send", r, 200, "ready_for_payment", "")
	if got := r.total("total"); got != 900 {
		t.Errorf("total %d, want 900", got)
	}
}

// TestFailedUpdateChangesNothing: an update is applied as a whole or not at all.
func TestFailedUpdateChangesNothing(t *testing.T) {
	s := newSeller(t, nil)
	path := "/" + s.ready("item_mug", 1, anyAgent).body.ID
	s.post(path, `{"buyer":{"email":"ada@example.com","company":{"name":"A","department":"d"}}}`)
	before := s.get(path[1:]).text
	for _, bad := range []string{
		`{"line_items":[{"id":"item_ebook"}],"order_notes":1}`,
		`{"buyer":{"email":"new@example.com","company":{"name":"B"},"loyalty":{"points_balance":"many"}}}`,
		`{"fulfillment_details":{"name":"New","address":{"name":"x"}}}`,
		`{"selected_fulfillment_options":[{"type":"shipping","option_id":"ship_rocket","item_ids":["item_mug"]}]}`,
		`{"selected_fulfillment_options":[{"type":"shipping","option_id":"ship_express","item_ids":["item_0"]}]}`,
	} {
		if r := s.post(path, bad); r.status != 400 {
			t.Errorf("%s: %d %s", bad, r.status, r.text)
		}
	}
	if after := s.get(path[1:]).text; after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
	r := s.post(path, `{"buyer":{"email":"ada@example.com","company":{"name":"B"}}}`)
	if got := fmt.Sprint(r.body.Buyer["company"]); got != "map[name:B]" {
		t.Errorf("an inner object is replaced as a whole: %v", got)
	}
}

func TestProblems(t *testing.T) {
	s := newSeller(t, nil)
	s.want("out of stock", s.ready("item_poster", 1, anyAgent), 200, "not_ready_for_payment", "out_of_stock")
	s.want("more than there is", s.ready("item_lamp", 4, anyAgent), 200, "not_ready_for_payment", "out_of_stock")
	s.want("nearly gone", s.ready("item_lamp", 2, anyAgent), 200, "ready_for_payment", "low_stock")
	s.want("too many", s.ready("item_mug", 11, anyAgent), 200, "not_ready_for_payment", "quantity_exceeded")

	r := s.open("item_mug", 1, anyAgent)
	r = s.post("/"+r.body.ID, `{"fulfillment_details":{"address":`+strings.Replace(address, `"US"`, `"AQ"`, 1)+`}}`)
	s.want("penguins", r, 200, "not_ready_for_payment", "region_restricted")

	r = s.post("", `{"line_items":[{"id":"item_mug","quantity":6},{"id":"item_mug","quantity":6}],"currency":"usd","capabilities":{}}`)
	if !strings.HasPrefix(r.codes(), "quantity_exceeded") || r.body.LineItems[0].ID == r.body.LineItems[1].ID {
		t.Errorf("two lines of one product: %s %v", r.codes(), r.body.LineItems)
	}
}

func TestDiscounts(t *testing.T) {
	tests := []struct {
		name, member string
		discount     int64
		rejected     string
	}{
		{"percent", `"discounts":{"codes":["welcome10"]}`, 680, ""},
		{"deprecated name", `"coupons":["WELCOME10"]`, 680, ""},
		{"both names", `"coupons":["TENOFF"],"discounts":{"codes":["WELCOME10"]}`, 680, ""},
		{"amount", `"discounts":{"codes":["TENOFF"]}`, 1000, ""},
		{"unknown", `"discounts":{"codes":["NOPE"]}`, -1, "discount_code_invalid"},
		{"expired", `"discounts":{"codes":["SUMMER25"]}`, -1, "discount_code_expired"},
		{"twice", `"discounts":{"codes":["WELCOME10","welcome10"]}`, 680, "discount_code_already_applied"},
		{"two", `"discounts":{"codes":["WELCOME10","TENOFF"]}`, 680, "discount_code_combination_disallowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeller(t, nil)
			r := s.post("", `{"line_items":[{"id":"item_mug","quantity":2},{"id":"item_456"},{"id":"item_456"}],"currency":"usd","capabilities":{},`+tt.member+`}`)
			if got := r.total("items_discount"); got != tt.discount {
				t.Errorf("discount %d, want %d: %s", got, tt.discount, r.text)
			}
			var lines, rejected = int64(0), ""
			for _, l := range r.body.LineItems {
				for _, x := range l.Totals {
					if x.Type == "items_discount" {
						lines += x.Amount
					}
				}
			}
			if lines != max(tt.discount, 0) {
				t.Errorf("the lines' discounts add up to %d", lines)
			}
			for _, x := range r.body.Discounts.Rejected {
				rejected += x.Reason
			}
			if rejected != tt.rejected || !strings.Contains(r.codes(), tt.rejected) {
				t.Errorf("rejected %q, messages %q; want %q", rejected, r.codes(), tt.rejected)
			}
			for _, clear := range []string{`{"discounts":{"codes":[]}}`, `{"discounts":null}`, `{"discounts":{"codes":null}}`, `{"coupons":null}`} {
				s.post("/"+r.body.ID, `{`+tt.member+`}`)
				if got := s.post("/"+r.body.ID, clear); got.total("items_discount") != -1 {
					t.Errorf("%s: %s", clear, got.text)
				}
			}
		})
	}
	s := newSeller(t, nil)
	r := s.post("", `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":{},"discounts":{"codes":["TENOFF"]}}`)
	if !strings.Contains(r.codes(), "discount_code_minimum_not_met") {
		t.Errorf("below the minimum: %q", r.codes())
	}
}

func TestFinalSessions(t *testing.T) {
	s := newSeller(t, nil)
	completed := s.ready("item_mug", 1, anyAgent).body.ID
	s.want("complete", s.post("/"+completed+"/complete", "{"+card+"}"), 200, "completed", "")
	canceled := s.open("item_mug", 1, anyAgent).body.ID
	r := s.post("/"+canceled+"/cancel", `{"intent_trace":{"reason_code":"moon_phase","trace_summary":"full","else":1},"also":2}`)
	s.want("cancel", r, 200, "canceled", "info")
	if r.body.Capabilities.Payment.Handlers == nil || r.body.Capabilities.PaymentMethods == nil {
		t.Errorf("capabilities of a canceled session: %+v", r.body.Capabilities)
	}
	expired := s.open("item_mug", 1, anyAgent).body.ID
	s.now = s.now.Add(time.Hour)
	s.want("expired", s.get(expired), 200, "expired", "expired")
	for _, id := range []string{completed, canceled, expired} {
		s.want("update", s.post("/"+id, `{}`), 400, "invalid_session_state", "")
		s.want("complete", s.post("/"+id+"/complete", "{"+card+"}"), 400, "invalid_session_state", "")
		s.want("cancel", s.post("/"+id+"/cancel", ""), 405, "not_cancelable", "")
	}
	s.want("completed stays", s.get(completed), 200, "completed", "")
}

func TestCancelRefuses(t *testing.T) {
	s := newSeller(t, nil)
	id := s.open("item_mug", 1, anyAgent).body.ID
	for _, bad := range []string{`[]`, `{"intent_trace":{}}`, `{"intent_trace":{"reason_code":"other","trace_summary":"` + strings.Repeat("é", 501) + `"}}`} {
		if r := s.post("/"+id+"/cancel", bad); r.status != 400 {
			t.Errorf("%.60s: %d %s", bad, r.status, r.text)
		}
	}
	s.want("500 characters", s.post("/"+id+"/cancel", `{"intent_trace":{"reason_code":"other","trace_summary":"`+strings.Repeat("é", 500)+`"}}`), 200, "canceled", "info")
}
