package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

//lint:file-ignore SA1019 the older revisions of MCP have what the newest deprecates

// lender returns a library whose loans ask: lend_book for what the service wants to
// know, for days, and for a signature, after which the loan is read.
func lender(authority string) *irv1.Binding {
	b := librarytest.Binding(authority)
	b.State = &irv1.State{Secret: librarytest.StateSecret, Lifetime: durationpb.New(time.Minute), Caller: "X-Reader"}
	b.Meta = append(b.Meta, &irv1.MetaRule{
		Field: "tenancy", Header: "Idempotency-Key", Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_UUID, MinLength: 1, MaxLength: 255, Key: true,
	})
	get := b.Tools[1]
	body := func(name string, kind irv1.ArgumentType) *irv1.Argument {
		return &irv1.Argument{Name: name, In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: kind, Place: []string{name}}
	}
	at := func(tokens ...string) *irv1.Pointer { return &irv1.Pointer{Tokens: tokens} }
	status := func(s uint32) []*irv1.Condition {
		return []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: s}}}
	}
	lend := &irv1.Tool{
		Name: "lend_book", Title: "Lend a book", Description: "Lends a book.",
		Method: irv1.Method_METHOD_POST, Path: []*irv1.PathPart{{Kind: &irv1.PathPart_Literal{Literal: "/loans"}}},
		Arguments: []*irv1.Argument{
			body("answers", irv1.ArgumentType_ARGUMENT_TYPE_OBJECT), body("book", irv1.ArgumentType_ARGUMENT_TYPE_STRING),
			body("days", irv1.ArgumentType_ARGUMENT_TYPE_INTEGER), body("ticket", irv1.ArgumentType_ARGUMENT_TYPE_STRING),
		}, Meta: []string{"tenancy"},
		InputSchema: get.InputSchema, Timeout: durationpb.New(10 * time.Second), Annotations: &irv1.Annotations{}, Result: irv1.ResultMode_RESULT_MODE_MCP,
		Asks: []*irv1.Ask{
			{
				Name: "days", Conditions: status(409), Tool: "lend_book", Otherwise: irv1.Otherwise_OTHERWISE_RESULT,
				Question:  &irv1.Ask_Form{Form: &irv1.Form{Message: "For how long?", Schema: []byte(`{"type":"object","required":["days"],"properties":{"days":{"type":"integer","minimum":1}}}`)}},
				Arguments: []*irv1.AskArgument{{Name: "days", Side: irv1.AskSide_ASK_SIDE_ANSWERS, At: at("days", "content", "days")}},
			},
			{
				Name: "own", Conditions: status(428), Tool: "lend_book", Otherwise: irv1.Otherwise_OTHERWISE_ERROR,
				Question: &irv1.Ask_Requests{Requests: at("inputRequests")},
				Arguments: []*irv1.AskArgument{
					{Name: "answers", Side: irv1.AskSide_ASK_SIDE_ANSWERS, At: at()},
					{Name: "ticket", Side: irv1.AskSide_ASK_SIDE_RESPONSE, At: at("ticket")},
				},
			},
			{
				Name: "sign", Conditions: status(202), Tool: "get_loan", Otherwise: irv1.Otherwise_OTHERWISE_RESULT,
				Question:  &irv1.Ask_Visit{Visit: &irv1.Visit{Message: "Sign.", At: at("sign_at")}},
				Arguments: []*irv1.AskArgument{{Name: "id", Side: irv1.AskSide_ASK_SIDE_RESPONSE, At: at("loan")}},
			},
		},
	}
	loan := &irv1.Tool{
		Name: "get_loan", Title: "Get a loan", Description: "Reads a loan.", Hidden: true,
		Method: irv1.Method_METHOD_GET, Path: []*irv1.PathPart{{Kind: &irv1.PathPart_Literal{Literal: "/loans/"}}, {Kind: &irv1.PathPart_Argument{Argument: "id"}}},
		Arguments: get.Arguments, InputSchema: get.InputSchema, Timeout: durationpb.New(10 * time.Second),
		Annotations: &irv1.Annotations{ReadOnly: true, Idempotent: true}, Result: irv1.ResultMode_RESULT_MODE_MCP,
	}
	pick := &irv1.Tool{
		Name: "pick_book", Title: "Pick a book", Description: "Has the client's model pick a book.",
		Method: irv1.Method_METHOD_POST, Path: []*irv1.PathPart{{Kind: &irv1.PathPart_Literal{Literal: "/picks"}}},
		InputSchema: get.InputSchema, Timeout: durationpb.New(10 * time.Second), Annotations: &irv1.Annotations{}, Result: irv1.ResultMode_RESULT_MODE_MCP,
		Requires: []irv1.ClientCapability{irv1.ClientCapability_CLIENT_CAPABILITY_SAMPLING},
	}
	b.Tools = []*irv1.Tool{b.Tools[0], get, loan, lend, pick}
	b.Prompts = []*irv1.Prompt{{Name: "lending", Title: "Lending", Description: "Begins a loan.", Arguments: []*irv1.PromptArgument{{Name: "book", Description: "Which."}},
		Kind: &irv1.Prompt_Use{Use: &irv1.PromptUse{At: &irv1.Pointer{Tokens: []string{"book"}}, Use: &irv1.Use{Tool: "lend_book", Arguments: []*irv1.UseArgument{
			{Name: "book", Value: &irv1.UseArgument_Text{Text: &irv1.Text{Parts: []*irv1.TextPart{{Kind: &irv1.TextPart_Variable{Variable: "book"}}}}}},
		}}}}}}
	return b
}

