package psp_test

import (
	"crypto/sha256"
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

	"github.com/bindery-dev/bindery/examples/psp"
)

const token = "agent-token"

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A provider is a server whose time stands still unless told and whose tokens
// are numbered.
type provider struct {
	*psp.Server
	now  time.Time
	seen []psp.Request
}

func newProvider(change func(*psp.Config)) *provider {
	p := &provider{now: start}
	ids := 0
	c := psp.Config{
		Token:   token,
		Now:     func() time.Time { return p.now },
		NewID:   func(prefix string) string { ids++; return fmt.Sprint(prefix, ids) },
		Observe: func(r psp.Request) { p.seen = append(p.seen, r) },
	}
	if change != nil {
		change(&c)
	}
	p.Server = psp.New(c)
	return p
}

// delegate sends body, with headers changed by pairs of name and value; an empty
// value removes one.
func (p *provider) delegate(body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/agentic_commerce/delegate_payment", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("API-Version", "2026-04-17")
	r.Header.Set("Idempotency-Key", fmt.Sprintf("%x", sha256.Sum256([]byte(body))))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

const good = `{
	"payment_method": {"type":"card","card_number_type":"fpan","number":"4242424242424242","exp_month":"11","exp_year":"2026",
		"name":"Jane Marker","cvc":"223","cryptogram":"cryptoMARKER","display_card_funding_type":"credit","metadata":{"bank":"b"}},
	"allowance": {"reason":"one_time","max_amount":2000,"currency":"usd","checkout_session_id":"cs_1","merchant_id":"shop","expires_at":"2026-11-21T10:15:00Z"},
	"risk_signals": [{"type":"card_testing","score":10,"action":"manual_review"}],
	"metadata": {"campaign":"q4"}
}`

func TestDelegate(t *testing.T) {
	p := newProvider(nil)
	w := p.delegate(good, "Idempotency-Key", "k1", "Request-Id", "r1")
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var got struct {
		ID       string
		Created  time.Time
		Metadata map[string]string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "vt_1" || !got.Created.Equal(start) || got.Metadata["campaign"] != "q4" || got.Metadata["merchant_id"] != "shop" || got.Metadata["idempotency_key"] != "k1" {
		t.Errorf("got %+v", got)
	}
	if h := w.Header(); h.Get("Request-Id") != "r1" || h.Get("Idempotency-Key") != "k1" || h.Get("Idempotent-Replayed") != "" {
		t.Errorf("headers %v", h)
	}
	again := p.delegate(strings.ReplaceAll(good, "2000", "2000.0"), "Idempotency-Key", "k1")
	if again.Code != http.StatusCreated || again.Body.String() != w.Body.String() || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("replay: %d %s %v", again.Code, again.Body, again.Header())
	}
	other := p.delegate(strings.ReplaceAll(good, "2000", "2001"), "Idempotency-Key", "k1")
	if other.Code != http.StatusUnprocessableEntity || !strings.Contains(other.Body.String(), `"idempotency_conflict"`) {
		t.Errorf("conflict: %d %s", other.Code, other.Body)
	}
}

func TestRefuses(t *testing.T) {
	tests := []struct {
		name, old, new string // in good
		status         int
		want           string // code, then param
	}{
		{"no card", `"payment_method"`, `"x"`, 400, "invalid_field $..x"},
		{"number", `4242424242424242`, `4242424242424241`, 422, "invalid_card $.payment_method.number"},
		{"short number", `4242424242424242`, `42`, 422, "invalid_card $.payment_method.number"},
		{"letters", `4242424242424242`, `4242x24242424242`, 422, "invalid_card $.payment_method.number"},
		{"number as a number", `"4242424242424242"`, `4242424242424242`, 400, "invalid_field $.payment_method.number"},
		{"no number", `"number":"4242424242424242",`, ``, 422, "invalid_card $.payment_method.number"},
		{"last month", `"exp_month":"11"`, `"exp_month":"10"`, 422, "invalid_card $.payment_method.exp_year"},
		{"month 13", `"exp_month":"11"`, `"exp_month":"13"`, 422, "invalid_card $.payment_method.exp_month"},
		{"two-digit year", `"exp_year":"2026"`, `"exp_year":"26"`, 422, "invalid_card $.payment_method.exp_year"},
		{"cvc", `"cvc":"223"`, `"cvc":"22"`, 422, "invalid_card $.payment_method.cvc"},
		{"funding", `"credit"`, `"gold"`, 422, "invalid_card $.payment_method.display_card_funding_type"},
		{"card metadata", `"metadata":{"bank":"b"}`, `"metadata":null`, 422, "invalid_card $.payment_method.metadata"},
		{"unknown member", `"cvc":`, `"pin":`, 400, "invalid_field $..pin"},
		{"reason", `one_time`, `for_ever`, 400, "invalid_field $.allowance.reason"},
		{"amount", `2000`, `0`, 400, "invalid_field $.allowance.max_amount"},
		{"fraction", `2000`, `20.5`, 400, "invalid_field $.allowance.max_amount"},
		{"currency", `"usd"`, `"USD"`, 400, "invalid_field $.allowance.currency"},
		{"expired", `10:15`, `10:00`, 400, "invalid_field $.allowance.expires_at"},
		{"no time", `2026-11-21T10:15:00Z`, `soon`, 400, "invalid_field $.allowance.expires_at"},
		{"blocked", `manual_review`, `blocked`, 422, "risk_blocked $.risk_signals"},
		{"unknown action", `manual_review`, `shrug`, 400, "invalid_field $.risk_signals"},
		{"no metadata", `"metadata": {"campaign":"q4"}`, `"metadata": null`, 400, "missing_required_field $.metadata"},
		{"address", `"metadata": {"c`, `"billing_address":{"name":"n","line_one":"l","city":"c","state":"s","country":"USA","postal_code":"1"},"metadata": {"c`,
			400, "invalid_field $.billing_address.country"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProvider(nil)
			body := strings.Replace(good, tt.old, tt.new, 1)
			if body == good {
				t.Fatalf("%q is not in the body", tt.old)
			}
			w := p.delegate(body)
			var e struct{ Type, Code, Message, Param string }
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
				t.Fatalf("%s: %v", w.Body, err)
			}
			if got := e.Code + " " + e.Param; w.Code != tt.status || got != tt.want || e.Type != "invalid_request" || e.Message == "" {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.want)
			}
			for _, secret := range []string{"42424242", "4242x", "223", "Jane", "cryptoMARKER"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("card data in the answer: %s", w.Body)
				}
			}
		})
	}
}

