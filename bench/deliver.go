package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A deliverConfig says what to deliver to how many.
type deliverConfig struct {
	nodes     counts
	revisions int
	bindings  int
	conns     int    // 0: one each
	binary    string // the control plane; "": built for this run
	json      bool
}

// counts is a flag: numbers with commas in between.
type counts []int

func (c *counts) String() string { return strings.Trim(fmt.Sprint([]int(*c)), "[]") }

func (c *counts) Set(text string) error {
	*c = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of nodes", part)
		}
		*c = append(*c, n)
	}
	return nil
}

// A delivered row is what bringing revisions to so many nodes took. Latencies are over
// revisions, from the moment that one is durable.
type delivered struct {
	Nodes       int     `json:"nodes"`
	Connections int     `json:"connections"`
	Revisions   int     `json:"revisions"`
	Acked50     float64 `json:"acked_p50_ms"` // until the last node sent its ack
	Acked99     float64 `json:"acked_p99_ms"`
	Told50      float64 `json:"told_p50_ms"` // until the operator who applied it is told
	Told99      float64 `json:"told_p99_ms"`
	CPU         float64 `json:"cpu_us_per_push"`       // of the control plane
	ClientCPU   float64 `json:"nodes_cpu_us_per_push"` // of all nodes, and of the operator
	Bytes       float64 `json:"bytes_per_push"`
	RSS         float64 `json:"rss_kb_per_stream"` // before any of the revisions
	Heap        float64 `json:"heap_kb_per_stream"`
	Stacks      float64 `json:"stacks_kb_per_stream"`
	LaterRSS    float64 `json:"later_rss_kb_per_stream"` // after all of them
}

func deliver(ctx context.Context, args []string) error {
	cfg := deliverConfig{nodes: counts{1000, 5000}}
	flags := flag.NewFlagSet("deliver", flag.ContinueOnError)
	flags.Var(&cfg.nodes, "nodes", "`N,...` nodes, each number with a control plane of its own")
	flags.IntVar(&cfg.revisions, "revisions", 100, "`N` revisions to deliver, each with one changed binding")
	flags.IntVar(&cfg.bindings, "bindings", 150, "`N` bindings of the module")
	flags.IntVar(&cfg.conns, "conns", 0, "`N` connections that all streams share; 0 is one a node")
	flags.StringVar(&cfg.binary, "controlplane", "", "measure this bindery-controlplane, to compare builds: `FILE`; default is that of this checkout")
	flags.BoolVar(&cfg.json, "json", false, "print JSON")
	return inDir(flags, args, func(dir string) (err error) {
		if cfg.binary, err = built(ctx, dir, "bindery-controlplane", cfg.binary); err != nil {
			return err
		}
		debug.SetGCPercent(-1) // nodes share the machine with what is measured: see revisions
		var rows []delivered
		for _, nodes := range cfg.nodes {
			progress(fmt.Sprintf("%d revisions to %d nodes", cfg.revisions, nodes))
			r, err := measureDelivery(ctx, dir, nodes, cfg)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		if cfg.json {
			return json.NewEncoder(os.Stdout).Encode(rows)
		}
		printDelivered(os.Stdout, rows)
		return nil
	})
}

func printDelivered(out io.Writer, rows []delivered) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "nodes\tconnections\trevisions\tall acked\t\toperator told\t\tCPU\tits nodes'\tKB\tKB a stream, idle\t\t\tafter all\t")
	fmt.Fprintln(w, "\t\t\tp50 ms\tp99 ms\tp50 ms\tp99 ms\tus a push\tus a push\ta push\tRSS\theap\tstacks\tRSS\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%d\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t\n", r.Nodes, r.Connections, r.Revisions,
			r.Acked50, r.Acked99, r.Told50, r.Told99, r.CPU, r.ClientCPU, r.Bytes/1024, r.RSS, r.Heap, r.Stacks, r.LaterRSS)
	}
	_ = w.Flush() // to a terminal or a pipe that is gone
}

// A delivery is a control plane, its operator and its nodes.
type delivery struct {
	plane    *process
	operator adminv1.AdminServiceClient
	crowd    *crowd
	sources  *sourcev1.Sources
}