// desk is the upstream of lender. It notes the loans that it is asked for.
type desk struct {
	mu   sync.Mutex
	keys []string // of requests
	sent []string // bodies
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.keys, d.sent = append(d.keys, r.Header.Get("Idempotency-Key")), append(d.sent, string(body))
	d.mu.Unlock()
	var loan struct {
		Book, Ticket string
		Days         any
		Answers      map[string]map[string]any
	}
	_ = json.Unmarshal(body, &loan)
	say := func(status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	form := `{"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	switch {
	case r.Method == http.MethodGet:
		say(http.StatusOK, fmt.Sprintf(`{"loan":%q,"signed":true}`, strings.TrimPrefix(r.URL.Path, "/loans/")))
	case loan.Book == "signed":
		say(http.StatusAccepted, `{"loan":"17","sign_at":"https://sign.example/17"}`)
	case loan.Book == "days" && loan.Days == nil:
		say(http.StatusConflict, `{"code":"days","message":"For how long?"}`)
	case loan.Book == "named" && loan.Answers["name"] == nil:
		say(http.StatusPreconditionRequired, `{"inputRequests":{"name":`+form+`}}`)
	case loan.Book == "twice" && loan.Ticket == "":
		say(http.StatusPreconditionRequired, `{"inputRequests":{"name":`+form+`},"ticket":"one <&>"}`)
	case loan.Book == "twice" && loan.Ticket == "one <&>":
		say(http.StatusPreconditionRequired, `{"inputRequests":{"pick":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Which?"}}],"maxTokens":9}},"roots":{"method":"roots/list"}},"ticket":"two"}`)
	case loan.Book == "for ever":
		say(http.StatusPreconditionRequired, `{"inputRequests":{"name":`+form+`}}`)
	case loan.Book == "several":
		say(http.StatusPreconditionRequired, `{"inputRequests":{"name":`+form+`,"pick":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}}}`)
	case loan.Book == "odd":
		say(http.StatusPreconditionRequired, `{"inputRequests":{"name":{"method":"tools/call","params":{}}}}`)
	default:
		say(http.StatusCreated, string(body))
	}
}

// last returns the key and the body of the last request.
func (d *desk) last() (key, body string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keys[len(d.keys)-1], d.sent[len(d.sent)-1]
}

// replying returns a client that answers what it is asked, with action.
func replying(action string) *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
			Sampling:    &mcp.SamplingCapabilities{}, RootsV2: &mcp.RootCapabilities{},
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if action != "accept" {
				return &mcp.ElicitResult{Action: action}, nil
			}
			content := map[string]any{"name": "Ada"}
			if r.Params.Message == "For how long?" {
				content = map[string]any{"days": 7}
			}
			if r.Params.URL != "" {
				content = nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Emma"}}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///shelf", Name: "shelf"})
	return client
}

