package serve

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestBreachesAreCounted reads metrics and log after bodies that break their schemas
// in both directions, with names that callers and an upstream made up.
func TestBreachesAreCounted(t *testing.T) {
	const marker = "M4RK3R"
	log, registry := &lines{}, prometheus.NewRegistry()
	book := librarytest.Binding(upstream(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"title":{"`+marker+`":1},"`+marker+`":["`+marker+`"]}`)
	})))
	add := book.Tools[0]
	add.Payload.Check = irv1.Check_CHECK_WARN
	add.Output = &irv1.Output{Schema: add.GetInputSchema(), Check: irv1.Check_CHECK_WARN}
	get := book.Tools[1]
	get.Output = &irv1.Output{Schema: get.GetInputSchema(), Check: irv1.Check_CHECK_ENFORCE}
	s, url := serving(t, Config{Log: slog.New(slog.NewJSONHandler(log, nil)), Metrics: registry}, book)
	for _, era := range eras {
		post(t, url+"/library", era, "tools/call", `{"name":"add_book","arguments":{"payload":{"title":["`+marker+`"]}}}`)
		post(t, url+"/library", era, "tools/call", `{"name":"add_book","arguments":{"payload":{"title":"x"}}}`)
		post(t, url+"/library", era, "tools/call", `{"name":"get_book","arguments":{"id":"`+marker+`"}}`)
	}
	metrics, n := scrape(t, registry), len(eras)
	for _, want := range []string{
		fmt.Sprintf(`bindery_node_schema_violations_total{direction="payload",endpoint="/library",path="$.title",tool="add_book"} %d`, n),
		fmt.Sprintf(`bindery_node_schema_violations_total{direction="result",endpoint="/library",path="$.payload",tool="add_book"} %d`, 2*n),
		fmt.Sprintf(`bindery_node_schema_violations_total{direction="result",endpoint="/library",path="$.id",tool="get_book"} %d`, n),
		fmt.Sprintf(`bindery_node_calls_total{class="ok",endpoint="/library",tool="add_book"} %d`, 2*n),
		fmt.Sprintf(`bindery_node_calls_total{class="invalid_result",endpoint="/library",tool="get_book"} %d`, n),
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("metrics are without %s:\n%s", want, metrics)
		}
	}
	all := strings.Join(log.all(), "")
	if !strings.Contains(all, `"payload_breach":"$.title type","result_breach":"$.payload required"`) {
		t.Errorf("log is\n%s", all)
	}
	if strings.Contains(all+metrics, marker) {
		t.Errorf("log or metrics hold what was sent:\n%s\n%s", all, metrics)
	}
	book.Tools = book.Tools[1:]
	s.Swap(build(t, 2, s.Table(), book))
	if metrics := scrape(t, registry); strings.Contains(metrics, `tool="add_book"`) || !strings.Contains(metrics, `path="$.id",tool="get_book"`) {
		t.Errorf("metrics are\n%s", metrics)
	}
}

// TestPlacesAreBounded counts more places than a tool has series for.
func TestPlacesAreBounded(t *testing.T) {
	b := newBreaches()
	registry := prometheus.NewRegistry()
	registry.MustRegister(b.total)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for place := range 2 * maxPlaces {
				b.count("/mcp", "t", call.Breach{Direction: []call.Direction{call.Payload, call.Result}[i%2], Place: fmt.Sprint("$.", place)})
			}
		})
	}
	b.count("/mcp", "u", call.Breach{Direction: call.Payload, Place: "$"})
	all.Wait()
	series := func() int { return strings.Count(scrape(t, registry), "\nbindery_node_schema_violations_total{") }
	if n := series(); n != maxPlaces+2+1 {
		t.Errorf("%d series, want %d, other in two directions, and that of the other tool", n, maxPlaces)
	}
	b.forget("/mcp", "t")
	b.count("/mcp", "t", call.Breach{Direction: call.Payload, Place: "$.new"})
	if n := series(); n != 2 {
		t.Errorf("%d series of two tools, one of them new", n)
	}
}