func measureDelivery(ctx context.Context, dir string, nodes int, cfg deliverConfig) (delivered, error) {
	r := delivered{Nodes: nodes, Connections: cfg.conns, Revisions: cfg.revisions}
	if r.Connections == 0 {
		r.Connections = nodes
	}
	data := filepath.Join(dir, fmt.Sprint("data-", nodes))
	plane, err := startDaemon(ctx, dir, cfg.binary, "--data", data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	if err != nil {
		return r, err
	}
	defer plane.stop()
	conn, err := grpc.NewClient(plane.addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(irv1.MaxBundle)))
	if err != nil {
		return r, err
	}
	defer conn.Close()
	d := &delivery{plane: plane, operator: adminv1.NewAdminServiceClient(conn), sources: manyBindings(cfg.bindings)}
	if _, err := d.apply(ctx, 0, adminv1.Result_RESULT_NO_NODES); err != nil {
		return r, err
	}
	alone, err := d.memory(ctx)
	if err != nil {
		return r, err
	}
	if d.crowd, ctx, err = newCrowd(ctx, plane.addr, nodes, cfg.conns); err != nil {
		return r, err
	}
	defer d.crowd.close()
	err = d.measure(ctx, &r, alone)
	return r, err
}

// measure fills in r. alone is what the control plane held before nodes came.
func (d *delivery) measure(ctx context.Context, r *delivered, alone memory) error {
	if _, err := d.crowd.await(ctx); err != nil {
		return err
	}
	idle, err := d.memory(ctx)
	if err != nil {
		return err
	}
	perStream := func(now, before float64) float64 { return (now - before) / 1024 / float64(r.Nodes) }
	r.RSS, r.Heap, r.Stacks = perStream(idle.rss, alone.rss), perStream(idle.heap, alone.heap), perStream(idle.stacks, alone.stacks)
	if err := d.revisions(ctx, r); err != nil {
		return err
	}
	later, err := d.plane.rss()
	r.LaterRSS = perStream(later, alone.rss)
	return err
}

// collectEvery is after how many revisions the garbage of the nodes is collected, in
// between: 5,000 of them leave 100 MB each time.
const collectEvery = 5

// revisions delivers them one after the other.
func (d *delivery) revisions(ctx context.Context, r *delivered) error {
	before, err := d.spent()
	if err != nil {
		return err
	}
	var acked, told []time.Time
	for i := range r.Revisions {
		if i%collectEvery == 0 {
			runtime.GC()
		}
		last, outcome, err := d.round(ctx, i+1, r.Nodes)
		if err != nil {
			return err
		}
		acked, told = append(acked, last), append(told, outcome)
	}
	after, err := d.spent()
	if err != nil {
		return err
	}
	pushes := float64(r.Revisions * r.Nodes)
	r.CPU, r.ClientCPU = micros(after.plane-before.plane)/pushes, micros(after.nodes-before.nodes)/pushes
	r.Bytes = (after.counts["bindery_controlplane_pushed_bytes_total"] - before.counts["bindery_controlplane_pushed_bytes_total"]) / pushes
	return errors.Join(r.latencies(d.plane, acked, told), r.once(after.counts))
}

// round delivers one revision. It returns when the last node acked it and when the
// operator was told.
func (d *delivery) round(ctx context.Context, round, nodes int) (acked, told time.Time, err error) {
	d.crowd.expect()
	o, err := d.apply(ctx, round, adminv1.Result_RESULT_SYNCED)
	told = time.Now()
	if err == nil {
		err = allRun(o, nodes)
	}
	if err == nil {
		acked, err = d.crowd.await(ctx)
	}
	return acked, told, err
}

// spent is what was spent so far.
type spent struct {
	plane, nodes time.Duration // of CPU
	counts       map[string]float64
}

func (d *delivery) spent() (s spent, err error) {
	if s.plane, err = cpuOf(d.plane.cmd.Process.Pid); err != nil {
		return s, err
	}
	if s.nodes, err = cpuOf(os.Getpid()); err != nil {
		return s, err
	}
	s.counts, err = d.plane.metrics()
	return s, err
}

