package merchant

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// An agent is what an agent declared that it can do. Unknown members and values
// were dropped when it was read: they change nothing and are named nowhere.
type agent struct {
	Interventions agentInterventions
	extensions    []string // without version
}

type agentInterventions struct {
	Supported      []string
	DisplayContext string
	Redirect       string // redirect_context
	MaxRedirects   *int
	MaxDepth       *int // max_interaction_depth
}

// UnmarshalJSON ignores what it does not know, also inside requests that are
// otherwise read strictly: capabilities are what the protocol grows by. Names are
// those of the protocol to the letter.
func (a *agent) UnmarshalJSON(data []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	var extensions []json.RawMessage
	if err := unmarshal(in["extensions"], &extensions); err != nil {
		return err
	}
	for _, raw := range extensions {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			name, _, _ = strings.Cut(name, "@")
			a.extensions = append(a.extensions, name)
		}
	}
	return a.Interventions.read(in["interventions"])
}

// read reads i from data, nil for nothing.
func (i *agentInterventions) read(data json.RawMessage) error {
	var in map[string]json.RawMessage
	if err := unmarshal(data, &in); err != nil {
		return err
	}
	return cmp.Or(
		unmarshal(in["supported"], &i.Supported),
		unmarshal(in["display_context"], &i.DisplayContext),
		unmarshal(in["redirect_context"], &i.Redirect),
		unmarshal(in["max_redirects"], &i.MaxRedirects),
		unmarshal(in["max_interaction_depth"], &i.MaxDepth),
		i.check(),
	)
}

// unmarshal is [json.Unmarshal] of what may be absent.
func unmarshal(data json.RawMessage, v any) error {
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, v)
}

var errBounds = errors.New("max_redirects is 0 or more, max_interaction_depth 1 or more")

func (i agentInterventions) check() error {
	if i.MaxRedirects != nil && *i.MaxRedirects < 0 || i.MaxDepth != nil && *i.MaxDepth < 1 {
		return errBounds
	}
	return nil
}

// depth is how deep the agent lets interventions nest.
func (i agentInterventions) depth() int {
	if i.MaxDepth == nil {
		return 1
	}
	return *i.MaxDepth
}

// canRedirect reports whether the agent can follow the buyer to another page.
func (i agentInterventions) canRedirect() bool {
	return i.Redirect != "none" && i.MaxRedirects != nil && *i.MaxRedirects > 0
}

// A purchase is what the seller's side of negotiation depends on.
type purchase struct {
	total    int64 // in minor units
	currency string
	physical bool
}

// Terms are what agent and seller can do together in one session.
type terms struct {
	supported []string // what both can do, in the seller's order; never nil
	required  []string // what this purchase demands; never nil
	methods   []method
	missing   bool // a required intervention is not supported by both
	tooDeep   bool // the required interventions nest deeper than the agent can go
	empty     bool // the agent declared interventions, but none in common
	discounts bool // the agent understands the discount extension
}

// A method is a payment method that the seller accepts, with its subtypes.
type method struct {
	name    string
	brands  []string // empty: any
	funding []string // empty: any
}

// negotiate computes the intersection of what both sides can do, and the
// seller's own demands: those do not depend on what the agent declared.
func (c *Config) negotiate(a agent, p purchase) terms {
	t := terms{supported: []string{}, required: []string{}, methods: methods(p)}
	for _, name := range interventions(p) {
		if slices.Contains(a.Interventions.Supported, name) {
			t.supported = append(t.supported, name)
		}
	}
	if p.total >= c.ThreeDSFrom {
		t.required = append(t.required, "3ds")
	}
	if p.total >= c.BiometricFrom {
		t.required = append(t.required, "biometric")
	}
	for _, name := range t.required {
		t.missing = t.missing || !slices.Contains(t.supported, name)
	}
	// Each required intervention happens inside the one before it.
	t.tooDeep = len(t.required) > a.Interventions.depth()
	t.empty = len(a.Interventions.Supported) > 0 && len(t.supported) == 0
	t.discounts = slices.Contains(a.extensions, "discount")
	return t
}

// compatible reports whether the agent can take the buyer through what this
// purchase demands (capability negotiation §4.5.2).
func (t terms) compatible() bool {
	return len(t.required) == 0 || !t.missing && !t.tooDeep
}

func (t terms) enforcement() string {
	if len(t.required) > 0 {
		return "always"
	}
	return "conditional"
}

// interventions is what the seller can do for this purchase and tells: without a
// parcel no address is verified.
func interventions(p purchase) []string {
	if p.physical {
		return []string{"3ds", "biometric", "address_verification"}
	}
	return []string{"3ds", "biometric"}
}

// methods is how this purchase can be paid. Prepaid cards are for small sums,
// one network for one currency.
func methods(p purchase) []method {
	card := method{name: "card", brands: []string{"visa", "mastercard"}, funding: []string{"credit", "debit"}}
	if p.currency == "usd" {
		card.brands = append(card.brands, "amex")
	}
	if p.total < 10_000 {
		card.funding = append(card.funding, "prepaid")
	}
	return []method{card, {name: "card.network_token"}}
}

// accepts finds the advertised method that an instrument's type belongs to: the
// same, or the closest one above it in the hierarchy that dots make. The limits
// of a method hold for its subtypes.
func (t terms) accepts(instrument string) (limits method, ok bool) {
	for name := instrument; ; {
		if i := slices.IndexFunc(t.methods, func(m method) bool { return m.name == name }); i >= 0 {
			return t.withInherited(t.methods[i]), true
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return method{}, false
		}
		name = name[:dot]
	}
}

// withInherited fills limits that m leaves open from the methods above it.
func (t terms) withInherited(m method) method {
	for _, above := range t.methods {
		if !strings.HasPrefix(m.name, above.name+".") {
			continue
		}
		if len(m.brands) == 0 {
			m.brands = above.brands
		}
		if len(m.funding) == 0 {
			m.funding = above.funding
		}
	}
	return m
}
