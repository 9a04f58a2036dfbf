package compile

import (
	"cmp"
	"slices"
	"strconv"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/document"
)

var styles = map[string]irv1.ErrorStyle{
	"jsonrpc": irv1.ErrorStyle_ERROR_STYLE_JSONRPC,
	"tool":    irv1.ErrorStyle_ERROR_STYLE_TOOL,
}

var failureKinds = map[string]irv1.Failure{
	"unreachable": irv1.Failure_FAILURE_UNREACHABLE,
	"timeout":     irv1.Failure_FAILURE_TIMEOUT,
	"unusable":    irv1.Failure_FAILURE_UNUSABLE,
}

func (rd *reading) errors(v value) *irv1.Errors {
	e := &irv1.Errors{
		Style:   styles[v.get("style").text()],
		Code:    int32(v.get("code").number(0)),
		Message: pointer(v.get("message").text()),
		Payload: payloadError(v.get("payload")),
	}
	if unwrap := v.get("unwrap"); unwrap.exists() {
		e.Unwrap = pointer(unwrap.text())
	}
	usable := v.get("usable").fields()
	for _, member := range sorted(usable) {
		if usable[member].flag() {
			e.Usable = append(e.Usable, member)
		}
	}
	rules := v.get("rules").fields()
	for _, name := range sorted(rules) {
		e.Rules = append(e.Rules, rd.errorRule(name, rules[name]))
	}
	rd.checkTies(e.Rules, rules)
	return e
}

func (rd *reading) errorRule(name string, v value) *irv1.ErrorRule {
	v.note()
	rule := &irv1.ErrorRule{Name: name, Set: members(v.get("set")), Fallback: members(v.get("fallback"))}
	if code := v.get("code"); code.exists() {
		rule.Code = proto.Int32(int32(code.number(0)))
	}
	for _, s := range v.get("status").texts() {
		rule.Conditions = append(rule.Conditions, statusCondition(s))
	}
	for _, s := range v.get("failure").texts() {
		rule.Conditions = append(rule.Conditions, &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: failureKinds[s]}})
	}
	slices.SortFunc(rule.Conditions, compareConditions)
	rule.Conditions = slices.CompactFunc(rule.Conditions, func(a, b *irv1.Condition) bool { return compareConditions(a, b) == 0 })
	if v.cue.Err() == nil && len(rule.Conditions) == 0 {
		rd.idleRule(v, name)
	}
	return rule
}

// statusCondition reads "404" or "4xx".
func statusCondition(s string) *irv1.Condition {
	if n, err := strconv.ParseUint(s, 10, 16); err == nil {
		return &irv1.Condition{Kind: &irv1.Condition_Status{Status: uint32(n)}}
	}
	return &irv1.Condition{Kind: &irv1.Condition_Class{Class: uint32(s[0] - '0')}}
}

// compareConditions orders statuses before classes before failures.
func compareConditions(a, b *irv1.Condition) int {
	return cmp.Or(
		cmp.Compare(weight(a), weight(b)),
		cmp.Compare(a.GetStatus(), b.GetStatus()),
		cmp.Compare(a.GetClass(), b.GetClass()),
		cmp.Compare(a.GetFailure(), b.GetFailure()),
	)
}

func weight(c *irv1.Condition) int {
	switch c.GetKind().(type) {
	case *irv1.Condition_Status:
		return 0
	case *irv1.Condition_Class:
		return 1
	}
	return 2
}

func payloadError(v value) *irv1.PayloadError {
	names := v.get("members")
	e := &irv1.PayloadError{
		Code:          int32(v.get("code").number(0)),
		Data:          members(v.get("data")),
		MessageMember: names.get("message").text(),
		PathMember:    names.get("path").text(),
		KeywordMember: names.get("keyword").text(),
	}
	words := v.get("keywords").fields()
	for _, keyword := range sorted(words) {
		e.Keywords = append(e.Keywords, &irv1.KeywordWord{Keyword: keyword, Word: words[keyword].text()})
	}
	return e
}

func members(v value) []*irv1.Member {
	v.note()
	f := v.fields()
	var all []*irv1.Member
	for _, name := range sorted(f) {
		if data := f[name].json(); data != nil {
			all = append(all, &irv1.Member{Name: name, Json: data})
		}
	}
	return all
}

// pointer splits a JSON Pointer that the schema has accepted.
func pointer(s string) *irv1.Pointer { return &irv1.Pointer{Tokens: document.Tokens(s)} }
