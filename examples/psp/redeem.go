package psp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// redeemPath is where merchants in other processes redeem. It is no part of the
// protocol: how a provider and its merchants talk is their business.
const redeemPath = "/internal/redemptions"

// serveRedeem answers 204 for a charge that was made and 402 with the reason
// for one that was declined.
func (s *Server) serveRedeem(w http.ResponseWriter, r *http.Request) {
	got, want := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+s.config.RedeemSecret))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.MaxBody))
	var c Charge
	if err != nil || front.Strict(body, &c) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if declined, ok := errors.AsType[*DeclinedError](s.Redeem(r.Context(), c)); ok {
		w.WriteHeader(http.StatusPaymentRequired)
		_, _ = io.WriteString(w, declined.Reason) // a merchant that hangs up asks again
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// A Client redeems tokens at a provider in another process. The zero value of
// HTTP means a client that gives up after 10 seconds and follows no redirect.
type Client struct {
	URL    string // of the provider, without a path
	Secret string // its RedeemSecret
	HTTP   *http.Client
}

// Redeem is [Server.Redeem] over HTTP. The error is a [*DeclinedError], or
// another one when the provider gave no answer; the charge may have been made
// then.
func (c *Client) Redeem(ctx context.Context, charge Charge) error {
	body, err := json.Marshal(charge)
	if err != nil {
		return fmt.Errorf("psp: encode the charge: %v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+redeemPath, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("psp: the provider's URL cannot be used: %v", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client().Do(req)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok {
			err = cause.Err // without the URL
		}
		return fmt.Errorf("psp: redeem: %w", err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusPaymentRequired:
		reason, err := io.ReadAll(io.LimitReader(res.Body, 200))
		if err != nil {
			return fmt.Errorf("psp: redeem: %w", err)
		}
		return &DeclinedError{string(reason)}
	}
	return fmt.Errorf("psp: redeem: the provider answered %d", res.StatusCode)
}

func (c *Client) client() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
