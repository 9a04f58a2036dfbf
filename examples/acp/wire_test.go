package acp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	compiler "github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A request is what the merchant got.
type request struct {
	method, uri string
	header      http.Header
	body        string
}

// A shop is the module served by a node's own parts, and the merchant behind it,
// which answers every request alike.
type shop struct {
	url    string
	status int
	answer string
	before []before // answers that come first
	got    []request
}

// A before is an answer of a merchant that later has another one.
type before struct {
	status     int
	answer     string
	retryAfter string // "" for none
}

func open(t *testing.T) *shop { return openModule(t, module(t)) }

// openModule serves other sources, which take the same tags.
func openModule(t *testing.T, sources *sourcev1.Sources) *shop {
	s := &shop{}
	merchant := httptest.NewServer(s)
	t.Cleanup(merchant.Close)
	sources.Tags = append(sources.Tags, "merchant_url="+merchant.URL+"/v1", "psp_url="+merchant.URL)
	compiled, err := compiler.Module(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	content, err := irv1.Open(compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return "token-of-" + name, true }
	tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", env)})
	if err != nil {
		t.Fatal(err)
	}
	node := serve.New(serve.Config{})
	node.Swap(tab)
	server := httptest.NewServer(node)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.got = append(s.got, request{r.Method, r.RequestURI, r.Header, string(body)})
	status, answer := s.status, s.answer
	if len(s.before) > 0 {
		first := s.before[0]
		s.before = s.before[1:]
		status, answer = first.status, first.answer
		if first.retryAfter != "" {
			w.Header().Set("Retry-After", first.retryAfter)
		}
	}
	w.WriteHeader(status)
	io.WriteString(w, answer)
}

// A reply is a JSON-RPC response.
type reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// rpc sends one request in an era of the protocol; params is an object without its
// closing brace.
func (s *shop) rpc(t *testing.T, modern bool, endpoint, method, name, params string) reply {
	t.Helper()
	version := "2025-11-25"
	if modern {
		version = "2026-07-28"
		if params != "{" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if modern {
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", name)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out reply
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatalf("HTTP %d: %v", res.StatusCode, err)
	}
	return out
}

const (
	meta    = `"meta":{"api_version":"2026-04-17"}`
	created = `"payload":{"currency":"usd","line_items":[{"id":"item_1","quantity":2}],"capabilities":{"interventions":{"supported":["3ds","x-new"]}}}`
	session = `{"id":"cs_1","status":"incomplete","big":12345678901234567890,"total":1.0,"messages":[{"type":"error","code":"out_of_stock"}],"links":[]}`
	acpErr  = `{"type":"invalid_request","code":"session_not_found","message":"Checkout session not found","param":"$.id"}`
)

// wire is a row for every rule that shows on the wire.
var wire = []struct {
	name     string
	endpoint string // "" is /mcp
	tool     string
	args     string // members of the arguments
	status   int    // the merchant's; 0 means that it must not be called
	answer   string

	line    string            // method and path of the request
	headers map[string]string // of the request; "" means absent
	body    string            // of the request

	result  string // members of the result; "" when it is an error
	code    int    // of the error
	message string
	data    string // JSON; "" is none
}{
	{name: "create", tool: "create_checkout_session", args: meta + `,` + created, status: 201, answer: session,
		line: "POST /v1/checkout_sessions", body: strings.TrimPrefix(created, `"payload":`), headers: map[string]string{"Content-Type": "application/json"}, result: session},
	{name: "get", tool: "get_checkout_session", args: meta + `,"id":"cs_1"`, status: 200, answer: session,
		line: "GET /v1/checkout_sessions/cs_1", headers: map[string]string{"Content-Type": ""}, result: session},
	{name: "update", tool: "update_checkout_session", args: meta + `,"id":"cs_1","payload":{"order_notes": "two  spaces"}`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1", body: `{"order_notes": "two  spaces"}`, result: session},
	{name: "complete", tool: "complete_checkout_session", args: meta + `,"id":"cs_1","payload":{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"vt_1"}}}}`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1/complete", body: `{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"vt_1"}}}}`, result: session},
	{name: "cancel with a reason", tool: "cancel_checkout_session", args: meta + `,"id":"cs_1","payload":{"intent_trace":{"reason_code":"price_sensitivity"}}`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1/cancel", body: `{"intent_trace":{"reason_code":"price_sensitivity"}}`, result: session},
	{name: "cancel without payload has no body", tool: "cancel_checkout_session", args: meta + `,"id":"cs_1"`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1/cancel", headers: map[string]string{"Content-Type": ""}, result: session},
	{name: "cancel with an empty payload", tool: "cancel_checkout_session", args: meta + `,"id":"cs_1","payload":{}`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1/cancel", body: `{}`, headers: map[string]string{"Content-Type": "application/json"}, result: session},
	{name: "cancel with a null payload", tool: "cancel_checkout_session", args: meta + `,"id":"cs_1","payload":null`, status: 200, answer: session,
		line: "POST /v1/checkout_sessions/cs_1/cancel", headers: map[string]string{"Content-Type": ""}, result: session},

	{name: "meta becomes headers", tool: "cancel_checkout_session", status: 200, answer: session, line: "POST /v1/checkout_sessions/cs_1/cancel", result: session,
		args: `"meta":{"api_version":"2026-04-17","idempotency_key":"k-1","request_id":"r-1","user_agent":"Agent/1","accept_language":"en-US","signature":"sig==","timestamp":"2026-01-01T00:00:00Z"},"id":"cs_1"`,
		headers: map[string]string{"Api-Version": "2026-04-17", "Idempotency-Key": "k-1", "Request-Id": "r-1", "User-Agent": "Agent/1",
			"Accept-Language": "en-US", "Signature": "sig==", "Timestamp": "2026-01-01T00:00:00Z"}},
	{name: "an absent field is no header", tool: "cancel_checkout_session", args: meta + `,"id":"cs_1"`, status: 200, answer: session, line: "POST /v1/checkout_sessions/cs_1/cancel", result: session,
		headers: map[string]string{"Idempotency-Key": "", "Request-Id": "", "Accept-Language": "", "Signature": "", "Timestamp": ""}},
	{name: "unknown meta fields are ignored", tool: "get_checkout_session", args: `"meta":{"api_version":"2026-04-17","x_new":{"a":1}},"id":"cs_1"`, status: 200, answer: session,
		line: "GET /v1/checkout_sessions/cs_1", headers: map[string]string{"X-New": ""}, result: session},
	{name: "get carries no idempotency key", tool: "get_checkout_session", args: `"meta":{"api_version":"2026-04-17","idempotency_key":"k"},"id":"cs_1"`, status: 200, answer: session,
		line: "GET /v1/checkout_sessions/cs_1", headers: map[string]string{"Idempotency-Key": ""}, result: session},
	{name: "authorization is the node's", tool: "get_checkout_session", args: `"meta":{"api_version":"2026-04-17","authorization":"Bearer mine"},"id":"cs_1"`, status: 200, answer: session,
		line: "GET /v1/checkout_sessions/cs_1", headers: map[string]string{"Authorization": "Bearer token-of-BINDERY_SECRET_MERCHANT_TOKEN"}, result: session},
	{name: "an id is one path segment", tool: "get_checkout_session", args: meta + `,"id":"a/../b?c#d"`, status: 200, answer: session,
		line: "GET /v1/checkout_sessions/a%2F..%2Fb%3Fc%23d", result: session},

	{name: "an error keeps its meaning", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 404, answer: acpErr,
		line: "GET /v1/checkout_sessions/x", code: -32000, message: "Checkout session not found", data: acpErr},
	{name: "a wrapped error is unwrapped", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 404, answer: `{"error":` + acpErr + `}`,
		line: "GET /v1/checkout_sessions/x", code: -32000, message: "Checkout session not found", data: acpErr},
	{name: "401 is an invalid request", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 401, answer: `{"type":"auth","code":"unauthorized","message":"No."}`,
		line: "GET /v1/checkout_sessions/x", code: -32000, message: "No.", data: `{"type":"invalid_request","code":"unauthorized","message":"No."}`},
	{name: "403 is an invalid request", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 403, answer: `<h1>Forbidden</h1>`,
		line: "GET /v1/checkout_sessions/x", code: -32000, message: "The request is not allowed.", data: `{"code":"forbidden","message":"The request is not allowed.","type":"invalid_request"}`},
	{name: "503 without a body", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 503, line: "GET /v1/checkout_sessions/x", code: -32000, message: "The service is not available right now.",
		data: `{"code":"upstream_unavailable","message":"The service is not available right now.","type":"service_unavailable"}`},
	{name: "500 with HTML", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 500, answer: `<h1>boom</h1>`, line: "GET /v1/checkout_sessions/x", code: -32000, message: "The service could not process the request.",
		data: `{"code":"upstream_failed","message":"The service could not process the request.","type":"processing_error"}`},
	{name: "an unusable success", tool: "get_checkout_session", args: meta + `,"id":"x"`, status: 200, answer: `[1]`, line: "GET /v1/checkout_sessions/x", code: -32000, message: "The service could not process the request.",
		data: `{"code":"upstream_failed","message":"The service could not process the request.","type":"processing_error"}`},

	{name: "a payload without a required member", tool: "create_checkout_session", args: meta + `,"payload":{"line_items":[{"id":"item_1"}],"capabilities":{}}`, code: -32000, message: "Missing required field: currency",
		data: `{"code":"missing_required_field","message":"Missing required field: currency","param":"$.payload.currency","type":"invalid_request"}`},
	{name: "no api version", tool: "get_checkout_session", args: `"meta":{},"id":"x"`, code: -32602, message: "meta.api_version is missing"},
	{name: "no id", tool: "get_checkout_session", args: meta, code: -32602, message: `argument "id" is missing`},
	{name: "an id that is no string", tool: "get_checkout_session", args: meta + `,"id":7`, code: -32602, message: `argument "id" must be a string`},
	{name: "no payload", tool: "create_checkout_session", args: meta, code: -32602, message: `argument "payload" is missing`},
	{name: "a header cannot be injected", tool: "get_checkout_session", args: `"meta":{"api_version":"2026-04-17","request_id":"a\r\nX-Evil: 1"},"id":"x"`, code: -32602,
		message: "meta.request_id must be printable ASCII without spaces at its ends"},
	{name: "an unknown tool", tool: "refund_checkout_session", args: meta, code: -32602, message: `unknown tool "refund_checkout_session"`},

	{name: "delegate payment", endpoint: "/payments/mcp", tool: "delegate_payment", status: 201, answer: `{"id":"vt_1","created":"2026-01-01T00:00:00Z","metadata":{}}`,
		args: meta + `,"payload":{"payment_method":{"type":"card","card_number_type":"fpan","number":"4242424242424242","display_card_funding_type":"credit","metadata":{}},"allowance":{"reason":"one_time","max_amount":1,"currency":"usd","checkout_session_id":"cs_1","merchant_id":"m","expires_at":"2030-01-01T00:00:00Z"},"risk_signals":[],"metadata":{}}`,
		line: "POST /agentic_commerce/delegate_payment", body: `{"payment_method":{"type":"card","card_number_type":"fpan","number":"4242424242424242","display_card_funding_type":"credit","metadata":{}},"allowance":{"reason":"one_time","max_amount":1,"currency":"usd","checkout_session_id":"cs_1","merchant_id":"m","expires_at":"2030-01-01T00:00:00Z"},"risk_signals":[],"metadata":{}}`,
		headers: map[string]string{"Authorization": "Bearer token-of-BINDERY_SECRET_PSP_TOKEN"}, result: `{"id":"vt_1","created":"2026-01-01T00:00:00Z","metadata":{}}`},
}

// TestWire holds the module to the MCP binding of the protocol, as bytes: the request
// that each call becomes, and the result or error that each answer becomes, in both
// eras of MCP.
func TestWire(t *testing.T) {
	s := open(t)
	for _, row := range wire {
		for _, modern := range []bool{false, true} {
			era := map[bool]string{false: "legacy", true: "modern"}[modern]
			t.Run(row.name+"/"+era, func(t *testing.T) {
				record.Ran(t)
				endpoint := "/mcp"
				if row.endpoint != "" {
					endpoint = row.endpoint
				}
				s.status, s.answer, s.got = row.status, row.answer, nil
				got := s.rpc(t, modern, endpoint, "tools/call", row.tool, `{"name":"`+row.tool+`","arguments":{`+row.args+`}`)
				checkRequest(t, s.got, row.status, row.line, row.headers, row.body)
				if row.result != "" {
					checkResult(t, got, row.result)
				} else {
					checkError(t, got, row.code, row.message, row.data)
				}
			})
		}
	}
}

func checkRequest(t *testing.T, got []request, status int, line string, headers map[string]string, body string) {
	t.Helper()
	if status == 0 {
		if len(got) > 0 {
			t.Errorf("the merchant was called: %s %s", got[0].method, got[0].uri)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("the merchant got %d requests, want 1", len(got))
	}
	if have := got[0].method + " " + got[0].uri; have != line || got[0].body != body {
		t.Errorf("the request is %s with body %s\nwant %s with body %s", have, got[0].body, line, body)
	}
	for name, want := range headers {
		if have := strings.Join(got[0].header.Values(name), ","); have != want {
			t.Errorf("header %s is %q, want %q", name, have, want)
		}
	}
}

// checkResult holds a result to the merchant's body: its members as they were, at the
// top level, and the same as text and as structured content.
func checkResult(t *testing.T, got reply, body string) {
	t.Helper()
	if got.Error != nil {
		t.Fatalf("it failed: %+v", got.Error)
	}
	if !bytes.HasPrefix(got.Result, []byte(strings.TrimSuffix(body, "}"))) {
		t.Errorf("the result is %s\nwant the members of %s first", got.Result, body)
	}
	var mcp struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(got.Result, &mcp); err != nil {
		t.Fatal(err)
	}
	if len(mcp.Content) != 1 || mcp.Content[0].Type != "text" || mcp.Content[0].Text != body || string(mcp.StructuredContent) != body {
		t.Errorf("content is %+v and structuredContent %s, want %s", mcp.Content, mcp.StructuredContent, body)
	}
}

func checkError(t *testing.T, got reply, code int, message, data string) {
	t.Helper()
	if got.Error == nil {
		t.Fatalf("it succeeded: %s", got.Result)
	}
	if got.Error.Code != code || got.Error.Message != message || string(got.Error.Data) != data {
		t.Errorf("the error is %d %q %s\nwant %d %q %s", got.Error.Code, got.Error.Message, got.Error.Data, code, message, data)
	}
}

// TestServedSchemas holds what tools/list shows: the tools of the binding, each with
// one self-contained schema in which no token is asked for.
func TestServedSchemas(t *testing.T) {
	record.Ran(t)
	s := open(t)
	got := s.rpc(t, false, "/mcp", "tools/list", "", "{")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(got.Result, &list); err != nil || len(list.Tools) != 5 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	ref := regexp.MustCompile(`"\$ref":"([^"]*)"`)
	for _, tool := range list.Tools {
		var schema struct {
			Properties struct {
				Meta struct {
					Required             []string
					AdditionalProperties any
				}
			}
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, m := range ref.FindAllSubmatch(tool.InputSchema, -1) {
			name, local := strings.CutPrefix(string(m[1]), "#/$defs/")
			if !local || schema.Defs[name] == nil {
				t.Errorf("%s: $ref %s leads out of the schema", tool.Name, m[1])
			}
		}
		if m := schema.Properties.Meta; m.AdditionalProperties == false || strings.Join(m.Required, " ") != "api_version" {
			t.Errorf("%s: meta is %+v, want it open and with api_version required", tool.Name, m)
		}
		if bytes.Contains(bytes.ToLower(tool.InputSchema), []byte(`"authorization"`)) {
			t.Errorf("%s asks for a credential", tool.Name)
		}
	}
}

// acpError returns the data of an error of the protocol, which got must be.
func acpError(t *testing.T, got reply) (data struct{ Type, Code, Message string }) {
	t.Helper()
	if got.Error == nil {
		t.Fatalf("it is a success: %s", got.Result)
	}
	if got.Error.Code != -32000 || json.Unmarshal(got.Error.Data, &data) != nil || data.Type == "" || data.Code == "" || data.Message == "" {
		t.Fatalf("the error is %d %q with data %s", got.Error.Code, got.Error.Message, got.Error.Data)
	}
	return data
}

// TestEmptySuccess has purchases that are answered without a session.
func TestEmptySuccess(t *testing.T) {
	s := open(t)
	const args = `"id":"cs_1","payload":{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"vt_1"}}}}`
	for _, status := range []int{200, 201, 202, 204} {
		s.status, s.answer = status, ""
		got := s.rpc(t, true, "/mcp", "tools/call", "complete_checkout_session", `{"name":"complete_checkout_session","arguments":{`+meta+`,`+args+`}`)
		if data := acpError(t, got); data.Type != "processing_error" {
			t.Errorf("%d: %+v", status, data)
		}
	}
}

// TestCodesStayCodes has errors whose codes and texts say what a call has in fields that
// are not repeated.
func TestCodesStayCodes(t *testing.T) {
	s := open(t)
	const signal = `{"type":"card_testing","score":10,"action":"authorized"}`
	delegate := func(signals, body string, status int) reply {
		s.status, s.answer = status, body
		return s.rpc(t, false, "/payments/mcp", "tools/call", "delegate_payment", `{"name":"delegate_payment","arguments":{`+meta+`,"payload":{"payment_method":{"type":"card","card_number_type":"fpan","number":"4242424242424242","display_card_funding_type":"credit","metadata":{}},"allowance":{"reason":"one_time","max_amount":1,"currency":"usd","checkout_session_id":"cs_1","merchant_id":"m","expires_at":"2030-01-01T00:00:00Z"},"risk_signals":[`+signals+`],"metadata":{}}}`)
	}
	if data := acpError(t, delegate(signal, ``, 401)); data.Code != "unauthorized" || strings.Contains(data.Message, "[redacted]") {
		t.Errorf("the node's own: %+v", data)
	}
	for _, code := range []string{"card_testing", "not_authorized"} {
		if data := acpError(t, delegate(signal, `{"type":"invalid_request","code":"`+code+`","message":"m"}`, 422)); data.Code != code {
			t.Errorf("%s: %+v", code, data)
		}
	}
	acpError(t, delegate(strings.Repeat(signal+",", 1400)+signal, ``, 503))

	s.status, s.answer = 400, `{"type":"invalid_request","code":"requires_signin","message":"Sign in first.","supported_versions":["2026-04-17"]}`
	got := s.rpc(t, false, "/mcp", "tools/call", "update_checkout_session", `{"name":"update_checkout_session","arguments":{`+meta+`,"id":"cs_1","payload":{"buyer":{"email":"a@example.com","authentication_status":"requires_signin","loyalty":{"points_balance":2026}}}}`)
	if data := acpError(t, got); data.Code != "requires_signin" || strings.Contains(string(got.Error.Data), "[redacted]") {
		t.Errorf("error is %s", got.Error.Data)
	}
}

// TestDeclined has a buyer who does not want to authenticate: that is an error of the
// protocol, too, and no payment.
func TestDeclined(t *testing.T) {
	s := open(t)
	got := s.rpc(t, true, "/mcp", "tools/call", "complete_checkout_session", `{"name":"complete_checkout_session","inputResponses":{"authentication":{"action":"decline"}},"arguments":{`+meta+
		`,"id":"cs_1","payload":{"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"vt_1"}}}}}`)
	if data := acpError(t, got); data.Message != "The user declined what the service asks." || got.Error.Message != data.Message {
		t.Errorf("error is %q with %+v", got.Error.Message, data)
	}
}
