package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestProblemsCostLittle holds that saying what is wrong takes at most as much again as
// compiling does, whether all bindings share one problem or each tool has its own: what
// is sound is not examined. Allocations stand for time, which tests do not measure.
func TestProblemsCostLittle(t *testing.T) {
	sound := allocations(t, wide(policyFile, toolFile), 0)
	tests := []struct {
		name         string
		policy, tool string
		problems     int
	}{
		{"shared", strings.Replace(policyFile, "description:", "descriptio:", 1), toolFile, 1},
		{"everywhere", policyFile, strings.Replace(toolFile, `"integer"`, `"integr"`, 1), packages * tools},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := allocations(t, wide(tt.policy, tt.tool), tt.problems); got > 2*sound {
				t.Errorf("%.0f allocations, and %.0f for a sound module", got, sound)
			}
		})
	}
}

const packages, tools = 4, 20

// wide returns a module with that many packages of so many tools each.
func wide(policy, tool string) *sourcev1.Sources {
	s := &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/wide@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "policy.cue", Data: []byte(policy)},
	}}
	for p := range packages {
		b := fmt.Appendf(nil, "package bindings\n\nbindings: api%d: #REST & {\n\tupstream: url: \"https://api%d.example.com\"\n", p, p)
		for i := range tools {
			b = fmt.Appendf(b, "\ttools: get_%d_%d: %s", p, i, tool)
		}
		s.Files = append(s.Files, &sourcev1.File{Path: fmt.Sprintf("p%d/api.cue", p), Data: append(b, "}\n"...)})
	}
	return s
}

const policyFile = `package bindings

import "bindery.dev/bind"

#REST: bind.#Binding & {
	meta: request_id: description: "An id of the request."
	errors: rules: failed: {status: ["3xx", "4xx", "5xx"], failure: ["unreachable", "timeout", "unusable"], fallback: type: "failed"}
}
`

const toolFile = `{
		description: "Read a thing."
		http:        "GET /things/{id}"
		args: {
			id: description: "The thing's id."
			limit: {in: "query", type: "integer", description: "How many."}
		}
	}
`

// allocations returns how many it takes to compile s, which has so many errors.
func allocations(t *testing.T, s *sourcev1.Sources, problems int) float64 {
	t.Helper()
	compiled, err := compile.Module(t.Context(), s)
	if err != nil || diag.Failed(compiled.GetDiagnostics()) != (problems > 0) || len(compiled.GetDiagnostics()) < problems {
		t.Fatalf("%d diagnostics, want at least %d: %v, %v", len(compiled.GetDiagnostics()), problems, compiled.GetDiagnostics(), err)
	}
	return testing.AllocsPerRun(1, func() { _, _ = compile.Module(t.Context(), s) })
}
