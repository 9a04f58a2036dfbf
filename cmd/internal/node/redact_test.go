package node

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/source"
	"github.com/bindery-dev/bindery/dataplane/place"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/redact"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// The arguments and the answer below have a marker of their own at every place that
// the ACP module declares: TestNothingDeclaredLeaks fails when one is left out.
const (
	address = `{"name":"M4RK3R-%[1]s1","line_one":"M4RK3R-%[1]s2","city":"M4RK3R-%[1]s3","state":"CA","country":"US","postal_code":"94-%[1]s4"}`
	person  = `{"first_name":"M4RK3R-%[1]sf","last_name":"M4RK3R-%[1]sl","email":"m4rk3r-%[1]s@example.com","phone_number":"+1555%[1]s"}`
	details = `{"name":"M4RK3R-%[1]sn","email":"m4rk3r-%[1]sd@example.com","phone_number":"+1666%[1]s","address":` + address + `}`
	common  = `"meta":{"api_version":"2026-04-17","signature":"M4RK3R-sig=="},`
	basket  = `"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},`
	parties = `"buyer":` + person + `,"fulfillment_details":` + details + `,"fulfillment_groups":[{"id":"g","item_ids":["a"],"destination_type":"shipping","fulfillment_details":` + details + `}]`
	risk    = `"risk_signals":{"ip_address":"M4RK3R-ip","user_agent":"M4RK3R-ua","session_id":"M4RK3R-session"}`
)

// leaking are calls whose arguments have something to hide.
var leaking = []struct{ endpoint, tool, args string }{
	{"/mcp", "create_checkout_session", common + `"payload":{` + basket + fmt.Sprintf(parties, "10") + `,"affiliate_attribution":{"provider":"p","token":"M4RK3R-aff","publisher_id":"x","touchpoint":"first"}}`},
	{"/mcp", "update_checkout_session", common + `"id":"cs_1","payload":{` + fmt.Sprintf(parties, "20") + `}`},
	{"/mcp", "complete_checkout_session", common + `"id":"cs_1","payload":{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"M4RK3R-token"}},"billing_address":` + fmt.Sprintf(address, "30") +
		`},"authentication_result":{"outcome":"authenticated","outcome_details":{"three_ds_cryptogram":"M4RK3R-cryptogram","electronic_commerce_indicator":"05","transaction_id":"t","version":"2.2.0"}},` + risk + `}`},
	{"/mcp", "cancel_checkout_session", common + `"id":"cs_1","payload":{"intent_trace":{"reason_code":"price_sensitivity","trace_summary":"M4RK3R said \"no\""}}`},
	{"/payments/mcp", "delegate_payment", common + `"payload":{"payment_method":{"type":"card","card_number_type":"network_token","number":"4012888888881881","cvc":"917","cryptogram":"M4RK3R-c==","name":"M4RK3R Holder","display_card_funding_type":"credit","metadata":{}},` +
		`"allowance":{"reason":"one_time","max_amount":1,"currency":"usd","checkout_session_id":"cs_1","merchant_id":"m","expires_at":"2030-01-01T00:00:00Z"},"billing_address":` + fmt.Sprintf(address, "50") +
		`,"risk_signals":[{"type":"card_testing","score":10,"action":"manual_review"}],"metadata":{}}`},
	// These break their schemas at, or in, what is hidden.
	{"/mcp", "complete_checkout_session", common + `"id":"cs_1","payload":{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":["M4RK3R-y"]}}}}`},
	{"/mcp", "create_checkout_session", common + `"payload":{` + basket + `"buyer":{"first_name":"M4RK3R-z","email":"M4RK3R at"}}`},
	{"/mcp", "create_checkout_session", common + `"payload":{` + basket + `"buyer":"M4RK3R-w"}`},
}

// told is what the upstream tells of its own, secrets included.
var told = `"id":"M4RK3R-vault","status":"ready_for_payment",` + fmt.Sprintf(parties, "70")

// A blabber is an upstream that says what it was sent, in one of several ways.
type blabber struct {
	way  atomic.Int32
	stop chan struct{}
}

// The ways.
const (
	succeeds = iota
	repeats
	wraps
	showsHTML
	isNoJSON
	hangsUp
	waits
	ways
)

