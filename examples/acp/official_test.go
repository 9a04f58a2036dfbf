package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A difference is a reason of the official documents to refuse what this
// project's documents accept. In no place may they accept less.
type difference struct {
	root   string // regular expression over names of roots
	reason string // regular expression over reasons, written as reasons does
	why    string
	sample string // shows it, for the first root that matches
}

// known lists every difference. TestOfficial fails on one that is missing here,
// TestKnown on one that is no more.
var known = []difference{
	{
		`^CheckoutSession`, `^\$\.line_items\[\*\](\.item)?\.quantity unknown$`,
		"the official Item is closed and has no quantity, so that nobody could order two of anything",
		`{"line_items":[{"id":"a","quantity":2}],"currency":"usd","capabilities":{}}`,
	},
	{
		`UpdateRequest$`, `^\$\.[a-z_]+ null$`,
		"null clears a member; no official request schema lets it through",
		`{"order_notes":null}`,
	},
	{
		`UpdateRequest$`, `^\$\.(fulfillment_details|discounts)\.[a-z_]+ null$`,
		"null clears a member of the delivery contact and the discount codes",
		`{"fulfillment_details":{"phone_number":null}}`,
	},
	{
		`(Update|Complete)Request$`, `^\$\.buyer\.[a-z_]+ null$`,
		"null clears a member of the buyer",
		`{"buyer":{"email":"a@example.com","company":null}}`,
	},
	{
		`CompleteRequest$`, `^\$\.(buyer|order_notes) null$`,
		"null clears what completing can change on the session",
		`{"payment_data":{"purchase_order_number":"1"},"order_notes":null}`,
	},
	{
		`^CheckoutSession`, `^\$\.capabilities\.([a-z_]+\.)?[a-z_]+ unknown$`,
		"unknown members of capabilities must be ignored, so they come through; payment_methods, which negotiation demands, is one to the release",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"teleport":true}}`,
	},
	{
		`^CheckoutSession`, `^\$\.capabilities\.interventions\.[a-z_]+(\[\*\])? enum$`,
		"unknown capability values must be ignored, so they come through",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"supported":["dna"]}}}`,
	},
	{
		`^CheckoutSession`, `^\$\.capabilities\.extensions oneOf$`,
		"an empty list of extensions is one; to the release it is two kinds of list at once",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"extensions":[]}}`,
	},
	{
		`CreateRequest$`, `^\$\.capabilities\.(payment|extensions)\b`,
		"what only sellers declare is not checked in what an agent declares",
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"payment":{}}}`,
	},
	{
		`^CancelSessionRequest$`, `^\$\.intent_trace\.reason_code enum$`,
		"reason codes are extensible by prose",
		`{"intent_trace":{"reason_code":"moon_phase"}}`,
	},
	{
		`^Error$`, `^\$\.code enum$`,
		"the official Delegate Payment examples use codes outside their own enum",
		`{"type":"invalid_request","code":"unauthorized","message":"m"}`,
	},
}

// reasons lists why a document refused a value, one line for each rule that was
// broken: the place, without indexes, then "null" where null stood, "unknown"
// after a member that may not be, otherwise the keyword.
func reasons(err *jsonschema.ValidationError) []string {
	if len(err.Causes) > 0 {
		var list []string
		for _, cause := range err.Causes {
			list = append(list, reasons(cause)...)
		}
		return list
	}
	at := "$"
	for _, step := range err.InstanceLocation {
		if _, notIndex := strconv.Atoi(step); notIndex == nil {
			at += "[*]"
		} else {
			at += "." + step
		}
	}
	switch k := err.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		var list []string
		for _, name := range k.Properties {
			list = append(list, at+"."+name+" unknown")
		}
		return list
	case *kind.Type:
		if k.Got == "null" {
			return []string{at + " null"}
		}
	}
	path := err.ErrorKind.KeywordPath()
	return []string{at + " " + path[len(path)-1]}
}

func (d difference) explains(root, reason string) bool {
	return regexp.MustCompile(d.root).MatchString(root) && regexp.MustCompile(d.reason).MatchString(reason)
}

func explained(by []difference, root, reason string) bool {
	return slices.ContainsFunc(by, func(d difference) bool { return d.explains(root, reason) })
}

// official returns the directory of the official documents.
func official(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("BINDERY_ACP_DOCS")
	if dir == "" {
		t.Skip("BINDERY_ACP_DOCS is not set: it names the directory with the protocol's official 2026-04-17 documents, which are not part of this repository")
	}
	return dir
}

