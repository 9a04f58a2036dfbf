package serve

import (
	"bytes"
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
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// listening returns how many clients wait to hear of changes.
func listening(t *testing.T, s *Server) int {
	t.Helper()
	return gauge(t, s.metrics.streams)
}

func gauge(t *testing.T, g prometheus.Gauge) int {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(g)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return int(families[0].GetMetric()[0].GetGauge().GetValue())
}

// until waits for a condition that nothing signals.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

// TestObservedCalls reads log and metrics after calls of several kinds.
func TestObservedCalls(t *testing.T) {
	log, registry := &lines{}, prometheus.NewRegistry()
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	_, url := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: registry}, book)
	for _, params := range []string{
		`{"name":"get_book","arguments":{"id":"1"}}`,
		`{"name":"get_book","arguments":{"id":"missing"}}`,
		`{"name":"get_book","arguments":{}}`,
		`{"name":"burn_book"}`,
	} {
		post(t, url+"/library", eras[1], "tools/call", params)
	}
	var got []string
	for _, line := range log.all() {
		var entry struct {
			Msg, Request, Endpoint, Binding, Tool, Class string
			Status                                       int
			Took, Revision                               *uint64
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Msg != "call" || entry.Request == "" || entry.Took == nil || *entry.Revision != 1 {
			t.Errorf("line is %s", line)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %d", entry.Endpoint, entry.Binding, entry.Tool, entry.Class, entry.Status))
	}
	want := []string{
		"/library library get_book ok 200",
		"/library library get_book upstream_error 404",
		"/library library get_book invalid_params 0",
		"/library   invalid_params 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("log is %q, want %q", got, want)
	}
	metrics := scrape(t, registry)
	for _, want := range []string{
		`bindery_node_calls_total{class="ok",endpoint="/library",tool="get_book"} 1`,
		`bindery_node_calls_total{class="upstream_error",endpoint="/library",tool="get_book"} 1`,
		`bindery_node_calls_total{class="invalid_params",endpoint="/library",tool=""} 1`,
		`bindery_node_call_duration_seconds_count{endpoint="/library",tool="get_book"} 3`,
		`bindery_node_calls_in_flight 0`,
		`bindery_node_listen_streams 0`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("metrics are without %s:\n%s", want, metrics)
		}
	}
}

// failing returns checks that no call of the library passes.
func failing(names ...string) []*irv1.CallCheck {
	var checks []*irv1.CallCheck
	for _, name := range names {
		checks = append(checks, &irv1.CallCheck{
			Name: name, Level: irv1.CheckLevel_CHECK_LEVEL_WARN, Message: "It fails.",
			Kind: &irv1.CallCheck_Has{Has: &irv1.Place{Side: irv1.Side_SIDE_RESPONSE, Steps: []*irv1.Step{{Kind: &irv1.Step_Token{Token: "nothing"}}}}},
		})
	}
	return checks
}

// TestFailedChecks finds checks that a call fails in metrics and log, until a swap
// takes them away.
func TestFailedChecks(t *testing.T) {
	log, registry := &lines{}, prometheus.NewRegistry()
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	book.Tools[1].Checks = failing("first", "second")
	s, url := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: registry}, book)
	const get = `{"name":"get_book","arguments":{"id":"1"}}`
	if _, answer := post(t, url+"/library", eras[1], "tools/call", get); !strings.Contains(answer, `"title":"Go & more"`) {
		t.Errorf("answer is %s", answer)
	}
	if all := strings.Join(log.all(), ""); !strings.Contains(all, `"checks":["first","second"]`) {
		t.Errorf("log is %s", all)
	}
	const first, second = `bindery_node_check_failures_total{check="first",endpoint="/library",tool="get_book"} 1`, `{check="second",`
	if metrics := scrape(t, registry); !strings.Contains(metrics, first) || !strings.Contains(metrics, second) {
		t.Errorf("metrics are\n%s", metrics)
	}
	book.Tools[1].Checks = failing("first")
	s.Swap(build(t, 2, s.Table(), book))
	if metrics := scrape(t, registry); !strings.Contains(metrics, first) || strings.Contains(metrics, second) {
		t.Errorf("after a swap, metrics are\n%s", metrics)
	}
	book.Tools = book.Tools[:1]
	s.Swap(build(t, 3, s.Table(), book))
	if metrics := scrape(t, registry); strings.Contains(metrics, first) {
		t.Errorf("without the tool, metrics are\n%s", metrics)
	}
}

// TestObservedRetries has a request that goes out twice: the log says so, and a metric
// why.
func TestObservedRetries(t *testing.T) {
	log, registry := &lines{}, prometheus.NewRegistry()
	statuses := make(chan int, 2)
	statuses <- 503
	statuses <- 200
	book := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(<-statuses)
		_, _ = io.WriteString(w, `{}`)
	})))
	book.Errors.Rules[1].Retry = true
	book.Upstream.RetryBudget = &irv1.RetryBudget{PerSecond: 1}
	for _, tool := range book.GetTools() {
		tool.Retry = &irv1.Retry{Attempts: 2, MaxWait: durationpb.New(time.Second), Backoff: durationpb.New(time.Millisecond)}
	}
	s, url := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: registry}, book)
	post(t, url+"/library", eras[1], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
	if all := strings.Join(log.all(), ""); !strings.Contains(all, `"class":"ok","status":200,"attempts":2,`) {
		t.Errorf("log is %s", all)
	}
	const retried = `bindery_node_retries_total{endpoint="/library",rule="server",tool="get_book"} 1`
	if metrics := scrape(t, registry); !strings.Contains(metrics, retried) {
		t.Errorf("metrics are without %s:\n%s", retried, metrics)
	}
	// A binding that changed may have rules of other names.
	book.Title = "Changed"
	s.Swap(build(t, 2, s.Table(), book))
	if metrics := scrape(t, registry); strings.Contains(metrics, "bindery_node_retries_total{") {
		t.Errorf("metrics are\n%s", metrics)
	}
}

