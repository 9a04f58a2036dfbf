package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cue/source"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/complete"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/turn"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestLimitsDoc: docs/limits.md has the limits that packages name.
func TestLimitsDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		fmt.Sprintf("body of a request, line of `--stdio` | %d MiB |", serve.DefaultMaxBody>>20),
		fmt.Sprintf("messages of a batch | %d |", message.MaxBatch),
		fmt.Sprintf("depth of arguments | %d |", call.MaxDepth),
		fmt.Sprintf("calls in flight when a node is told to stop | %d s |", node.DefaultDrainTimeout/time.Second),
		fmt.Sprintf("questions that one call asks, one after the other | %d |", turn.MaxRounds),
		fmt.Sprintf("values that a completion offers | %d |", complete.MaxValues),
		fmt.Sprintf("sources of a module | %d MiB in %s files |", source.MaxBytes>>20, thousands(source.MaxFiles)),
		fmt.Sprintf("bundle | %d MiB |", irv1.MaxBundle>>20),
		fmt.Sprintf("one binding, schema or file of a bundle | %d MiB |", irv1.MaxBlob>>20),
		fmt.Sprintf("tools of an endpoint | %s |", thousands(irv1.MaxTools)),
		fmt.Sprintf("labels of a node | %d KiB |", discoveryv1.MaxLabels>>10),
		fmt.Sprintf("wait of `bindery apply` for nodes | %d s |", defaultTimeout/time.Second),
	} {
		if !strings.Contains(string(doc), "| "+row) {
			t.Errorf("docs/limits.md is without | %s", row)
		}
	}
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
