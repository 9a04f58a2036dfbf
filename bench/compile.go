package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"
)

// A compileConfig says what to compile, and how often.
type compileConfig struct {
	packages int
	workers  int
	rounds   int
	binary   string // bindery; "": built for this run
	json     bool
}

// A compiledRow is what one command takes for the wide module: medians over rounds,
// and medians of the ratios to `cue vet -c` in the same round.
type compiledRow struct {
	Name      string  `json:"name"`
	Wall      float64 `json:"wall_ms"`
	CPU       float64 `json:"cpu_ms"`
	RSS       float64 `json:"rss_mb"` // at most
	WallRatio float64 `json:"wall_ratio"`
	CPURatio  float64 `json:"cpu_ratio"`
	RSSRatio  float64 `json:"rss_ratio"`
}

func compileWide(ctx context.Context, args []string) error {
	var cfg compileConfig
	flags := flag.NewFlagSet("compile", flag.ContinueOnError)
	flags.IntVar(&cfg.packages, "packages", 200, "`N` packages of 50 tools each")
	flags.IntVar(&cfg.workers, "workers", 4, "`N` threads that each command may use, as GOMAXPROCS")
	flags.IntVar(&cfg.rounds, "rounds", 5, "`N` runs of each command, alternately")
	flags.StringVar(&cfg.binary, "bindery", "", "measure this bindery, to compare builds: `FILE`; default is that of this checkout")
	flags.BoolVar(&cfg.json, "json", false, "print JSON")
	return inDir(flags, args, func(dir string) (err error) {
		if cfg.binary, err = built(ctx, dir, "bindery", cfg.binary); err != nil {
			return err
		}
		if err := build(ctx, dir, "-modfile=tools/go.mod", "cuelang.org/go/cmd/cue"); err != nil {
			return err
		}
		rows, err := measureCompiles(ctx, dir, cfg)
		if err != nil {
			return err
		}
		if cfg.json {
			return json.NewEncoder(os.Stdout).Encode(rows)
		}
		printCompiled(os.Stdout, rows)
		return nil
	})
}

// measureCompiles runs the commands alternately on a wide module in dir, and checks what
// bindery makes of it.
func measureCompiles(ctx context.Context, dir string, cfg compileConfig) ([]compiledRow, error) {
	module, bundle := filepath.Join(dir, "wide"), filepath.Join(dir, "wide.bundle")
	if err := writeWide(module, cfg.packages); err != nil {
		return nil, err
	}
	commands := []struct {
		name string
		args []string
		runs []once
	}{
		{name: "cue vet -c", args: []string{filepath.Join(dir, "cue"), "vet", "-c", "./..."}},
		{name: "bindery compile", args: []string{cfg.binary, "compile", "--out", bundle}},
	}
	for round := range cfg.rounds {
		progress(fmt.Sprintf("round %d of %d", round+1, cfg.rounds))
		for i := range commands {
			c := &commands[i]
			r, err := runOnce(ctx, module, cfg.workers, c.args)
			if err != nil {
				return nil, err
			}
			c.runs = append(c.runs, r)
		}
		if err := checkWide(bundle, cfg.packages); err != nil {
			return nil, err
		}
	}
	var rows []compiledRow
	for _, c := range commands {
		all := func(measure func(once) float64) (absolute, ratio float64) {
			var values, ratios []float64
			for i, r := range c.runs {
				values = append(values, measure(r))
				ratios = append(ratios, measure(r)/measure(commands[0].runs[i]))
			}
			return median(values), median(ratios)
		}
		row := compiledRow{Name: c.name}
		row.Wall, row.WallRatio = all(func(o once) float64 { return float64(o.wall) / float64(time.Millisecond) })
		row.CPU, row.CPURatio = all(func(o once) float64 { return float64(o.cpu) / float64(time.Millisecond) })
		row.RSS, row.RSSRatio = all(func(o once) float64 { return float64(o.rss) / (1 << 20) })
		rows = append(rows, row)
	}
	return rows, nil
}

// once is what a command took.
type once struct {
	wall, cpu time.Duration
	rss       int64 // bytes, at most
}

// runOnce runs a command in dir with so many threads.
func runOnce(ctx context.Context, dir string, workers int, args []string) (once, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", workers))
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return once{}, fmt.Errorf("%s: %w\n%s", filepath.Base(args[0]), err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return once{}, errors.New("this system does not say what a process took")
	}
	state := cmd.ProcessState
	return once{time.Since(began), state.UserTime() + state.SystemTime(), usage.Maxrss << 10}, nil // Linux counts in KiB
}

// checkWide holds the bundle to what the wide module says.
func checkWide(bundle string, packages int) error {
	content, err := openBundle(bundle)
	if err != nil {
		return err
	}
	tools := 0
	for _, b := range content.Bindings {
		tools += len(b.GetTools())
	}
	if len(content.Bindings) != packages || tools != packages*things*5 {
		return fmt.Errorf("the bundle has %d bindings with %d tools, not those of %d packages", len(content.Bindings), tools, packages)
	}
	return nil
}

func printCompiled(out io.Writer, rows []compiledRow) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ttime\tCPU\tmemory\ttime\tCPU\tmemory\t")
	fmt.Fprintln(w, "\tx cue\tx cue\tx cue\tms\tms\tMB\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t\n", r.Name, r.WallRatio, r.CPURatio, r.RSSRatio, r.Wall, r.CPU, r.RSS)
	}
	_ = w.Flush() // to a terminal or a pipe that is gone
}
