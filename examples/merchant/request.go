package merchant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// Changes are the members that create, update and complete have in common. A
// member that is absent leaves the session as it is, null clears; inside the
// buyer and the delivery details the same holds for theirs.
type changes struct {
	Buyer      json.RawMessage `json:"buyer"`
	LineItems  json.RawMessage `json:"line_items"`
	Details    json.RawMessage `json:"fulfillment_details"`
	Groups     json.RawMessage `json:"fulfillment_groups"`
	Selected   json.RawMessage `json:"selected_fulfillment_options"`
	Discounts  json.RawMessage `json:"discounts"`
	Coupons    json.RawMessage `json:"coupons"` // the deprecated name of discounts.codes
	OrderNotes json.RawMessage `json:"order_notes"`
}

// apply writes the changes to s. When the answer is not nil, s is half changed
// and must be thrown away.
func (c changes) apply(s *session, products []Product) *front.Answer {
	for _, step := range []func(*session) *front.Answer{
		func(s *session) *front.Answer { return c.applyLines(s, products) },
		c.applyBuyer, c.applyDetails, c.applyGroups, c.applyCodes, c.applyNotes, c.applySelected,
	} {
		if fault := step(s); fault != nil {
			return fault
		}
	}
	return nil
}

// Bounds that keep sums far from overflow; what one order can have is less.
const (
	mostLines    = 100
	mostQuantity = 10_000
)

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

func (c changes) applyLines(s *session, products []Product) *front.Answer {
	if c.LineItems == nil {
		return nil
	}
	var items []struct {
		ID         *string `json:"id"`
		Quantity   *int    `json:"quantity"`
		Name       string  `json:"name"`        // the seller's own counts
		UnitAmount *int64  `json:"unit_amount"` // the seller's own counts
	}
	if fault := front.DecodeAt("$.line_items", c.LineItems, &items); fault != nil {
		return fault
	}
	if len(items) > mostLines {
		return front.Invalid("$.line_items", "These are too many line items.")
	}
	s.lines = nil
	for i, item := range items {
		at := fmt.Sprintf("$.line_items[%d]", i)
		if item.ID == nil {
			return front.Missing(at + ".id")
		}
		p := slices.IndexFunc(products, func(p Product) bool { return p.ID == *item.ID })
		if p < 0 {
			return front.Fail(400, front.Error{Code: "invalid_item_id", Message: "The seller has no such item.", Param: at + ".id"})
		}
		if _, ok := products[p].Price[s.currency]; !ok {
			return front.Fail(400, front.Error{Code: "unsupported_currency", Message: "This item has no price in the session's currency.", Param: "$.currency"})
		}
		quantity := 1
		if item.Quantity != nil {
			quantity = *item.Quantity
		}
		if quantity < 1 || quantity > mostQuantity {
			return front.Invalid(at+".quantity", "The quantity is 1 or more, and nothing absurd.")
		}
		s.lines = append(s.lines, line{id: s.lineID(*item.ID), product: products[p], quantity: quantity})
	}
	return nil
}

// lineID names the next line of a product. A product keeps the name when other
// lines come and go.
func (s *session) lineID(product string) string {
	id := "li_" + product
	for n := 2; slices.ContainsFunc(s.lines, func(l line) bool { return l.id == id }); n++ {
		id = fmt.Sprintf("li_%s_%d", product, n)
	}
	return id
}

func (c changes) applyBuyer(s *session) *front.Answer {
	if c.Buyer == nil {
		return nil
	}
	if isNull(c.Buyer) {
		s.buyer = nil
		return nil
	}
	var b buyer
	if s.buyer != nil {
		b = *s.buyer
		b.Company, b.Loyalty, b.TaxExemption = fresh(c.Buyer, "company", b.Company), fresh(c.Buyer, "loyalty", b.Loyalty), fresh(c.Buyer, "tax_exemption", b.TaxExemption)
	}
	detach(&b.FirstName, &b.LastName, &b.FullName, &b.Email, &b.PhoneNumber, &b.CustomerID, &b.AccountType, &b.AuthenticationStatus)
	if fault := front.DecodeAt("$.buyer", c.Buyer, &b); fault != nil {
		return fault
	}
	if b.Email == nil {
		return front.Missing("$.buyer.email")
	}
	s.buyer = &b
	return email("$.buyer.email", b.Email)
}

