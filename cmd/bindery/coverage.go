package main

import (
	"fmt"

	"github.com/bindery-dev/bindery/cmd/internal/trial"
	"github.com/bindery-dev/bindery/cue/diag"
)

// showCoverage lists what no test exercised.
func (p *program) showCoverage(parts []trial.Part) {
	tools, rules := newTally(parts, func(c trial.Part) bool { return c.Tool != "" }), newTally(parts, func(c trial.Part) bool { return c.Rule != "" })
	for _, c := range parts {
		if !c.Covered {
			fmt.Fprintf(p.out, "%s: no test exercises %s\n", diag.Place(c.Position), partName(c))
		}
	}
	fmt.Fprintf(p.out, "coverage: %d%% (%s tools, %s error rules)\n", percent(parts), tools, rules)
}

func partName(c trial.Part) string {
	if c.Rule != "" {
		return "error rule " + c.Binding + "." + c.Rule
	}
	return "tool " + c.Binding + "." + c.Tool
}

// A tally is how many there are, and how many of them are covered.
type tally struct{ covered, all int }

func newTally(parts []trial.Part, counts func(trial.Part) bool) (t tally) {
	for _, c := range parts {
		if counts(c) {
			t.all++
			if c.Covered {
				t.covered++
			}
		}
	}
	return t
}

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.covered, t.all) }

// percent returns how much is covered, rounded down.
func percent(parts []trial.Part) int {
	t := newTally(parts, func(trial.Part) bool { return true })
	if t.all == 0 {
		return 100
	}
	return 100 * t.covered / t.all
}
