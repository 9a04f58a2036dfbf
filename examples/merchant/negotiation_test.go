package merchant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

// The tests of this file are named after the sections of the capability
// negotiation RFC; TestNegotiation10 has the lines of its checklist.

func agentOf(supported ...string) string {
	return fmt.Sprintf(`{"interventions":{"supported":["%s"],"max_interaction_depth":2}}`, strings.Join(supported, `","`))
}

const minimalAgent = `{"interventions":{"supported":[]}}`

// checklist has a test for every line of the checklist of §10.
var checklist = []struct {
	line string
	test func(*testing.T, *seller)
}{
	{"MUST include capabilities in all creation requests", func(t *testing.T, s *seller) {
		s.want("create without", s.post("", `{"line_items":[{"id":"item_mug"}],"currency":"usd"}`), 400, "missing_required_field", "")
		s.want("at the minimum", s.open("item_ebook", 1, minimalAgent), 201, "ready_for_payment", "")
	}},
	{"MUST include capabilities in all responses", func(t *testing.T, s *seller) {
		for name, r := range everyResponse(s) {
			if !strings.Contains(r.text, `"capabilities":{`) {
				t.Errorf("%s: %s", name, r.text)
			}
		}
	}},
	{"MUST include at minimum capabilities.payment_methods in responses", func(t *testing.T, s *seller) {
		for name, r := range everyResponse(s) {
			if c := r.body.Capabilities; len(c.PaymentMethods) == 0 || len(c.Payment.Handlers) == 0 {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}},
	{"MUST compute and return the intersection", func(t *testing.T, s *seller) {
		for agent, want := range map[string][]string{
			agentOf("address_verification", "3ds"): {"3ds", "address_verification"},
			agentOf("biometric"):                   {"biometric"},
			minimalAgent:                           {},
			`{}`:                                   {},
		} {
			if got := s.open("item_mug", 1, agent).body.Capabilities.Interventions.Supported; got == nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", agent, got, want)
			}
		}
	}},
	{"MUST gracefully ignore unknown capability values in requests", func(t *testing.T, s *seller) {
		r := s.open("item_mug", 1, `{"interventions":{"supported":["dna","3ds"],"display_context":"hologram","redirect_context":"wormhole","mood":1},"extensions":["x.y",{"name":"z"}],"teleport":{"a":[1]}}`)
		if got := r.body.Capabilities.Interventions.Supported; !slices.Equal(got, []string{"3ds"}) {
			t.Errorf("supported %q", got)
		}
		for _, unknown := range []string{"dna", "hologram", "wormhole", "mood", "x.y", "teleport"} {
			if strings.Contains(r.text, unknown) {
				t.Errorf("%q came back", unknown)
			}
		}
	}},
	{"MUST NOT use agent-declared capabilities as the sole source of truth for security", func(t *testing.T, s *seller) {
		for _, agent := range []string{minimalAgent, agentOf("3ds", "biometric"), `{"interventions":{"required":[],"enforcement":"optional","supported":["3ds"]}}`} {
			if got := s.open("item_watch", 1, agent).body.Capabilities.Interventions; !slices.Equal(got.Required, []string{"3ds"}) || got.Enforcement != "always" {
				t.Errorf("%s: %+v", agent, got)
			}
		}
	}},
	{"MUST validate payment method compatibility server-side", checkMethods},
	{"SHOULD return appropriate error messages when capabilities are incompatible", func(t *testing.T, s *seller) {
		s.want("needs 3ds", s.ready("item_watch", 1, agentOf("biometric")), 200, "not_ready_for_payment", "intervention_required info")
	}},
	{"SHOULD use capability information to optimize the flow", func(t *testing.T, s *seller) {
		for agent, want := range map[string]string{
			`{"interventions":{"supported":["3ds"],"display_context":"native"}}`:                                            "challenge",
			`{"interventions":{"supported":["3ds"],"display_context":"redirect","max_redirects":2}}`:                        "challenge",
			`{"interventions":{"supported":["3ds"],"display_context":"webview","redirect_context":"none"}}`:                 "frictionless",
			`{"interventions":{"supported":["3ds"],"redirect_context":"none","max_redirects":2,"max_interaction_depth":3}}`: "frictionless",
		} {
			r := s.post("/"+s.ready("item_watch", 1, agent).body.ID+"/complete", "{"+card+"}")
			if r.body.Auth == nil || r.body.Auth.Preference.Type != want {
				t.Errorf("%s: want %s: %s", agent, want, r.text)
			}
		}
	}},
	{"SHOULD only advertise session-relevant capabilities", func(t *testing.T, s *seller) {
		if got := s.open("item_ebook", 1, anyAgent).body.Capabilities.Interventions.Supported; slices.Contains(got, "address_verification") {
			t.Errorf("a download has no address to verify: %q", got)
		}
		if got := s.open("item_mug", 1, anyAgent).body.Capabilities.Extensions; got != nil {
			t.Errorf("extensions that nobody asked for: %v", got)
		}
		r := s.open("item_mug", 1, `{"interventions":{"supported":[]},"extensions":["discount@2026-01-27","teleport"]}`)
		if got := fmt.Sprint(r.body.Capabilities.Extensions); got != "[{discount}]" {
			t.Errorf("extensions %s", got)
		}
	}},
	{"SHOULD use hierarchical capability matching for payment methods", func(t *testing.T, s *seller) {
		for _, kind := range []string{"card", "card.network_token", "card.digital_wallet", "card.digital_wallet.some_pay"} {
			s.want(kind, payWith(s, "card_tokenized", kind), 200, "completed", "")
		}
		for _, kind := range []string{"cards", "cardigan.x", "bank_transfer.ach", "."} {
			s.want(kind, payWith(s, "card_tokenized", kind), 200, "ready_for_payment", "unsupported")
		}
	}},
	{"SHOULD detect intervention incompatibility early and inform the user", func(t *testing.T, s *seller) {
		r := s.open("item_watch", 1, minimalAgent)
		s.want("at creation", r, 201, "not_ready_for_payment", "missing intervention_required info")
	}},
	{"SHOULD provide clear indication when intersection is empty", func(t *testing.T, s *seller) {
		r := s.open("item_ebook", 1, agentOf("address_verification"))
		s.want("nothing in common", r, 201, "ready_for_payment", "info")
		if !strings.Contains(r.text, `"supported":[]`) {
			t.Errorf("supported is not an empty list: %s", r.text)
		}
	}},
	{"MAY enforce capability compatibility and reject incompatible sessions", func(t *testing.T, s *seller) {
		id := s.ready("item_watch", 1, minimalAgent).body.ID
		s.want("complete", s.post("/"+id+"/complete", "{"+card+","+authenticated+"}"), 200, "not_ready_for_payment", "intervention_required info")
	}},
	{"MAY vary seller capabilities based on session context", func(t *testing.T, s *seller) {
		small := fmt.Sprint(s.open("item_mug", 1, anyAgent).body.Capabilities.PaymentMethods)
		large := fmt.Sprint(s.open("item_watch", 1, anyAgent).body.Capabilities.PaymentMethods)
		if !strings.Contains(small, "prepaid") || strings.Contains(large, "prepaid") {
			t.Errorf("small sum: %s; large sum: %s", small, large)
		}
	}},
}

func TestNegotiation10(t *testing.T) {
	for _, tt := range checklist {
		t.Run(tt.line, func(t *testing.T) {
			record.Ran(t)
			tt.test(t, newSeller(t, nil))
		})
	}
}

// everyResponse has an answer of each operation, the final states included.
func everyResponse(s *seller) map[string]response {
	created := s.open("item_mug", 1, anyAgent)
	updated := s.ready("item_mug", 1, anyAgent)
	return map[string]response{
		"create":   created,
		"update":   updated,
		"get":      s.get(created.body.ID),
		"cancel":   s.post("/"+created.body.ID+"/cancel", ""),
		"canceled": s.get(created.body.ID),
		"complete": s.post("/"+updated.body.ID+"/complete", "{"+card+"}"),
		"problem":  s.ready("item_poster", 1, anyAgent),
	}
}

func payWith(s *seller, handler, instrument string) response {
	return s.post("/"+s.ready("item_mug", 1, anyAgent).body.ID+"/complete",
		fmt.Sprintf(`{"payment_data":{"handler_id":%q,"instrument":{"type":%q,"credential":{"type":"spt","token":"t"}}}}`, handler, instrument))
}

// checkMethods: neither a handler nor a method that was not advertised is
// charged, and the provider is told the limits of the one that was.
func checkMethods(t *testing.T, s *seller) {
	var charged []psp.Charge
	s.charge = func(c psp.Charge) error { charged = append(charged, c); return nil }
	s.want("handler", payWith(s, "bnpl_handler", "card"), 200, "ready_for_payment", "unsupported")
	r := payWith(s, "card_tokenized", "wallet.SECRET_pay")
	s.want("method", r, 200, "ready_for_payment", "unsupported")
	if len(charged) != 0 || strings.Contains(r.text, "SECRET") {
		t.Errorf("charged %v; answer %s", charged, r.text)
	}
	payWith(s, "card_tokenized", "card.network_token")
	if len(charged) != 1 || !slices.Equal(charged[0].Brands, []string{"visa", "mastercard", "amex"}) || !slices.Contains(charged[0].Funding, "prepaid") {
		t.Errorf("charged %+v", charged)
	}
}

// TestNegotiation452: the intersection has to include what is required, and the
// nesting must not be deeper than the agent can go.
func TestNegotiation452(t *testing.T) {
	record.Ran(t)
	tests := []struct {
		name, item, agent string
		compatible        bool
	}{
		{"nothing required", "item_mug", minimalAgent, true},
		{"3ds", "item_watch", `{"interventions":{"supported":["3ds"]}}`, true},
		{"only biometric", "item_watch", agentOf("biometric"), false},
		{"both, deep enough", "item_ring", `{"interventions":{"supported":["3ds","biometric"],"max_interaction_depth":2}}`, true},
		{"both, default depth of 1", "item_ring", `{"interventions":{"supported":["3ds","biometric"]}}`, false},
		{"both, depth 1", "item_ring", `{"interventions":{"supported":["3ds","biometric"],"max_interaction_depth":1}}`, false},
		{"deep, but one is missing", "item_ring", `{"interventions":{"supported":["3ds"],"max_interaction_depth":9}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeller(t, nil)
			r := s.ready(tt.item, 1, tt.agent)
			if got := !strings.Contains(r.codes(), "intervention_required"); got != tt.compatible || (r.body.Status == "ready_for_payment") != tt.compatible {
				t.Errorf("compatible %t, want %t: %s %q", got, tt.compatible, r.body.Status, r.codes())
			}
		})
	}
	s := newSeller(t, nil)
	for _, bad := range []string{`{"interventions":{"max_interaction_depth":0}}`, `{"interventions":{"max_redirects":-1}}`, `{"interventions":{"supported":"3ds"}}`, `[]`} {
		r := s.post("", `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":`+bad+`}`)
		s.want(bad, r, 400, "invalid_field", "")
	}
}

// TestNegotiation461And52: both reactions to a mismatch, and what they have in
// common: nothing is charged.
func TestNegotiation461And52(t *testing.T) {
	record.Ran(t)
	for _, tt := range []struct {
		reaction     merchant.Mismatch
		early, codes string
	}{
		{merchant.Block, "not_ready_for_payment", "intervention_required info"},
		{merchant.Inform, "ready_for_payment", "info"},
	} {
		s := newSeller(t, func(c *merchant.Config) { c.OnMismatch = tt.reaction })
		s.charge = func(psp.Charge) error { t.Error("charged"); return nil }
		r := s.ready("item_watch", 1, minimalAgent)
		s.want("early", r, 200, tt.early, tt.codes)
		if i := r.body.Capabilities.Interventions; len(i.Supported) != 0 || !slices.Equal(i.Required, []string{"3ds"}) || i.Enforcement != "always" {
			t.Errorf("interventions %+v", i)
		}
		for _, body := range []string{"{" + card + "}", "{" + card + "," + authenticated + "}"} {
			s.want("complete", s.post("/"+r.body.ID+"/complete", body), 200, "not_ready_for_payment", "intervention_required info")
		}
		r = s.post("/"+r.body.ID, `{"line_items":[{"id":"item_ebook"}]}`)
		s.want("a cheaper cart", r, 200, "ready_for_payment", "")
		if got := r.body.Capabilities.Interventions; len(got.Required) != 0 || got.Enforcement != "conditional" {
			t.Errorf("interventions %+v", got)
		}
	}
}

// TestNegotiation61: capabilities cannot be probed at will. Declaring the same
// again is no probe.
func TestNegotiation61(t *testing.T) {
	record.Ran(t)
	s := newSeller(t, func(c *merchant.Config) { c.ProbeLimit = 3 })
	for i := range 3 {
		s.open("item_mug", 1, agentOf(fmt.Sprint("guess", i)))
	}
	create := `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":` + agentOf("guess3") + `}`
	s.now = s.now.Add(20 * time.Second)
	r := s.post("", create, "Idempotency-Key", "probe")
	s.want("one too many", r, 429, "rate_limited", "")
	if r.header.Get("Retry-After") != "40" || strings.Contains(r.text, "guess") {
		t.Errorf("Retry-After %q: %s", r.header.Get("Retry-After"), r.text)
	}
	for range 10 {
		s.open("item_mug", 1, ` {"interventions": {"max_interaction_depth": 2, "supported": ["guess1"]}}`)
	}
	s.now = s.now.Add(40 * time.Second)
	s.want("after Retry-After, with the same key", s.post("", create, "Idempotency-Key", "probe"), 201, "not_ready_for_payment", "missing info")
}

// TestNegotiation62: an agent that understates what it can do, or claims to have
// authenticated, gets around nothing.
func TestNegotiation62(t *testing.T) {
	record.Ran(t)
	s := newSeller(t, func(c *merchant.Config) { c.OnMismatch = merchant.Inform })
	s.charge = func(psp.Charge) error { t.Error("charged"); return nil }
	for _, agent := range []string{`{}`, minimalAgent, agentOf("address_verification")} {
		id := s.ready("item_watch", 1, agent).body.ID
		for _, result := range []string{"", "," + authenticated, `,"authentication_result":{"outcome":"not_supported"}`} {
			if r := s.post("/"+id+"/complete", "{"+card+result+"}"); r.body.Order != nil || r.status != 200 {
				t.Errorf("%s %s: %d %s", agent, result, r.status, r.text)
			}
		}
	}
	id := s.ready("item_watch", 1, anyAgent).body.ID
	for _, outcome := range []string{"abandoned", "canceled", "denied", "internal_error", "not_supported", "processing_error", "rejected"} {
		r := s.post("/"+id+"/complete", `{`+card+`,"authentication_result":{"outcome":"`+outcome+`"}}`)
		s.want(outcome, r, 200, "ready_for_payment", "payment_declined info")
	}
}

// TestNegotiation64: neither an unknown value nor one that cannot be read says
// anything about what the seller knows.
func TestNegotiation64(t *testing.T) {
	record.Ran(t)
	s := newSeller(t, nil)
	plain := s.open("item_mug", 1, agentOf("3ds"))
	odd := s.open("item_mug", 1, `{"interventions":{"supported":["3ds","MARKER"],"MARKER":{"MARKER":1},"max_interaction_depth":2},"MARKER":null}`)
	if a, b := strings.ReplaceAll(plain.text, plain.body.ID, ""), strings.ReplaceAll(odd.text, odd.body.ID, ""); a != b {
		t.Errorf("an unknown value changed the answer:\n%s\n%s", a, b)
	}
	for _, bad := range []string{`{"interventions":"MARKER"}`, `{"interventions":{"supported":[{"MARKER":1}]}}`, `{"extensions":"MARKER"}`} {
		r := s.post("", `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":`+bad+`}`)
		s.want(bad, r, 400, "invalid_field", "")
		for _, leak := range []string{"MARKER", "biometric", "3ds", "agentInterventions"} {
			if strings.Contains(r.text, leak) {
				t.Errorf("%s: %q in %s", bad, leak, r.text)
			}
		}
	}
}
