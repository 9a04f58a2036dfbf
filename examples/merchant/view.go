package merchant

import (
	"encoding/json"
	"fmt"
	"time"
)

// This file is what a session looks like from outside. Lists are never null.

type sessionView struct {
	ID           string             `json:"id"`
	Protocol     map[string]string  `json:"protocol"`
	Status       string             `json:"status"`
	Currency     string             `json:"currency"`
	Capabilities capabilitiesView   `json:"capabilities"`
	Buyer        *buyer             `json:"buyer,omitempty"`
	LineItems    []lineView         `json:"line_items"`
	Details      *details           `json:"fulfillment_details,omitempty"`
	Options      []optionView       `json:"fulfillment_options"`
	Selected     []selection        `json:"selected_fulfillment_options,omitempty"`
	Groups       []group            `json:"fulfillment_groups,omitempty"`
	Discounts    *discountsView     `json:"discounts,omitempty"`
	Totals       []totalView        `json:"totals"`
	Messages     []message          `json:"messages"`
	Links        []linkView         `json:"links"`
	Consents     []consentView      `json:"marketing_consent_options"`
	Auth         *authenticationAsk `json:"authentication_metadata,omitempty"`
	ContinueURL  string             `json:"continue_url,omitempty"`
	Order        *order             `json:"order,omitempty"`
	CreatedAt    time.Time          `json:"created_at"`
	UpdatedAt    time.Time          `json:"updated_at"`
	ExpiresAt    time.Time          `json:"expires_at"`
	echo
}