func (c changes) applyDetails(s *session) *front.Answer {
	if c.Details == nil {
		return nil
	}
	if isNull(c.Details) {
		s.details = nil
		return nil
	}
	var d details
	if s.details != nil {
		d = *s.details
		d.Address = fresh(c.Details, "address", d.Address)
	}
	detach(&d.Name, &d.PhoneNumber, &d.Email)
	if fault := front.DecodeAt("$.fulfillment_details", c.Details, &d); fault != nil {
		return fault
	}
	s.details = &d
	if fault := email("$.fulfillment_details.email", d.Email); fault != nil {
		return fault
	}
	return d.Address.check("$.fulfillment_details.address")
}

// fresh is nil when the object raw has the named member: an inner object that
// comes is a whole new one, and decoding must not write into the old one.
func fresh[T any](raw json.RawMessage, name string, old *T) *T {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return old // the strict decoding that follows says why
	}
	if _, comes := members[name]; comes {
		return nil
	}
	return old
}

// detach copies what the pointers point to, so that decoding into them does not
// change the session they came from.
func detach(fields ...**string) {
	for _, f := range fields {
		if *f != nil {
			v := **f
			*f = &v
		}
	}
}

func (c changes) applyGroups(s *session) *front.Answer {
	if c.Groups == nil {
		return nil
	}
	s.groups = nil
	if fault := front.DecodeAt("$.fulfillment_groups", c.Groups, &s.groups); fault != nil {
		return fault
	}
	for i, g := range s.groups {
		if g.ID == "" || g.ItemIDs == nil || !slices.Contains([]string{"shipping", "pickup", "local_delivery", "digital"}, g.DestinationType) {
			return front.Invalid(fmt.Sprintf("$.fulfillment_groups[%d]", i), "A group has an id, item_ids and a destination_type.")
		}
	}
	return nil
}

// applyCodes takes discounts.codes before its deprecated name.
func (c changes) applyCodes(s *session) *front.Answer {
	if c.Discounts == nil {
		if c.Coupons == nil {
			return nil
		}
		s.codes = nil
		return front.DecodeAt("$.coupons", c.Coupons, &s.codes)
	}
	var in struct {
		Codes json.RawMessage `json:"codes"`
	}
	if fault := front.DecodeAt("$.discounts", c.Discounts, &in); fault != nil {
		return fault
	}
	if in.Codes == nil && !isNull(c.Discounts) {
		return nil
	}
	s.codes = nil
	if in.Codes == nil {
		return nil
	}
	return front.DecodeAt("$.discounts.codes", in.Codes, &s.codes)
}

func (c changes) applyNotes(s *session) *front.Answer {
	if c.OrderNotes == nil {
		return nil
	}
	s.notes = ""
	if fault := front.DecodeAt("$.order_notes", c.OrderNotes, &s.notes); fault != nil {
		return fault
	}
	if utf8.RuneCountInString(s.notes) > 5000 {
		return front.Invalid("$.order_notes", "At most 5,000 characters.")
	}
	return nil
}

// applySelected comes last: what may be selected depends on the cart and the
// address.
func (c changes) applySelected(s *session) *front.Answer {
	if c.Selected == nil {
		return nil
	}
	s.selected = nil
	if fault := front.DecodeAt("$.selected_fulfillment_options", c.Selected, &s.selected); fault != nil {
		return fault
	}
	for i, sel := range s.selected {
		at := fmt.Sprintf("$.selected_fulfillment_options[%d]", i)
		if !offers(s, sel.Type, sel.OptionID) {
			return front.Invalid(at+".option_id", "This is none of the session's fulfillment_options.")
		}
		if len(sel.ItemIDs) == 0 {
			return front.Missing(at + ".item_ids")
		}
		for j, id := range sel.ItemIDs {
			if !slices.ContainsFunc(s.lines, func(l line) bool { return l.named(id) }) {
				return front.Invalid(fmt.Sprintf("%s.item_ids[%d]", at, j), "This is none of the session's line items.")
			}
		}
	}
	return nil
}

// named reports whether id means this line: by its own ID or, as the official
// examples do, by the product's.
func (l line) named(id string) bool { return id == l.id || id == l.product.ID }

func email(at string, s *string) *front.Answer {
	if s == nil {
		return nil
	}
	if a, err := mail.ParseAddress(*s); err != nil || a.Address != *s {
		return front.Invalid(at, "This is not an email address.")
	}
	return nil
}

// check names the first member that is missing. A nil address is fine.
func (a *address) check(at string) *front.Answer {
	if a == nil {
		return nil
	}
	for _, m := range []struct{ name, value string }{
		{"name", a.Name}, {"line_one", a.LineOne}, {"city", a.City}, {"state", a.State}, {"country", a.Country}, {"postal_code", a.PostalCode},
	} {
		if strings.TrimSpace(m.value) == "" {
			return front.Missing(at + "." + m.name)
		}
	}
	return nil
}