// reader returns a client of the endpoint at url who answers what it is asked.
func reader(t *testing.T, url, version, action string) *mcp.ClientSession {
	t.Helper()
	session, err := replying(action).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// TestStdioConverse has the user in the loop of calls over stdio.
func TestStdioConverse(t *testing.T) {
	proof.Ran(t)
	for _, era := range eras {
		s, _ := serving(t, Config{}, lender(upstream(t, &desk{})))
		p := serveStdio(t, s, "")
		session, err := replying("accept").Connect(t.Context(), &mcp.IOTransport{Reader: p.out, Writer: p.in}, &mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatal(err)
		}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": "twice"}})
		if err != nil {
			t.Fatalf("%s: %v", era, err)
		}
		if body, _ := res.StructuredContent.(map[string]any); body["ticket"] != "two" {
			t.Errorf("%s: %v", era, res.StructuredContent)
		}
		session.Close()
		p.said.check(t)
	}
}

// TestStdioCancel cancels calls with a message: one that is safe to give up ends, any
// other goes on.
func TestStdioCancel(t *testing.T) {
	proof.Ran(t)
	called, gone, release := make(chan string, 2), make(chan string, 2), make(chan struct{}, 1)
	held := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.Method
		select {
		case <-r.Context().Done():
			gone <- r.Method
		case <-release:
			librarytest.Upstream().ServeHTTP(w, r)
		}
	})
	s, _ := serving(t, Config{}, librarytest.Binding(upstream(t, held)))
	p := serveStdio(t, s, "")
	p.handshake(t)
	p.send(t, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add_book","arguments":{"payload":{"title":"Emma"}}}}`)
	soon(t, "the upstream is called", called)
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	p.send(t, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	if got := p.next(t); !strings.Contains(got, `"id":8`) { // it was read after the cancellation
		t.Errorf("answer is %s", got)
	}
	release <- struct{}{}
	if got := p.next(t); !strings.Contains(got, `"title":"Emma"`) || len(gone) > 0 {
		t.Errorf("a call that is not safe to give up is answered with %s", got)
	}
	p.send(t, callBook)
	soon(t, "the upstream is called", called)
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if method := soon(t, "the upstream sees the caller go", gone); method != http.MethodGet {
		t.Errorf("a %s is given up", method)
	}
}

// TestConverse has the user in the loop of calls, in both eras.
func TestConverse(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		d := &desk{}
		_, url := serving(t, Config{Stateful: true, NoFastPath: noFastPath}, lender(upstream(t, d)))
		for _, era := range eras {
			session := reader(t, url+"/library", era, "accept")
			for _, tt := range []struct{ book, want string }{
				{"plain", `{"book":"plain"}`},
				{"named", `{"answers":{"name":{"action":"accept","content":{"name":"Ada"}}},"book":"named"}`},
				{"days", `{"book":"days","days":7}`},
				{"signed", `{"loan":"17","signed":true}`},
				{"twice", `{"answers":{"pick":{"content":{"text":"Emma","type":"text"},"model":"m","role":"assistant"},"roots":{"roots":[{"name":"shelf","uri":"file:///shelf"}]}},"book":"twice","ticket":"two"}`},
			} {
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": tt.book}})
				if err != nil {
					t.Errorf("%s, %s: %v", era, tt.book, err)
					continue
				}
				got, _ := json.Marshal(res.StructuredContent)
				if string(got) != tt.want || res.IsError {
					t.Errorf("%s, %s: %s, want %s", era, tt.book, got, tt.want)
				}
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": "for ever"}}); err == nil {
				t.Errorf("%s: a service that asks for ever is asked for ever", era)
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "pick_book"}); err != nil {
				t.Errorf("%s: %v", era, err)
			}
			if p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "lending", Arguments: map[string]string{"book": "named"}}); err != nil || len(p.Messages) != 1 {
				t.Errorf("%s: a prompt: %v", era, err)
			}
			no := reader(t, url+"/library", era, "decline")
			_, err := no.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": "days"}})
			if err == nil || !strings.Contains(err.Error(), "declined") {
				t.Errorf("%s: declined: %v", era, err)
			}
		}
	}
}

// TestConverseKeys follows the key of a call that asks: it stays with the same request,
// and another has one of its own that is always the same.
func TestConverseKeys(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	_, url := serving(t, Config{}, lender(upstream(t, d)))
	params := `{"name":"lend_book","arguments":{"book":"twice"}}`
	_, body := send(t, askedBy(t, url, message.Modern, params, everything))
	first, _ := d.last()
	state := stateIn(t, body)
	if first == "" {
		t.Fatal("no key is made up")
	}
	answer := `"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},"requestState":"` + state + `",`
	var keys, bodies []string
	for range 2 {
		send(t, askedBy(t, url, message.Modern, strings.Replace(params, "{", "{"+answer, 1), everything))
		key, sent := d.last()
		keys, bodies = append(keys, key), append(bodies, sent)
	}
	if keys[0] == first || keys[0] != keys[1] || bodies[0] != bodies[1] {
		t.Errorf("the first call had key %s, the next two had %s with %s", first, keys, bodies)
	}
}

// TestFormThenPage has a call that asks twice and goes on with itself: once with what was
// filled in, and then as it was, with the key that it had then.
func TestFormThenPage(t *testing.T) {
	proof.Ran(t)
	for _, version := range []string{message.LastHandshake, message.Modern} {
		d := &desk{}
		b := lender(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			d.ServeHTTP(httptest.NewRecorder(), r)
			w.Header().Set("Content-Type", "application/json")
			switch len(d.keys) {
			case 1:
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"code":"days"}`)
			case 2:
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"sign_at":"https://sign.example/17"}`)
			default:
				_, _ = io.WriteString(w, `{"signed":true}`)
			}
		})))
		sign := b.Tools[3].Asks[2]
		sign.Tool, sign.Arguments = "lend_book", nil
		_, url := serving(t, Config{Stateful: true}, b)
		res, err := reader(t, url+"/library", version, "accept").CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": "x"}})
		if err != nil || res.IsError || len(d.keys) != 3 {
			t.Fatalf("%s: %+v, %v, after %q", version, res, err, d.sent)
		}
		if d.keys[0] == d.keys[1] || d.keys[1] != d.keys[2] || d.sent[1] != d.sent[2] {
			t.Errorf("%s: keys are %q for %q", version, d.keys, d.sent)
		}
	}
}