type lineView struct {
	ID          string            `json:"id"`
	Item        map[string]string `json:"item"`
	Quantity    int               `json:"quantity"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	UnitAmount  int64             `json:"unit_amount"`
	Available   string            `json:"availability_status,omitempty"`
	Most        int               `json:"max_quantity_per_order"`
	Totals      []totalView       `json:"totals"`
}

type totalView struct {
	Type        string         `json:"type"`
	DisplayText string         `json:"display_text"`
	Amount      int64          `json:"amount"`
	Breakdown   []taxPartsView `json:"breakdown,omitempty"`
}

type taxPartsView struct {
	Jurisdiction string      `json:"jurisdiction"`
	Rate         json.Number `json:"rate"`
	Amount       int64       `json:"amount"`
}

type optionView struct {
	Type        string      `json:"type"`
	ID          string      `json:"id"`
	Title       string      `json:"title"`
	Description string      `json:"description,omitempty"`
	Carrier     string      `json:"carrier,omitempty"`
	Earliest    *time.Time  `json:"earliest_delivery_time,omitempty"`
	Latest      *time.Time  `json:"latest_delivery_time,omitempty"`
	Totals      []totalView `json:"totals"`
}

type linkView struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type consentView struct {
	Channel     string `json:"channel"`
	DisplayText string `json:"display_text"`
	PolicyURL   string `json:"privacy_policy_url"`
}

// shop is where the seller's pages would be.
const shop = "https://shop.example.com"

// view computes what s looks like now. Server.mu is held.
func (s *Server) view(x *session) sessionView {
	now := s.config.Now()
	q := s.quote(x)
	t := s.terms(x, q)
	a := assess(x, q, t, s.stock, s.config.OnMismatch, now)
	v := sessionView{
		ID:           x.id,
		Protocol:     map[string]string{"version": Versions[0]},
		Status:       a.status,
		Currency:     x.currency,
		Capabilities: t.view(s.config.MerchantID),
		Buyer:        x.buyer,
		LineItems:    s.lineViews(x, q),
		Details:      x.details,
		Options:      optionViews(q.options, x.created),
		Selected:     current(x),
		Groups:       x.groups,
		Discounts:    q.discountsView(x.codes),
		Totals:       q.totals(),
		Messages:     a.messages,
		Links: []linkView{
			{"terms_of_use", shop + "/terms"}, {"privacy_policy", shop + "/privacy"}, {"return_policy", shop + "/returns"},
		},
		Consents:  []consentView{{"email", "News about products and offers, by email", shop + "/privacy"}},
		Order:     x.order,
		CreatedAt: x.created, UpdatedAt: x.updated, ExpiresAt: x.expires,
		echo: x.echo,
	}
	if a.status == "authentication_required" {
		v.Auth, v.ContinueURL = ask(x.agent, s.config.MerchantID), s.errand(x)
	}
	return v
}

// quote is what x costs now, or what was paid for it.
func (s *Server) quote(x *session) quote {
	if x.paid != nil {
		return *x.paid
	}
	return price(x, s.config.Now())
}

// terms negotiates for x as it is now.
func (s *Server) terms(x *session, q quote) terms {
	return s.config.negotiate(x.agent, purchase{total: q.total(), currency: x.currency, physical: x.physical()})
}

func (s *Server) lineViews(x *session, q quote) []lineView {
	list := []lineView{}
	for i, l := range x.lines {
		p := q.lines[i]
		v := lineView{
			ID: l.id, Item: map[string]string{"id": l.product.ID}, Quantity: l.quantity,
			Name: l.product.Name, Description: l.product.Description,
			UnitAmount: l.product.Price[x.currency], Most: l.product.most(),
			Available: availability(l.product, s.stock[l.product.ID]),
			Totals:    []totalView{{Type: "items_base_amount", DisplayText: "Items", Amount: p.base}},
		}
		if p.discount > 0 {
			v.Totals = append(v.Totals, totalView{Type: "items_discount", DisplayText: "Discount", Amount: p.discount})
		}
		v.Totals = append(v.Totals,
			totalView{Type: "subtotal", DisplayText: "Subtotal", Amount: p.base - p.discount},
			totalView{Type: "tax", DisplayText: "Tax", Amount: p.tax},
			totalView{Type: "total", DisplayText: "Total", Amount: p.base - p.discount + p.tax})
		list = append(list, v)
	}
	return list
}

func availability(p Product, left int) string {
	switch {
	case p.Digital || left >= 5:
		return "in_stock"
	case left > 0:
		return "low_stock"
	}
	return "out_of_stock"
}

// optionViews tells delivery times from the day the session was opened.
func optionViews(options []fulfillmentOption, from time.Time) []optionView {
	list := []optionView{}
	for _, o := range options {
		if o.kind == "digital" {
			list = append(list, optionView{
				Type: "digital", ID: o.id, Title: "Download", Description: "A link by email.",
				Totals: []totalView{{Type: "total", DisplayText: "Download", Amount: 0}},
			})
			continue
		}
		w := o.shipping
		earliest, latest := from.AddDate(0, 0, w.days), from.AddDate(0, 0, w.last)
		list = append(list, optionView{
			Type: "shipping", ID: w.id, Title: w.title, Carrier: w.carrier,
			Description: fmt.Sprintf("Arrives in %d to %d days.", w.days, w.last),
			Earliest:    &earliest, Latest: &latest,
			Totals: []totalView{{Type: "total", DisplayText: w.title, Amount: w.price}},
		})
	}
	return list
}

// totals adds up from the items to what is to be paid.
func (q quote) totals() []totalView {
	list := []totalView{{Type: "items_base_amount", DisplayText: "Items", Amount: q.base}}
	if q.discount > 0 {
		list = append(list, totalView{Type: "items_discount", DisplayText: "Discount", Amount: q.discount})
	}
	list = append(list,
		totalView{Type: "subtotal", DisplayText: "Subtotal", Amount: q.subtotal()},
		totalView{Type: "fulfillment", DisplayText: "Delivery", Amount: q.shipping})
	tax := totalView{Type: "tax", DisplayText: "Tax", Amount: q.tax}
	if q.place != "" {
		rate := json.Number(fmt.Sprintf("%d.%05d", q.rate/100_000, q.rate%100_000))
		tax.Breakdown = []taxPartsView{{q.place, rate, q.tax}}
	}
	return append(list, tax, totalView{Type: "total", DisplayText: "Total", Amount: q.total()})
}

type discountsView struct {
	Codes    []string       `json:"codes"`
	Applied  []appliedView  `json:"applied"`
	Rejected []rejectedView `json:"rejected,omitempty"`
}

type appliedView struct {
	ID          string           `json:"id"`
	Code        string           `json:"code"`
	Coupon      map[string]any   `json:"coupon"`
	Amount      int64            `json:"amount"`
	Method      string           `json:"method"`
	Priority    int              `json:"priority"`
	Allocations []allocationView `json:"allocations"`
}

type allocationView struct {
	Path   string `json:"path"`
	Amount int64  `json:"amount"`
}

type rejectedView struct {
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// discountsView is nil when no code was sent.
func (q quote) discountsView(codes []string) *discountsView {
	if len(codes) == 0 {
		return nil
	}
	v := &discountsView{Codes: codes, Applied: []appliedView{}}
	for _, a := range q.applied {
		c := map[string]any{"id": a.coupon.id, "name": a.coupon.name, "duration": "once"}
		if a.coupon.percent > 0 {
			c["percent_off"] = a.coupon.percent
		} else {
			c["amount_off"] = a.coupon.amount
		}
		x := appliedView{ID: "di_" + a.coupon.id, Code: a.code, Coupon: c, Amount: a.amount, Method: "across", Priority: 1}
		for i, share := range a.shares {
			x.Allocations = append(x.Allocations, allocationView{fmt.Sprintf("$.line_items[%d]", i), share})
		}
		v.Applied = append(v.Applied, x)
	}
	for _, r := range q.rejected {
		v.Rejected = append(v.Rejected, rejectedView{r.code, r.reason, r.message})
	}
	return v
}
