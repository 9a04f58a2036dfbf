package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// This file holds what -o json prints. The names of members, here and nowhere
// else, are a promise to scripts: add to them, never rename.

type diagnosticView struct {
	File     string `json:"file"`
	Line     uint32 `json:"line"`
	Column   uint32 `json:"column"`
	Severity string `json:"severity"` // error or warning
	Code     string `json:"code"`
	Path     string `json:"path"`
	Message  string `json:"message"`
	Hint     string `json:"hint"`
}

type diagnosticsView struct {
	Diagnostics []diagnosticView `json:"diagnostics"`
}

func viewDiagnostics(all []*sourcev1.Diagnostic) []diagnosticView {
	views := make([]diagnosticView, 0, len(all))
	for _, d := range all {
		views = append(views, diagnosticView{
			File:     d.GetPosition().GetFile(),
			Line:     d.GetPosition().GetLine(),
			Column:   d.GetPosition().GetColumn(),
			Severity: word(d.GetSeverity().String(), "SEVERITY_"),
			Code:     d.GetCode(),
			Path:     d.GetPath(),
			Message:  d.GetMessage(),
			Hint:     d.GetHint(),
		})
	}
	return views
}

type generationView struct {
	Epoch  uint64 `json:"epoch"`
	Number uint64 `json:"number"`
	Digest string `json:"digest"`
}

func viewGeneration(g *discoveryv1.Generation) *generationView {
	if g == nil {
		return nil
	}
	return &generationView{g.GetEpoch(), g.GetNumber(), hex.EncodeToString(g.GetDigest())}
}

type bindingView struct {
	Name     string   `json:"name"`
	Endpoint string   `json:"endpoint"`
	Tools    []string `json:"tools"`
}

func viewBindings(all []*adminv1.BindingSummary) []bindingView {
	views := make([]bindingView, 0, len(all))
	for _, b := range all {
		views = append(views, bindingView{b.GetName(), b.GetEndpoint(), append([]string{}, b.GetTools()...)})
	}
	return views
}

type revisionView struct {
	Group      string        `json:"group"`
	Number     uint64        `json:"number"`
	Epoch      uint64        `json:"epoch"`
	Digest     string        `json:"digest"`
	Author     string        `json:"author"`
	Created    *time.Time    `json:"created"`
	Message    string        `json:"message"`
	Module     string        `json:"module"`
	Tags       []string      `json:"tags"`
	Bindings   []bindingView `json:"bindings"`
	RollbackOf uint64        `json:"rollback_of"` // 0: it was compiled
	Source     string        `json:"source"`      // "": an operator sent it
}

func viewRevision(r *adminv1.Revision) *revisionView {
	if r == nil {
		return nil
	}
	return &revisionView{
		Group:      r.GetGroup(),
		Number:     r.GetGeneration().GetNumber(),
		Epoch:      r.GetGeneration().GetEpoch(),
		Digest:     hex.EncodeToString(r.GetGeneration().GetDigest()),
		Author:     r.GetAuthor(),
		Created:    viewTime(r.GetCreated()),
		Message:    r.GetMessage(),
		Module:     r.GetModule(),
		Tags:       append([]string{}, r.GetTags()...),
		Bindings:   viewBindings(r.GetBindings()),
		RollbackOf: r.GetRollbackOf(),
		Source:     r.GetSource(),
	}
}

type nodeView struct {
	ID       string            `json:"id"`
	Group    string            `json:"group"`
	Labels   map[string]string `json:"labels"`
	Build    string            `json:"build"`
	State    string            `json:"state"`
	Since    *time.Time        `json:"since"`
	Running  *generationView   `json:"running"` // null: nothing
	Wanted   *generationView   `json:"wanted"`  // null: its group has no revision
	Causes   []diagnosticView  `json:"causes"`
	Retrying bool              `json:"retrying"`
	TookMS   float64           `json:"took_ms"`
}

func viewNodes(all []*adminv1.Node) []nodeView {
	views := make([]nodeView, 0, len(all))
	for _, n := range all {
		labels := n.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		views = append(views, nodeView{
			ID:       n.GetId(),
			Group:    n.GetGroup(),
			Labels:   labels,
			Build:    n.GetBuild(),
			State:    stateWord(n.GetState()),
			Since:    viewTime(n.GetSince()),
			Running:  viewGeneration(n.GetRunning()),
			Wanted:   viewGeneration(n.GetWanted()),
			Causes:   viewDiagnostics(n.GetCauses()),
			Retrying: n.GetRetrying(),
			TookMS:   milliseconds(n.GetTook()),
		})
	}
	return views
}

type outcomeView struct {
	Result      string           `json:"result"`
	Revision    *revisionView    `json:"revision"` // null: there is none
	Diagnostics []diagnosticView `json:"diagnostics"`
	Nodes       []nodeView       `json:"nodes"`
}

