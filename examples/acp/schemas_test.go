// Package acp_test holds the JSON Schema documents of the ACP example to what
// they promise: what they accept and refuse by themselves, and that they agree
// with the official ones except for the differences listed in known.
package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A document is one of the example's schema documents: a bundle of $defs, of
// which the roots are what tools and responses refer to.
type document struct {
	file     string // relative to this directory
	official string // name of its counterpart in BINDERY_ACP_DOCS
	roots    []string
}

var documents = []document{
	{
		file:     "checkout/schema.agentic_checkout.json",
		official: "schema.agentic_checkout.json",
		roots: []string{
			"CheckoutSessionCreateRequest", "CheckoutSessionUpdateRequest", "CheckoutSessionCompleteRequest",
			"CancelSessionRequest", "CheckoutSession", "CheckoutSessionWithOrder", "Error",
		},
	},
	{
		file:     "payments/schema.delegate_payment.json",
		official: "schema.delegate_payment.json",
		roots:    []string{"DelegatePaymentRequest", "DelegatePaymentResponse", "Error"},
	},
}

// compile reads the document at path and compiles the named definition of it.
func compile(t *testing.T, path, def string, formats bool) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if formats {
		c.AssertFormat()
	}
	if err := c.AddResource("mem:///document.json", parse(t, path)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s, err := c.Compile("mem:///document.json#/$defs/" + def)
	if err != nil {
		t.Fatalf("%s: %s: %v", path, def, err)
	}
	return s
}

// parse reads a JSON file. An $id is dropped, so that every document can be
// added under one name.
func parse(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := value(t, string(data))
	if m, ok := v.(map[string]any); ok {
		delete(m, "$id")
	}
	return v
}

func value(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestDocuments checks the form of both documents: every definition compiles,
// is reached from a root, and carries no example that a model could copy.
func TestDocuments(t *testing.T) {
	for _, d := range documents {
		t.Run(filepath.Base(d.file), func(t *testing.T) {
			defs := parse(t, d.file).(map[string]any)["$defs"].(map[string]any)
			reached := map[string]bool{}
			for _, root := range d.roots {
				reach(defs, root, reached)
			}
			for name, def := range defs {
				compile(t, d.file, name, true)
				if !reached[name] {
					t.Errorf("%s: no root reaches it", name)
				}
				walk(def, func(m map[string]any) {
					for _, word := range []string{"example", "examples", "$id", "default"} {
						if _, ok := m[word]; ok {
							t.Errorf("%s: has %q", name, word)
						}
					}
				})
			}
		})
	}
}

func reach(defs map[string]any, name string, reached map[string]bool) {
	if reached[name] {
		return
	}
	reached[name] = true
	walk(defs[name], func(m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			reach(defs, strings.TrimPrefix(ref, "#/$defs/"), reached)
		}
	})
}

// walk calls f for every object in v, v included.
func walk(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, x := range v {
			walk(x, f)
		}
	case []any:
		for _, x := range v {
			walk(x, f)
		}
	}
}

// TestSize keeps input schemas small: they are part of every model's context.
// The official definitions bundle to 16, 8, 12 and 1.5 KB.
func TestSize(t *testing.T) {
	limits := map[string]int{
		"CheckoutSessionCreateRequest":   8 << 10,
		"CheckoutSessionUpdateRequest":   7 << 10,
		"CheckoutSessionCompleteRequest": 8 << 10,
		"CancelSessionRequest":           1 << 10,
	}
	defs := parse(t, documents[0].file).(map[string]any)["$defs"].(map[string]any)
	for root, limit := range limits {
		reached := map[string]bool{}
		reach(defs, root, reached)
		size := 0
		for name := range reached {
			data, err := json.Marshal(defs[name])
			if err != nil {
				t.Fatal(err)
			}
			size += len(data)
		}
		if size > limit {
			t.Errorf("%s and what it reaches: %d bytes, want at most %d", root, size, limit)
		}
	}
}