// TestAnswersWrittenAnew sends an answer again, with arguments that say the same.
func TestAnswersWrittenAnew(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	_, url := serving(t, Config{}, lender(upstream(t, d)))
	_, body := send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","arguments":{"book":"named","meta":{"tenancy":"k"}}}`, everything))
	state := stateIn(t, body)
	for _, arguments := range []string{`{"book":"named","meta":{"tenancy":"k"}}`, `{"meta":{"tenancy":"k"}, "b\u006fok":"named"}`} {
		send(t, askedBy(t, url, message.Modern, `{"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},"requestState":"`+state+`","name":"lend_book","arguments":`+arguments+`}`, everything))
	}
	if len(d.keys) != 3 || d.keys[0] == d.keys[1] || d.keys[1] != d.keys[2] {
		t.Errorf("keys are %q for %q", d.keys, d.sent)
	}
}

// TestConverseNull holds that null in the place of answers is none, over HTTP and at
// stdio: the call is made, and asks.
func TestConverseNull(t *testing.T) {
	proof.Ran(t)
	params := `{"inputResponses":null,"name":"lend_book","arguments":{"book":"named"}}`
	for _, noFastPath := range []bool{false, true} {
		s, url := serving(t, Config{NoFastPath: noFastPath}, lender(upstream(t, &desk{})))
		_, body := send(t, askedBy(t, url, message.Modern, params, everything))
		stateIn(t, body)
		p := serveStdio(t, s, "")
		p.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+strings.TrimSuffix(params, "}")+","+modernMeta+`}}`)
		stateIn(t, p.next(t))
	}
}

// exactAnswers are answers with numbers that no double is, or that a double is written
// otherwise, and what a service has to get of them.
var exactAnswers = []struct{ book, answers, want string }{
	{"days", `{"days":{"action":"accept","content":{"days":9007199254740993}}}`, `"days":9007199254740993`},
	{"named", `{"name":{"action":"accept","content":{"name":"Ada","price":10.50}}}`, `"price":10.50}`},
}

// TestConverseExact holds that a service gets numbers of an answer as the client wrote
// them, over HTTP.
func TestConverseExact(t *testing.T) {
	proof.Ran(t)
	for _, tt := range exactAnswers {
		for _, noFastPath := range []bool{false, true} {
			d := &desk{}
			_, url := serving(t, Config{NoFastPath: noFastPath}, lender(upstream(t, d)))
			params := fmt.Sprintf(`{"name":"lend_book","arguments":{"book":%q}}`, tt.book)
			_, body := send(t, askedBy(t, url, message.Modern, params, everything))
			more := `"inputResponses":` + tt.answers + `,"requestState":"` + stateIn(t, body) + `",`
			_, body = send(t, askedBy(t, url, message.Modern, strings.Replace(params, "{", "{"+more, 1), everything))
			if _, sent := d.last(); !strings.Contains(sent, tt.want) {
				t.Errorf("%s: the service got %s, the client %s", tt.book, sent, body)
			}
		}
	}
}

