package serve

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// metrics counts what a server does. Label values come from the table, never from
// a caller: a caller could make up any number of them.
type metrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	retries  *prometheus.CounterVec
	breaches *breaches
	checks   *prometheus.CounterVec
	large    *prometheus.CounterVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
	sessions prometheus.Gauge
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
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindery_node_retries_total",
			Help: "Requests sent to an upstream again, by endpoint, tool and the error rule that asked for it.",
		}, []string{"endpoint", "tool", "rule"}),
		breaches: newBreaches(),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindery_node_check_failures_total",
			Help: "Calls that failed a check of their tool, by endpoint, tool and check.",
		}, []string{"endpoint", "tool", "check"}),
		large: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindery_node_large_results_total",
			Help: "Results with more than 10 KB of structured content, which models do not work well with, by endpoint and tool.",
		}, []string{"endpoint", "tool"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_calls_in_flight",
			Help: "Calls that have begun and are not answered yet.",
		}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_listen_streams",
			Help: "Clients that wait to hear of changes.",
		}),
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_sessions",
			Help: "Sessions of clients that were given one.",
		}),
	}
	if r != nil {
		r.MustRegister(m.calls, m.duration, m.retries, m.breaches.total, m.checks, m.large, m.inFlight, m.streams, m.sessions)
	}
	return m
}

func (m *metrics) observe(endpoint, tool string, o call.Outcome, took time.Duration) {
	m.calls.WithLabelValues(endpoint, tool, o.Class.String()).Inc()
	m.duration.WithLabelValues(endpoint, tool).Observe(took.Seconds())
	if result.IsLarge(o) {
		m.large.WithLabelValues(endpoint, tool).Inc()
	}
	for _, name := range o.Checks {
		m.checks.WithLabelValues(endpoint, tool, name).Inc()
	}
}

// forget drops what was counted of tools that prev has and next has not: names come
// and go for as long as a node runs.
func (m *metrics) forget(prev, next *table.Table) {
	for _, path := range prev.Endpoints() {
		at := next.Endpoint(path)
		for _, tool := range prev.Endpoint(path).Tools {
			gone := prometheus.Labels{"endpoint": path, "tool": tool.Name}
			if at == nil || at.Tool(tool.Name) != tool {
				m.retries.DeletePartialMatch(gone) // its rules may have other names
			}
			if at != nil && at.Tool(tool.Name) != nil {
				m.forgetChecks(path, tool, at.Tool(tool.Name))
				continue
			}
			m.calls.DeletePartialMatch(gone)
			m.duration.Delete(gone)
			m.breaches.forget(path, tool.Name)
			m.checks.DeletePartialMatch(gone)
			m.large.Delete(gone)
		}
	}
}

// forgetChecks drops what was counted of checks that the tool prev has and next has
// not.
func (m *metrics) forgetChecks(endpoint string, prev, next *table.Tool) {
	for _, name := range prev.Checks.Names() {
		if !slices.Contains(next.Checks.Names(), name) {
			m.checks.DeleteLabelValues(endpoint, prev.Name, name)
		}
	}
}
