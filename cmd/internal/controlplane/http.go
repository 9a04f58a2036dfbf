package controlplane

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/bindery-dev/bindery/controlplane/admin"
	"github.com/bindery-dev/bindery/controlplane/discovery"
	"github.com/bindery-dev/bindery/controlplane/rollout"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// handler serves the admin port.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		state(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.health.Check(r.Context(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			state(w, http.StatusServiceUnavailable, "stopping")
			return
		}
		state(w, http.StatusOK, "ready")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

func state(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // a prober that is gone needs no answer
}

// metrics are what Prometheus is told. Most are read from the discovery server when
// they are asked for.
type metrics struct {
	registry  *prometheus.Registry
	revisions prometheus.Counter
	compile   prometheus.Histogram
}

// liveHeap is what the heap held when garbage was last collected: what is in use in
// between depends on the collector.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

func newMetrics(nodes *discovery.Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		revisions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bindery_controlplane_revisions_total", Help: "Revisions stored since the start.",
		}),
		compile: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "bindery_controlplane_compile_seconds", Help: "Time to compile the sources of one revision.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}),
	}
	m.registry.MustRegister(m.revisions, m.compile, nodesCollector{nodes},
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	counts := &nodes.Counts
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "bindery_controlplane_streams", Help: "Open streams of nodes.",
		}, func() float64 { return float64(counts.Streams.Load()) }),
		counter("pushes_total", "Generations sent to a node.", counts.Pushes.Load),
		counter("pushed_blobs_total", "Blobs sent to nodes.", counts.Blobs.Load),
		counter("pushed_bytes_total", "Bytes sent to nodes, without framing.", counts.Bytes.Load),
		counter("acks_total", "Generations that a node took over.", counts.Acks.Load),
		counter("nacks_total", "Generations that a node refused.", counts.Nacks.Load),
	)
	return m
}

func counter(name, help string, load func() int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "bindery_controlplane_" + name, Help: help},
		func() float64 { return float64(load()) })
}

// timed measures a compiler.
func (m *metrics) timed(compile admin.Compile) admin.Compile {
	return func(ctx context.Context, s *sourcev1.Sources) (*sourcev1.Compiled, error) {
		start := time.Now()
		defer func() { m.compile.Observe(time.Since(start).Seconds()) }()
		return compile(ctx, s)
	}
}

// stored counts revisions by the step that every one of them passes.
func (m *metrics) stored(next func(string)) func(string) {
	return func(step string) {
		if step == admin.StepStored {
			m.revisions.Inc()
		}
		next(step)
	}
}

// nodesCollector counts nodes by group and state.
type nodesCollector struct{ nodes *discovery.Server }

var nodesDesc = prometheus.NewDesc("bindery_controlplane_nodes", "Known nodes.", []string{"group", "state"}, nil)

var stateNames = map[rollout.State]string{
	rollout.Pending:      "pending",
	rollout.Synced:       "synced",
	rollout.Rejected:     "rejected",
	rollout.Incompatible: "incompatible",
	rollout.Drifted:      "drifted",
	rollout.Disconnected: "disconnected",
}

func (nodesCollector) Describe(descs chan<- *prometheus.Desc) { descs <- nodesDesc }

func (c nodesCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, group := range c.nodes.Groups() {
		count := map[rollout.State]int{}
		for _, n := range c.nodes.Nodes(group) {
			count[n.State]++
		}
		for s, name := range stateNames {
			metrics <- prometheus.MustNewConstMetric(nodesDesc, prometheus.GaugeValue, float64(count[s]), group, name)
		}
	}
}
