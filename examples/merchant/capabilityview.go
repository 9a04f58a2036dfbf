package merchant

// capabilitiesView is the seller's answer to an agent's capabilities. How to pay
// is said twice: in payment_methods, which capability negotiation demands, and
// in payment.handlers, which the release replaced them with.
type capabilitiesView struct {
	PaymentMethods []any             `json:"payment_methods"`
	Payment        paymentView       `json:"payment"`
	Interventions  interventionsView `json:"interventions"`
	Extensions     []extensionView   `json:"extensions,omitempty"`
}

type methodView struct {
	Method  string   `json:"method"`
	Brands  []string `json:"brands,omitempty"`
	Funding []string `json:"funding_types,omitempty"`
}

type paymentView struct {
	Handlers []handlerView `json:"handlers"`
}

type handlerView struct {
	ID                string        `json:"id"`
	Name              string        `json:"name"`
	DisplayName       string        `json:"display_name"`
	Version           string        `json:"version"`
	Spec              string        `json:"spec"`
	RequiresDelegate  bool          `json:"requires_delegate_payment"`
	RequiresPCI       bool          `json:"requires_pci_compliance"`
	PSP               string        `json:"psp"`
	ConfigSchema      string        `json:"config_schema"`
	InstrumentSchemas []string      `json:"instrument_schemas"`
	Config            handlerConfig `json:"config"`
	DisplayOrder      int           `json:"display_order"`
}

type handlerConfig struct {
	MerchantID  string   `json:"merchant_id"`
	PSP         string   `json:"psp"`
	Brands      []string `json:"accepted_brands"`
	Funding     []string `json:"accepted_funding_types"`
	Supports3DS bool     `json:"supports_3ds"`
	Environment string   `json:"environment"`
}

type interventionsView struct {
	Supported   []string `json:"supported"`
	Required    []string `json:"required"`
	Enforcement string   `json:"enforcement"`
}

type extensionView struct {
	Name    string   `json:"name"`
	Extends []string `json:"extends"`
}

// cardHandler is the only way to pay: with a card behind a token of the
// provider.
const cardHandler = "card_tokenized"

func (t terms) view(merchant string) capabilitiesView {
	v := capabilitiesView{
		Interventions: interventionsView{Supported: t.supported, Required: t.required, Enforcement: t.enforcement()},
		Payment:       paymentView{Handlers: []handlerView{t.handler(merchant)}},
	}
	for _, m := range t.methods {
		if len(m.brands)+len(m.funding) == 0 {
			v.PaymentMethods = append(v.PaymentMethods, m.name)
		} else {
			v.PaymentMethods = append(v.PaymentMethods, methodView{m.name, m.brands, m.funding})
		}
	}
	if t.discounts {
		v.Extensions = []extensionView{{Name: "discount", Extends: []string{
			"$.CheckoutSessionCreateRequest.discounts", "$.CheckoutSessionUpdateRequest.discounts", "$.CheckoutSession.discounts",
		}}}
	}
	return v
}

func (t terms) handler(merchant string) handlerView {
	card, _ := t.accepts("card")
	return handlerView{
		ID:                cardHandler,
		Name:              "dev.acp.tokenized.card",
		DisplayName:       "Card",
		Version:           "2026-01-22",
		Spec:              shop + "/payment/card",
		RequiresDelegate:  true,
		PSP:               "sample_psp",
		ConfigSchema:      shop + "/payment/card/config.json",
		InstrumentSchemas: []string{shop + "/payment/card/instrument.json"},
		Config: handlerConfig{
			MerchantID: merchant, PSP: "sample_psp", Brands: card.brands, Funding: card.funding, Supports3DS: true, Environment: "sandbox",
		},
		DisplayOrder: 1,
	}
}

// An authenticationAsk is what an agent needs to run 3-D Secure.
type authenticationAsk struct {
	Acquirer        acquirer       `json:"acquirer_details"`
	DirectoryServer string         `json:"directory_server"`
	Preference      flowPreference `json:"flow_preference"`
}

type acquirer struct {
	BIN        string `json:"acquirer_bin"`
	Country    string `json:"acquirer_country"`
	MerchantID string `json:"acquirer_merchant_id"`
	Name       string `json:"merchant_name"`
}

type flowPreference struct {
	Type         string            `json:"type"`
	Challenge    map[string]string `json:"challenge,omitempty"`
	Frictionless map[string]string `json:"frictionless,omitempty"`
}

// ask prefers a challenge where the agent can show one without trouble: natively
// or by a redirect it follows. Elsewhere a frictionless flow has better chances;
// the issuer decides either way.
func ask(a agent, merchant string) *authenticationAsk {
	p := flowPreference{Type: "frictionless", Frictionless: map[string]string{"type": "low_risk"}}
	if a.Interventions.DisplayContext == "native" || a.Interventions.canRedirect() {
		p = flowPreference{Type: "challenge", Challenge: map[string]string{"type": "preferred"}}
	}
	return &authenticationAsk{
		Acquirer:        acquirer{BIN: "424242", Country: "US", MerchantID: merchant[:min(len(merchant), 35)], Name: "Sample Shop"},
		DirectoryServer: "visa",
		Preference:      p,
	}
}
