package merchant_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

func TestComplete(t *testing.T) {
	s := newSeller(t, nil)
	var charged psp.Charge
	s.charge = func(c psp.Charge) error { charged = c; return nil }
	r := s.ready("item_mug", 2, anyAgent)
	r = s.post("/"+r.body.ID+"/complete", `{`+card+`,"buyer":{"email":"ada@example.com"},"order_notes":"ring twice","marketing_consents":[{"channel":"email","opted_in":true}],
		"risk_signals":{"ip_address":"192.0.2.1"},"affiliate_attribution":{"provider":"p","token":"AFFILIATE","zz":1}}`)
	s.want("complete", r, 200, "completed", "")
	if charged.Token != "vt_1" || charged.SessionID != r.body.ID || charged.Amount != r.total("total") || charged.Currency != "usd" || charged.MerchantID != "merchant_sample" {
		t.Errorf("charged %+v", charged)
	}
	o := r.body.Order
	if o.Session != r.body.ID || !strings.HasSuffix(o.Permalink, o.ID) || o.Confirmation.Notes != "ring twice" || len(o.Totals) == 0 {
		t.Errorf("order %+v", o)
	}
	for _, secret := range []string{"vt_1", "AFFILIATE", "192.0.2.1"} {
		if strings.Contains(r.text, secret) {
			t.Errorf("%s is in the answer: %s", secret, r.text)
		}
	}
	if again := s.get(r.body.ID); again.body.Order == nil || again.body.Order.ID != o.ID {
		t.Errorf("the order is not in the session: %s", again.text)
	}
}

// TestCompleteKeepsThePrice: what was paid stays in the session, whatever
// happens to the prices.
func TestCompleteKeepsThePrice(t *testing.T) {
	s := newSeller(t, nil)
	s.now = s.now.AddDate(0, -3, 0) // the summer sale is on
	id := s.ready("item_mug", 4, anyAgent).body.ID
	s.post("/"+id, `{"discounts":{"codes":["SUMMER25"]}}`)
	paid := s.post("/"+id+"/complete", "{"+card+"}")
	s.want("complete", paid, 200, "completed", "")
	s.now = s.now.AddDate(0, 3, 0)
	if now := s.get(id); now.total("total") != paid.total("total") || now.total("items_discount") != 1600 {
		t.Errorf("paid %d, now %d: %s", paid.total("total"), now.total("total"), now.text)
	}
}

func TestCompleteRefuses(t *testing.T) {
	tests := []struct{ name, body, code, param string }{
		{"nothing", `{}`, "missing_required_field", "$.payment_data"},
		{"no instrument", `{"payment_data":{"handler_id":"card_tokenized"}}`, "missing_required_field", "$.payment_data.instrument"},
		{"no handler", `{"payment_data":{"instrument":{"type":"card","credential":{"type":"spt","token":"t"}}}}`, "missing_required_field", "$.payment_data.handler_id"},
		{"no token", `{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt"}}}}`, "missing_required_field", "$.payment_data.instrument.credential.token"},
		{"outcome", `{` + card + `,"authentication_result":{"outcome":"fine"}}`, "invalid_field", "$.authentication_result.outcome"},
		{"no details", `{` + card + `,"authentication_result":{"outcome":"authenticated"}}`, "missing_required_field", "$.authentication_result.outcome_details"},
		{"cryptogram", `{` + card + `,"authentication_result":{"outcome":"authenticated","outcome_details":{"three_ds_cryptogram":"AAAA","electronic_commerce_indicator":"05","transaction_id":"t","version":"2.2.0"}}}`,
			"invalid_field", "$.authentication_result.outcome_details.three_ds_cryptogram"},
		{"consent", `{` + card + `,"marketing_consents":[{"channel":"email"}]}`, "missing_required_field", "$.marketing_consents[0].opted_in"},
		{"line items", `{` + card + `,"line_items":[]}`, "invalid_field", "$..line_items"},
	}
	s := newSeller(t, nil)
	s.charge = func(psp.Charge) error { t.Error("charged"); return nil }
	id := s.ready("item_mug", 1, anyAgent).body.ID
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.post("/"+id+"/complete", tt.body)
			if r.status != 400 || r.body.Code != tt.code || r.body.Param != tt.param {
				t.Errorf("%d %s, want 400 %s %s", r.status, r.text, tt.code, tt.param)
			}
		})
	}
}

