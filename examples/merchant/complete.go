package merchant

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"strings"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/front"
	"github.com/bindery-dev/bindery/examples/psp"
)

// A completion is the body of a complete request.
type completion struct {
	Payment        *payment        `json:"payment_data"`
	Authentication *authentication `json:"authentication_result"`
	Buyer          json.RawMessage `json:"buyer"`
	OrderNotes     json.RawMessage `json:"order_notes"`
	Affiliate      *affiliate      `json:"affiliate_attribution"`
	RiskSignals    *riskSignals    `json:"risk_signals"`
	Consents       []consent       `json:"marketing_consents"`
}

type payment struct {
	HandlerID  string      `json:"handler_id"`
	Instrument *instrument `json:"instrument"`

	BillingAddress      *address `json:"billing_address"`
	PurchaseOrderNumber string   `json:"purchase_order_number"`
	PaymentTerms        string   `json:"payment_terms"`
	DueDate             string   `json:"due_date"`
	ApprovalRequired    bool     `json:"approval_required"`
}

// An instrument may have members of its handler; they are ignored.
type instrument struct {
	Type       string `json:"type"`
	Credential struct {
		Type  string `json:"type"`
		Token string `json:"token"`
	} `json:"credential"`
}

// UnmarshalJSON ignores members that it does not know.
func (i *instrument) UnmarshalJSON(data []byte) error {
	type open instrument
	return json.Unmarshal(data, (*open)(i))
}

type authentication struct {
	Outcome string `json:"outcome"`
	Details *struct {
		Cryptogram    string `json:"three_ds_cryptogram"`
		ECI           string `json:"electronic_commerce_indicator"`
		TransactionID string `json:"transaction_id"`
		Version       string `json:"version"`
	} `json:"outcome_details"`
}

type riskSignals struct {
	IPAddress         string `json:"ip_address"`
	UserAgent         string `json:"user_agent"`
	AcceptLanguage    string `json:"accept_language"`
	SessionID         string `json:"session_id"`
	DeviceFingerprint string `json:"device_fingerprint"`
}

type consent struct {
	Channel string `json:"channel"`
	OptedIn *bool  `json:"opted_in"`
}

// check looks at what can be judged without the session.
func (c *completion) check() *front.Answer {
	const at = "$.payment_data."
	p := c.Payment
	switch {
	case p == nil:
		return front.Missing("$.payment_data")
	case p.Instrument == nil && p.PurchaseOrderNumber == "":
		return front.Missing(at + "instrument")
	case p.Instrument != nil && p.HandlerID == "":
		return front.Missing(at + "handler_id")
	case p.Instrument != nil && p.Instrument.Type == "":
		return front.Missing(at + "instrument.type")
	case p.Instrument != nil && (p.Instrument.Credential.Type == "" || p.Instrument.Credential.Token == ""):
		return front.Missing(at + "instrument.credential.token")
	}
	for i, m := range c.Consents {
		if m.Channel == "" || m.OptedIn == nil {
			return front.Missing(fmt.Sprintf("$.marketing_consents[%d].opted_in", i))
		}
	}
	for _, fault := range []*front.Answer{
		p.BillingAddress.check(at + "billing_address"), c.Affiliate.check("$.affiliate_attribution"), c.Authentication.check(),
	} {
		if fault != nil {
			return fault
		}
	}
	return nil
}

// outcomes of 3-D Secure, and whether details must come with them.
var outcomes = map[string]bool{
	"authenticated": true, "informational": true, "attempt_acknowledged": true,
	"abandoned": false, "canceled": false, "denied": false, "internal_error": false,
	"not_supported": false, "processing_error": false, "rejected": false,
}

func (a *authentication) check() *front.Answer {
	const at = "$.authentication_result"
	if a == nil {
		return nil
	}
	detailed, known := outcomes[a.Outcome]
	switch {
	case !known:
		return front.Invalid(at+".outcome", "This outcome is not known.")
	case detailed && a.Details == nil:
		return front.Missing(at + ".outcome_details")
	case a.Details == nil:
		return nil
	}
	// 20 bytes in 28 characters; some issuers leave the padding out.
	value, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(a.Details.Cryptogram, "="))
	if err != nil || len(value) != 20 {
		return front.Invalid(at+".outcome_details.three_ds_cryptogram", "The cryptogram is 20 bytes in base64.")
	}
	return nil
}

// passed reports whether the issuer takes the buyer for authenticated. A
// biometric step that is required happens inside the same flow.
func (a *authentication) passed() bool {
	return a.Outcome == "authenticated" || a.Outcome == "attempt_acknowledged"
}

// complete takes the money and makes the order. Whatever the buyer or the agent
// can still do something about is answered 200, with the session and a message.
func (s *Server) complete(ctx context.Context, c front.Call) *front.Answer {
	var in completion
	if fault := front.Decode(c.Body, &in); fault != nil {
		return fault
	}
	if fault := in.check(); fault != nil {
		return fault
	}
	a, answer := s.prepare(c, &in)
	if answer != nil {
		return answer
	}
	return s.pay(ctx, a)
}

// An attempt is a charge that is to be made for a session in the phase paying.
type attempt struct {
	session *session
	quote   quote
	charge  psp.Charge
}