func (b *blabber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	body, all := "null", string(data)+fmt.Sprint(r.Header)
	if len(data) > 0 {
		body = string(data)
	}
	failure := `{"type":"invalid_request","code":"declined","message":` + string(rawjson.Quote("bad request: "+all)) + `,"request":` + body + `,"headers":` +
		string(rawjson.Quote(fmt.Sprint(r.Header))) + `,` + told + `}`
	switch b.way.Load() {
	case succeeds:
		fmt.Fprintf(w, `{%s}`, told)
	case repeats:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, failure)
	case wraps:
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"error":%s}`, failure)
	case showsHTML:
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, `<p>%s</p>`, all)
	case isNoJSON:
		_, _ = io.WriteString(w, all)
	case hangsUp:
		panic(http.ErrAbortHandler)
	case waits:
		select {
		case <-b.stop:
		case <-r.Context().Done():
		}
	}
}

// TestNothingDeclaredLeaks serves the ACP module with upstreams that repeat all they
// are sent, and looks for what the module declares secret wherever a node speaks: the
// errors it answers with, its log at the most talkative level, its metrics, its
// health. A result is the upstream's answer and the caller's own.
func TestNothingDeclaredLeaks(t *testing.T) {
	upstream := &blabber{stop: make(chan struct{})}
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(upstream.stop) })
	content := shop(t, server.URL)
	secrets := planted(t, content)
	// The three digits of a card's cvc are also those of some time or port.
	all := slices.DeleteFunc(slices.Concat(secrets["/mcp"], secrets["/payments/mcp"]), func(s string) bool { return len(s) < 6 })
	env := func(name string) (string, bool) {
		return map[string]string{"BINDERY_SECRET_MERCHANT_TOKEN": "merchants-own", "BINDERY_SECRET_PSP_TOKEN": "psps-own"}[name], true
	}
	failed := 0
	for way := range int32(ways) {
		upstream.way.Store(way)
		n := start(t, Config{Bundle: bundled(t, content, way == waits), Env: env})
		n.until(t, "/readyz", http.StatusOK, "ready")
		for _, c := range leaking {
			answer := n.call(t, c.endpoint, c.tool, c.args)
			if strings.Contains(answer, `"error"`) {
				failed++
				search(t, fmt.Sprintf("way %d: the answer of %s", way, c.tool), answer, secrets[c.endpoint])
			}
		}
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			search(t, path, n.admin(t, path), all)
		}
		n.stop(t)
		search(t, "the log", n.log.String(), all)
		if !strings.Contains(n.log.String(), "tool=delegate_payment") {
			t.Errorf("the log knows of no call:\n%s", n.log.String())
		}
	}
	if want := len(leaking)*ways - 5; failed != want {
		t.Errorf("%d calls failed, want %d: all but the five that are good, once", failed, want)
	}
}

// shop compiles the ACP module for an upstream.
func shop(t *testing.T, url string) *irv1.Content {
	t.Helper()
	sources, err := source.Read("../../../examples/acp")
	if err != nil {
		t.Fatal(err)
	}
	sources.Tags = []string{"merchant_url=" + url, "psp_url=" + url}
	compiled, err := compile.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// bundled writes a bundle file of content; hasty makes every upstream too slow.
func bundled(t *testing.T, content *irv1.Content, hasty bool) string {
	t.Helper()
	var schemas [][]byte
	for _, s := range content.Schemas {
		schemas = append(schemas, s)
	}
	for _, b := range content.Bindings {
		for _, tool := range b.GetTools() {
			if tool.Timeout = durationpb.New(time.Minute); hasty {
				tool.Timeout = durationpb.New(20 * time.Millisecond)
			}
		}
	}
	bundle, err := irv1.Seal(content.Bindings, schemas)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "acp.bundle")
	replace(t, path, bundle)
	return path
}

// planted returns, by endpoint, what is at the places that its binding declares, and
// the tokens of the node. It fails unless there is something at each place. What is
// too short to be looked for in a text is left out.
func planted(t *testing.T, content *irv1.Content) map[string][]string {
	t.Helper()
	all := map[string][]string{"/mcp": {"merchants-own"}, "/payments/mcp": {"psps-own"}}
	for _, b := range content.Bindings {
		rules, empty := redact.New(b.GetRedact(), b.GetReveal()), slices.Clone(b.GetRedact())
		visit := func(side irv1.Side, v rawjson.Value) {
			for hidden := range rules.Hidden(side, v) {
				if text, _ := hidden.Text(); utf8.RuneCountInString(text) > 2 {
					all[b.GetEndpoint()] = append(all[b.GetEndpoint()], text)
				}
			}
			empty = slices.DeleteFunc(empty, func(p *irv1.Place) bool {
				for range place.Values(v, p.GetSteps()) {
					return p.GetSide() == side
				}
				return false
			})
		}
		visit(irv1.Side_SIDE_RESPONSE, parsed(t, `{`+told+`}`))
		for _, c := range leaking {
			if c.endpoint == b.GetEndpoint() {
				visit(irv1.Side_SIDE_REQUEST, parsed(t, `{`+c.args+`}`))
			}
		}
		for _, p := range empty {
			t.Errorf("binding %s declares %v, and nothing is planted there", b.GetName(), p)
		}
	}
	return all
}

func parsed(t *testing.T, s string) rawjson.Value {
	t.Helper()
	v, err := rawjson.Parse([]byte(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func search(t *testing.T, where, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(text, secret) || strings.Contains(text, strings.Trim(string(rawjson.Quote(secret)), `"`)) {
			t.Errorf("%s has %q:\n%s", where, secret, text)
		}
	}
}

// call calls a tool as a client without a library does.
func (n *running) call(t *testing.T, endpoint, tool, args string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{` + args + `}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.cfg.MCP.Addr().String()+endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	return sent(t, r)
}

// admin returns what the admin listener says.
func (n *running) admin(t *testing.T, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.cfg.Admin.Addr().String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sent(t, r)
}

func sent(t *testing.T, r *http.Request) string {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