func TestNotReadyIsNotCharged(t *testing.T) {
	s := newSeller(t, nil)
	s.charge = func(psp.Charge) error { t.Error("charged"); return nil }
	id := s.open("item_mug", 1, anyAgent).body.ID
	s.want("no address", s.post("/"+id+"/complete", "{"+card+"}"), 200, "not_ready_for_payment", "missing")
	s.want("purchase order", s.post("/"+s.ready("item_mug", 1, anyAgent).body.ID+"/complete", `{"payment_data":{"purchase_order_number":"1"}}`),
		200, "ready_for_payment", "unsupported")
}

func TestDeclined(t *testing.T) {
	s := newSeller(t, nil)
	s.charge = func(psp.Charge) error { return &psp.DeclinedError{Reason: "REASON"} }
	id := s.ready("item_lamp", 3, anyAgent).body.ID
	r := s.post("/"+id+"/complete", "{"+card+"}")
	s.want("declined", r, 200, "ready_for_payment", "payment_declined low_stock")
	if strings.Contains(r.text, "REASON") {
		t.Errorf("the provider's reason is the seller's business: %s", r.text)
	}
	s.charge = nil
	s.want("another card", s.post("/"+id+"/complete", "{"+card+"}"), 200, "completed", "")
	s.want("the last ones are sold", s.ready("item_lamp", 1, anyAgent), 200, "not_ready_for_payment", "out_of_stock")
}

// TestProviderDown: a failure of the provider is 503, is not kept under the key,
// and leaves the session and the stock as they were.
func TestProviderDown(t *testing.T) {
	s := newSeller(t, nil)
	s.charge = func(psp.Charge) error { return errors.New("dial tcp 192.0.2.7:443: refused") }
	id := s.ready("item_lamp", 3, anyAgent).body.ID
	r := s.post("/"+id+"/complete", "{"+card+"}", "Idempotency-Key", "pay")
	s.want("down", r, 503, "payment_unavailable", "")
	if r.body.Type != "service_unavailable" || strings.Contains(r.text, "192.0.2.7") {
		t.Errorf("%s", r.text)
	}
	s.want("meanwhile", s.get(id), 200, "ready_for_payment", "low_stock")
	s.charge = nil
	r = s.post("/"+id+"/complete", "{"+card+"}", "Idempotency-Key", "pay")
	s.want("retry with the same key", r, 200, "completed", "")
	if r.header.Get("Idempotent-Replayed") != "" {
		t.Error("a 503 was replayed")
	}
}

func TestChargePanics(t *testing.T) {
	s := newSeller(t, nil)
	s.charge = func(psp.Charge) error { panic("provider library") }
	id := s.ready("item_lamp", 3, anyAgent).body.ID
	func() {
		defer func() { _ = recover() }() // net/http would
		s.post("/"+id+"/complete", "{"+card+"}", "Idempotency-Key", "pay")
	}()
	s.charge = nil
	s.want("retry", s.post("/"+id+"/complete", "{"+card+"}", "Idempotency-Key", "pay"), 200, "completed", "")
}

// TestLastOne: three of a kind are left, ten sessions want one each, at once.
func TestLastOne(t *testing.T) {
	s := newSeller(t, nil)
	var ids []string
	for range 10 {
		ids = append(ids, s.ready("item_lamp", 1, anyAgent).body.ID)
	}
	var sold atomic.Int32
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			r := s.post("/"+id+"/complete", "{"+card+"}")
			switch {
			case r.body.Status == "completed":
				sold.Add(1)
			case r.body.Status != "not_ready_for_payment" || r.codes() != "out_of_stock":
				t.Errorf("%d %s %q", r.status, r.body.Status, r.codes())
			}
		})
	}
	wg.Wait()
	if sold.Load() != 3 {
		t.Errorf("sold %d of 3", sold.Load())
	}
}

const authenticated = `"authentication_result":{"outcome":"authenticated","outcome_details":{"three_ds_cryptogram":"AAECAwQFBgcICQoLDA0ODxAREhM=",
	"electronic_commerce_indicator":"05","transaction_id":"t1","version":"2.2.0"}}`

