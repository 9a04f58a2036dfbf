package main

import (
	"fmt"
	"strings"

	"github.com/bindery-dev/bindery/cmd/internal/trial"
	"github.com/bindery-dev/bindery/cue/diag"
)

// showCoverage lists what no test exercised.
func (p *program) showCoverage(parts []trial.Part) {
	for _, c := range parts {
		if !c.Covered {
			fmt.Fprintf(p.out, "%s: no test exercises %s\n", diag.Place(c.Position), partName(c))
		}
	}
	fmt.Fprintf(p.out, "coverage: %d%% (%s)\n", percent(parts), strings.Join(tallies(parts), ", "))
}

// tallies says of each kind of part how many are covered.
func tallies(parts []trial.Part) []string {
	all := []string{
		newTally(parts, func(c trial.Part) bool { return c.Tool != "" && c.Check == "" }).String() + " tools",
		newTally(parts, func(c trial.Part) bool { return c.Rule != "" }).String() + " error rules",
	}
	if checks := newTally(parts, func(c trial.Part) bool { return c.Check != "" }); checks.all > 0 {
		all = append(all, checks.String()+" checks")
	}
	return all
}

func partName(c trial.Part) string {
	switch {
	case c.Rule != "":
		return "error rule " + c.Binding + "." + c.Rule
	case c.Check != "":
		return "check " + c.Binding + "." + c.Tool + "." + c.Check
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
