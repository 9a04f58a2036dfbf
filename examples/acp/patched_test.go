package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	compiler "github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/format"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// patches is the file that the official documents need beside them.
const patches = "checkout/official.cue"

// patched returns the module with the official documents, byte for byte as they are
// published, in place of the project's own, and with the patches that they need.
func patched(t *testing.T) *sourcev1.Sources {
	t.Helper()
	dir := official(t)
	sources := module(t)
	for _, d := range documents {
		for _, f := range sources.GetFiles() {
			if f.GetPath() == d.file {
				f.Data = contents(t, filepath.Join(dir, d.official))
			}
		}
	}
	sources.Files = append(sources.Files, &sourcev1.File{Path: patches, Data: contents(t, "_official/"+patches)})
	return sources
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPatchesAreFormatted holds the file to the form that those of the module have.
func TestPatchesAreFormatted(t *testing.T) {
	data := contents(t, "_official/"+patches)
	if formatted, problems := format.Source(patches, data); len(problems) > 0 || !bytes.Equal(formatted, data) {
		t.Errorf("%s is not formatted %v", patches, problems)
	}
}

// remaining are the reasons of the patched official documents to refuse what this
// project's accept.
var remaining = []difference{
	{
		`CreateRequest$`, `^\$\.capabilities\.(payment|extensions)\b`,
		"what only sellers declare is not checked in what an agent declares",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"payment":{}}}`,
	},
}

// beyond are this project's reasons to refuse what the patched official documents
// accept: a definition that requests share is patched for all of them.
var beyond = []difference{
	{
		`CreateRequest$`, `^\$\.(buyer|fulfillment_details|discounts)\.[a-z_]+ null$`,
		"null clears nothing in a session that does not exist yet, and the official request that creates one shares its definitions",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"buyer":{"email":"a@example.com","company":null}}`,
	},
	{
		`(Create|Update)Request$`, `^\$\.fulfillment_groups\[\*\]\.fulfillment_details\.[a-z_]+ null$`,
		"groups are replaced as a whole, and share the definition of the session's contact",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"fulfillment_groups":[{"id":"g","item_ids":["a"],"destination_type":"digital","fulfillment_details":{"email":null}}]}`,
	},
}

// tools are those that take a payload, by the root that it is held to.
var tools = map[string]string{
	"CheckoutSessionCreateRequest":   "create_checkout_session",
	"CheckoutSessionUpdateRequest":   "update_checkout_session",
	"CheckoutSessionCompleteRequest": "complete_checkout_session",
	"CancelSessionRequest":           "cancel_checkout_session",
	"DelegatePaymentRequest":         "delegate_payment",
}

// TestPatched holds that the official documents as patched accept of each request what
// this project's document does, but for remaining and beyond.
func TestPatched(t *testing.T) {
	dir := official(t)
	served := inputs(t, patched(t))
	for _, d := range documents {
		for i, root := range d.roots {
			if tools[root] == "" {
				continue
			}
			t.Run(root, func(t *testing.T) {
				t.Parallel()
				c := comparison{
					root: root, ours: compile(t, d.file, root, true), official: served[tools[root]],
					known: remaining, beyond: beyond,
				}
				c.examples(t, dir)
				c.mutants(t, filepath.Join(dir, d.official), uint64(i))
				c.samples(t)
			})
		}
	}
}

// samples judges the sample of each difference.
func (c *comparison) samples(t *testing.T) {
	t.Helper()
	for _, d := range slices.Concat(known, c.known, c.beyond) {
		c.same(t, value(t, d.sample))
	}
}

// TestRemaining shows by its sample every difference that patches leave or make.
func TestRemaining(t *testing.T) {
	served := inputs(t, patched(t))
	for _, d := range slices.Concat(remaining, beyond) {
		t.Run(d.why, func(t *testing.T) {
			doc, root := d.document()
			accepts, refuses := compile(t, doc.file, root, true), served[tools[root]]
			if slices.ContainsFunc(beyond, func(b difference) bool { return b.why == d.why }) {
				accepts, refuses = refuses, accepts
			}
			if err := accepts.Validate(value(t, d.sample)); err != nil {
				t.Errorf("%s: refused: %v", root, err)
			}
			err, ok := refuses.Validate(value(t, d.sample)).(*jsonschema.ValidationError)
			if !ok || !slices.ContainsFunc(reasons(err), func(r string) bool { return d.explains(root, r) }) {
				t.Errorf("%s: accepted, or refused for another reason: delete this difference: %v", root, err)
			}
		})
	}
}

// inputs compiles sources without a diagnostic and returns what each tool holds its
// payload to.
func inputs(t *testing.T, sources *sourcev1.Sources) map[string]*jsonschema.Schema {
	t.Helper()
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _ = diag.Print(&b, compiled.GetDiagnostics()); b.Len() > 0 {
		t.Fatalf("it does not compile in silence:\n%s", b.String())
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{}
	for _, b := range content.Bindings {
		for _, tool := range b.GetTools() {
			if tool.GetPayload() != nil {
				all[tool.GetName()] = payloadSchema(t, content.Schemas[irv1.Digest(tool.GetInputSchema())])
			}
		}
	}
	return all
}

func payloadSchema(t *testing.T, input []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///input.json", value(t, string(input))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///input.json#/properties/payload")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPatchedCalls makes calls, over the wire and in both eras, that the official
// documents refuse as they are published and the protocol's prose asks for.
func TestPatchedCalls(t *testing.T) {
	s := openModule(t, patched(t))
	tests := []struct {
		name, tool, args, line, body string
	}{
		{"two of one", "create_checkout_session", "", "POST /v1/checkout_sessions", `{"line_items":[{"id":"a","quantity":2}],"currency":"usd","capabilities":{}}`},
		{"unknown capabilities", "create_checkout_session", "", "POST /v1/checkout_sessions",
			`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"teleport":true,"extensions":[],"interventions":{"supported":["3ds","dna"],"display_context":"hologram"}}}`},
		{"null clears", "update_checkout_session", `"id":"cs_1",`, "POST /v1/checkout_sessions/cs_1", `{"buyer":null,"order_notes" : null,"fulfillment_details":{"address":null},"discounts":{"codes":null}}`},
		{"null clears at the end", "complete_checkout_session", `"id":"cs_1",`, "POST /v1/checkout_sessions/cs_1/complete",
			`{"payment_data":{"purchase_order_number":"1"},"order_notes":null,"buyer":{"email":"a@example.com","account_type":null}}`},
		{"a reason of one's own", "cancel_checkout_session", `"id":"cs_1",`, "POST /v1/checkout_sessions/cs_1/cancel", `{"intent_trace":{"reason_code":"moon_phase"}}`},
	}
	for _, tt := range tests {
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/modern=%t", tt.name, modern), func(t *testing.T) {
				s.status, s.answer, s.got = 200, session, nil
				got := s.rpc(t, modern, "/mcp", "tools/call", tt.tool, `{"name":"`+tt.tool+`","arguments":{`+meta+`,`+tt.args+`"payload":`+tt.body+`}`)
				checkRequest(t, s.got, 200, tt.line, nil, tt.body)
				checkResult(t, got, session)
			})
		}
	}
	refusals := []struct{ name, tool, payload, param string }{
		{"none of one", "create_checkout_session", `{"line_items":[{"id":"a","quantity":0}],"currency":"usd","capabilities":{}}`, "$.payload.line_items[0].quantity"},
		{"null where nothing is cleared", "create_checkout_session", `{"line_items":[{"id":"a"}],"currency":null,"capabilities":{}}`, "$.payload.currency"},
		{"a reason that is no text", "cancel_checkout_session", `{"intent_trace":{"reason_code":7}}`, "$.payload.intent_trace.reason_code"},
	}
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			s.got = nil
			got := s.rpc(t, true, "/mcp", "tools/call", tt.tool, `{"name":"`+tt.tool+`","arguments":{`+meta+`,"id":"cs_1","payload":`+tt.payload+`}`)
			var data struct{ Param string }
			if got.Error == nil || json.Unmarshal(got.Error.Data, &data) != nil || data.Param != tt.param || len(s.got) > 0 {
				t.Errorf("answer is %+v after %d requests, want an error at %s", got.Error, len(s.got), tt.param)
			}
		})
	}
}
