package compile

import (
	"slices"
	"strconv"

	"cuelang.org/go/cue"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var styles = map[string]irv1.ErrorStyle{
	"jsonrpc": irv1.ErrorStyle_ERROR_STYLE_JSONRPC,
	"tool":    irv1.ErrorStyle_ERROR_STYLE_TOOL,
}

var failureKinds = map[string]irv1.Failure{
	"unreachable": irv1.Failure_FAILURE_UNREACHABLE,
	"tls":         irv1.Failure_FAILURE_TLS,
	"timeout":     irv1.Failure_FAILURE_TIMEOUT,
	"unusable":    irv1.Failure_FAILURE_UNUSABLE,
	"tooLarge":    irv1.Failure_FAILURE_TOO_LARGE,
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
	codes := v.get("codes")
	e.ToolCodes, e.ResourceCodes, e.PromptCodes = readCodes(codes.get("tool")), readCodes(codes.get("resource")), readCodes(codes.get("prompt"))
	usable := v.get("usable").fields()
	for _, member := range sorted(usable) {
		if usable[member].flag() {
			e.Usable = append(e.Usable, member)
		}
	}
	e.Rules = rd.errorRules(v.get("rules"))
	rd.checkCoverage(e, v.get("rules"))
	return e
}

// readCodes reads codes of one kind; nil where the author says nothing of them.
func readCodes(v value) *irv1.Codes {
	c := &irv1.Codes{
		NotFound: int32(v.get("notFound").number(0)),
		Failed:   int32(v.get("failed").number(0)),
		Denied:   int32(v.get("denied").number(0)),
	}
	if proto.Equal(c, &irv1.Codes{}) {
		return nil
	}
	return c
}

func (rd *reading) errorRules(v value) []*irv1.ErrorRule {
	fields := v.fields()
	var rules []*irv1.ErrorRule
	for _, name := range sorted(fields) {
		rules = append(rules, rd.errorRule(name, fields[name]))
	}
	rd.checkTies(rules, fields)
	return rules
}

func (rd *reading) errorRule(name string, v value) *irv1.ErrorRule {
	v.note()
	rule := &irv1.ErrorRule{
		Name:      name,
		Set:       members(v.get("set")),
		Fallback:  members(v.get("fallback")),
		MediaType: v.get("mediaType").text(),
		Body:      rd.bodyConditions(v.get("body")),
		Message:   v.get("message").text(),
		Headers:   headerMembers(v.get("headers")),
		Retry:     v.get("retry").flag(),
	}
	if code := v.get("code"); code.exists() {
		rule.Code = proto.Int32(int32(code.number(0)))
	}
	for _, s := range v.get("status").texts() {
		rule.Conditions = append(rule.Conditions, statusCondition(s))
	}
	for _, s := range v.get("failure").texts() {
		rule.Conditions = append(rule.Conditions, &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: failureKinds[s]}})
	}
	if len(rule.Conditions) == 0 && (rule.MediaType != "" || len(rule.Body) > 0) {
		for _, class := range failedClasses {
			rule.Conditions = append(rule.Conditions, &irv1.Condition{Kind: &irv1.Condition_Class{Class: class}})
		}
	}
	slices.SortFunc(rule.Conditions, irv1.CompareConditions)
	rule.Conditions = slices.CompactFunc(rule.Conditions, func(a, b *irv1.Condition) bool { return irv1.CompareConditions(a, b) == 0 })
	if v.cue.Err() == nil {
		rd.checkRule(rule, v)
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

func (rd *reading) bodyConditions(v value) []*irv1.BodyCondition {
	fields := v.fields()
	var all []*irv1.BodyCondition
	for _, at := range sorted(fields) {
		fields[at].note()
		values := scalars(fields[at])
		slices.SortFunc(values, irv1.CompareScalars)
		values = slices.CompactFunc(values, func(a, b *irv1.Scalar) bool { return irv1.CompareScalars(a, b) == 0 })
		if fields[at].cue.Err() == nil && len(values) == 0 {
			rd.noValues(fields[at])
		}
		all = append(all, &irv1.BodyCondition{At: pointer(at), Values: values})
	}
	return all
}

// scalars returns the value that v is, or those of the list that it is.
func scalars(v value) []*irv1.Scalar {
	switch kind := v.cue.IncompleteKind(); {
	case kind == cue.ListKind:
		var all []*irv1.Scalar
		for _, element := range v.elements() {
			all = append(all, scalars(element)...)
		}
		return all
	case kind == cue.StringKind:
		return []*irv1.Scalar{{Kind: &irv1.Scalar_Text{Text: v.quiet()}}}
	case kind == cue.BoolKind:
		b, _ := v.cue.Bool()
		return []*irv1.Scalar{{Kind: &irv1.Scalar_Truth{Truth: b}}}
	case kind&cue.NumberKind != 0:
		n, _ := v.cue.Float64() // infinite when it is too large, which is refused
		return []*irv1.Scalar{{Kind: &irv1.Scalar_Number{Number: n}}}
	}
	return nil
}

func headerMembers(v value) []*irv1.HeaderMember {
	v.note()
	return each(v, func(name string, v value) *irv1.HeaderMember {
		return &irv1.HeaderMember{Name: name, Header: canonical(v.text())}
	})
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