func TestThreeDS(t *testing.T) {
	s := newSeller(t, nil)
	charges := 0
	s.charge = func(psp.Charge) error { charges++; return nil }
	r := s.ready("item_watch", 1, anyAgent)
	s.want("ready", r, 200, "ready_for_payment", "info")
	path := "/" + r.body.ID + "/complete"
	r = s.post(path, "{"+card+"}")
	s.want("without a result", r, 200, "authentication_required", "requires_3ds")
	if r.body.Auth == nil {
		t.Errorf("no authentication_metadata: %s", r.text)
	}
	r = s.post(path, "{"+card+"}")
	s.want("again without", r, 400, "requires_3ds", "")
	if r.body.Param != "$.authentication_result" {
		t.Errorf("param %q", r.body.Param)
	}
	s.want("denied", s.post(path, `{`+card+`,"authentication_result":{"outcome":"denied"}}`), 200, "ready_for_payment", "payment_declined info")
	if charges != 0 {
		t.Errorf("%d charges before authentication", charges)
	}
	s.want("authenticated", s.post(path, "{"+card+","+authenticated+"}"), 200, "completed", "")
	if charges != 1 {
		t.Errorf("%d charges", charges)
	}
}

// TestPurchase buys over HTTP, from the first request to the order, with the
// provider in the same process and in another.
func TestPurchase(t *testing.T) {
	for _, way := range []string{"in process", "over HTTP"} {
		t.Run(way, func(t *testing.T) {
			s := newSeller(t, nil)
			provider := psp.New(psp.Config{Token: "p", RedeemSecret: "r"})
			vault := httptest.NewServer(provider)
			defer vault.Close()
			redeem := provider.Redeem
			if way == "over HTTP" {
				redeem = (&psp.Client{URL: vault.URL, Secret: "r"}).Redeem
			}
			s.server = merchant.New(merchant.Config{Token: token, Charge: redeem, Now: func() time.Time { return s.now }})

			r := s.open("item_mug", 2, anyAgent)
			path := "/" + r.body.ID
			s.want("update", s.post(path, `{"fulfillment_details":{"address":`+address+`}}`), 200, "not_ready_for_payment", "missing")
			r = s.post(path, `{"selected_fulfillment_options":[{"type":"shipping","option_id":"ship_standard","item_ids":["li_item_mug"]}]}`)
			s.want("update", r, 200, "ready_for_payment", "")
			total := r.total("total")

			pay := func(amount int64) string {
				return fmt.Sprintf(`{"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":%q}}}}`,
					delegate(t, vault.URL, r, amount))
			}
			s.want("allowance too small", s.post(path+"/complete", pay(total-1)), 200, "ready_for_payment", "payment_declined")
			body := pay(total)
			done := s.post(path+"/complete", body, "Idempotency-Key", "pay")
			s.want("complete", done, 200, "completed", "")
			if again := s.get(path[1:]); again.body.Order == nil || again.body.Order.ID != done.body.Order.ID {
				t.Errorf("get: %s", again.text)
			}
			again := s.post(path+"/complete", body, "Idempotency-Key", "pay")
			if again.text != done.text || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("replay: %d %s", again.status, again.text)
			}
			s.want("conflict", s.post(path+"/complete", pay(total), "Idempotency-Key", "pay"), 422, "idempotency_conflict", "")

			other := s.ready("item_mug", 2, anyAgent)
			s.want("a used token", s.post("/"+other.body.ID+"/complete", body), 200, "ready_for_payment", "payment_declined")
			s.want("cancel", s.post("/"+other.body.ID+"/cancel", ""), 200, "canceled", "info")
		})
	}
}

// delegate gets a token for the session in r.
func delegate(t *testing.T, url string, r response, amount int64) string {
	t.Helper()
	merchant := r.body.Capabilities.Payment.Handlers[0].Config["merchant_id"]
	body := fmt.Sprintf(`{"payment_method":{"type":"card","card_number_type":"fpan","number":"4242424242424242","exp_month":"12","exp_year":"2099",
		"display_card_funding_type":"credit","metadata":{}},
		"allowance":{"reason":"one_time","max_amount":%d,"currency":"usd","checkout_session_id":%q,"merchant_id":%q,"expires_at":"2099-01-01T00:00:00Z"},
		"risk_signals":[],"metadata":{}}`, amount, r.body.ID, merchant)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/agentic_commerce/delegate_payment", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer p", "API-Version": "2026-04-17", "Content-Type": "application/json", "Idempotency-Key": rand.Text(),
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ ID, Message string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("delegate: %d %s %v", res.StatusCode, out.Message, err)
	}
	return out.ID
}