// TestOfficial compares, root by root, what both documents accept: instances
// generated from the official definitions, the official examples, and mutants
// of both. Formats are compared both ways, asserted and not.
func TestOfficial(t *testing.T) {
	dir := official(t)
	for _, d := range documents {
		for i, root := range d.roots {
			for _, formats := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/formats=%t", root, formats), func(t *testing.T) {
					t.Parallel()
					c := comparison{
						root:     root,
						ours:     compile(t, d.file, root, formats),
						official: compile(t, filepath.Join(dir, d.official), root, formats),
						known:    known,
					}
					c.examples(t, dir)
					c.mutants(t, filepath.Join(dir, d.official), uint64(i))
				})
			}
		}
	}
}

// TestKnown shows every known difference by its sample.
func TestKnown(t *testing.T) {
	dir := official(t)
	for _, k := range known {
		t.Run(k.why, func(t *testing.T) {
			d, root := k.document()
			v := value(t, k.sample)
			if err := compile(t, d.file, root, false).Validate(v); err != nil {
				t.Errorf("%s: refused: %v", root, err)
			}
			err, ok := compile(t, filepath.Join(dir, d.official), root, false).Validate(v).(*jsonschema.ValidationError)
			if !ok {
				t.Fatalf("%s: the official document accepts it too: delete this difference", root)
			}
			if list := reasons(err); !slices.ContainsFunc(list, func(r string) bool { return k.explains(root, r) }) {
				t.Errorf("%s: refused for another reason: %q", root, list)
			}
		})
	}
}

// document returns the last document that has a root the difference is about,
// and that root.
func (d difference) document() (doc document, root string) {
	for _, x := range documents {
		for _, name := range slices.Backward(x.roots) {
			if regexp.MustCompile(d.root).MatchString(name) {
				doc, root = x, name
			}
		}
	}
	return doc, root
}

type comparison struct {
	root           string
	ours, official *jsonschema.Schema
	known          []difference // reasons of the official side alone
	beyond         []difference // reasons of ours alone
}

// same reports whether both sides judge v alike. It fails the test when they
// differ and a reason of the side that refuses is not known.
func (c *comparison) same(t *testing.T, v any) (accepted, same bool) {
	t.Helper()
	ours, official := c.ours.Validate(v), c.official.Validate(v)
	if (ours == nil) == (official == nil) {
		return official == nil, true
	}
	if ours != nil {
		for _, reason := range reasons(ours.(*jsonschema.ValidationError)) {
			if !explained(c.beyond, c.root, reason) {
				t.Errorf("%s: refused, but the official document accepts it: %v\n%s", c.root, ours, text(t, v))
			}
		}
		return true, false
	}
	for _, reason := range reasons(official.(*jsonschema.ValidationError)) {
		if !explained(c.known, c.root, reason) {
			t.Errorf("%s: accepted, but the official document refuses it: %s\n%s", c.root, reason, text(t, v))
		}
	}
	return false, false
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// examples judges every official example by this root, whatever it is an
// example of.
func (c *comparison) examples(t *testing.T, dir string) {
	t.Helper()
	for _, file := range []string{"examples.agentic_checkout.json", "examples.delegate_payment.json"} {
		for _, v := range parse(t, filepath.Join(dir, file)).(map[string]any) {
			c.same(t, v)
		}
	}
}

// mutants generates instances until 1,000 mutants of valid ones were judged.
func (c *comparison) mutants(t *testing.T, file string, seed uint64) {
	t.Helper()
	g := &generator{
		defs: parse(t, file).(map[string]any)["$defs"].(map[string]any),
		rand: rand.New(rand.NewPCG(2026_04_17, seed)),
	}
	valid, all := 0, 0
	for mutants := 0; mutants < 1000; all++ {
		v := g.instance(g.defs[c.root].(map[string]any), 0)
		accepted, same := c.same(t, v)
		if accepted {
			valid++
		}
		if !same {
			continue
		}
		for range 10 {
			m := copyOf(v)
			mutate(&m, g.rand)
			c.same(t, m)
			mutants++
		}
		if t.Failed() {
			return
		}
	}
	if valid*10 < all*9 {
		t.Errorf("%s: only %d of %d generated instances are valid: the generator says little", c.root, valid, all)
	}
}

// TestExamplesFit makes sure that the official request examples, which are what
// agents are built from, pass.
func TestExamplesFit(t *testing.T) {
	dir := official(t)
	roots := map[string]string{
		"create_checkout_session_request":   "CheckoutSessionCreateRequest",
		"update_checkout_session_request":   "CheckoutSessionUpdateRequest",
		"complete_checkout_session_request": "CheckoutSessionCompleteRequest",
		"cancel_checkout_session_request":   "CancelSessionRequest",
	}
	n := 0
	for name, v := range parse(t, filepath.Join(dir, "examples.agentic_checkout.json")).(map[string]any) {
		for prefix, root := range roots {
			if strings.HasPrefix(name, prefix) {
				n++
				if err := compile(t, documents[0].file, root, true).Validate(v); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if n < len(roots) {
		t.Errorf("found %d request examples, want at least %d", n, len(roots))
	}
}
