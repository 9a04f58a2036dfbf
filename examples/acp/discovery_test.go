package acp_test

import (
	"testing"
	"time"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestDiscovery holds the discovery document to the protocol: one for the module,
// with the services of all bindings, and an address that follows the environment.
func TestDiscovery(t *testing.T) {
	const rest = `"transports":["mcp","rest"],"api_base_url":"https://api.merchant.example.com","capabilities":{"services":["checkout","delegate_payment"],` +
		`"intervention_types":["3ds","address_verification","biometric"],"supported_currencies":["eur","usd"],"supported_locales":["en-US"]}}`
	const want = `{"protocol":{"name":"acp","version":"2026-04-17","supported_versions":["2026-04-17"],"documentation_url":"https://www.agenticcommerce.dev"},` + rest
	var all []*irv1.Document
	for _, b := range bindings(t, "prod") {
		all = append(all, b.GetDocuments()...)
	}
	if len(all) != 1 {
		t.Fatalf("there are %d documents", len(all))
	}
	d := all[0]
	if d.GetPath() != "/.well-known/acp.json" || d.GetMediaType() != "application/json" || d.GetMaxAge().AsDuration() < time.Hour {
		t.Errorf("document is %s %s %s", d.GetPath(), d.GetMediaType(), d.GetMaxAge().AsDuration())
	}
	if string(d.GetJson()) != want {
		t.Errorf("document is\n%s, want\n%s", d.GetJson(), want)
	}
}