// TestForgottenTools has a tool that a swap takes away: what was counted of it goes
// too, or names would pile up for as long as a node runs.
func TestForgottenTools(t *testing.T) {
	registry := prometheus.NewRegistry()
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, url := serving(t, Config{Metrics: registry}, book)
	post(t, url+"/library", eras[1], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
	post(t, url+"/library", eras[1], "tools/call", `{"name":"add_book","arguments":{"payload":{"title":"x"}}}`)
	book.Tools = book.Tools[:1]
	s.Swap(build(t, 2, s.Table(), book))
	if metrics := scrape(t, registry); strings.Contains(metrics, `tool="get_book"`) || !strings.Contains(metrics, `tool="add_book"`) {
		t.Errorf("metrics are\n%s", metrics)
	}
}

// TestNothingLeaks plants a marker wherever a caller or an upstream can put one
// and looks for it wherever an operator looks, and in the errors that the node
// itself words.
func TestNothingLeaks(t *testing.T) {
	proof.Ran(t)
	const marker = "M4RK3R"
	log, registry := &lines{}, prometheus.NewRegistry()
	reply := make(chan int, 1)
	book := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Marker", marker)
		w.WriteHeader(<-reply)
		_, _ = io.WriteString(w, `<p>`+marker+`</p>`)
	})))
	_, url := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Metrics: registry}, book)
	tests := []struct {
		params string
		status int // that the upstream answers with; 0 when it must not be called
	}{
		{`{"name":"get_book","arguments":{"id":"` + marker + `"}}`, 500},
		{`{"name":"get_book","arguments":{"id":"` + marker + `"}}`, 404},
		{`{"name":"get_book","arguments":{"id":"` + marker + `"}}`, 200}, // the body is no JSON
		{`{"name":"get_book","arguments":{"id":{"` + marker + `":1}}}`, 0},
		{`{"name":"get_book","arguments":{"id":"1","` + marker + `":1}}`, 500},
		{`{"name":"get_book","arguments":{"id":"1","id":"` + marker + `"}}`, 0},
		{`{"name":"add_book","arguments":{"payload":{"title":["` + marker + `"]}}}`, 0},
		{`{"name":"add_book","arguments":{"payload":"` + marker + `"}}`, 0},
		{`{"name":"add_book","arguments":{"meta":{"request_id":"` + marker + `"},"payload":{"title":"` + marker + `"}}}`, 503},
		{`{"name":"add_book","arguments":{"meta":{"request_id":"` + marker + `\n"},"payload":{"title":"x"}}}`, 0},
		{`{"name":"add_book","arguments":{"meta":{"request_id":["` + marker + `"]},"payload":{"title":"x"}}}`, 0},
		{`{"name":"add_book","arguments":"` + marker + `"}`, 0},
		{`{"name":["` + marker + `"]}`, 0},
		{`{"_meta":"` + marker + `","name":"get_book"}`, 0},
	}
	for _, tt := range tests {
		for _, era := range eras {
			if tt.status != 0 {
				reply <- tt.status
			}
			_, body := post(t, url+"/library", era, "tools/call", tt.params)
			if strings.Contains(body, marker) || !strings.Contains(body, `"error"`) {
				t.Errorf("%s is answered with %s", tt.params, body)
			}
		}
	}
	// An unknown tool is named to the caller, and to nobody else.
	post(t, url+"/library", eras[1], "tools/call", `{"name":"`+marker+`"}`)
	if all := strings.Join(log.all(), ""); strings.Contains(all, marker) || strings.Contains(all, "open sesame") {
		t.Errorf("log holds what it should not:\n%s", all)
	}
	if metrics := scrape(t, registry); strings.Contains(metrics, marker) {
		t.Errorf("metrics hold what they should not:\n%s", metrics)
	}
}

// TestSurvive has a handler that panics with something nobody should read.
func TestSurvive(t *testing.T) {
	log := &lines{}
	s := New(Config{Log: slog.New(slog.NewJSONHandler(log, nil))})
	panics := s.newEndpoint("/library").survive(func(context.Context, string, mcp.Request) (mcp.Result, error) {
		panic("M4RK3R")
	})
	res, err := panics(t.Context(), "tools/list", nil)
	if res != nil || err == nil || strings.Contains(err.Error(), "M4RK3R") {
		t.Errorf("answer is %v, %v", res, err)
	}
	if all := strings.Join(log.all(), ""); strings.Contains(all, "M4RK3R") || !strings.Contains(all, "TestSurvive") {
		t.Errorf("log is %s", all)
	}
}

// TestSurviveHTTP has a panic outside of the SDK: the connection is dropped, and
// nobody reads what the panic said.
func TestSurviveHTTP(t *testing.T) {
	log := &lines{}
	s := New(Config{Log: slog.New(slog.NewJSONHandler(log, nil))})
	s.live.Store(&live{table: &table.Table{}, endpoints: map[string]*endpoint{"/library": {http: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("M4RK3R") })}}})
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelError)
	h.Start()
	defer h.Close()
	r := posted(t, h.URL+"/library", eras[1], "ping", `{}`)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if resp, err := http.DefaultClient.Do(r); err == nil {
		resp.Body.Close()
		t.Errorf("status is %d", resp.StatusCode)
	}
	if all := strings.Join(log.all(), ""); strings.Contains(all, "M4RK3R") || !strings.Contains(all, "TestSurviveHTTP") {
		t.Errorf("log is %s", all)
	}
}

func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// lines is a log that may be written and read concurrently.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(strings.Lines(l.buf.String()))
}