// TestStdioConverseExact holds the same of a client at stdio.
func TestStdioConverseExact(t *testing.T) {
	proof.Ran(t)
	for _, tt := range exactAnswers {
		d := &desk{}
		s, _ := serving(t, Config{}, lender(upstream(t, d)))
		p := serveStdio(t, s, "")
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s"name":"lend_book","arguments":{"book":"` + tt.book + `"},` + strings.Replace(modernMeta, `"roots":{"listChanged":true}`, `"roots":{}`, 1) + `}}`
		p.send(t, fmt.Sprintf(call, ""))
		p.send(t, fmt.Sprintf(call, `"inputResponses":`+tt.answers+`,"requestState":"`+stateIn(t, p.next(t))+`",`))
		body := p.next(t)
		if _, sent := d.last(); !strings.Contains(sent, tt.want) {
			t.Errorf("%s: the service got %s, the client %s", tt.book, sent, body)
		}
	}
}

// TestElicitExact holds the same of clients of the older revisions, who are asked while
// the call goes on: in a session over HTTP, and at stdio.
func TestElicitExact(t *testing.T) {
	proof.Ran(t)
	answer := map[string]any{"name": "Ada", "price": json.Number("10.50"), "days": json.Number("9007199254740993")}
	client := func() *mcp.Client {
		return mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, &mcp.ClientOptions{
			Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}},
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Meta: mcp.Meta{"bindery.dev/exact": "a client's own"}, Action: "accept", Content: answer}, nil
			},
		})
	}
	for name, transport := range map[string]func(*Server, string) mcp.Transport{
		"HTTP": func(_ *Server, url string) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url + "/library"}
		},
		"stdio": func(s *Server, _ string) mcp.Transport {
			p := serveStdio(t, s, "")
			return &mcp.IOTransport{Reader: p.out, Writer: p.in}
		},
	} {
		d := &desk{}
		s, url := serving(t, Config{Stateful: true}, lender(upstream(t, d)))
		session, err := client().Connect(t.Context(), transport(s, url), &mcp.ClientSessionOptions{ProtocolVersion: message.LastHandshake})
		if err != nil {
			t.Fatal(err)
		}
		for book, want := range map[string]string{"named": `"days":9007199254740993,"name":"Ada","price":10.50}`} {
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": book}}); err != nil {
				t.Errorf("%s, %s: %v", name, book, err)
			}
			if _, sent := d.last(); !strings.Contains(sent, want) {
				t.Errorf("%s, %s: the service got %s", name, book, sent)
			}
		}
		session.Close()
	}
}

// TestElicitLines has a client at stdio answer by lines of its own: with a number that no
// double is, and with what is not the same to everybody, which is no answer.
func TestElicitLines(t *testing.T) {
	proof.Ran(t)
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"days":9007199254740993}}`: `"days":9007199254740993`,
		`{"action":"accept","content":{"days":1,"days":2}}`:       `gave no answer`,
		`"accept"`: `gave no answer`,
	} {
		s, _ := serving(t, Config{}, lender(upstream(t, &desk{})))
		p := serveStdio(t, s, "")
		p.reply(t, "days", `"result":`+answer)
		if got := p.next(t); !strings.Contains(got, want) {
			t.Errorf("after %s the call is answered with %s, want %s", answer, got, want)
		}
	}
}

// TestElicitOwn has an older client answer what a service asks itself: the service gets
// it, whether or not it is what the question asks for.
func TestElicitOwn(t *testing.T) {
	proof.Ran(t)
	for _, answer := range []string{
		`{"action":"accept","content":{"name":"Ada"}}`,
		`{"action":"accept","content":{"name":7}}`,
		`{"action":"accept","content":[7]}`,
		`{"action":"accept"}`,
		`{"action":7,"content":{"name":"Ada"}}`,
		`{"roots":7,"role":7}`,
		`{"action":"accept","_meta":{"x":1e400}}`,
	} {
		d := &desk{}
		s, _ := serving(t, Config{}, lender(upstream(t, d)))
		p := serveStdio(t, s, "")
		p.reply(t, "named", `"result":`+answer)
		got := p.next(t)
		if _, sent := d.last(); !strings.Contains(sent, `"answers":{"name":`+answer+`}`) {
			t.Errorf("after %s the service got %s, the client %s", answer, sent, got)
		}
	}
}

// TestElicitOwnSampling has an older client answer with what is no message of a model.
func TestElicitOwnSampling(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	s, _ := serving(t, Config{}, lender(upstream(t, d)))
	p := serveStdio(t, s, "")
	p.reply(t, "twice", `"result":{"action":"accept","content":{}}`)
	for _, answer := range []string{`{"content":{"type":"smell","smell":1.0}}`, `{"roots":"none"}`} {
		p.answer(t, `"result":`+answer)
	}
	p.next(t)
	if _, sent := d.last(); !strings.Contains(sent, `{"content":{"type":"smell","smell":1.0}}`) || !strings.Contains(sent, `{"roots":"none"}`) {
		t.Errorf("the service got %s", sent)
	}
}

// TestElicitLog holds that the log says why there is no answer, in no words of the client.
func TestElicitLog(t *testing.T) {
	proof.Ran(t)
	log := &lines{}
	s, _ := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil))}, lender(upstream(t, &desk{})))
	p := serveStdio(t, s, "")
	p.reply(t, "named", `"error":{"code":-7,"message":"secret-marker"}`)
	if got := p.next(t); !strings.Contains(got, "gave no answer") {
		t.Errorf("the call is answered with %s", got)
	}
	if said := strings.Join(log.all(), ""); !strings.Contains(said, `"err":"the client answered with error -7"`) || strings.Contains(said, "secret-marker") {
		t.Errorf("the log has %s", said)
	}
}

