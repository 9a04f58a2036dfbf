package merchant

import (
	"math/bits"
	"slices"
	"strings"
	"time"
)

// A quote is what a session costs. All amounts are in minor units.
type quote struct {
	lines    []linePrice // one for each line of the session, in order
	base     int64       // of all items, before the discount
	discount int64
	shipping int64
	tax      int64
	rate     int64  // of the tax, in thousandths of a percent
	place    string // whose tax it is; empty: not known yet
	applied  []appliedCoupon
	rejected []rejectedCode
	options  []fulfillmentOption
	loose    []int // indexes of physical lines that no selected option covers
}

type linePrice struct{ base, discount, tax int64 }

func (q quote) subtotal() int64 { return q.base - q.discount }
func (q quote) total() int64    { return q.subtotal() + q.shipping + q.tax }

// An appliedCoupon is a coupon in force, with the share of each line.
type appliedCoupon struct {
	coupon coupon
	code   string // as it was sent
	amount int64
	shares []int64
}

// A rejectedCode is a code that changes nothing, and its place in the request.
type rejectedCode struct {
	index           int
	code            string
	reason, message string
}

// price computes what s costs at the given time.
func price(s *session, now time.Time) quote {
	q := quote{lines: make([]linePrice, len(s.lines))}
	for i, l := range s.lines {
		q.lines[i].base = l.product.Price[s.currency] * int64(l.quantity)
		q.base += q.lines[i].base
	}
	q.takeCodes(s.codes, now)
	q.addTax(s)
	q.options = options(s)
	q.addShipping(s)
	return q
}

// takeCodes applies the first good code. One order takes one discount.
func (q *quote) takeCodes(codes []string, now time.Time) {
	for i, code := range codes {
		reject := func(reason, message string) {
			q.rejected = append(q.rejected, rejectedCode{i, code, reason, message})
		}
		at := slices.IndexFunc(coupons, func(c coupon) bool { return strings.EqualFold(c.code, code) })
		switch {
		case at < 0:
			reject("discount_code_invalid", "This discount code is not known.")
		case !coupons[at].end.IsZero() && !coupons[at].end.After(now):
			reject("discount_code_expired", "This discount code is no longer valid.")
		case len(q.applied) > 0 && q.applied[0].coupon.id == coupons[at].id:
			reject("discount_code_already_applied", "This discount code is applied already.")
		case len(q.applied) > 0:
			reject("discount_code_combination_disallowed", "An order takes one discount code.")
		case q.base < coupons[at].minimum:
			reject("discount_code_minimum_not_met", "The items cost less than this discount code asks for.")
		default:
			q.applyCoupon(coupons[at], code)
		}
	}
}

func (q *quote) applyCoupon(c coupon, code string) {
	amount := min(c.amount, q.base)
	if c.percent > 0 {
		amount = round(q.base*c.percent, 100)
	}
	a := appliedCoupon{coupon: c, code: code, amount: amount, shares: make([]int64, len(q.lines))}
	// Shares follow the running sum, so that together they are the amount.
	var sum, given int64
	for i := range q.lines {
		sum += q.lines[i].base
		a.shares[i] = share(amount, sum, q.base) - given
		given += a.shares[i]
		q.lines[i].discount = a.shares[i]
	}
	q.discount = amount
	q.applied = append(q.applied, a)
}

// share is the part of amount that part is of whole, rounded down, for a part
// and an amount up to whole.
func share(amount, part, whole int64) int64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	quo, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(quo)
}

// addTax taxes each line where it goes; digital goods where the buyer's address
// is, if there is one.
func (q *quote) addTax(s *session) {
	a := s.address()
	if a == nil {
		return
	}
	q.rate, _ = taxRate(a)
	q.place = a.Country
	if _, ok := taxes[a.Country+"-"+a.State]; ok {
		q.place += "-" + a.State
	}
	for i := range q.lines {
		q.lines[i].tax = round((q.lines[i].base-q.lines[i].discount)*q.rate, 100_000)
		q.tax += q.lines[i].tax
	}
}

// round divides to the nearest integer, halves up. Nothing is below zero.
func round(n, by int64) int64 { return (n + by/2) / by }

// A fulfillmentOption is a way of delivery on offer.
type fulfillmentOption struct {
	kind     string // "shipping" or "digital"
	id       string
	shipping shipping // of kind "shipping"
}

// options is what s can be delivered by: nothing physical before the address is
// known, nor to where parcels do not go.
func options(s *session) []fulfillmentOption {
	var list []fulfillmentOption
	if a := s.address(); s.physical() && a != nil {
		if _, ships := taxRate(a); ships {
			for _, way := range shippings {
				list = append(list, fulfillmentOption{kind: "shipping", id: way.id, shipping: way})
			}
		}
	}
	if slices.ContainsFunc(s.lines, func(l line) bool { return l.product.Digital }) {
		list = append(list, fulfillmentOption{kind: "digital", id: digitalOption})
	}
	return list
}

func offers(s *session, kind, id string) bool {
	return slices.ContainsFunc(options(s), func(o fulfillmentOption) bool { return o.kind == kind && o.id == id })
}

// current is the selections that are still on offer, for lines that are still
// there.
func current(s *session) []selection {
	var list []selection
	for _, sel := range s.selected {
		var items []string
		for _, id := range sel.ItemIDs {
			if slices.ContainsFunc(s.lines, func(l line) bool { return l.named(id) }) {
				items = append(items, id)
			}
		}
		if len(items) > 0 && offers(s, sel.Type, sel.OptionID) {
			list = append(list, selection{Type: sel.Type, OptionID: sel.OptionID, ItemIDs: items})
		}
	}
	return list
}

// addShipping adds each selected option once and finds the lines without one.
func (q *quote) addShipping(s *session) {
	selected := current(s)
	for _, o := range q.options {
		if o.kind == "shipping" && slices.ContainsFunc(selected, func(sel selection) bool { return sel.OptionID == o.id }) {
			q.shipping += o.shipping.price
		}
	}
	for i, l := range s.lines {
		covered := slices.ContainsFunc(selected, func(sel selection) bool {
			return sel.Type == "shipping" && slices.ContainsFunc(sel.ItemIDs, l.named)
		})
		if !l.product.Digital && !covered {
			q.loose = append(q.loose, i)
		}
	}
}
