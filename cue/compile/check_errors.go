package compile

import (
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// checkRule reports a rule that matches nothing, or that asks something of what has
// neither a media type nor a body.
func (rd *reading) checkRule(rule *irv1.ErrorRule, v value) {
	if len(rule.GetConditions()) == 0 {
		rd.idleRule(v, rule.GetName())
	}
	response := false
	for _, c := range rule.GetConditions() {
		_, failed := c.GetKind().(*irv1.Condition_Failure)
		answered := irv1.HasResponse(c.GetFailure())
		response = response || !failed || answered
		if failed && len(rule.GetBody()) > 0 {
			rd.bodiless(v.get("body"), c, "usable body")
		}
		if failed && !answered && rule.GetMediaType() != "" {
			rd.bodiless(v.get("mediaType"), c, "media type")
		}
	}
	if headers := v.get("headers"); !response && len(rule.GetConditions()) > 0 && len(rule.GetHeaders()) > 0 {
		rd.headerless(headers, rule.GetConditions())
	}
}

// checkTies reports error rules that match the same failure equally well.
func (rd *reading) checkTies(rules []*irv1.ErrorRule, places map[string]value) {
	for i, b := range rules {
		for _, a := range rules[:i] {
			if c := irv1.Tie(a, b); c != nil {
				rd.tie(places[a.GetName()], places[b.GetName()], a.GetName(), b.GetName(), c)
			}
		}
	}
}

// failedClasses are the first digits of the statuses that a failure has, apart from
// 101, which no one expects. A rule that has no status is for all of them.
var failedClasses = []uint32{3, 4, 5}

// checkCoverage reports the failures that rules leave to the default. A binding
// without rules means the default.
func (rd *reading) checkCoverage(e *irv1.Errors, v value) {
	if len(e.GetRules()) == 0 || v.cue.Validate() != nil {
		return
	}
	var statuses, others []string
	for _, class := range failedClasses {
		statuses = append(statuses, uncovered(e.GetRules(), &irv1.Condition{Kind: &irv1.Condition_Class{Class: class}})...)
	}
	for _, f := range []irv1.Failure{irv1.Failure_FAILURE_TIMEOUT, irv1.Failure_FAILURE_UNREACHABLE, irv1.Failure_FAILURE_UNUSABLE} {
		others = append(others, uncovered(e.GetRules(), &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: f}})...)
	}
	if len(statuses) > 0 || len(others) > 0 {
		rd.uncovered(v, statuses, others, e.GetCode())
	}
}

// uncovered returns what c matches, in words, unless one of rules matches all of it.
func uncovered(rules []*irv1.ErrorRule, c *irv1.Condition) []string {
	for _, r := range rules {
		whole := r.GetMediaType() == "" && len(r.GetBody()) == 0
		if whole && slices.ContainsFunc(r.GetConditions(), func(d *irv1.Condition) bool { return irv1.CompareConditions(c, d) == 0 }) {
			return nil
		}
	}
	return []string{c.Words()}
}