// TestAccepts pins the places where the protocol's prose and its schemas part,
// and the bounds that a call must not pass.
func TestAccepts(t *testing.T) {
	const (
		create   = "CheckoutSessionCreateRequest"
		update   = "CheckoutSessionUpdateRequest"
		complete = "CheckoutSessionCompleteRequest"
		cancel   = "CancelSessionRequest"
		pay      = `"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"t"}}}`
	)
	tests := []struct {
		name, root, in string
		want           bool
	}{
		{"two of one", create, `{"line_items":[{"id":"a","quantity":2}],"currency":"usd","capabilities":{}}`, true},
		{"none of one", create, `{"line_items":[{"id":"a","quantity":0}],"currency":"usd","capabilities":{}}`, false},
		{"half of one", create, `{"line_items":[{"id":"a","quantity":1.5}],"currency":"usd","capabilities":{}}`, false},
		{"no line items", create, `{"line_items":[],"currency":"usd","capabilities":{}}`, false},
		{"no capabilities", create, `{"line_items":[{"id":"a"}],"currency":"usd"}`, false},
		{"no currency", create, `{"line_items":[{"id":"a"}],"capabilities":{}}`, false},
		{"unknown member", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"items":[]}`, false},
		{"null buyer", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"buyer":null}`, false},
		{"unknown intervention", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"supported":["3ds","dna"]}}}`, true},
		{"unknown context", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"supported":[],"display_context":"hologram"}}}`, true},
		{"unknown capability", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"teleport":true}}`, true},
		{"no extensions", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"extensions":[]}}`, true},
		{"depth zero", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"max_interaction_depth":0}}}`, false},
		{"redirects below zero", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"max_redirects":-1}}}`, false},
		{"email", create, `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"buyer":{"email":"nobody"}}`, false},

		{"nothing to change", update, `{}`, true},
		{"null clears", update, `{"buyer":null,"line_items":null,"fulfillment_details":null,"fulfillment_groups":null,"selected_fulfillment_options":null,"discounts":null,"coupons":null,"order_notes":null}`, true},
		{"null clears inside", update, `{"fulfillment_details":{"address":null,"phone_number":null},"buyer":{"email":"a@example.com","company":null},"discounts":{"codes":null}}`, true},
		{"null is not an address line", update, `{"fulfillment_details":{"address":{"name":null}}}`, false},
		{"unknown member", update, `{"currency":"usd"}`, false},

		{"payment", complete, `{` + pay + `}`, true},
		{"null clears", complete, `{` + pay + `,"buyer":null,"order_notes":null}`, true},
		{"null payment", complete, `{"payment_data":null}`, false},
		{"instrument without credential", complete, `{"payment_data":{"handler_id":"h","instrument":{"type":"card"}}}`, false},
		{"purchase order", complete, `{"payment_data":{"purchase_order_number":"1"}}`, true},
		{"authenticated without details", complete, `{` + pay + `,"authentication_result":{"outcome":"authenticated"}}`, false},
		{"denied without details", complete, `{` + pay + `,"authentication_result":{"outcome":"denied"}}`, true},

		{"no reason", cancel, `{}`, true},
		{"another reason", cancel, `{"intent_trace":{"reason_code":"moon_phase"}}`, true},
		{"null", cancel, `null`, false},
		{"long summary", cancel, `{"intent_trace":{"reason_code":"other","trace_summary":"` + strings.Repeat("x", 501) + `"}}`, false},

		{"flat error", "Error", `{"type":"invalid_request","code":"c","message":"m","param":"$.a"}`, true},
		{"old error type", "Error", `{"type":"request_not_idempotent","code":"c","message":"m"}`, false},
		{"wrapped error", "Error", `{"error":{"type":"invalid_request","code":"c","message":"m"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.root+"/"+tt.name, func(t *testing.T) {
			err := compile(t, documents[0].file, tt.root, true).Validate(value(t, tt.in))
			if (err == nil) != tt.want {
				t.Errorf("accepted: %t, want %t: %v", err == nil, tt.want, err)
			}
		})
	}
}
