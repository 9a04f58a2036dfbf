package controlplane

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/feed"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

// BenchmarkDelivery measures from the moment a revision is durable until every node
// acked it: 1 of 150 bindings changed, 1,000 nodes, all in this process. Each node
// parses and verifies what it gets; none builds a table.
func BenchmarkDelivery(b *testing.B) {
	const nodes, bindings = 1000, 150
	var stored time.Time
	p := start(b, b.TempDir(), "", func(c *Config) {
		c.OnStep = func(step string) {
			if step == StepStored {
				stored = time.Now()
			}
		}
	})
	var files []string
	for i := range bindings {
		files = append(files, fmt.Sprintf("b%03d.cue", i), fmt.Sprintf("%0700d", i))
	}
	p.want(adminv1.Result_RESULT_NO_NODES, sources(files...))
	var all []*node
	for i := range nodes {
		all = append(all, join(b, fmt.Sprintf("n%04d", i), nil, p.addr))
	}
	for _, n := range all {
		n.await(b, feed.StepAcked)
	}
	var took []time.Duration
	round := 0
	for b.Loop() {
		round++
		files[1] = fmt.Sprintf("%0700d", round)
		p.want(adminv1.Result_RESULT_STORED, sources(files...), noWait)
		for _, n := range all {
			n.await(b, feed.StepAcked)
		}
		took = append(took, time.Since(stored))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}