type nodesView struct {
	Nodes []nodeView `json:"nodes"`
}

type revisionsView struct {
	Revisions []*revisionView `json:"revisions"`
}

func viewOutcome(o *adminv1.Outcome) outcomeView {
	return outcomeView{
		Result:      word(o.GetResult().String(), "RESULT_"),
		Revision:    viewRevision(o.GetRevision()),
		Diagnostics: viewDiagnostics(o.GetDiagnostics()),
		Nodes:       viewNodes(o.GetNodes()),
	}
}

type groupView struct {
	Name        string            `json:"name"`
	Revision    *revisionView     `json:"revision"` // null: it has none
	Nodes       map[string]uint32 `json:"nodes"`    // by state
	Source      string            `json:"source"`
	SourceError string            `json:"source_error"`
	Problem     string            `json:"problem"` // why the revision cannot be read; "": it can
}

type statusView struct {
	Build   string      `json:"build"`
	Started *time.Time  `json:"started"`
	Epoch   uint64      `json:"epoch"`
	Groups  []groupView `json:"groups"`
}

func viewStatus(s *adminv1.GetStatusResponse) statusView {
	v := statusView{s.GetBuild(), viewTime(s.GetStarted()), s.GetEpoch(), []groupView{}}
	for _, g := range s.GetGroups() {
		nodes := map[string]uint32{}
		for _, c := range g.GetCounts() {
			nodes[stateWord(c.GetState())] = c.GetNodes()
		}
		v.Groups = append(v.Groups, groupView{g.GetName(), viewRevision(g.GetRevision()), nodes, g.GetSource(), g.GetSourceError(), g.GetProblem()})
	}
	return v
}

type toolsView struct {
	Tools []json.RawMessage `json:"tools"`
}

type testsView struct {
	Tests    []testView   `json:"tests"`
	Passed   int          `json:"passed"`
	Failed   int          `json:"failed"`
	TookMS   float64      `json:"took_ms"`
	Coverage coverageView `json:"coverage"`
}

type testView struct {
	Name       string          `json:"name"`
	File       string          `json:"file"`
	Line       uint32          `json:"line"`
	Column     uint32          `json:"column"`
	Binding    string          `json:"binding"`
	Tool       string          `json:"tool"`
	Prompt     string          `json:"prompt"`
	Resource   string          `json:"resource"`
	Completion *completionView `json:"completion"`
	Rule       string          `json:"rule"` // "": no error rule made the error
	Passed     bool            `json:"passed"`
	Problems   []problemView   `json:"problems"`
	Large      int             `json:"large"` // bytes of structured content, where there are too many; else 0
	TookMS     float64         `json:"took_ms"`
}

type completionView struct {
	Prompt   string `json:"prompt"`
	Template string `json:"template"`
	Argument string `json:"argument"`
	Value    string `json:"value"`
}

type problemView struct {
	Where string `json:"where"`
	Want  string `json:"want"`
	Got   string `json:"got"`
}

type coverageView struct {
	Percent int        `json:"percent"`
	Parts   []partView `json:"parts"`
}

type partView struct {
	Binding string `json:"binding"`
	Tool    string `json:"tool"`
	Check   string `json:"check"`
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    uint32 `json:"line"`
	Column  uint32 `json:"column"`
	Covered bool   `json:"covered"`
}

func viewTests(t *trials) testsView {
	view := testsView{Tests: []testView{}, Failed: t.failed(), TookMS: inMS(t.took), Coverage: coverageView{percent(t.parts), []partView{}}}
	view.Passed = len(t.verdicts) - view.Failed
	for _, v := range t.verdicts {
		at := v.Case.Position
		problems := []problemView{}
		for _, problem := range v.Problems {
			problems = append(problems, problemView(problem))
		}
		view.Tests = append(view.Tests, testView{
			v.Case.Name, at.GetFile(), at.GetLine(), at.GetColumn(), v.Case.Binding, v.Case.Tool, v.Case.Prompt, v.Case.Resource, (*completionView)(v.Case.Completion),
			v.Rule, v.Passed(), problems, v.Large, inMS(v.Took),
		})
	}
	for _, c := range t.parts {
		view.Coverage.Parts = append(view.Coverage.Parts, partView{
			c.Binding, c.Tool, c.Check, c.Rule, c.Position.GetFile(), c.Position.GetLine(), c.Position.GetColumn(), c.Covered,
		})
	}
	return view
}

func stateWord(s adminv1.NodeState) string { return word(s.String(), "NODE_STATE_") }

// word returns an enum value's name as people write it.
func word(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-")
}

func viewTime(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	v := t.AsTime()
	return &v
}

func milliseconds(d *durationpb.Duration) float64 { return inMS(d.AsDuration()) }

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
