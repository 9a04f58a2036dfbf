package compile

import (
	"cmp"
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// locales reads the languages that an endpoint answers in; nil for none.
func (rd *reading) locales(v value) *irv1.Locales {
	if !v.exists() {
		return nil
	}
	v.note()
	l := &irv1.Locales{}
	for _, e := range v.get("supported").elements() {
		tag := e.quiet()
		if tag == "" {
			continue // what is wrong with it has been reported
		}
		if slices.ContainsFunc(l.GetSupported(), func(other string) bool { return strings.EqualFold(tag, other) }) {
			rd.localeTwice(e, tag)
			continue
		}
		l.Supported = append(l.Supported, tag)
	}
	slices.SortFunc(l.Supported, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	fallback := v.get("default")
	i := slices.IndexFunc(l.GetSupported(), func(tag string) bool { return strings.EqualFold(tag, fallback.quiet()) })
	if i < 0 {
		if fallback.quiet() != "" {
			rd.strangeDefault(fallback, l.GetSupported())
		}
		return l
	}
	fallback.note()
	l.Fallback = l.GetSupported()[i]
	return l
}

// sources reads where else the value of a meta rule comes from.
func (rd *reading) sources(v value) []*irv1.MetaSource {
	var all []*irv1.MetaSource
	for _, e := range v.elements() {
		e.note()
		key, at, header, locale := e.get("requestMeta"), e.get("at"), e.get("header"), e.get("locale")
		s := &irv1.MetaSource{}
		stated := 0
		if key.exists() {
			stated++
			s.Kind = &irv1.MetaSource_RequestMeta{RequestMeta: &irv1.RequestMeta{Key: key.text(), At: pointer(at.text())}}
		} else if at.exists() {
			rd.atOfNothing(at)
		}
		if header.exists() {
			stated++
			name := canonical(header.text())
			s.Kind = &irv1.MetaSource_Header{Header: name}
			if irv1.SecretInbound(name) {
				rd.secretInbound(header, name)
			}
		}
		if locale.exists() {
			stated++
			s.Kind = &irv1.MetaSource_Locale{Locale: &irv1.NegotiatedLocale{}}
		}
		if stated != 1 {
			rd.oneSource(e)
			continue
		}
		all = append(all, s)
	}
	return all
}
