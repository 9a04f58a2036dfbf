package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// token is what all credentials of a benchmark are.
const token = "bench-token"

// child is this program as one of the servers: args are its kind and what that
// takes. It returns the exit code.
func child(ctx context.Context, args []string) int {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector())
	var h http.Handler
	var err error
	switch args[0] {
	case "upstream":
		h = upstream()
	case "proxy":
		h, err = proxy(args[1])
	case "sdk":
		h, err = sdk(args[1], args[2], args[3], registry)
	default:
		err = fmt.Errorf("no server %q", args[0])
	}
	if err == nil {
		err = announce(ctx, h, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// session is what the upstream answers: 2 KB, as a checkout session has them.
func session() []byte {
	var items []string
	for i := range 6 {
		items = append(items, fmt.Sprintf(`{"id":"li_%d","item":{"id":"item_%d","quantity":2},"name":"A mug, glazed by hand, number %d","base_amount":1800,"discount":0,"subtotal":3600,"tax":288,"total":3888}`, i, i, i))
	}
	body := `{"id":"cs_1","status":"ready_for_payment","currency":"usd","line_items":[` + strings.Join(items, ",") +
		`],"totals":[{"type":"items_base_amount","display_text":"Items","amount":21600},{"type":"tax","display_text":"Tax","amount":1728},{"type":"total","display_text":"Total","amount":23328}],` +
		`"fulfillment_options":[],"messages":[],"links":[{"type":"terms_of_use","url":"https://shop.example/terms"}],"capabilities":{"interventions":{"supported":["3ds"]}},"order_notes":"`
	return []byte(body + strings.Repeat("leave it at the door ", (2048-len(body)-2)/21) + `"}`)
}

// upstream answers every request with the session once it has read it.
func upstream() http.Handler {
	body := session()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil || r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // a client that is gone is counted by the client
	})
}

// transport is Go's with as many kept connections as there are clients: with its
// default of two, half of all calls would open one.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 1024, 1024
	return t
}

// proxy is Go's reverse proxy, plain.
func proxy(to string) (http.Handler, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	p := httputil.NewSingleHostReverseProxy(u)
	p.Transport = transport()
	return p, nil
}

// A writer is a tool as one would write it by hand with the SDK: it validates,
// forwards, logs and counts as a node does.
type writer struct {
	schema   *jsonschema.Schema // of the payload; nil: none
	method   string
	path     func(id string) string
	base     string
	client   *http.Client
	log      *slog.Logger
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// sdk is a server with the tools of a bundle, written by hand with the SDK.
func sdk(to, bundle, logFile string, registry *prometheus.Registry) (http.Handler, error) {
	content, err := openBundle(bundle)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	w := writer{
		base: to, client: &http.Client{Transport: transport()}, log: slog.New(slog.NewJSONHandler(log, nil)),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total"}, []string{"tool", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "seconds"}, []string{"tool"}),
	}
	registry.MustRegister(w.calls, w.duration)
	server := mcp.NewServer(&mcp.Implementation{Name: "by hand", Version: "1"}, nil)
	for _, b := range content.Bindings {
		if b.GetEndpoint() != "/mcp" {
			continue
		}
		for _, t := range b.GetTools() {
			if err := w.add(server, t, content.Schemas[irv1.Digest(t.GetInputSchema())]); err != nil {
				return nil, err
			}
		}
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), nil
}

// add adds one tool to the server.
func (w writer) add(server *mcp.Server, t *irv1.Tool, schema []byte) error {
	if t.GetPayload() != nil {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		if err != nil {
			return err
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("mem:///tool.json", doc); err != nil {
			return err
		}
		if w.schema, err = c.Compile("mem:///tool.json#/properties/payload"); err != nil {
			return err
		}
	}
	w.method = strings.TrimPrefix(t.GetMethod().String(), "METHOD_")
	w.path = func(id string) string {
		var b strings.Builder
		for _, part := range t.GetPath() {
			b.WriteString(part.GetLiteral())
			if part.GetArgument() != "" {
				b.WriteString(url.PathEscape(id))
			}
		}
		return b.String()
	}
	server.AddTool(&mcp.Tool{Name: t.GetName(), Description: t.GetDescription(), InputSchema: json.RawMessage(schema)}, w.call)
	return nil
}

var metaHeaders = map[string]string{
	"api_version": "API-Version", "idempotency_key": "Idempotency-Key", "request_id": "Request-Id", "user_agent": "User-Agent",
	"accept_language": "Accept-Language", "signature": "Signature", "timestamp": "Timestamp",
}

func (w writer) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	began := time.Now()
	body, err := w.forward(ctx, req.Params.Arguments)
	class := "ok"
	if err != nil {
		class = "failed"
	}
	w.calls.WithLabelValues(req.Params.Name, class).Inc()
	w.duration.WithLabelValues(req.Params.Name).Observe(time.Since(began).Seconds())
	w.log.Info("call", "tool", req.Params.Name, "class", class, "took", time.Since(began))
	if err != nil {
		return nil, &jsonrpc.Error{Code: -32000, Message: err.Error()}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: json.RawMessage(body)}, nil
}

func (w writer) forward(ctx context.Context, raw json.RawMessage) ([]byte, error) {
	var args struct {
		Meta    map[string]any
		ID      string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, err
	}
	if w.schema != nil && args.Payload != nil {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(args.Payload))
		if err != nil {
			return nil, err
		}
		if err := w.schema.Validate(v); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, w.method, w.base+w.path(args.ID), bytes.NewReader(args.Payload))
	if err != nil {
		return nil, err
	}
	for field, header := range metaHeaders {
		if v, ok := args.Meta[field].(string); ok {
			r.Header.Set(header, v)
		}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return body, err
}
