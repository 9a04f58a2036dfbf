package psp

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
)

// A Charge asks for money that a token was given out for.
type Charge struct {
	Token      string   `json:"token"`
	Key        string   `json:"key"` // a merchant's charges with one key are one charge; empty: each is another
	MerchantID string   `json:"merchant_id"`
	SessionID  string   `json:"checkout_session_id"`
	Amount     int64    `json:"amount"` // in minor units
	Currency   string   `json:"currency"`
	Brands     []string `json:"brands,omitempty"`  // card networks the merchant takes; empty: any
	Funding    []string `json:"funding,omitempty"` // funding types the merchant takes; empty: any
}

// A DeclinedError says why a charge was not made. The reason is for the
// merchant's records: it names no token and no card, but tells whoever tries out
// tokens which rule stopped them, so it should not go further.
type DeclinedError struct {
	Reason string // such as "token used"
}

func (e *DeclinedError) Error() string { return fmt.Sprintf("psp: declined: %s", e.Reason) }

// held is what is known about one token.
type held struct {
	merchant, session, currency string
	amount                      int64
	expires                     time.Time
	brand, funding              string
	used                        bool
}

// A vault holds tokens. It may be used concurrently.
type vault struct {
	now func() time.Time

	mu     sync.Mutex
	tokens map[string]*held
	made   map[[2]string]Charge // by merchant and key
}

func newVault(now func() time.Time) *vault {
	return &vault{now: now, tokens: map[string]*held{}, made: map[[2]string]Charge{}}
}

func (v *vault) put(token string, h held) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens[token] = &h
}

// Redeem makes a charge. A token is good for one charge, within its allowance;
// a charge that is declined does not use it up. Of two at once one is made, and
// one that comes again with its key, since its answer got lost, is not made
// again: nor is another with that key, such as one with another token.
//
// The error is a [*DeclinedError].
func (s *Server) Redeem(_ context.Context, c Charge) error {
	v := s.vault
	v.mu.Lock()
	defer v.mu.Unlock()
	h, ok := v.tokens[c.Token]
	if !ok {
		return &DeclinedError{"token unknown"}
	}
	key := [2]string{c.MerchantID, c.Key}
	if made, again := v.made[key]; again {
		if !reflect.DeepEqual(c, made) {
			return &DeclinedError{"key of another charge"}
		}
		return nil
	}
	if reason := h.refuses(c, v.now()); reason != "" {
		return &DeclinedError{reason}
	}
	h.used = true
	if c.Key != "" {
		v.made[key] = c
	}
	return nil
}

func (h *held) refuses(c Charge, now time.Time) string {
	switch {
	case c.MerchantID != h.merchant:
		return "token of another merchant"
	case c.SessionID != h.session:
		return "token of another session"
	case h.used:
		return "token used"
	case !h.expires.After(now):
		return "token expired"
	case c.Currency != h.currency:
		return "another currency than allowed"
	case c.Amount <= 0 || c.Amount > h.amount:
		return "another amount than allowed"
	case len(c.Brands) > 0 && !slices.Contains(c.Brands, h.brand):
		return "card network not taken"
	case len(c.Funding) > 0 && !slices.Contains(c.Funding, h.funding):
		return "funding type not taken"
	}
	return ""
}