// reply has a client of an older revision call lend_book for a book, and answer what it is
// asked then with a member of JSON-RPC.
func (p *process) reply(t *testing.T, book, member string) {
	t.Helper()
	p.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+everything+`,"clientInfo":{"name":"reader","version":"1"}}}`)
	p.next(t)
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"lend_book","arguments":{"book":"`+book+`"}}}`)
	p.answer(t, member)
}

// answer answers the next question with a member of JSON-RPC.
func (p *process) answer(t *testing.T, member string) {
	t.Helper()
	var question struct {
		ID     json.RawMessage
		Method string
	}
	if line := p.next(t); json.Unmarshal([]byte(line), &question) != nil || question.Method == "" {
		t.Fatalf("nothing is asked: %s", line)
	}
	p.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, question.ID, member))
}

// TestCompleted holds that an answer has the defaults of its form, as they are written
// there, for what need not be filled in.
func TestCompleted(t *testing.T) {
	proof.Ran(t)
	const form = `{"type":"object","properties":{"c":{"default":7},"b":{"type":"number","default":1.50},"a":{"default":"x"},"d":{"type":"string"},"e":{"default":"z"}},"required":["e"]}`
	for _, tt := range []struct{ answer, form, want string }{
		{`{"action":"accept","content":{"b":1.0}}`, form, `{"action":"accept","content":{"b":1.0,"a":"x","c":7}}`},
		{`{"action":"accept","content": {} }`, form, `{"action":"accept","content": {"a":"x","b":1.50,"c":7} }`},
		{`{"action":"accept","content":{"b":null}}`, ``, `{"action":"accept","content":{"b":null}}`},
		{`{"action":"accept","content":{}}`, `{"properties":7,"required":{}}`, `{"action":"accept","content":{}}`},
		{`{"action":"accept","content":[]}`, form, `{"action":"accept","content":[]}`},
		{`{"action":"decline","content":{}}`, form, `{"action":"decline","content":{}}`},
		{`{"action":"decline"}`, form, `{"action":"decline"}`},
	} {
		if got := completed(rawjson.Value(tt.answer), rawjson.Value(tt.form)); string(got) != tt.want {
			t.Errorf("%s is completed to %s, want %s", tt.answer, got, tt.want)
		}
	}
}

// everything is what a client declares that can be asked for everything.
const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// askedBy returns a tools/call by a client that declares capabilities.
func askedBy(t *testing.T, url, version, params, capabilities string) *http.Request {
	t.Helper()
	r := posted(t, url+"/library", version, message.MethodCall, params)
	body, _ := io.ReadAll(r.Body)
	return withBody(t, r, strings.Replace(string(body), `clientCapabilities":{}`, `clientCapabilities":`+capabilities, 1))
}

func stateIn(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Result struct{ RequestState, ResultType string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Result.ResultType != "input_required" || answer.Result.RequestState == "" {
		t.Fatalf("nothing is asked: %s", body)
	}
	return answer.Result.RequestState
}

// TestConverseRefusals answers what was not asked, or not of it.
func TestConverseRefusals(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		d := &desk{}
		s, url := serving(t, Config{NoFastPath: noFastPath}, lender(upstream(t, d)))
		_, body := send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","arguments":{"book":"named"}}`, everything))
		state := stateIn(t, body)
		if strings.Contains(state, "named") || !strings.Contains(body, `"inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Your name?"`) {
			t.Errorf("the question is %s", body)
		}
		_, body = send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","arguments":{"book":"days"}}`, everything))
		days := stateIn(t, body)
		calls := len(d.keys)
		good := `"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},`
		for name, tt := range map[string]struct{ params, capabilities, want string }{
			"tampered":         {params: good + `"requestState":"` + state + `-TAMPERED","name":"lend_book","arguments":{"book":"named"}`},
			"another call":     {params: good + `"requestState":"` + state + `","name":"lend_book","arguments":{"book":"other"}`},
			"another tool":     {params: good + `"requestState":"` + state + `","name":"get_book","arguments":{"book":"named"}`},
			"no state of ours": {params: good + `"requestState":"x","name":"lend_book","arguments":{"book":"named"}`},
			"a form that does not fit": {params: `"inputResponses":{"days":{"action":"accept","content":{"days":0}}},"requestState":"` + days + `","name":"lend_book","arguments":{"book":"days"}`,
				want: "inputResponses are not answers"},
			"no answer":         {params: `"requestState":"` + days + `","name":"lend_book","arguments":{"book":"days"}`, want: "inputResponses are not answers"},
			"no answers at all": {params: `"inputResponses":{"name":7},"name":"lend_book","arguments":{"book":"named"}`, want: "params are not those"},
			"no sampling":       {params: `"name":"pick_book"`, capabilities: `{}`, want: `-32021`},
		} {
			r := askedBy(t, url, message.Modern, `{`+tt.params+`}`, tt.capabilities+strings.Repeat(everything, 1-min(1, len(tt.capabilities))))
			r.Header.Set("Mcp-Name", nameIn(tt.params))
			status, body := send(t, r)
			want := tt.want
			if want == "" {
				want = "requestState is not one of this call"
			}
			if status != http.StatusBadRequest || !strings.Contains(body, want) {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
		if len(d.keys) != calls {
			t.Errorf("the service was called: %s", d.sent[calls:])
		}
		other := askedBy(t, url, message.Modern, `{`+good+`"requestState":"`+state+`","name":"lend_book","arguments":{"book":"named"}}`, everything)
		other.Header.Set("X-Reader", "another")
		if status, body := send(t, other); status != http.StatusBadRequest {
			t.Errorf("another caller: %d %s", status, body)
		}
		// What the answers are for goes on, also by a table that has the tool still.
		s.Swap(build(t, 2, s.Table(), lender(upstream(t, d))))
		if status, body := send(t, askedBy(t, url, message.Modern, `{`+good+`"requestState":"`+state+`","name":"lend_book","arguments":{ "book": "named"}}`, everything)); status != http.StatusOK || !strings.Contains(body, `"resultType":"complete"`) {
			t.Errorf("%d %s", status, body)
		}
	}
}