// prepare checks the session and reserves its goods. The attempt is valid when
// there is no answer.
func (s *Server) prepare(c front.Call, in *completion) (attempt, *front.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, fault := s.findOpen(c)
	if fault != nil {
		return attempt{}, fault
	}
	if fault := (changes{Buyer: in.Buyer, OrderNotes: in.OrderNotes}).apply(x, s.config.Products); fault != nil {
		return attempt{}, fault
	}
	x.last, x.pending = nil, nil
	q := s.quote(x)
	t := s.terms(x, q)
	limits, stop, fault := s.mayPay(x, in, q, t)
	switch {
	case fault != nil:
		return attempt{}, fault
	case stop:
		s.store(x)
		return attempt{}, front.JSON(http.StatusOK, s.view(x))
	}
	x.phase = paying
	s.reserve(x, -1)
	s.store(x)
	paying := *x
	return attempt{&paying, q, psp.Charge{
		Token:      in.Payment.Instrument.Credential.Token,
		Key:        x.id,
		MerchantID: s.config.MerchantID,
		SessionID:  x.id,
		Amount:     q.total(),
		Currency:   x.currency,
		Brands:     limits.brands,
		Funding:    limits.funding,
	}}, nil
}

// mayPay decides whether a charge is made. stop means that it is not, and that
// the session, changed by this, says why.
func (s *Server) mayPay(x *session, in *completion, q quote, t terms) (limits method, stop bool, fault *front.Answer) {
	switch a := assess(x, q, t, s.stock, s.config.OnMismatch, s.config.Now()); {
	case a.status == "incomplete" || a.status == "not_ready_for_payment":
		return method{}, true, nil
	case in.Payment.Instrument == nil:
		return method{}, x.stop("unsupported", "$.payment_data.purchase_order_number", "This purchase cannot be paid by purchase order."), nil
	case in.Payment.HandlerID != cardHandler:
		return method{}, x.stop("unsupported", "$.payment_data.handler_id", "This payment handler is not offered for this purchase."), nil
	}
	limits, ok := t.accepts(in.Payment.Instrument.Type)
	if !ok {
		return method{}, x.stop("unsupported", "$.payment_data.instrument.type", "This payment method is not offered for this purchase."), nil
	}
	stop, fault = x.intervene(in.Authentication, t)
	if stop && x.authenticating {
		s.await(x, in)
	}
	return limits, stop, fault
}

// stop notes why an attempt to pay failed.
func (x *session) stop(code, param, content string) bool {
	m := problem(code, param, byBuyer, content)
	x.last = &m
	return true
}

// intervene holds a purchase to the interventions that it requires, whatever the
// agent declared (capability negotiation §6.2).
func (x *session) intervene(a *authentication, t terms) (stop bool, fault *front.Answer) {
	switch {
	case len(t.required) == 0:
		return false, nil
	case !t.compatible():
		x.stopped = true
		return true, nil
	case a == nil && x.authenticating:
		return false, front.Fail(http.StatusBadRequest, front.Error{
			Code: "requires_3ds", Message: "The result of 3-D Secure has to come with this request.", Param: "$.authentication_result",
		})
	case a == nil:
		x.authenticating = true
		return true, nil
	case !a.passed():
		x.authenticating = false
		return x.stop("payment_declined", "$.payment_data", "The card's issuer did not authenticate the buyer. Try another card."), nil
	}
	return false, nil
}

// reserve takes the cart's goods out of the stock (-1) or puts them back (1).
// Server.mu is held.
func (s *Server) reserve(x *session, sign int) {
	for _, l := range x.lines {
		if !l.product.Digital {
			s.stock[l.product.ID] += sign * l.quantity
		}
	}
}

// pay makes the charge, without holding the lock, and settles the session.
func (s *Server) pay(ctx context.Context, a attempt) (answer *front.Answer) {
	err := errors.New("the charge function panicked")
	defer func() { answer = s.settle(a, err) }() // also when it panics: the session must not stay in the phase paying
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	err = s.config.Charge(ctx, a.charge)
	return nil
}

// chargeTimeout bounds how long a session can be in the phase paying.
const chargeTimeout = 30 * time.Second

// settle ends the phase paying: in an order, or in an open session with its
// goods back in stock.
func (s *Server) settle(a attempt, err error) *front.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := a.session
	_, declined := errors.AsType[*psp.DeclinedError](err)
	switch {
	case err == nil:
		x.phase, x.authenticating, x.paid = completed, false, &a.quote
		x.order = newOrder(s.config.NewID("ord_"), x, a.quote)
	case declined:
		x.stop("payment_declined", "$.payment_data", "The payment was declined. Try another payment method.")
	}
	if err != nil {
		x.phase = open
		s.reserve(x, 1)
	}
	s.store(x)
	if err == nil || declined {
		return front.JSON(http.StatusOK, s.view(x))
	}
	return front.Fail(http.StatusServiceUnavailable, front.Error{
		Type: front.ServiceUnavailable, Code: "payment_unavailable", Message: "Payments cannot be made right now. Retry with the same Idempotency-Key.",
	})
}
