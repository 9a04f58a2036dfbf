package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/table"
)

// metrics counts what a server does. Label values come from the table, never from
// a caller: a caller could make up any number of them.
type metrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	breaches *breaches
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
}

// newMetrics registers the metrics of one server; r may be nil.
func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindery_node_calls_total",
			Help: "Calls answered, by endpoint, tool and class of outcome. A call of an unknown tool has an empty tool.",
		}, []string{"endpoint", "tool", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "bindery_node_call_duration_seconds",
			Help:    "Time from the arguments of a call to its outcome, by endpoint and tool.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"endpoint", "tool"}),
		breaches: newBreaches(),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_calls_in_flight",
			Help: "Calls that have begun and are not answered yet.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_listen_streams",
			Help: "Clients that wait to hear of changes.",
		}),
	}
	if r != nil {
		r.MustRegister(m.calls, m.duration, m.breaches.total, m.inFlight, m.streams)
	}
	return m
}

func (m *metrics) observe(endpoint, tool, class string, took time.Duration) {
	m.calls.WithLabelValues(endpoint, tool, class).Inc()
	m.duration.WithLabelValues(endpoint, tool).Observe(took.Seconds())
}

// forget drops what was counted of tools that prev has and next has not: names come
// and go for as long as a node runs.
func (m *metrics) forget(prev, next *table.Table) {
	for _, path := range prev.Endpoints() {
		at := next.Endpoint(path)
		for _, tool := range prev.Endpoint(path).Tools {
			if at != nil && at.Tool(tool.Name) != nil {
				continue
			}
			gone := prometheus.Labels{"endpoint": path, "tool": tool.Name}
			m.calls.DeletePartialMatch(gone)
			m.duration.Delete(gone)
			m.breaches.forget(path, tool.Name)
		}
	}
}