func nameIn(params string) string {
	const member = `"name":"`
	name, _, _ := strings.Cut(params[strings.LastIndex(params, member)+len(member):], `"`)
	return name
}

// TestConverseUnable makes calls by clients that cannot be asked.
func TestConverseUnable(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		_, url := serving(t, Config{NoFastPath: noFastPath}, lender(upstream(t, &desk{})))
		for _, tt := range []struct{ version, book, capabilities, want string }{
			{message.Modern, "named", `{}`, `"code":-32021`},
			{message.Modern, "named", `{"elicitation":{"url":{}}}`, `"requiredCapabilities":{"elicitation":{"form":{}}}`},
			{message.Modern, "named", `{"elicitation":{}}`, `"resultType":"input_required"`},
			{message.Modern, "signed", `{"elicitation":{}}`, `"sign_at":"https://sign.example/17"},"resultType":"complete"`},
			{message.Modern, "signed", everything, `"params":{"mode":"url","message":"Sign.","url":"https://sign.example/17","elicitationId":"`},
			{message.Modern, "days", `{}`, `"message":"For how long?"`},
			{message.Modern, "several", `{"sampling":{}}`, `"inputRequests":{"pick":{`},
			{message.Modern, "odd", everything, `"code":-32000`},
			{"2025-11-25", "named", ``, `"code":-32021`},
			{"2025-11-25", "days", ``, `"message":"For how long?"`},
			{"2025-11-25", "plain", ``, `"structuredContent":{"book":"plain"}`},
		} {
			status, body := send(t, askedBy(t, url, tt.version, fmt.Sprintf(`{"name":"lend_book","arguments":{"book":%q}}`, tt.book), tt.capabilities))
			if !strings.Contains(body, tt.want) || status != http.StatusOK && (status != http.StatusBadRequest || tt.version < message.Modern) {
				t.Errorf("%s to %s: %d %s", tt.book, tt.capabilities, status, body)
			}
		}
	}
}

// TestEarlyAnswers sends answers with the first call.
func TestEarlyAnswers(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	b := lender(upstream(t, d))
	b.Meta[1].Generate = irv1.Generate_GENERATE_NOTHING // which only a state keeps
	_, url := serving(t, Config{}, b)
	for _, tt := range []struct{ book, answers, want string }{
		{"days", `{"days":{"action":"accept","content":{"days":"x"}}}`, `inputResponses are not answers`},
		{"days", `{"days":{"action":"accept","content":{"days":7}},"unknown":{"action":"accept"}}`, `"structuredContent":{"book":"days","days":7}`},
		{"days", `{"wrong":{"action":"accept","content":{"days":7}}}`, `"resultType":"input_required"`},
		{"days", `{"days":{"action":"decline"}}`, `declined`},
		{"days", `{"days":{"action":"decline","content":{"days":7}}}`, `declined`},
		{"days", `{"days":{"action":"cancel","content":{"days":7}}}`, `declined`},
		{"named", `{"name":{"action":"accept"}}`, `"resultType":"input_required"`}, // it goes on with state only
	} {
		params := fmt.Sprintf(`{"name":"lend_book","inputResponses":%s,"arguments":{"book":%q}}`, tt.answers, tt.book)
		if _, body := send(t, askedBy(t, url, message.Modern, params, everything)); !strings.Contains(body, tt.want) {
			t.Errorf("%s with %s: %s", tt.book, tt.answers, body)
		}
	}
	for _, arguments := range []string{`["days"]`, `"days"`, `{"book":"days","book":"x"}`, `{"book":"days","\ud800":1}`} {
		params := `{"name":"lend_book","inputResponses":{"days":{"action":"accept","content":{"days":7}}},"arguments":` + arguments + `}`
		if _, body := send(t, askedBy(t, url, message.Modern, params, everything)); !strings.Contains(body, "-32602") {
			t.Errorf("with %s: %s", arguments, body)
		}
	}
	if len(d.sent) != 3 {
		t.Errorf("the service got %q", d.sent)
	}
}

