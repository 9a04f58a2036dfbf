package merchant

import (
	"fmt"
	"time"
)

// A message is a word to the buyer or the agent inside a session.
type message struct {
	Type        string `json:"type"`           // info, warning or error
	Code        string `json:"code,omitempty"` // not with info
	Resolution  string `json:"resolution,omitempty"`
	Param       string `json:"param,omitempty"` // RFC 9535 JSONPath into the session
	ContentType string `json:"content_type"`
	Content     string `json:"content"`
}

// Who can resolve a message.
const (
	byAgent = "recoverable"
	byBuyer = "requires_buyer_input"
)

func problem(code, param, resolution, content string) message {
	return message{Type: "error", Code: code, Resolution: resolution, Param: param, ContentType: "plain", Content: content}
}

func warning(code, param, content string) message {
	return message{Type: "warning", Code: code, Param: param, ContentType: "plain", Content: content}
}

func info(content string) message {
	return message{Type: "info", ContentType: "plain", Content: content}
}

// An assessment is a session in the protocol's words.
type assessment struct {
	status   string
	messages []message
}

// assess says where a session stands and what is in the way of an order. left is
// what of each product can be sold.
func assess(s *session, q quote, t terms, left map[string]int, onMismatch Mismatch, now time.Time) assessment {
	switch {
	case s.phase == completed:
		return assessment{"completed", []message{}}
	case s.phase == canceled:
		return assessment{"canceled", []message{info("The checkout was canceled.")}}
	case s.phase == paying:
		return assessment{"complete_in_progress", []message{info("The payment is being made.")}}
	case s.expired(now):
		return assessment{"expired", []message{problem("expired", "", byAgent, "The checkout has expired. Start a new one.")}}
	case len(s.lines) == 0:
		return assessment{"incomplete", []message{problem("missing", "$.line_items", byAgent, "The cart is empty.")}}
	}
	in := append(blockers(s, q, left), interventionBlockers(s, t, onMismatch)...)
	a := assessment{status: "ready_for_payment", messages: in}
	switch {
	case len(in) > 0:
		a.status = "not_ready_for_payment"
	case s.authenticating:
		a.status = "authentication_required"
		a.messages = append(a.messages, problem("requires_3ds", "$.authentication_result", byBuyer,
			"The card's issuer has to authenticate the buyer. Run 3-D Secure and complete again with its result."))
	}
	if s.last != nil {
		a.messages = append(a.messages, *s.last)
	}
	a.messages = append(a.messages, hints(s, q, t, left)...)
	return a
}

// blockers is what keeps the cart itself from being bought.
func blockers(s *session, q quote, left map[string]int) []message {
	list := []message{}
	wanted := map[string]int{}
	for i, l := range s.lines {
		at := fmt.Sprintf("$.line_items[%d]", i)
		wanted[l.product.ID] += l.quantity
		switch {
		case wanted[l.product.ID] > l.product.most():
			list = append(list, problem("quantity_exceeded", at+".quantity", byAgent,
				fmt.Sprintf("At most %d of this item can be ordered at once.", l.product.most())))
		case !l.product.Digital && left[l.product.ID] < wanted[l.product.ID]:
			list = append(list, problem("out_of_stock", at+".item.id", byAgent,
				fmt.Sprintf("There is not enough of %q in stock.", l.product.Name)))
		}
	}
	if !s.physical() {
		return list
	}
	a := s.address()
	if a == nil {
		return append(list, problem("missing", "$.fulfillment_details.address", byBuyer, "The address to send the parcel to is missing."))
	}
	if _, ships := taxRate(a); !ships {
		return append(list, problem("region_restricted", "$.fulfillment_details.address.country", byBuyer, "Parcels cannot be sent to this address."))
	}
	if len(q.loose) > 0 {
		list = append(list, problem("missing", "$.selected_fulfillment_options", byBuyer, "Choose one of the fulfillment options."))
	}
	return list
}

// interventionBlockers is the early word about a mismatch when the seller
// blocks on one, and the late word after paying was tried (capability
// negotiation §4.6.1).
func interventionBlockers(s *session, t terms, onMismatch Mismatch) []message {
	if t.compatible() || onMismatch == Inform && !s.stopped {
		return nil
	}
	content := "This purchase requires the buyer to authenticate, which is not possible in the current environment."
	if !t.missing {
		content = "This purchase requires interactions inside each other, more than the current environment allows."
	}
	return []message{problem("intervention_required", "$.capabilities.interventions.required", byBuyer, content)}
}

// hints keep nobody from buying.
func hints(s *session, q quote, t terms, left map[string]int) []message {
	var list []message
	for i, l := range s.lines {
		if n := left[l.product.ID]; !l.product.Digital && n >= l.quantity && n < 5 {
			list = append(list, warning("low_stock", fmt.Sprintf("$.line_items[%d].item.id", i), fmt.Sprintf("Only %d left.", n)))
		}
	}
	for _, r := range q.rejected {
		list = append(list, warning(r.reason, fmt.Sprintf("$.discounts.codes[%d]", r.index), r.message))
	}
	switch {
	case len(t.required) > 0 && !s.authenticating:
		list = append(list, info("The buyer will have to authenticate the payment with 3-D Secure."))
	case t.empty:
		list = append(list, info("None of the declared interventions can be used in this checkout."))
	}
	return list
}
