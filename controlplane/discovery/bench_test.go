package discovery_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/controlplane/rollout"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// BenchmarkCommit measures from the offer of a generation until every node acked it:
// 1 of 150 bindings changed. A node is a connection of its own that reads what comes
// and acks, all in this process.
func BenchmarkCommit(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) { benchmarkCommit(b, nodes) })
	}
}

func benchmarkCommit(b *testing.B, nodes int) {
	s := serve(b)
	var titles []string
	for i := range 150 {
		titles = append(titles, fmt.Sprintf("%0700d", i))
	}
	var wave sync.WaitGroup
	wave.Add(nodes)
	for i := range nodes {
		conn, err := grpc.NewClient(s.dial.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		c, err := discoveryv1.NewDiscoveryServiceClient(conn).Sync(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Send(hello(fmt.Sprint("n", i))); err != nil {
			b.Fatal(err)
		}
		go follow(c, &wave)
	}
	s.offer(b, 1, titles...)
	wave.Wait()
	var took []time.Duration
	number := uint64(1)
	for b.Loop() {
		number++
		titles[7] = fmt.Sprintf("%0700d", number)
		wave.Add(nodes)
		start := time.Now()
		s.offer(b, number, titles...)
		wave.Wait()
		for !s.allSynced() {
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}

func (s *server) allSynced() bool {
	return !slices.ContainsFunc(s.Nodes("default"), func(n rollout.Node) bool { return n.State != rollout.Synced })
}

// follow acks every generation and says so to wave.
func follow(c stream, wave *sync.WaitGroup) {
	for {
		m, err := c.Recv()
		if err != nil {
			return
		}
		push := m.GetPush()
		for range push.GetBlobs() {
			if _, err := c.Recv(); err != nil {
				return
			}
		}
		if c.Send(ack(push.GetGeneration())) != nil {
			return
		}
		wave.Done()
	}
}
