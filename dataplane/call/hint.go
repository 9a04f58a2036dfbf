package call

import (
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// hinted returns what the first source of a rule that has a value which passes says of a
// call; "" for none. What a client says there is no fault of who makes the call: a value
// that does not pass is passed over.
func hinted(rule *irv1.MetaRule, a arguments) string {
	for _, s := range rule.GetSources() {
		if value := hintOf(s, a); value != "" && checkMeta(rule, value) == "" {
			return value
		}
	}
	return ""
}

func hintOf(s *irv1.MetaSource, a arguments) string {
	switch k := s.GetKind().(type) {
	case *irv1.MetaSource_RequestMeta:
		if a.hints != nil {
			return scalarText(a.hints.Member(k.RequestMeta.GetKey()).Lookup(k.RequestMeta.GetAt().GetTokens()))
		}
	case *irv1.MetaSource_Header:
		if values := a.inbound[k.Header]; len(values) == 1 {
			return values[0]
		}
	case *irv1.MetaSource_Locale:
		return a.locale
	}
	return ""
}

// scalarText returns what a text, a number or a truth value says, a number as it was
// written; "" for anything else.
func scalarText(v rawjson.Value) string {
	switch v.Kind() {
	case rawjson.String:
		text, _ := v.Text()
		return text
	case rawjson.Bool, rawjson.Number:
		return string(v)
	}
	return ""
}