// TestEarlyKeys holds that a call which answers make another one has another key, and
// the same one each time.
func TestEarlyKeys(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	b := lender(upstream(t, d))
	b.State, b.Meta[1].Generate, b.Tools[3].Asks = nil, irv1.Generate_GENERATE_NOTHING, b.Tools[3].Asks[:1]
	_, url := serving(t, Config{}, b)
	const arguments = `"arguments":{"meta":{"tenancy":"order-1"},"book":"days"}`
	for _, answers := range []string{`{}`, `{"days":{"action":"accept","content":{"days":7}}}`, `{"days":{"action":"accept","content":{"days":7}}}`} {
		send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","inputResponses":`+answers+`,`+arguments+`}`, everything))
	}
	if len(d.keys) != 3 || d.keys[0] != "order-1" || d.keys[1] == "order-1" || d.keys[1] != d.keys[2] {
		t.Errorf("keys are %q for %q", d.keys, d.sent)
	}
}

// TestWithoutState goes on with another tool by what the client sends again, where
// nothing is sealed.
func TestWithoutState(t *testing.T) {
	proof.Ran(t)
	d := &desk{}
	b := lender(upstream(t, d))
	lend, sign := b.Tools[3], b.Tools[3].Asks[2]
	b.State, b.Meta[1].Generate, lend.Asks = nil, irv1.Generate_GENERATE_NOTHING, []*irv1.Ask{sign}
	sign.Arguments[0].Side, sign.Arguments[0].At = irv1.AskSide_ASK_SIDE_REQUEST, &irv1.Pointer{Tokens: []string{"book"}}
	_, url := serving(t, Config{}, b)
	session := reader(t, url+"/library", message.Modern, "accept")
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "lend_book", Arguments: map[string]any{"book": "signed"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(res.StructuredContent); string(got) != `{"loan":"signed","signed":true}` || len(d.keys) != 2 {
		t.Errorf("%s after %q", got, d.sent)
	}
	_, body := send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","arguments":{"book":"signed"}}`, everything))
	if strings.Contains(body, "requestState") || !strings.Contains(body, "input_required") {
		t.Errorf("the question is %s", body)
	}
	_, body = send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","inputResponses":{"sign":{"action":"cancel"}},"arguments":{"book":"signed"}}`, everything))
	if !strings.Contains(body, "declined") || len(d.keys) != 3 {
		t.Errorf("canceled: %s", body)
	}
	status, body := send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","requestState":"x","arguments":{"book":"signed"}}`, everything))
	if status != http.StatusBadRequest || len(d.keys) != 3 {
		t.Errorf("a state that nobody gave: %d %s", status, body)
	}
}

// TestExpired answers too late.
func TestExpired(t *testing.T) {
	proof.Ran(t)
	now := time.Unix(1_700_000_000, 0)
	c := librarytest.Content(t, lender(upstream(t, &desk{})))
	built, err := table.Build(c, &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", librarytest.Env), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	s, url := serving(t, Config{})
	s.Swap(built)
	_, body := send(t, askedBy(t, url, message.Modern, `{"name":"lend_book","arguments":{"book":"named"}}`, everything))
	state := stateIn(t, body)
	late := `{"inputResponses":{"name":{"action":"accept"}},"requestState":"` + state + `","name":"lend_book","arguments":{"book":"named"}}`
	now = now.Add(time.Minute - 1)
	if status, body := send(t, askedBy(t, url, message.Modern, late, everything)); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	now = now.Add(1)
	if status, body := send(t, askedBy(t, url, message.Modern, late, everything)); status != http.StatusBadRequest || !strings.Contains(body, "expired") {
		t.Errorf("%d %s", status, body)
	}
}

// TestMissingStateSecret builds a table without the secret that seals, and with one
// that is too short.
func TestMissingStateSecret(t *testing.T) {
	for value, code := range map[string]string{"": "missing-secret", "short": "weak-secret"} {
		env := func(name string) (string, bool) {
			if name == secret.Variable(librarytest.StateSecret) {
				return value, value != ""
			}
			return librarytest.Env(name)
		}
		_, err := table.Build(librarytest.Content(t, lender("127.0.0.1:1")), &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", env)})
		refused, ok := err.(*discoveryv1.Refused)
		if !ok || !refused.Retryable || !slices.ContainsFunc(refused.Reasons, func(r *discoveryv1.Reason) bool { return r.GetCode() == code && r.GetField() == "state.secret" }) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