// latencies counts from the moments at which the control plane logged that revisions
// are durable.
func (r *delivered) latencies(plane *process, acked, told []time.Time) error {
	stored, err := plane.logged("revision stored")
	if err != nil {
		return err
	}
	if len(stored) != r.Revisions+1 {
		return fmt.Errorf("the log has %d revisions, and %d were applied", len(stored), r.Revisions+1)
	}
	var all, until sample
	for i, s := range stored[1:] {
		all.latency = append(all.latency, acked[i].Sub(s.Time))
		until.latency = append(until.latency, told[i].Sub(s.Time))
	}
	slices.Sort(all.latency)
	slices.Sort(until.latency)
	r.Acked50, r.Acked99 = millis(all.quantile(.5)), millis(all.quantile(.99))
	r.Told50, r.Told99 = millis(until.quantile(.5)), millis(until.quantile(.99))
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// once holds the control plane's own counts to one ack for each node and revision, the
// first included, as the nodes hold what they get.
func (r *delivered) once(counts map[string]float64) error {
	acks, nacks := counts["bindery_controlplane_acks_total"], counts["bindery_controlplane_nacks_total"]
	if acks != float64(r.Nodes*(r.Revisions+1)) || nacks != 0 {
		return fmt.Errorf("%d nodes got %d revisions, and the control plane counts %.0f acks and %.0f nacks", r.Nodes, r.Revisions+1, acks, nacks)
	}
	return nil
}

// allRun returns an error unless an outcome says of all nodes that they run what was
// applied.
func allRun(o *adminv1.Outcome, nodes int) error {
	if len(o.GetNodes()) != nodes {
		return fmt.Errorf("the operator was told of %d nodes of %d", len(o.GetNodes()), nodes)
	}
	for _, n := range o.GetNodes() {
		if !n.GetRunning().Same(o.GetRevision().GetGeneration()) {
			return fmt.Errorf("the operator was told that %s runs %v", n.GetId(), n.GetRunning())
		}
	}
	return nil
}

// apply changes a binding, another one each time, and sends the module as an operator
// does who waits for the nodes.
func (d *delivery) apply(ctx context.Context, round int, want adminv1.Result) (*adminv1.Outcome, error) {
	i := 1 + round%(len(d.sources.Files)-1)
	d.sources.Files[i] = binding(i-1, round)
	stream, err := d.operator.Apply(ctx)
	if err == nil {
		err = send(stream, d.sources)
	}
	var o *adminv1.Outcome
	for o == nil && err == nil {
		var m *adminv1.ApplyResponse
		m, err = stream.Recv()
		o = m.GetOutcome()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, fmt.Errorf("round %d: %w", round, err)
	}
	if o.GetResult() != want {
		return nil, fmt.Errorf("round %d ended as %v: %v", round, o.GetResult(), o.GetDiagnostics())
	}
	return o, nil
}

func send(stream adminv1.AdminService_ApplyClient, s *sourcev1.Sources) error {
	start := &adminv1.ApplyStart{Group: "default", Message: "bench"}
	if err := stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_Start{Start: start}}); err != nil {
		return err
	}
	for _, f := range s.GetFiles() {
		if err := stream.Send(&adminv1.ApplyRequest{Kind: &adminv1.ApplyRequest_File{File: f}}); err != nil {
			return err
		}
	}
	return stream.CloseSend()
}

// manyBindings returns a module of n bindings, each in a file of its own.
func manyBindings(n int) *sourcev1.Sources {
	s := &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"bench.example@v0\"\nlanguage: version: \"v0.16.0\"\n")},
	}}
	for i := range n {
		s.Files = append(s.Files, binding(i, 0))
	}
	return s
}

func binding(i, round int) *sourcev1.File {
	return &sourcev1.File{Path: fmt.Sprintf("library%03d.cue", i), Data: fmt.Appendf(nil, bindingSource, i, round)}
}

const bindingSource = `package bindings

import "bindery.dev/bind"

bindings: library%03[1]d: bind.#Binding & {
	upstream: url: "https://library%03[1]d.example"
	tools: lend%03[1]d: {
		description: "Lend a book of library %[1]d, as said in round %[2]d."
		http:        "POST /loans/{book}"
		args: book: description:   "The book's number in library %[1]d."
		args: copies: {in: "query", type: "integer", description: "How many copies."}
	}
}
`

// A memory is what a process holds, in bytes.
type memory struct{ rss, heap, stacks float64 }

// collections is how often garbage is collected before the heap is looked at: what is
// pooled stays for two.
const collections = 3

// memory returns what the control plane holds: resident as it is, heap and stacks once
// garbage is collected.
func (d *delivery) memory(ctx context.Context) (m memory, err error) {
	if m.rss, err = d.plane.rss(); err != nil {
		return m, err
	}
	before, err := d.plane.metrics()
	if err != nil {
		return m, err
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if _, err := d.operator.ListNodes(ctx, &adminv1.ListNodesRequest{}); err != nil { // what it answers is soon garbage
			return m, err
		}
		after, err := d.plane.metrics()
		if err != nil {
			return m, err
		}
		if after["go_gc_duration_seconds_count"] >= before["go_gc_duration_seconds_count"]+collections {
			m.heap, m.stacks = after["go_gc_heap_live_bytes"], after["go_memstats_stack_inuse_bytes"]
			return m, nil
		}
	}
	return m, errors.New("the control plane does not collect garbage")
}

// rss returns the resident memory of the process.
func (p *process) rss() (float64, error) {
	m, err := p.metrics()
	return m["process_resident_memory_bytes"], err
}
