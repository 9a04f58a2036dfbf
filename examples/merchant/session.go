package merchant

import (
	"encoding/json"
	"time"
)

// A phase is how far a session has come. What the phase open means in the
// protocol's words is computed; see assess.
type phase int

const (
	open      phase = iota
	paying          // a charge is on its way
	completed       // has an order
	canceled
)

// A session is one checkout. Server.mu guards it; what it points to is replaced,
// never changed.
type session struct {
	id, caller                string
	created, updated, expires time.Time
	phase                     phase

	agent    agent
	currency string
	lines    []line
	buyer    *buyer
	details  *details
	groups   []group
	selected []selection
	codes    []string
	notes    string
	echo     echo

	authenticating bool        // the agent was told to run 3-D Secure
	page           string      // the name of the buyer's page
	pending        *completion // what is to be paid with once the buyer was there; nil: nothing
	stopped        bool        // paying was tried by an agent that cannot take the buyer through what is required
	last           *message    // what became of the last attempt to pay; nil: none
	order          *order      // not nil when completed
	paid           *quote      // what it was completed for; nil before
}

// A line is one product of the cart.
type line struct {
	id       string
	product  Product
	quantity int
}

// An echo is what the seller keeps and gives back as it came.
type echo struct {
	Locale   string          `json:"locale,omitempty"`
	Timezone string          `json:"timezone,omitempty"`
	QuoteID  string          `json:"quote_id,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// expired reports whether nobody touched an unfinished session for too long.
func (s *session) expired(now time.Time) bool {
	return s.phase == open && !s.expires.After(now)
}

// physical reports whether anything in the cart has to be sent.
func (s *session) physical() bool {
	for _, l := range s.lines {
		if !l.product.Digital {
			return true
		}
	}
	return false
}

// address is where parcels go; nil: not known.
func (s *session) address() *address {
	if s.details == nil {
		return nil
	}
	return s.details.Address
}

// The parts of a session that agents write. A pointer is nil when the agent
// did not say or cleared it.

type buyer struct {
	FirstName            *string       `json:"first_name,omitempty"`
	LastName             *string       `json:"last_name,omitempty"`
	FullName             *string       `json:"full_name,omitempty"`
	Email                *string       `json:"email,omitempty"`
	PhoneNumber          *string       `json:"phone_number,omitempty"`
	CustomerID           *string       `json:"customer_id,omitempty"`
	AccountType          *string       `json:"account_type,omitempty"`
	AuthenticationStatus *string       `json:"authentication_status,omitempty"`
	Company              *company      `json:"company,omitempty"`
	Loyalty              *loyalty      `json:"loyalty,omitempty"`
	TaxExemption         *taxExemption `json:"tax_exemption,omitempty"`
}

type company struct {
	Name       string `json:"name"`
	TaxID      string `json:"tax_id,omitempty"`
	Department string `json:"department,omitempty"`
	CostCenter string `json:"cost_center,omitempty"`
}

type loyalty struct {
	Tier          string `json:"tier,omitempty"`
	PointsBalance *int64 `json:"points_balance,omitempty"`
	MemberSince   string `json:"member_since,omitempty"`
}

type taxExemption struct {
	CertificateID   string   `json:"certificate_id"`
	CertificateType string   `json:"certificate_type"`
	ExemptRegions   []string `json:"exempt_regions,omitempty"`
	ExpiresAt       string   `json:"expires_at,omitempty"`
}

type details struct {
	Name        *string  `json:"name,omitempty"`
	PhoneNumber *string  `json:"phone_number,omitempty"`
	Email       *string  `json:"email,omitempty"`
	Address     *address `json:"address,omitempty"`
}

type address struct {
	Name       string `json:"name"`
	LineOne    string `json:"line_one"`
	LineTwo    string `json:"line_two,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	Country    string `json:"country"`
	PostalCode string `json:"postal_code"`
	Company    string `json:"company,omitempty"`
}

type group struct {
	ID              string   `json:"id"`
	ItemIDs         []string `json:"item_ids"`
	DestinationType string   `json:"destination_type"`
	Details         *details `json:"fulfillment_details,omitempty"`
	LocationID      string   `json:"location_id,omitempty"`
	Instructions    string   `json:"instructions,omitempty"`
}

type selection struct {
	Type     string   `json:"type"`
	OptionID string   `json:"option_id"`
	ItemIDs  []string `json:"item_ids"`
}
