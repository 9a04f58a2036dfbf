package merchant

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestUnknownCapabilities has declarations with what the seller does not know: it is
// ignored (capability negotiation §4.6.2, §6.4).
func TestUnknownCapabilities(t *testing.T) {
	for _, in := range []string{
		`{"interventions":{"supported":["3ds"]},"Interventions":{"supported":[]}}`,
		`{"interventions":{"supported":["3ds"]},"INTERVENTIONS":5}`,
		`{"interventions":{"supported":["passkey","3ds"],"SUPPORTED":[],"hologram":{}}}`,
		`{"interventions":{"supported":["3ds"]},"extensions":[{"x":1}],"Extensions":1}`,
	} {
		var a agent
		if err := json.Unmarshal([]byte(in), &a); err != nil || !slices.Contains(a.Interventions.Supported, "3ds") {
			t.Errorf("%s: %v, %v", in, a.Interventions.Supported, err)
		}
	}
	for _, in := range []string{`[]`, `{"interventions":5}`, `{"interventions":{"supported":[{}]}}`, `{"extensions":"x"}`, `{"interventions":{"max_redirects":-1}}`, `{"interventions":{"max_interaction_depth":"1"}}`} {
		if err := json.Unmarshal([]byte(in), new(agent)); err == nil {
			t.Errorf("%s is understood", in)
		}
	}
}