func TestNetworkTokenNeedsNoExpiry(t *testing.T) {
	body := strings.NewReplacer(`fpan`, `network_token`, `"exp_month":"11","exp_year":"2026",`, ``).Replace(good)
	if w := newProvider(nil).delegate(body); w.Code != http.StatusCreated {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestCardDataStays: what a provider tells an observer has no body and no
// credential, and no error of a redemption names the token.
func TestCardDataStays(t *testing.T) {
	record.Ran(t)
	p := newProvider(nil)
	p.delegate(good)
	seen := fmt.Sprintf("%+v", p.seen)
	if len(p.seen) != 1 {
		t.Fatalf("observed %d requests", len(p.seen))
	}
	err := p.Redeem(t.Context(), psp.Charge{Token: "vt_SECRET"})
	for _, secret := range []string{"42424242", "cryptoMARKER", token, "vt_SECRET"} {
		if strings.Contains(seen+err.Error(), secret) {
			t.Errorf("%q in %s or %v", secret, seen, err)
		}
	}
}

func TestRate(t *testing.T) {
	p := newProvider(func(c *psp.Config) { c.PerMinute = 2 })
	for i := range 2 {
		if w := p.delegate(good, "Idempotency-Key", fmt.Sprint(i)); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	p.now = p.now.Add(45 * time.Second)
	w := p.delegate(good, "Idempotency-Key", "2")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "15" || !strings.Contains(w.Body.String(), `"rate_limit_exceeded"`) {
		t.Errorf("over the limit: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := p.delegate(good, "Idempotency-Key", "1"); w.Code != http.StatusCreated {
		t.Errorf("a replay costs nothing: %d %s", w.Code, w.Body)
	}
	p.now = p.now.Add(15 * time.Second)
	if w := p.delegate(good, "Idempotency-Key", "2"); w.Code != http.StatusCreated {
		t.Errorf("after Retry-After, with the same key: %d %s", w.Code, w.Body)
	}
}

func TestRedeem(t *testing.T) {
	charge := psp.Charge{Token: "vt_1", MerchantID: "shop", SessionID: "cs_1", Amount: 2000, Currency: "usd", Brands: []string{"visa"}, Funding: []string{"credit"}}
	tests := []struct {
		name   string
		change func(*psp.Charge, *provider)
		want   string // reason; empty: made
	}{
		{"all of it", func(c *psp.Charge, _ *provider) {}, ""},
		{"less", func(c *psp.Charge, _ *provider) { c.Amount = 1 }, ""},
		{"more", func(c *psp.Charge, _ *provider) { c.Amount = 2001 }, "another amount than allowed"},
		{"nothing", func(c *psp.Charge, _ *provider) { c.Amount = 0 }, "another amount than allowed"},
		{"currency", func(c *psp.Charge, _ *provider) { c.Currency = "eur" }, "another currency than allowed"},
		{"session", func(c *psp.Charge, _ *provider) { c.SessionID = "cs_2" }, "token of another session"},
		{"merchant", func(c *psp.Charge, _ *provider) { c.MerchantID = "mall" }, "token of another merchant"},
		{"token", func(c *psp.Charge, _ *provider) { c.Token = "vt_2" }, "token unknown"},
		{"late", func(_ *psp.Charge, p *provider) { p.now = p.now.Add(15 * time.Minute) }, "token expired"},
		{"brand", func(c *psp.Charge, _ *provider) { c.Brands = []string{"amex"} }, "card network not taken"},
		{"funding", func(c *psp.Charge, _ *provider) { c.Funding = []string{"debit"} }, "funding type not taken"},
		{"twice", func(c *psp.Charge, p *provider) { _ = p.Redeem(t.Context(), *c) }, "token used"},
		{"again", func(c *psp.Charge, p *provider) { c.Key = "cs_1"; _ = p.Redeem(t.Context(), *c) }, ""},
		{"another with its key", func(c *psp.Charge, p *provider) { c.Key = "cs_1"; _ = p.Redeem(t.Context(), *c); c.Amount = 1 }, "key of another charge"},
		{"after a decline", func(c *psp.Charge, p *provider) { d := *c; d.Amount = 9999; _ = p.Redeem(t.Context(), d) }, ""},
	}
	const secret = "merchant-secret"
	for _, tt := range tests {
		for _, way := range []string{"in process", "over HTTP"} {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				p := newProvider(func(c *psp.Config) { c.RedeemSecret = secret })
				p.delegate(good)
				redeem := p.Redeem
				if way == "over HTTP" {
					srv := httptest.NewServer(p)
					defer srv.Close()
					redeem = (&psp.Client{URL: srv.URL, Secret: secret}).Redeem
				}
				c := charge
				tt.change(&c, p)
				err := redeem(t.Context(), c)
				reason := ""
				if declined, ok := errors.AsType[*psp.DeclinedError](err); ok {
					reason, err = declined.Reason, nil
				}
				if err != nil || reason != tt.want {
					t.Errorf("got %q, %v; want %q", reason, err, tt.want)
				}
			})
		}
	}
}

func TestRedeemNeedsItsSecret(t *testing.T) {
	for _, secret := range []string{"", "right"} {
		srv := httptest.NewServer(newProvider(func(c *psp.Config) { c.RedeemSecret = secret }))
		defer srv.Close()
		for _, guess := range []string{"", "wrong", token} {
			err := (&psp.Client{URL: srv.URL, Secret: guess}).Redeem(t.Context(), psp.Charge{})
			if _, declined := errors.AsType[*psp.DeclinedError](err); err == nil || declined {
				t.Errorf("secret %q, guess %q: %v", secret, guess, err)
			}
		}
	}
}

// TestRedeemOnce: of many charges of one token at once exactly one is made.
func TestRedeemOnce(t *testing.T) {
	p := newProvider(nil)
	p.delegate(good)
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if p.Redeem(t.Context(), psp.Charge{Token: "vt_1", MerchantID: "shop", SessionID: "cs_1", Amount: 1, Currency: "usd"}) == nil {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d charges were made, want 1", made.Load())
	}
}
