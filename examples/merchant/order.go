package merchant

import "strings"

// An order is what a completed session became.
type order struct {
	ID           string            `json:"id"`
	SessionID    string            `json:"checkout_session_id"`
	Number       string            `json:"order_number"`
	Permalink    string            `json:"permalink_url"`
	Status       string            `json:"status"`
	Confirmation orderConfirmation `json:"confirmation"`
	LineItems    []orderLine       `json:"line_items"`
	Totals       []totalView       `json:"totals"`
}

type orderConfirmation struct {
	Number string `json:"confirmation_number"`
	Notes  string `json:"order_notes,omitempty"`
}

type orderLine struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	ProductID string         `json:"product_id"`
	Quantity  map[string]int `json:"quantity"`
	UnitPrice int64          `json:"unit_price"`
	Subtotal  int64          `json:"subtotal"`
	Status    string         `json:"status"`
}

// newOrder writes down what was bought for what.
func newOrder(id string, x *session, q quote) *order {
	number := strings.ToUpper(id[max(len(id)-8, 0):])
	o := &order{
		ID: id, SessionID: x.id, Number: number, Permalink: shop + "/orders/" + id, Status: "confirmed",
		Confirmation: orderConfirmation{Number: number, Notes: x.notes},
		Totals:       q.totals(),
	}
	for i, l := range x.lines {
		o.LineItems = append(o.LineItems, orderLine{
			ID: l.id, Title: l.product.Name, ProductID: l.product.ID,
			Quantity:  map[string]int{"ordered": l.quantity, "current": l.quantity, "fulfilled": 0},
			UnitPrice: l.product.Price[x.currency], Subtotal: q.lines[i].base - q.lines[i].discount, Status: "processing",
		})
	}
	return o
}
