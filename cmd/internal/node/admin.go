package node

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// admin is the handler of the admin listener.
func (n *node) admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		state(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case n.draining.Load():
			state(w, http.StatusServiceUnavailable, "draining")
		case n.serve.Table() == nil:
			state(w, http.StatusServiceUnavailable, "nothing to serve yet")
		default:
			state(w, http.StatusOK, "ready")
		}
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{}))
	return mux
}

func state(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a prober that is gone needs no answer
}

// metrics counts what becomes of configurations.
type metrics struct {
	reloads    prometheus.Counter
	refused    prometheus.Counter
	generation prometheus.Gauge
	connected  prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		reloads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bindery_node_reloads_total",
			Help: "Tables swapped in.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bindery_node_refused_total",
			Help: "Attempts to build a table that failed; the table before it went on.",
		}),
		generation: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_generation",
			Help: "Number of the generation that is served; 0 for none and for a bundle file.",
		}),
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bindery_node_control_plane_connected",
			Help: "1 while a stream to a control plane is open.",
		}),
	}
	r.MustRegister(m.reloads, m.refused, m.generation, m.connected,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
