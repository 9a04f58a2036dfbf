package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// A row is what is printed of a contender. Ratios are medians over rounds of what
// was measured in the same round, and 0 where there is nothing to compare.
type row struct {
	Name string `json:"name"`
	// Throughput is calls per second under load, over those of the reverse proxy.
	Throughput float64 `json:"throughput_ratio"`
	// CPU is the CPU time per call, over that of the reverse proxy.
	CPU float64 `json:"cpu_ratio"`
	// Added is the p50 with one client, less that of the upstream, in microseconds.
	Added float64 `json:"added_p50_us"`
	// AddedRatio is that over what the reverse proxy adds.
	AddedRatio float64 `json:"added_p50_ratio"`

	PerSecond float64 `json:"calls_per_second"`
	P50       float64 `json:"p50_us"` // under load
	P99       float64 `json:"p99_us"` // under load
	CPUMicros float64 `json:"cpu_us_per_call"`
	Allocs    float64 `json:"allocs_per_call"`
	Bytes     float64 `json:"alloc_bytes_per_call"`
	Calls     int     `json:"calls"`
}

// rate makes the rows of all contenders.
func rate(all []*contender) []row {
	find := func(name string) *contender {
		return all[slices.IndexFunc(all, func(c *contender) bool { return c.Name == name })]
	}
	base, plain := find(baseline), find(direct)
	var rows []row
	for _, c := range all {
		r := row{
			Name:       c.Name,
			Throughput: median(ratios(c.results.loaded, base.results.loaded, sample.perSecond)),
			Added:      micros(medianOf(c.results.alone, 0.5)) - micros(medianOf(plain.results.alone, 0.5)),
			PerSecond:  median(each(c.results.loaded, sample.perSecond)),
			P50:        micros(medianOf(c.results.loaded, 0.5)),
			P99:        micros(medianOf(c.results.loaded, 0.99)),
			Calls:      c.results.calls,
		}
		if c.process != nil {
			n := float64(c.results.calls)
			r.CPUMicros = micros(c.results.used.cpu) / n
			r.CPU = r.CPUMicros / (micros(base.results.used.cpu) / float64(base.results.calls))
			r.Allocs, r.Bytes = c.results.used.mallocs/n, c.results.used.bytes/n
		}
		r.AddedRatio = median(addedRatios(c.results.alone, base.results.alone, plain.results.alone))
		rows = append(rows, r)
	}
	return rows
}

// addedRatios returns by how much the median of samples is above that of direct, over by
// how much that of base is, in the same round; not of rounds in which base is not above.
func addedRatios(samples, base, direct []sample) []float64 {
	var all []float64
	for i, s := range samples {
		above := func(s sample) float64 { return float64(s.quantile(0.5) - direct[i].quantile(0.5)) }
		if added := above(base[i]); added > 0 {
			all = append(all, above(s)/added)
		}
	}
	return all
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func each(samples []sample, f func(sample) float64) []float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, f(s))
	}
	return all
}

// ratios returns f of each of samples over that of base in the same round.
func ratios(samples, base []sample, f func(sample) float64) []float64 {
	var all []float64
	for i, s := range samples {
		all = append(all, f(s)/f(base[i]))
	}
	return all
}

// medianOf returns the median over slices of a quantile of latency.
func medianOf(samples []sample, q float64) time.Duration {
	return time.Duration(median(each(samples, func(s sample) float64 { return float64(s.quantile(q)) })))
}

// median returns the median of values; 0 for none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// print writes rows as a table.
func print(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tthroughput\tCPU a call\tadded p50\tadded p50\tcalls/s\tp50\tp99\tCPU\tallocs\tKB\t")
	fmt.Fprintln(w, "\tx proxy\tx proxy\tx proxy\tc=1, us\t\tus\tus\tus\ta call\ta call\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t\n",
			r.Name, r.Throughput, r.CPU, r.AddedRatio, r.Added, r.PerSecond, r.P50, r.P99, r.CPUMicros, r.Allocs, r.Bytes/1024)
	}
	_ = w.Flush() // to a terminal or a pipe that is gone
}

// progress tells a person what takes its time.
func progress(what string) { fmt.Fprintln(os.Stderr, "bench:", what) }
