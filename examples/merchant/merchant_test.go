package merchant_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

const (
	token  = "platform-token"
	schema = "../acp/checkout/schema.agentic_checkout.json"
)

// A seller is a server under test. Every answer it gives is checked against the
// example's schema document, and against the official one where that is at hand.
type seller struct {
	t      *testing.T
	server *merchant.Server
	charge func(psp.Charge) error // what Charge does; nil: it takes the money
	now    time.Time
	ids    atomic.Int64
	keys   atomic.Int64
	schema map[string]*jsonschema.Schema // by definition
}

func newSeller(t *testing.T, change func(*merchant.Config)) *seller {
	t.Helper()
	s := &seller{t: t, now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), schema: map[string]*jsonschema.Schema{}}
	c := merchant.Config{
		Token: token,
		Charge: func(ctx context.Context, c psp.Charge) error {
			if s.charge == nil {
				return nil
			}
			return cmp.Or(s.charge(c), ctx.Err())
		},
		Now:   func() time.Time { return s.now },
		NewID: func(prefix string) string { return fmt.Sprint(prefix, s.ids.Add(1)) },
	}
	if change != nil {
		change(&c)
	}
	s.server = merchant.New(c)
	for _, def := range []string{"CheckoutSession", "CheckoutSessionWithOrder", "Error"} {
		s.schema[def] = compile(t, schema, def)
		if dir := os.Getenv("BINDERY_ACP_DOCS"); dir != "" {
			s.schema["official "+def] = compile(t, filepath.Join(dir, "schema.agentic_checkout.json"), def)
		}
	}
	return s
}

// compiled keeps what compile returned: every test needs the same few.
var compiled sync.Map

// compile returns a definition of a schema document, formats asserted.
func compile(t *testing.T, path, def string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(path + def); ok {
		return s.(*jsonschema.Schema)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	delete(doc.(map[string]any), "$id")
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///doc.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///doc.json#/$defs/" + def)
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(path+def, s)
	return s
}

// A response is an answer and, where it is a session or an error, what tests
// look at.
type response struct {
	status int
	header http.Header
	text   string
	body   body
}

type body struct {
	ID           string
	Status       string
	Currency     string
	Type         string
	Code         string
	Param        string
	Versions     []string `json:"supported_versions"`
	Buyer        map[string]any
	ContinueURL  string           `json:"continue_url"`
	Details      map[string]any   `json:"fulfillment_details"`
	Options      []map[string]any `json:"fulfillment_options"`
	LineItems    []lineItem       `json:"line_items"`
	Totals       []total
	Messages     []message
	Capabilities capabilities
	Discounts    *struct {
		Codes    []string
		Applied  []struct{ Amount int64 }
		Rejected []struct{ Code, Reason string }
	}
	Auth *struct {
		Preference struct{ Type string } `json:"flow_preference"`
	} `json:"authentication_metadata"`
	Order *struct {
		ID           string
		Permalink    string `json:"permalink_url"`
		Session      string `json:"checkout_session_id"`
		Confirmation struct {
			Notes string `json:"order_notes"`
		}
		Totals []total
	}
}

type lineItem struct {
	ID       string
	Quantity int
	Totals   []total
}

type total struct {
	Type   string
	Amount int64
}

type message struct{ Type, Code, Param, Content string }

type capabilities struct {
	PaymentMethods []any `json:"payment_methods"`
	Payment        struct {
		Handlers []struct {
			ID     string
			Config map[string]any
		}
	}
	Interventions struct {
		Supported, Required []string
		Enforcement         string
	}
	Extensions []struct{ Name string }
}

// total is the amount of the session's total of that type; -1: there is none.
func (r response) total(kind string) int64 {
	for _, t := range r.body.Totals {
		if t.Type == kind {
			return t.Amount
		}
	}
	return -1
}

// codes lists the codes of the session's messages; "info" for those without.
func (r response) codes() string {
	var list []string
	for _, m := range r.body.Messages {
		if m.Code == "" {
			m.Code = m.Type
		}
		list = append(list, m.Code)
	}
	return strings.Join(list, " ")
}

// call sends a request as agents do, with a new idempotency key, changed by
// pairs of header name and value; an empty value removes one.
func (s *seller) call(method, path, text string, headers ...string) response {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(text))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("API-Version", "2026-04-17")
	if method == http.MethodPost {
		r.Header.Set("Idempotency-Key", fmt.Sprint("key-", s.keys.Add(1)))
	}
	if text != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return s.read(w)
}

func (s *seller) read(w *httptest.ResponseRecorder) response {
	s.t.Helper()
	got := response{status: w.Code, header: w.Header(), text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &got.body); err != nil {
		s.t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	def := "CheckoutSession"
	switch {
	case got.status >= 300:
		def = "Error"
	case got.body.Status == "completed":
		def = "CheckoutSessionWithOrder"
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got.text))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.schema[def].Validate(doc); err != nil {
		s.t.Errorf("not a %s: %v\n%s", def, err, got.text)
	}
	if official := s.schema["official "+def]; official != nil {
		if c, ok := doc.(map[string]any)["capabilities"].(map[string]any); ok {
			delete(c, "payment_methods") // which negotiation demands and the release does not know
		}
		if err := official.Validate(doc); err != nil {
			s.t.Errorf("not an official %s: %v\n%s", def, err, got.text)
		}
	}
	return got
}

func (s *seller) post(path, text string, headers ...string) response {
	s.t.Helper()
	return s.call(http.MethodPost, "/checkout_sessions"+path, text, headers...)
}

func (s *seller) get(id string) response {
	s.t.Helper()
	return s.call(http.MethodGet, "/checkout_sessions/"+id, "")
}

const anyAgent = `{"interventions":{"supported":["3ds","biometric","address_verification"],"max_interaction_depth":2}}`

// open creates a session with one product.
func (s *seller) open(item string, quantity int, capabilities string) response {
	s.t.Helper()
	r := s.post("", fmt.Sprintf(`{"line_items":[{"id":%q,"quantity":%d}],"currency":"usd","capabilities":%s}`, item, quantity, capabilities))
	if r.status != http.StatusCreated {
		s.t.Fatalf("create: %d %s", r.status, r.text)
	}
	return r
}

const address = `{"name":"Ada Example","line_one":"1 Main Street","city":"Springfield","state":"CA","country":"US","postal_code":"94016"}`

// ready opens a session and chooses its delivery.
func (s *seller) ready(item string, quantity int, capabilities string) response {
	s.t.Helper()
	r := s.open(item, quantity, capabilities)
	return s.post("/"+r.body.ID, fmt.Sprintf(`{"fulfillment_details":{"address":%s},
		"selected_fulfillment_options":[{"type":"shipping","option_id":"ship_standard","item_ids":[%q]}]}`, address, r.body.LineItems[0].ID))
}

const card = `"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"vt_1"}}}`

// want fails the test unless the answer has this status, session status or error
// code, and messages.
func (s *seller) want(what string, r response, status int, state, codes string) {
	s.t.Helper()
	got := r.body.Status
	if r.status >= 300 {
		got = r.body.Code
	}
	if r.status != status || got != state || r.codes() != codes {
		s.t.Errorf("%s: %d %s %q, want %d %s %q\n%s", what, r.status, got, r.codes(), status, state, codes, r.text)
	}
}
