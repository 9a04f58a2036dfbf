package merchant

import "time"

// A Product is something that the seller sells.
type Product struct {
	ID, Name, Description string

	Price       map[string]int64 // of one, in minor units, by lower case currency
	Digital     bool             // needs no address, never runs out
	Stock       int              // of a physical product
	MaxPerOrder int              // 0: 10
}

// SampleProducts is the default catalogue. Among it are a product that is out of
// stock, one that is running out, and two that are dear enough to require
// authentication.
func SampleProducts() []Product {
	price := func(usd int64) map[string]int64 { return map[string]int64{"usd": usd, "eur": usd} }
	return []Product{
		{ID: "item_mug", Name: "Stoneware mug", Description: "Holds 350 ml and is safe in a dishwasher.", Price: price(1600), Stock: 100_000},
		{ID: "item_123", Name: "Linen apron", Description: "Washed linen with two pockets.", Price: price(4500), Stock: 100_000},
		{ID: "item_456", Name: "Canvas tote", Description: "Carries about twelve books.", Price: price(1800), Stock: 100_000},
		{ID: "item_ebook", Name: "Field guide to teas, e-book", Description: "EPUB and PDF.", Price: price(900), Digital: true},
		{ID: "item_lamp", Name: "Desk lamp", Description: "The last ones of this series.", Price: price(8900), Stock: 3},
		{ID: "item_poster", Name: "Exhibition poster", Description: "Printed once, sold out.", Price: price(2500), Stock: 0},
		{ID: "item_watch", Name: "Mechanical watch", Description: "Wound by hand.", Price: price(65_000), Stock: 50},
		{ID: "item_ring", Name: "Gold ring", Description: "18 carat.", Price: price(240_000), Stock: 50},
	}
}

func (p Product) most() int {
	if p.MaxPerOrder > 0 {
		return p.MaxPerOrder
	}
	return 10
}

// A coupon is a discount on all items. Exactly one of percent and amount is set.
type coupon struct {
	id, code, name string
	percent        int64
	amount         int64     // in minor units
	minimum        int64     // items' sum from which it holds
	end            time.Time // zero: never
}

var coupons = []coupon{
	{id: "coupon_welcome", code: "WELCOME10", name: "10 % off your first order", percent: 10},
	{id: "coupon_tenoff", code: "TENOFF", name: "10.00 off from 50.00", amount: 1000, minimum: 5000},
	{id: "coupon_summer", code: "SUMMER25", name: "Summer sale", percent: 25, end: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)},
}

// shipping is a way to send parcels.
type shipping struct {
	id, title, carrier string
	price              int64 // in minor units
	days, last         int   // of travel: at least, at most
}

var shippings = []shipping{
	{id: "ship_standard", title: "Standard", carrier: "Sample Post", price: 500, days: 3, last: 5},
	{id: "ship_express", title: "Express", carrier: "Sample Courier", price: 1900, days: 1, last: 2},
}

// digitalOption is the ID of the delivery of digital products, which needs no
// choice.
const digitalOption = "digital"

// taxes are rates in thousandths of a percent by country, and by country and
// state where states set them. Parcels go to these places only.
var taxes = map[string]int64{
	"US": 0, "US-CA": 7250, "US-NY": 8875, "US-TX": 6250, "US-WA": 6500,
	"CA": 5000, "GB": 20_000, "DE": 19_000, "FR": 20_000, "AT": 20_000, "NL": 21_000, "CH": 8100,
}

// taxRate is the rate at an address, and whether parcels go there.
func taxRate(a *address) (rate int64, ships bool) {
	if rate, ok := taxes[a.Country+"-"+a.State]; ok {
		return rate, true
	}
	rate, ok := taxes[a.Country]
	return rate, ok
}
