package main

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// inner returns the target of a call over loopback to a node's own parts in this
// process, with the upstream in it too: what a profile of a benchmark shows.
func inner(b testing.TB, e era, noFastPath bool) *target {
	b.Helper()
	rest := httptest.NewServer(upstream())
	b.Cleanup(rest.Close)
	dir := filepath.Join(b.TempDir(), "acp")
	if err := copyModule(dir); err != nil {
		b.Fatal(err)
	}
	data, err := compileModule(context.Background(), dir, rest.URL)
	if err != nil {
		b.Fatal(err)
	}
	bundle := filepath.Join(b.TempDir(), "acp.bundle")
	if err := replace(bundle, data); err != nil {
		b.Fatal(err)
	}
	content, err := openBundle(bundle)
	if err != nil {
		b.Fatal(err)
	}
	env := func(string) (string, bool) { return token, true }
	t, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, table.Deps{Secrets: secret.New("", env)})
	if err != nil {
		b.Fatal(err)
	}
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { log.Close() })
	node := serve.New(serve.Config{NoFastPath: noFastPath, Metrics: prometheus.NewRegistry(), Log: slog.New(slog.NewJSONHandler(log, nil))})
	node.Swap(t)
	front := httptest.NewServer(node)
	b.Cleanup(front.Close)
	to, err := mcpTarget(&process{addr: strings.TrimPrefix(front.URL, "http://")}, e)
	if err != nil {
		b.Fatal(err)
	}
	return to
}

// TestTargets holds that what is measured is what is meant: every way answers the
// session.
func TestTargets(t *testing.T) {
	for _, e := range eras() {
		for _, noFastPath := range []bool{false, true} {
			c, err := dial(inner(t, e, noFastPath))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.ask(); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestAddedRatios(t *testing.T) {
	of := func(latencies ...time.Duration) (all []sample) {
		for _, l := range latencies {
			all = append(all, sample{latency: []time.Duration{l}})
		}
		return all
	}
	if got := addedRatios(of(7, 9, 9), of(5, 3, 2), of(3, 3, 3)); !slices.Equal(got, []float64{2}) {
		t.Errorf("the ratios are %v", got)
	}
}

func BenchmarkCall(b *testing.B) {
	for _, e := range eras() {
		for _, name := range []string{"fast", "sdk"} {
			b.Run(name+"/"+e.name, func(b *testing.B) {
				c, err := dial(inner(b, e, name == "sdk"))
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.ask(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
