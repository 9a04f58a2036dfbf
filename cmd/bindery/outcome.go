package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

// outcome prints how an apply or a rollback ended and returns what that is to a
// script.
func (p *program) outcome(o *adminv1.Outcome, out output) error {
	if out == jsonOut {
		if err := p.printJSON(viewOutcome(o)); err != nil {
			return err
		}
	} else {
		p.told(o)
	}
	return p.verdict(o, out)
}

// lagging says, on stderr, which nodes do not run the revision that there was already:
// an apply that is repeated after a refusal stores nothing, and not all is well.
func (p *program) lagging(nodes []*adminv1.Node) {
	behind := slices.DeleteFunc(slices.Clone(nodes), func(n *adminv1.Node) bool { return n.GetState() == adminv1.NodeState_NODE_STATE_SYNCED })
	if len(behind) == 0 {
		return
	}
	p.causes(behind)
	fmt.Fprintln(p.err, p.err.Paint(term.Red, fmt.Sprintf("warning: not running on %d of %s (%s): %s",
		len(behind), term.Count(len(nodes), "node"), countStates(behind), nodeNames(behind))))
	fmt.Fprintln(p.err, "\thint: see bindery nodes, and go back with bindery rollback if it should not run")
}

// nodeNames returns the names of the first few nodes, and how many more there are.
func nodeNames(nodes []*adminv1.Node) string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, n.GetId())
	}
	return few(ids)
}

// few returns the first three of names, and how many more there are.
func few(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// told says what there is now.
func (p *program) told(o *adminv1.Outcome) {
	r := o.GetRevision()
	name := fmt.Sprintf("revision %d of group %s", r.GetGeneration().GetNumber(), r.GetGroup())
	switch o.GetResult() {
	case adminv1.Result_RESULT_UNCHANGED:
		fmt.Fprintf(p.out, "unchanged: %s is what you sent\n", name)
	case adminv1.Result_RESULT_NO_NODES:
		fmt.Fprintf(p.out, "%s is stored; no node is connected, it is offered to those that come\n", name)
	case adminv1.Result_RESULT_STORED:
		fmt.Fprintf(p.out, "%s is stored and offered\n", name)
	case adminv1.Result_RESULT_DRY_RUN:
		fmt.Fprintln(p.out, "dry run: it compiles and would be a new revision; nothing is stored")
	case adminv1.Result_RESULT_SYNCED:
		fmt.Fprintf(p.out, "%s runs on %s\n", name, term.Count(synced(o.GetNodes()), "node"))
	case adminv1.Result_RESULT_REJECTED, adminv1.Result_RESULT_TIMEOUT:
		fmt.Fprintf(p.out, "%s is stored and does not run everywhere\n", name)
	}
	p.nodeTable(o.GetNodes())
}

// verdict is the error of an outcome that is not good.
func (p *program) verdict(o *adminv1.Outcome, out output) error {
	switch o.GetResult() {
	case adminv1.Result_RESULT_INVALID:
		if out == jsonOut {
			return errInvalid
		}
		return p.report(o.GetDiagnostics())
	case adminv1.Result_RESULT_REJECTED:
		refused, retrying := refusals(o.GetNodes())
		p.causes(o.GetNodes())
		return &failure{exitRemote, refusal(refused, retrying)}
	case adminv1.Result_RESULT_TIMEOUT:
		return remotef("not every node answered in time (%s): they go on by themselves, see bindery nodes", countStates(o.GetNodes()))
	case adminv1.Result_RESULT_UNCHANGED:
		p.lagging(o.GetNodes())
	case adminv1.Result_RESULT_UNSPECIFIED:
		return errors.New("the control plane says nothing this build understands of how it ended: use a bindery of its version")
	}
	return nil
}

// refusals returns the nodes that keep what they had, and whether all of them try again.
func refusals(nodes []*adminv1.Node) (ids []string, retrying bool) {
	retrying = true
	for _, n := range nodes {
		switch n.GetState() {
		case adminv1.NodeState_NODE_STATE_REJECTED, adminv1.NodeState_NODE_STATE_INCOMPATIBLE, adminv1.NodeState_NODE_STATE_DRIFTED:
			ids = append(ids, n.GetId())
			retrying = retrying && n.GetRetrying()
		}
	}
	return ids, retrying
}

func refusal(ids []string, retrying bool) error {
	next := "go back with bindery rollback, or apply what they can run"
	if retrying {
		next = "once the cause is gone they take it by themselves, see bindery nodes; go back with bindery rollback"
	}
	return fmt.Errorf("refused by %s, which keep what they had: %s", few(ids), next)
}

func synced(nodes []*adminv1.Node) int {
	n := 0
	for _, node := range nodes {
		if node.GetState() == adminv1.NodeState_NODE_STATE_SYNCED {
			n++
		}
	}
	return n
}

// countStates returns "2 synced, 1 pending".
func countStates(nodes []*adminv1.Node) string {
	counts := map[adminv1.NodeState]int{}
	var states []adminv1.NodeState
	for _, n := range nodes {
		if counts[n.GetState()]++; counts[n.GetState()] == 1 {
			states = append(states, n.GetState())
		}
	}
	slices.Sort(states)
	var words []string
	for _, s := range states {
		words = append(words, fmt.Sprintf("%d %s", counts[s], stateWord(s)))
	}
	return strings.Join(words, ", ")
}
