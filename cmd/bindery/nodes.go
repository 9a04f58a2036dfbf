package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cue/diag"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

func (p *program) nodes() *cobra.Command {
	var addr *string
	var group string
	var out *output
	c := command("nodes [--group G] [-o json]", "List nodes and what each runs", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			nodes, err := client.Nodes(c.Context(), group)
			switch {
			case err != nil:
				return err
			case *out == jsonOut:
				return p.printJSON(nodesView{viewNodes(nodes)})
			case len(nodes) == 0:
				return p.noNodes(c.Context(), client, group)
			}
			p.nodeTable(nodes)
			p.causes(nodes)
			return nil
		})
	})
	c.Long = `List the nodes that the control plane knows, with the revision each runs, its
state and for how long, and on stderr why a node refuses what it should run:

  synced        runs what its group should run
  pending       was sent it and has not answered, or there is nothing to run yet
  rejected      refused it and keeps what it had
  incompatible  was not sent it: the node is too old for it
  drifted       runs what its group's order does not lead to
  disconnected  has no connection; it keeps serving what it had`
	c.Example = `  bindery nodes
  bindery nodes --group shop -o json | jq -r '.nodes[] | select(.state != "synced") | .id'`
	addr, out = controlPlaneFlag(c), outputFlag(c)
	c.Flags().Var((*groupName)(&group), "group", "the `GROUP` of nodes (default: all)")
	return c
}

// noNodes says that there are none: of a group, or at all where group is "".
func (p *program) noNodes(ctx context.Context, client *operator.Client, group string) error {
	if group == "" {
		fmt.Fprintln(p.err, "no node has connected yet: start one with bindery-node")
		return nil
	}
	all, err := client.Nodes(ctx, "")
	if err != nil {
		return err
	}
	var groups []string
	for _, n := range all {
		groups = append(groups, n.GetGroup())
	}
	slices.Sort(groups)
	there := "there are none of others either"
	if len(groups) > 0 {
		there = "there are nodes of " + few(slices.Compact(groups))
	}
	fmt.Fprintf(p.err, "no node of group %s has connected yet: %s\n", group, there)
	return nil
}

func (p *program) nodeTable(nodes []*adminv1.Node) {
	var rows [][]term.Cell
	for _, n := range nodes {
		rows = append(rows, []term.Cell{
			{Text: n.GetId()},
			{Text: n.GetGroup()},
			{Text: nodeState(n), Style: stateStyle(n.GetState())},
			{Text: number(n.GetRunning())},
			{Text: number(n.GetWanted())},
			{Text: term.Age(time.Since(n.GetSince().AsTime()))},
			{Text: causeLine(n)},
		})
	}
	p.out.Table([]string{"NODE", "GROUP", "STATE", "RUNS", "WANTS", "AGE", "CAUSE"}, rows)
}

func nodeState(n *adminv1.Node) string {
	if n.GetRetrying() {
		return stateWord(n.GetState()) + ", retrying"
	}
	return stateWord(n.GetState())
}

func number(g *discoveryv1.Generation) string {
	if g == nil {
		return "-"
	}
	return fmt.Sprint(g.GetNumber())
}

// causeLine is the first of the node's causes, with its place.
func causeLine(n *adminv1.Node) string {
	causes := n.GetCauses()
	if len(causes) == 0 {
		return ""
	}
	line := causes[0].GetMessage()
	if causes[0].GetPosition().GetFile() != "" {
		line = diag.Place(causes[0].GetPosition()) + ": " + line
	}
	if len(causes) > 1 {
		line += fmt.Sprintf(" (and %d more)", len(causes)-1)
	}
	return line
}

// causes prints, on stderr, why nodes refuse, each cause once with the nodes that
// name it.
func (p *program) causes(nodes []*adminv1.Node) {
	who := map[string][]string{}
	var causes []*sourcev1.Diagnostic
	for _, n := range nodes {
		for _, d := range n.GetCauses() {
			if len(who[d.String()]) == 0 {
				causes = append(causes, d)
			}
			who[d.String()] = append(who[d.String()], n.GetId())
		}
	}
	for _, d := range causes {
		_ = p.diagnose([]*sourcev1.Diagnostic{d}) // where stderr is broken nothing can be said
		fmt.Fprintf(p.err, "\tnodes: %s\n", strings.Join(who[d.String()], ", "))
	}
}

func stateStyle(s adminv1.NodeState) term.Style {
	switch s {
	case adminv1.NodeState_NODE_STATE_SYNCED:
		return term.Green
	case adminv1.NodeState_NODE_STATE_REJECTED, adminv1.NodeState_NODE_STATE_INCOMPATIBLE:
		return term.Red
	case adminv1.NodeState_NODE_STATE_DISCONNECTED:
		return term.Dim
	}
	return term.Yellow
}

func (p *program) status() *cobra.Command {
	var addr *string
	var out *output
	c := command("status [-o json]", "Show the control plane and its groups", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			s, err := client.Status(c.Context())
			if err != nil {
				return err
			}
			if *out == jsonOut {
				return p.printJSON(viewStatus(s))
			}
			p.showStatus(*addr, s)
			return nil
		})
	})
	c.Long = "Show the control plane's version and age, and for each group its revision and\nhow many nodes are in which state."
	c.Example = `  bindery status
  bindery status --control-plane 10.0.0.7:7700 -o json | jq .groups`
	addr, out = controlPlaneFlag(c), outputFlag(c)
	return c
}

func (p *program) showStatus(addr string, s *adminv1.GetStatusResponse) {
	fmt.Fprintf(p.out, "control plane %s at %s, up %s, epoch %d\n",
		s.GetBuild(), addr, term.Age(time.Since(s.GetStarted().AsTime())), s.GetEpoch())
	var rows [][]term.Cell
	for _, g := range s.GetGroups() {
		rows = append(rows, term.Cells(g.GetName(), number(g.GetRevision().GetGeneration()),
			g.GetRevision().GetModule(), stateCounts(g.GetCounts()), g.GetSource()))
	}
	p.out.Table([]string{"GROUP", "REVISION", "MODULE", "NODES", "SOURCE"}, rows)
	for _, g := range s.GetGroups() {
		if g.GetSourceError() != "" {
			fmt.Fprintf(p.err, "group %s: %s made no revision:\n", g.GetName(), g.GetSource())
			io.WriteString(p.err, term.Lines(strings.TrimRight(g.GetSourceError(), "\n"))+"\n")
		}
		if g.GetProblem() != "" {
			fmt.Fprintf(p.err, "group %s: its revision cannot be read: %s\n", g.GetName(), g.GetProblem())
		}
	}
}

func stateCounts(counts []*adminv1.StateCount) string {
	counts = slices.SortedFunc(slices.Values(counts), func(a, b *adminv1.StateCount) int { return int(a.GetState() - b.GetState()) })
	var words []string
	for _, c := range counts {
		if c.GetNodes() > 0 {
			words = append(words, fmt.Sprintf("%d %s", c.GetNodes(), stateWord(c.GetState())))
		}
	}
	return strings.Join(words, ", ")
}
