package psp

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// A delegation is the body of a Delegate Payment request.
type delegation struct {
	PaymentMethod  *card             `json:"payment_method"`
	Allowance      *allowance        `json:"allowance"`
	BillingAddress *address          `json:"billing_address"`
	RiskSignals    *[]riskSignal     `json:"risk_signals"`
	Metadata       map[string]string `json:"metadata"`
}

type allowance struct {
	Reason            string `json:"reason"`
	MaxAmount         int64  `json:"max_amount"` // in minor units
	Currency          string `json:"currency"`
	CheckoutSessionID string `json:"checkout_session_id"`
	MerchantID        string `json:"merchant_id"`
	ExpiresAt         string `json:"expires_at"`
}

type address struct {
	Name       string `json:"name"`
	LineOne    string `json:"line_one"`
	LineTwo    string `json:"line_two"`
	City       string `json:"city"`
	State      string `json:"state"`
	Country    string `json:"country"`
	PostalCode string `json:"postal_code"`
}

type riskSignal struct {
	Type   string `json:"type"`
	Score  *int64 `json:"score"`
	Action string `json:"action"`
}

// check says what is wrong with d at the given time; nil: nothing.
func (d *delegation) check(now time.Time) *front.Answer {
	switch {
	case d.PaymentMethod == nil:
		return front.Missing("$.payment_method")
	case d.Allowance == nil:
		return front.Missing("$.allowance")
	case d.RiskSignals == nil:
		return front.Missing("$.risk_signals")
	case d.Metadata == nil:
		return front.Missing("$.metadata")
	}
	for _, check := range []func(time.Time) *front.Answer{d.Allowance.check, d.checkAddress, d.checkRisk, d.PaymentMethod.check} {
		if fault := check(now); fault != nil {
			return fault
		}
	}
	return nil
}

var currency = regexp.MustCompile(`^[a-z]{3}$`)

func (a *allowance) check(now time.Time) *front.Answer {
	const at = "$.allowance."
	switch {
	case a.Reason != "one_time":
		return front.Invalid(at+"reason", "The only reason there is is one_time.")
	case a.MaxAmount <= 0:
		return front.Invalid(at+"max_amount", "The amount must be above 0, in minor units.")
	case !currency.MatchString(a.Currency):
		return front.Invalid(at+"currency", "The currency must be three lower case letters.")
	case a.CheckoutSessionID == "":
		return front.Missing(at + "checkout_session_id")
	case a.MerchantID == "":
		return front.Missing(at + "merchant_id")
	case utf8.RuneCountInString(a.MerchantID) > 256:
		return front.Invalid(at+"merchant_id", "At most 256 characters.")
	}
	expires, err := time.Parse(time.RFC3339, a.ExpiresAt)
	switch {
	case err != nil:
		return front.Invalid(at+"expires_at", "The time must be as in RFC 3339.")
	case !expires.After(now):
		return front.Invalid(at+"expires_at", "The allowance has expired already.")
	}
	return nil
}

func (d *delegation) checkAddress(time.Time) *front.Answer {
	a := d.BillingAddress
	if a == nil {
		return nil
	}
	for _, f := range []struct {
		name, value string
		most        int // characters; 0: no bound
		optional    bool
	}{
		{"name", a.Name, 256, false},
		{"line_one", a.LineOne, 60, false},
		{"line_two", a.LineTwo, 60, true},
		{"city", a.City, 60, false},
		{"state", a.State, 0, false},
		{"country", a.Country, 2, false},
		{"postal_code", a.PostalCode, 20, false},
	} {
		switch {
		case f.value == "" && !f.optional:
			return front.Missing("$.billing_address." + f.name)
		case f.most > 0 && utf8.RuneCountInString(f.value) > f.most:
			return front.Invalid("$.billing_address."+f.name, "This is too long.")
		}
	}
	return nil
}

func (d *delegation) checkRisk(time.Time) *front.Answer {
	for _, s := range *d.RiskSignals {
		known := s.Type == "card_testing" && s.Score != nil && slices.Contains([]string{"blocked", "manual_review", "authorized"}, s.Action)
		if !known {
			return front.Invalid("$.risk_signals", "A risk signal has a type card_testing, a score and an action.")
		}
		if s.Action == "blocked" {
			return front.Fail(http.StatusUnprocessableEntity, front.Error{
				Code: "risk_blocked", Message: "The payment was blocked by a risk signal.", Param: "$.risk_signals",
			})
		}
	}
	return nil
}

// held is what the vault keeps: nothing of the card but its kind.
func (d *delegation) held() held {
	expires, _ := time.Parse(time.RFC3339, d.Allowance.ExpiresAt) // check has parsed it
	return held{
		merchant: d.Allowance.MerchantID,
		session:  d.Allowance.CheckoutSessionID,
		currency: d.Allowance.Currency,
		amount:   d.Allowance.MaxAmount,
		expires:  expires,
		brand:    brand(d.PaymentMethod.Number),
		funding:  strings.ToLower(d.PaymentMethod.DisplayCardFundingType),
	}
}
